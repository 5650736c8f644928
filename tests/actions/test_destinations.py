"""Where hooks may send requests: the internet at large, and inside only where the server was told."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Any

import pytest

from headwater.actions.destinations import Destinations, is_public, parse
from headwater.actions.errors import HookFailed
from tests.actions.listener import Answer, Listener, listening

pytestmark = pytest.mark.anyio

INSIDE = [
    "127.0.0.1", "127.8.8.8", "0.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.2.1", "::", "::1", "fe80::1", "fc00::1", "fd12::1", "ff02::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::7f00:1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1",
    "2002:7f00:1::", "2002:a00:1::", "2001:0:1::1", "2001:db8::1",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::"]


@pytest.mark.parametrize("address", INSIDE)
def test_no_address_of_the_inside_is_public_however_it_is_wrapped(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_the_rest_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/", "http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f000001/",
        "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://localhost./", "http://0/", "http://169.254.169.254/latest",
        "http://user@localhost/",
    ],
)  # fmt: skip
async def test_the_own_network_is_not_reached_however_it_is_written(url: str) -> None:
    with pytest.raises(HookFailed, match=r"not public|cannot be found"):
        await Destinations().addresses(parse(url))


@pytest.mark.parametrize(
    "url", ["ftp://example.org", "file:///etc/passwd", "http://", "//example.org", "x", "http://a:b"]
)
async def test_what_is_no_address_of_the_web_is_refused(url: str) -> None:
    with pytest.raises(HookFailed, match="url"):
        parse(url)


async def test_a_server_that_sends_none_sends_none(listener: Listener) -> None:
    with pytest.raises(HookFailed, match="webhooks is off"):
        await request(Destinations([listener.host], enabled=False), listener.url)
    assert listener.received == []


async def test_what_was_allowed_inside_is_reached_and_nothing_else(listener: Listener) -> None:
    assert await request(Destinations([listener.host]), listener.url) == 200
    assert await request(Destinations(["127.0.0.*"]), listener.url) == 200
    for allowed in ([], ["127.0.0.1:1"], ["*.example.org"]):
        with pytest.raises(HookFailed, match="not public"):
            await request(Destinations(allowed), listener.url)


async def test_a_name_is_looked_up_once_and_the_connection_goes_there(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name means the listener when it is judged. Whoever asks again is sent elsewhere, as by a rebinding server."""
    asked: list[str] = []
    elsewhere = socket.socket()
    elsewhere.bind(("127.0.0.2", listener.port))
    elsewhere.listen()
    loop = asyncio.get_running_loop()

    async def looked_up(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        address = "127.0.0.1" if len(asked) == 1 else "127.0.0.2"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(loop, "getaddrinfo", looked_up)
    with elsewhere:
        url = f"http://hooks.example.org:{listener.port}/x?a=1"
        assert await request(Destinations(["hooks.example.org"]), url) == 200
    assert asked == ["hooks.example.org"]
    assert listener.received[0].headers["host"] == f"hooks.example.org:{listener.port}"
    assert listener.received[0].path == "/x?a=1"


async def test_a_name_with_one_address_inside_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def looked_up(_: str, port: int, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in ("8.8.8.8", "10.0.0.1")]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", looked_up)
    with pytest.raises(HookFailed, match=r"10\.0\.0\.1"):
        await Destinations().addresses(parse("http://both.example.org/"))


async def test_a_redirect_is_not_followed(listener: Listener) -> None:
    with listening() as other:
        listener.answers = lambda _: Answer(302, headers=(("location", f"{other.url}/inside"),))
        assert await request(Destinations([listener.host, other.host]), listener.url) == 302
        assert other.received == []


async def test_a_proxy_of_the_environment_is_not_asked(listener: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    with listening() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert await request(Destinations([listener.host]), listener.url) == 200
        assert proxy.received == []


async def test_an_answer_that_does_not_come_is_not_waited_for(listener: Listener) -> None:
    listener.answers = lambda _: Answer(None)
    with pytest.raises(HookFailed, match=r"within 0\.2 seconds"):
        await request(Destinations([listener.host]), listener.url, seconds=0.2)


async def request(destinations: Destinations, url: str, seconds: float = 20) -> int:
    async with destinations.request("POST", url, seconds=seconds, content=b"{}") as response:
        return response.status_code
