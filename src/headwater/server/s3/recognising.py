"""Telling requests of S3 from all others on the same port."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headwater.server.http import Request
from headwater.server.s3.keys import bucket_in

_QUERY = ("X-Amz-Signature=", "X-Amz-Credential=", "X-Amz-Algorithm=", "AWSAccessKeyId=")
_HEADERS = ("x-amz-content-sha256", "x-amz-date", "amz-sdk-request")


def recogniser(domains: Sequence[str]) -> Callable[[Request], bool]:
    """Whether a request is S3's: by its signature, or by the host that it is for, or, of one that is not signed, by
    headers that only clients of S3 send. Those are refused, in words that they understand."""

    def is_s3(request: Request) -> bool:
        authorization = request.header("authorization")
        if authorization is not None:
            return authorization.startswith(("AWS4-", "AWS ")) or _in_domain(request)
        if request.raw_query and any(part in request.raw_query for part in _QUERY):
            return True
        return _in_domain(request) or any(name in request.headers for name in _HEADERS)

    def _in_domain(request: Request) -> bool:
        return bool(domains) and bucket_in(request.host, domains) is not None

    return is_s3
