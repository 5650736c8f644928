"""Hooks that start a run of a DAG in Airflow, by its REST API: `airflow`."""

from __future__ import annotations

import asyncio
import base64
import time
from typing import Any
from urllib.parse import quote

import msgspec

from headwater.actions.destinations import answer_text
from headwater.actions.durations import seconds_of
from headwater.actions.errors import BadAction, HookFailed
from headwater.actions.kinds.setting import Setting
from headwater.actions.kinds.webhook import say_answer
from headwater.actions.limits import POLL, TIMEOUT

EVENT = "lakeFS_event"
"""Where in the configuration of a run the event is."""


class Airflow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which DAG of which Airflow, as whom, and whether to wait until it is through."""

    url: str
    dag_id: str
    username: str
    password: str
    dag_conf: dict[str, Any] = {}
    wait_for_dag: bool = False
    timeout: str = ""

    def __post_init__(self) -> None:
        if self.timeout:
            seconds_of(self.timeout)
        if not self.dag_id:
            raise BadAction("dag_id: say which DAG is to be run")

    async def run(self, setting: Setting) -> None:
        """Have the DAG run. Without *wait_for_dag*, that it was accepted is enough."""
        seconds = seconds_of(self.timeout) if self.timeout else TIMEOUT
        deadline = time.monotonic() + seconds
        password = setting.secrets.filled(self.password)
        setting.secrets.hide(password)
        credentials = f"{self.username}:{password}"
        setting.secrets.hide(credentials)
        headers = {"authorization": f"Basic {base64.b64encode(credentials.encode()).decode()}"}
        run_id = f"lakeFS_hook_{setting.hook}_{setting.run}"
        conf = {**self.dag_conf, EVENT: setting.event.told(setting.action, setting.hook)}
        runs = f"{self.url.rstrip('/')}/api/v1/dags/{quote(self.dag_id, safe='')}/dagRuns"
        async with setting.destinations.request(
            "POST", runs, seconds=seconds, json={"dag_run_id": run_id, "conf": conf}, headers=headers
        ) as response:
            text, more = await answer_text(response)
            say_answer(setting, response.status_code, text, more=more)
            if not response.is_success:
                raise HookFailed(f"Airflow answered {response.status_code}: DAG {self.dag_id!r} was not run")
        if self.wait_for_dag:
            await self._through(setting, f"{runs}/{quote(run_id, safe='')}", headers, deadline)

    async def _through(self, setting: Setting, run: str, headers: dict[str, str], deadline: float) -> None:
        """Wait until the run is through, and went well."""
        while (left := deadline - time.monotonic()) > 0:
            async with setting.destinations.request("GET", run, seconds=left, headers=headers) as response:
                text, _ = await answer_text(response)
            state = _state(text) if response.is_success else None
            if state == "success":
                setting.output.line("the DAG went well")
                return
            if state == "failed":
                raise HookFailed(f"DAG {self.dag_id!r} failed")
            await asyncio.sleep(min(POLL, max(0.0, deadline - time.monotonic())))
        raise HookFailed(f"DAG {self.dag_id!r} was not through in time")


class _Run(msgspec.Struct):
    state: str = ""


def _state(text: str) -> str | None:
    """What an answer of Airflow says of a run, if anything."""
    try:
        return msgspec.json.decode(text, type=_Run).state
    except msgspec.DecodeError:
        return None
