"""Hooks that send a request: `webhook`. An answer of 2xx lets what happens go on, any other makes the hook fail."""

from __future__ import annotations

import msgspec

from headwater.actions.destinations import answer_text, parse
from headwater.actions.durations import seconds_of
from headwater.actions.errors import BadAction, HookFailed
from headwater.actions.kinds.setting import Setting
from headwater.actions.limits import MAX_EVENT, TIMEOUT

_OURS = {"host", "content-length", "content-type", "transfer-encoding", "connection"}


class Webhook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where to, with what besides the event. Variables are filled in to the headers and the parameters."""

    url: str
    timeout: str = ""
    query_params: dict[str, str | list[str]] = {}
    headers: dict[str, str] = {}

    def __post_init__(self) -> None:
        if self.timeout:
            seconds_of(self.timeout)
        for name in self.headers:
            if name.lower() in _OURS:
                raise BadAction(f"headers: {name} is for the server to say")

    async def run(self, setting: Setting) -> None:
        """Send the event, and wait for the answer."""
        seconds = seconds_of(self.timeout) if self.timeout else TIMEOUT
        fill = setting.secrets.filled
        parameters = tuple(
            (name, fill(value))
            for name, values in self.query_params.items()
            for value in ([values] if isinstance(values, str) else values)
        )
        headers = {name: fill(value) for name, value in self.headers.items()}
        body = msgspec.json.encode(setting.event.told(setting.action, setting.hook))
        if len(body) > MAX_EVENT:
            raise HookFailed(f"what the hook would be told has {len(body)} bytes; {MAX_EVENT} at most are sent")
        async with setting.destinations.request(
            "POST",
            with_parameters(self.url, parameters),
            seconds=seconds,
            headers={**headers, "content-type": "application/json"},
            content=body,
        ) as response:
            text, more = await answer_text(response)
            say_answer(setting, response.status_code, text, more=more)
            if not response.is_success:
                raise HookFailed(f"the webhook answered {response.status_code}")


def with_parameters(url: str, parameters: tuple[tuple[str, str], ...]) -> str:
    """*url* with *parameters* behind those that it has."""
    return url if not parameters else str(parse(url).copy_merge_params(parameters))


def say_answer(setting: Setting, status: int, text: str, *, more: bool) -> None:
    """Tell of an answer. A secret that was cut through at its end is not recognised: nothing near the cut is told."""
    setting.output.line(f"answer: {status}")
    if more:
        text = text[: -setting.secrets.longest or None]
    if text:
        setting.output.line(text)
