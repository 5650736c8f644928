"""What can be wrong with a signed request, under the names that S3 has for it.

*code* is what an S3 client is told. Two errors may share one, as they do in S3.
"""

from __future__ import annotations

from typing import ClassVar

from headwater.auth.errors import AuthError


class SignatureError(AuthError):
    """The root of these errors: the request is not to be answered."""

    code: ClassVar[str] = "AccessDenied"


class NotSigned(SignatureError):
    """The request carries no signature."""


class RequestExpired(SignatureError):
    """A presigned request came too late, or before its time."""


class HeadersNotSigned(SignatureError):
    """The request has a header that changes what it means and is not covered by its signature."""


class SignatureDoesNotMatch(SignatureError):
    """The signature is not by the secret of that access key, or not of this request."""

    code = "SignatureDoesNotMatch"


class InvalidAccessKeyId(SignatureError):
    """There is no such access key."""

    code = "InvalidAccessKeyId"


class InvalidToken(SignatureError):
    """The request carries a session token, and there are no sessions here."""

    code = "InvalidToken"


class RequestTimeTooSkewed(SignatureError):
    """The request was signed too long ago, or by a clock that is ahead."""

    code = "RequestTimeTooSkewed"


class AuthorizationHeaderMalformed(SignatureError):
    """The `Authorization` header cannot be read."""

    code = "AuthorizationHeaderMalformed"


class AuthorizationQueryParametersError(SignatureError):
    """The parameters of a presigned request cannot be read, or ask for too much."""

    code = "AuthorizationQueryParametersError"


class InvalidRequest(SignatureError):
    """The request lacks something that its signature must cover, or is signed in a way that is not known."""

    code = "InvalidRequest"


class InvalidArgument(SignatureError):
    """A header says something that it cannot say."""

    code = "InvalidArgument"


class MissingContentLength(SignatureError):
    """A body in chunks comes without the length of what they hold."""

    code = "MissingContentLength"


class XAmzContentSHA256Mismatch(SignatureError):
    """The body is not the one that was signed."""

    code = "XAmzContentSHA256Mismatch"


class IncompleteBody(SignatureError):
    """The body is shorter or longer than it was said to be, or its chunks cannot be told apart."""

    code = "IncompleteBody"


class MalformedTrailer(SignatureError):
    """What follows the last chunk is not what was announced."""

    code = "MalformedTrailerError"
