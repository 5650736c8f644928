"""Requests as they go over the wire: signed by botocore, sent byte by byte, altered on the way if a test wants it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from http.client import HTTPConnection
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree as ET

import msgspec
from botocore.auth import BaseSigner  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]

from dev.servers.headwater import Headwater

NO_HEADERS: Mapping[str, str] = {}


class Wire(msgspec.Struct, frozen=True):
    """A request as it is sent: *target* is path and query."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes | Iterable[bytes] = b""


class Answer(msgspec.Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """The code of an error; empty of what is none."""
        if not self.body.startswith(b"<?xml"):
            return ""
        root = ET.fromstring(self.body)  # noqa: S314  (what our own server answers)
        return root.findtext("Code") or ""


def credentials(server: Headwater) -> Credentials:
    return Credentials(*server.login)


def signed(
    signer: BaseSigner,
    method: str,
    host: str,
    target: str,
    *,
    headers: Mapping[str, str] = NO_HEADERS,
    body: bytes = b"",
) -> Wire:
    """A request that *signer* signed."""
    request = AWSRequest(method=method, url=f"http://{host}{target}", headers=dict(headers), data=body)
    request.context["client_config"] = None
    signer.add_auth(request)
    prepared = request.prepare()
    parts = urlsplit(prepared.url)
    query = f"?{parts.query}" if parts.query else ""
    made = {name: value.decode() if isinstance(value, bytes) else value for name, value in prepared.headers.items()}
    return Wire(method, parts.path + query, {"Host": host, **made}, body)


def send(server: Headwater, request: Wire) -> Answer:
    connection = HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    try:
        connection.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
        headers = dict(request.headers)
        if isinstance(request.body, bytes) and request.method in ("PUT", "POST"):
            headers.setdefault("Content-Length", str(len(request.body)))
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders(request.body or None)
        response = connection.getresponse()
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
    finally:
        connection.close()


def in_chunks(
    server: Headwater, target: str, kind: str, length: int, *, headers: Mapping[str, str] = NO_HEADERS
) -> tuple[Wire, str]:
    """The head of a PUT whose body comes in chunks, signed by hand, and its signature."""
    host = urlsplit(server.url).netloc
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    every = {
        "host": host,
        "x-amz-content-sha256": kind,
        "x-amz-date": now,
        "x-amz-decoded-content-length": str(length),
        **headers,
    }
    names = sorted(every)
    canonical = "\n".join(
        ["PUT", quote(target, safe="/~%"), "", *(f"{name}:{every[name]}" for name in names), "", ";".join(names), kind]
    )
    scope = f"{now[:8]}/us-east-1/s3/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    signature = hmac_of(server.secret_access_key, now, text)
    credential = f"Credential={server.access_key_id}/{scope}, SignedHeaders={';'.join(names)}, Signature={signature}"
    return Wire("PUT", target, {**every, "authorization": f"AWS4-HMAC-SHA256 {credential}"}), signature


def hmac_of(secret: str, time: str, text: str) -> str:
    key = b"AWS4" + secret.encode()
    for part in (time[:8], "us-east-1", "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()
