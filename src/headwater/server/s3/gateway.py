"""The room of S3: a request is verified, sent to its operation, and answered in S3's words whatever happens."""

from __future__ import annotations

import msgspec

from headwater.auth.signatures import SignedRequest, headers_of
from headwater.errors import HeadwaterError
from headwater.server.access import Caller
from headwater.server.http import Request, Response
from headwater.server.s3.call import Call
from headwater.server.s3.errors import S3Error, code_of, told
from headwater.server.s3.keys import Target, target_of
from headwater.server.s3.routing import find
from headwater.server.services import Services


class Gateway:
    """Answers requests of S3."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, request: Request) -> Response:
        try:
            response = await self._answer(request)
        except HeadwaterError as error:
            response = told(request, error)
            if code_of(error) == "InternalError":
                self._services.log.damage(request, error)
        except Exception as error:  # noqa: BLE001  (a defect is told to its operator, and to the client in XML)
            self._services.log.defect("a request", error, request.id)
            response = told(request, S3Error("InternalError", ""))
        return self._identified(request, response)

    def refuse(self, request: Request, why: HeadwaterError) -> Response:
        """The answer to a request that is not looked at, or not any longer."""
        return self._identified(request, told(request, why))

    @staticmethod
    def _identified(request: Request, response: Response) -> Response:
        identity = request.id.encode()
        headers = [*response.headers, (b"x-amz-request-id", identity), (b"x-amz-id-2", identity)]
        return msgspec.structs.replace(response, headers=headers)

    async def _answer(self, request: Request) -> Response:
        domains = self._services.settings.s3_domains
        target = target_of(request, domains)
        call = await self._verified(request, target)
        operation = find(request, target)
        request.operation = f"s3:{operation.__name__}"
        return await operation(call)

    async def _verified(self, request: Request, target: Target) -> Call:
        """The call, by whoever signed *request*."""
        auth = self._services.auth
        signed_request = SignedRequest(
            request.method, request.raw_path, request.raw_query, headers_of(request.raw_headers), target.in_host
        )
        signed = await auth.signatures.verify(signed_request, request.client)
        _take_headers_from_query(request)
        identity = signed.identity
        request.user = identity.user
        access = auth.accesses.known(identity) or await auth.accesses.of(identity)
        caller = Caller(identity.user, identity.access_key_id, access, request.client)
        return Call(self._services, request, target, signed, caller)


_OF_SIGNATURES = frozenset(
    f"x-amz-{name}" for name in ("algorithm", "credential", "date", "expires", "signedheaders", "signature")
)


def _take_headers_from_query(request: Request) -> None:
    """Let the query of a presigned request say what headers do, as some SDKs have it: it is signed as a whole."""
    if "X-Amz-Signature" not in request.query:
        return
    for name, value in request.query.items():
        header = name.lower()
        if header.startswith("x-amz-") and header not in _OF_SIGNATURES:
            request.headers.setdefault(header, value)
