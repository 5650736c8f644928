"""Signatures of S3 requests.

request = SignedRequest(method, raw_path, raw_query, headers_of(raw_headers), bucket)
signed = await auth.signatures.verify(request, client)
body = signed.body()
for each piece that arrives: what body.feed(piece) answers is content
trailers = body.finish()       # only now is the content certain
"""

from headwater.auth.signatures.bodies import Body
from headwater.auth.signatures.errors import (
    AuthorizationHeaderMalformed,
    AuthorizationQueryParametersError,
    HeadersNotSigned,
    IncompleteBody,
    InvalidAccessKeyId,
    InvalidArgument,
    InvalidRequest,
    InvalidToken,
    MalformedTrailer,
    MissingContentLength,
    NotSigned,
    RequestExpired,
    RequestTimeTooSkewed,
    SignatureDoesNotMatch,
    SignatureError,
    XAmzContentSHA256Mismatch,
)
from headwater.auth.signatures.payload import Payload
from headwater.auth.signatures.request import SignedRequest, headers_of
from headwater.auth.signatures.verifier import Signatures, Signed, is_signed

__all__ = [
    "AuthorizationHeaderMalformed",
    "AuthorizationQueryParametersError",
    "Body",
    "HeadersNotSigned",
    "IncompleteBody",
    "InvalidAccessKeyId",
    "InvalidArgument",
    "InvalidRequest",
    "InvalidToken",
    "MalformedTrailer",
    "MissingContentLength",
    "NotSigned",
    "Payload",
    "RequestExpired",
    "RequestTimeTooSkewed",
    "SignatureDoesNotMatch",
    "SignatureError",
    "Signatures",
    "Signed",
    "SignedRequest",
    "XAmzContentSHA256Mismatch",
    "headers_of",
    "is_signed",
]
