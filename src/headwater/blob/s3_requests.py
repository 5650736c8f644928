"""Requests to S3 that its client has no verb for, signed with the vendor's own library.

Every request is a URL that is signed: where it leads, and in which region, is read from one that the client signs.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlsplit

import msgspec
import obstore
from obstore.store import S3Store

from headwater.blob.errors import (
    BlobError,
    BlobUnavailable,
    NotFound,
    NotSupported,
    OutcomeUnknown,
    PermissionDenied,
    RejectedParts,
    SlowDown,
)

if TYPE_CHECKING:
    import httpx

NOTHING: Mapping[str, str] = {}

_CODE = re.compile(r"<Code>(\w{1,60})</Code>")
_SHORT = 300
"""Seconds for which the URLs of our own requests are good."""

_PATIENCE = 60.0
_CONNECT = 5.0
"""Seconds that a store has for an answer, and to be connected to."""

_BY_STATUS: Mapping[int, type[BlobError]] = {403: PermissionDenied, 404: NotFound, 501: NotSupported, 429: SlowDown}


class Place(msgspec.Struct, frozen=True):
    """Where a request goes: the server, the path with its escapes, and the region that it is signed for."""

    server: str
    host: str
    path: str
    region: str


class S3Requests:
    """Requests to one bucket. *login* is what the client was given; without it, credentials come from the provider's
    standard chain, as the client's own do. *meanings* are errors by the codes that the server has for them.
    """

    def __init__(self, store: S3Store, login: Mapping[str, str], meanings: Mapping[str, type[BlobError]]) -> None:
        self._store = store
        self._login = login
        self._meanings = meanings
        self._credentials: Any = None

    @property
    def bucket(self) -> str:
        return str(self._store.config["bucket"])

    async def place_of(self, path: str) -> Place:
        """Where the object *path* of the bucket is, of a URL that the client signs."""
        url = await asyncio.to_thread(obstore.sign, self._store, "PUT", path, timedelta(seconds=_SHORT))
        parts = urlsplit(url)
        scope = parse_qs(parts.query)["X-Amz-Credential"][0].split("/")
        return Place(f"{parts.scheme}://{parts.netloc}", parts.netloc, parts.path, scope[-3])

    async def place_of_bucket(self) -> Place:
        """Where the bucket itself is."""
        place = await self.place_of("x")
        return msgspec.structs.replace(place, path=place.path.removesuffix("/x") or "/")

    async def send(
        self,
        method: str,
        place: Place,
        query: str,
        *,
        body: bytes = b"",
        headers: Mapping[str, str] = NOTHING,
        signed: Mapping[str, str] = NOTHING,
        what: str,
    ) -> httpx.Response:
        """What the server answers, if that is no error. *what* the request is about is told in one."""
        import httpx  # noqa: PLC0415  (whoever opens a lake elsewhere should not wait for it)

        url = await self.signed(place, method, query, _SHORT, signed)
        try:
            async with httpx.AsyncClient(timeout=httpx.Timeout(_PATIENCE, connect=_CONNECT)) as client:
                answer = await client.request(method, url, content=body, headers={**headers, **signed})
        except httpx.ConnectError as error:
            raise BlobUnavailable(f"{method} {what}: {type(error).__name__}") from None
        except httpx.HTTPError as error:  # its text has the URL, which is a secret
            raise OutcomeUnknown(f"{method} {what}: {type(error).__name__}: it may have been applied") from None
        self._check(method, what, answer)
        return answer

    async def signed(
        self, place: Place, method: str, query: str, seconds: int, headers: Mapping[str, str] = NOTHING
    ) -> str:
        """A URL that is good for *seconds*."""
        auth, http = _vendor()
        if self._credentials is None:
            self._credentials = _credentials(auth, self._login)
        request = http.HttpRequest(method, f"{place.path}?{query}", http.HttpHeaders([("host", place.host)]))
        for header, value in headers.items():
            request.headers.add(header, value)
        configuration = auth.AwsSigningConfig(
            signature_type=auth.AwsSignatureType.HTTP_REQUEST_QUERY_PARAMS,
            credentials_provider=self._credentials,
            region=place.region,
            service="s3",
            date=datetime.now(UTC),
            use_double_uri_encode=False,
            should_normalize_uri_path=False,
            signed_body_value=auth.AwsSignedBodyValue.UNSIGNED_PAYLOAD,
            expiration_in_seconds=seconds,
        )
        try:
            signed = await asyncio.wrap_future(auth.aws_sign_request(request, configuration))
        except Exception as error:  # noqa: BLE001  (the library has no root of its own; what it says is no secret)
            raise PermissionDenied(f"{place.path!r}: no URL can be signed: {type(error).__name__}: {error}") from None
        return f"{place.server}{signed.path}"

    def _check(self, method: str, what: str, answer: httpx.Response) -> None:
        """Raise unless *answer* says that it was done. To complete an upload S3 may answer 200 and an error."""
        failed = answer.status_code >= 300 or (method == "POST" and "<Error>" in answer.text[:1000])
        if not failed:
            return
        code = found[1] if (found := _CODE.search(answer.text[:4000])) else ""
        told = f"{method} {what}: {answer.status_code} {code}".rstrip()
        meaning = self._meanings.get(code) or _BY_STATUS.get(answer.status_code)
        if meaning is None:
            meaning = BlobUnavailable if answer.status_code >= 500 else RejectedParts
        raise meaning(told)


def escaped(text: str) -> str:
    """*text* as a value in a query."""
    return quote(text, safe="")


def _vendor() -> tuple[Any, Any]:
    try:
        from awscrt import auth, http  # noqa: PLC0415  (only who makes such requests needs it)
    except ImportError:
        raise NotSupported("this request to S3 takes the package awscrt: install it") from None
    return auth, http


def _credentials(auth: Any, login: Mapping[str, str]) -> Any:
    if not login:
        return auth.AwsCredentialsProvider.new_default_chain()
    return auth.AwsCredentialsProvider.new_static(
        login["access_key_id"], login["secret_access_key"], login.get("session_token")
    )
