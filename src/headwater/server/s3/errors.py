"""What an error is answered with: a code of S3's, its status, and a document that says more."""

from __future__ import annotations

from headwater.auth.signatures import SignatureError
from headwater.errors import HeadwaterError
from headwater.server.http import Request, Response
from headwater.server.s3.xml import CONTENT_TYPE, document, text

STATUSES = {
    "AccessControlListNotSupported": 400,
    "AccessDenied": 403,
    "AuthorizationHeaderMalformed": 400,
    "AuthorizationQueryParametersError": 400,
    "BadDigest": 400,
    "BucketAlreadyExists": 409,
    "BucketAlreadyOwnedByYou": 409,
    "BucketNotEmpty": 409,
    "EntityTooLarge": 400,
    "EntityTooSmall": 400,
    "GatewayTimeout": 504,
    "IncompleteBody": 400,
    "InternalError": 500,
    "InvalidAccessKeyId": 403,
    "InvalidArgument": 400,
    "InvalidBucketName": 400,
    "InvalidDigest": 400,
    "InvalidPart": 400,
    "InvalidPartOrder": 400,
    "InvalidRange": 416,
    "InvalidRequest": 400,
    "InvalidStorageClass": 400,
    "InvalidTag": 400,
    "InvalidToken": 400,
    "InvalidURI": 400,
    "KeyTooLongError": 400,
    "MalformedTrailerError": 400,
    "MalformedXML": 400,
    "MaxMessageLengthExceeded": 400,
    "MetadataTooLarge": 400,
    "MethodNotAllowed": 405,
    "MissingContentLength": 411,
    "NoSuchBucket": 404,
    "NoSuchBucketPolicy": 404,
    "NoSuchCORSConfiguration": 404,
    "NoSuchKey": 404,
    "NoSuchLifecycleConfiguration": 404,
    "NoSuchObjectLockConfiguration": 404,
    "NoSuchPublicAccessBlockConfiguration": 404,
    "NoSuchTagSet": 404,
    "NoSuchUpload": 404,
    "NoSuchVersion": 404,
    "NoSuchWebsiteConfiguration": 404,
    "NotImplemented": 501,
    "ObjectLockConfigurationNotFoundError": 404,
    "OperationAborted": 409,
    "OwnershipControlsNotFoundError": 404,
    "PreconditionFailed": 412,
    "ReplicationConfigurationNotFoundError": 404,
    "RequestTimeTooSkewed": 403,
    "ServerSideEncryptionConfigurationNotFoundError": 404,
    "ServiceUnavailable": 503,
    "SignatureDoesNotMatch": 403,
    "SlowDown": 503,
    "XAmzContentSHA256Mismatch": 400,
}
"""The status of every code that is answered here."""

CODES = {
    "AmbiguousPrefix": "InvalidArgument",
    "BadName": "InvalidArgument",
    "BadRequest": "InvalidArgument",
    "BlobUnavailable": "ServiceUnavailable",
    "BodyTooLarge": "EntityTooLarge",
    "ClientGone": "IncompleteBody",
    "Contended": "SlowDown",
    "Forbidden": "AccessDenied",
    "LimitExceeded": "InvalidArgument",
    "MalformedXML": "MalformedXML",
    "NotSupported": "NotImplemented",
    "NotAuthenticated": "AccessDenied",
    "NotSignedIn": "AccessDenied",
    "NothingToMatch": "NoSuchKey",
    "OutcomeUnknown": "GatewayTimeout",
    "Overdue": "GatewayTimeout",
    "PathCommitted": "OperationAborted",
    "PartNotAsListed": "InvalidPart",
    "PartTooSmall": "EntityTooSmall",
    "PartsOutOfOrder": "InvalidPartOrder",
    "PathNotFound": "NoSuchKey",
    "PermissionDenied": "ServiceUnavailable",
    "PreconditionFailed": "PreconditionFailed",
    "ProtectedBranch": "AccessDenied",
    "RangeNotSatisfiable": "InvalidRange",
    "ReadOnly": "AccessDenied",
    "RefNotFound": "NoSuchKey",
    "RepositoryExists": "BucketAlreadyExists",
    "RepositoryNotFound": "NoSuchBucket",
    "SlowDown": "SlowDown",
    "StoreUnavailable": "ServiceUnavailable",
    "TargetTooLong": "InvalidURI",
    "TooManyAttempts": "SlowDown",
    "TooManyRequests": "SlowDown",
    "UnknownOutcome": "GatewayTimeout",
    "UploadNotFound": "NoSuchUpload",
    "WorkspaceBusy": "SlowDown",
    "WorkspaceClosed": "OperationAborted",
}
"""By the name of the error or of one that it is a kind of. Whatever is not here is a defect or damage.

What was certainly not done is answered so that clients try again by themselves; so is what may have been done, which
S3's clients do not tell apart.
"""


class S3Error(HeadwaterError):
    """An answer that is an error, in S3's words. *details* are further elements of its document."""

    def __init__(self, code: str, message: str, **details: str) -> None:
        super().__init__(message)
        self.code = code
        self.details = details

    @property
    def status(self) -> int:
        return STATUSES[self.code]


def code_of(error: HeadwaterError) -> str:
    """The code that S3 has for *error*."""
    if isinstance(error, S3Error | SignatureError):
        return error.code
    known = (CODES[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in CODES)
    return next(known, "InternalError")


def told(request: Request, error: HeadwaterError) -> Response:
    """The answer that tells of *error*."""
    code = code_of(error)
    details = error.details if isinstance(error, S3Error) else {}
    message = str(error)
    if code == "InternalError":
        message = f"something is not as it must be; the server's log has it as {request.id}"
    parts = [
        text("Code", code),
        text("Message", message),
        *(text(name, value) for name, value in details.items()),
        text("Resource", request.path),
        text("RequestId", request.id),
        text("HostId", request.id),
    ]
    headers = [CONTENT_TYPE]
    if STATUSES[code] == 503:
        headers.append((b"retry-after", b"1"))
    return Response(STATUSES[code], headers, document("Error", *parts, namespace=False))
