"""Who signed a request, over the wire: every form of signature, and every part of a request altered in turn."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlsplit

import boto3  # type: ignore[import-untyped]
import httpx
import msgspec
import pytest
from botocore import UNSIGNED  # type: ignore[import-untyped]
from botocore.auth import HmacV1Auth, S3SigV4Auth, S3SigV4QueryAuth  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]

from dev.servers.headwater import S3_DOMAIN, Headwater
from tests.auth.signing import ChunkSigner
from tests.server.s3.conftest import client_of, refused
from tests.server.s3.wire import Answer, Wire, credentials, in_chunks, send, signed

BODY = b"content " * 1000


def v4(server: Headwater) -> S3SigV4Auth:
    return S3SigV4Auth(credentials(server), "s3", "us-east-1")


@pytest.fixture
def put(server: Headwater, bucket: str) -> Wire:
    """A PUT that is signed, body and all."""
    headers = {"Content-Type": "text/plain", "x-amz-meta-colour": "red"}
    host = urlsplit(server.url).netloc
    return signed(v4(server), "PUT", host, f"/{bucket}/main/a%20b?x=1", headers=headers, body=BODY)


def but(request: Wire, name: str, value: str) -> Wire:
    return msgspec.structs.replace(request, headers={**request.headers, name: value})


ALTERED: dict[str, tuple[str, Callable[[Wire], Wire]]] = {
    "method": ("SignatureDoesNotMatch", lambda request: msgspec.structs.replace(request, method="POST")),
    "path": (
        "SignatureDoesNotMatch",
        lambda request: msgspec.structs.replace(request, target=request.target.replace("a%20b", "a%20c")),
    ),
    "query": ("SignatureDoesNotMatch", lambda request: msgspec.structs.replace(request, target=request.target + "2")),
    "further query": (
        "SignatureDoesNotMatch",
        lambda request: msgspec.structs.replace(request, target=request.target + "&tagging"),
    ),
    "host": ("SignatureDoesNotMatch", lambda request: but(request, "Host", "other.example.com")),
    "content type": ("SignatureDoesNotMatch", lambda request: but(request, "Content-Type", "text/html")),
    "user metadata": ("SignatureDoesNotMatch", lambda request: but(request, "x-amz-meta-colour", "blue")),
    "date": (
        "SignatureDoesNotMatch",
        lambda request: but(request, "X-Amz-Date", datetime.now(UTC).strftime("%Y%m%dT%H%M01Z")),
    ),
    "hash of the body": ("SignatureDoesNotMatch", lambda request: but(request, "X-Amz-Content-SHA256", "0" * 64)),
    "body": ("XAmzContentSHA256Mismatch", lambda request: msgspec.structs.replace(request, body=b"C" + BODY[1:])),
    "unsigned header of S3": ("AccessDenied", lambda request: but(request, "x-amz-acl", "private")),
    "access key": (
        "InvalidAccessKeyId",
        lambda request: but(
            request, "Authorization", request.headers["Authorization"].replace("AKIAJHEADWATERTESTSQ", "AKIAJNOBODY")
        ),
    ),
    "region": (
        "SignatureDoesNotMatch",
        lambda request: but(
            request, "Authorization", request.headers["Authorization"].replace("us-east-1", "us-east-2")
        ),
    ),
    "signature": (
        "SignatureDoesNotMatch",
        lambda request: but(request, "Authorization", request.headers["Authorization"][:-64] + "0" * 64),
    ),
    "all of the authorization": (
        "AuthorizationHeaderMalformed",
        lambda r: but(r, "Authorization", "AWS4-HMAC-SHA256 x"),
    ),
    "kind of authorization": ("InvalidRequest", lambda r: but(r, "Authorization", "AWS4-HMAC-SHA512 x")),
}


@pytest.mark.parametrize("what", ALTERED)
def test_a_request_that_was_altered_is_refused(s3: Any, server: Headwater, bucket: str, put: Wire, what: str) -> None:
    code, alter = ALTERED[what]
    answer = send(server, alter(put))
    assert answer.code == code, answer.body
    assert answer.status in (400, 403)
    assert answer.headers["x-amz-request-id"].encode() in answer.body
    assert server.secret_access_key.encode() not in answer.body
    with refused("404"):
        s3.head_object(Bucket=bucket, Key="main/a b")


def test_the_same_request_unaltered_is_answered(s3: Any, server: Headwater, bucket: str, put: Wire) -> None:
    assert send(server, put).status == 200
    found = s3.get_object(Bucket=bucket, Key="main/a b")
    assert (found["Body"].read(), found["ContentType"], found["Metadata"]) == (BODY, "text/plain", {"colour": "red"})


def test_presigned_requests_last_as_long_as_they_say(s3: Any, server: Headwater, bucket: str) -> None:
    arguments = {"Bucket": bucket, "Key": "main/ä b+%"}
    for version in ("s3v4", "s3"):
        client = client_of(server, signature_version=version)
        url = client.generate_presigned_url("put_object", Params=arguments, ExpiresIn=60)
        assert httpx.put(url, content=BODY).status_code == 200
        url = client.generate_presigned_url(
            "get_object", Params={**arguments, "ResponseContentType": "text/x"}, ExpiresIn=60
        )
        got = httpx.get(url)
        assert (got.content, got.headers["content-type"]) == (BODY, "text/x")
        for part in ("Signature=", "response-content-type=", "Expires="):
            start = url.index(part) + len(part)
            altered = url[:start] + ("9" if url[start] != "9" else "8") + url[start + 1 :]
            assert httpx.get(altered).status_code in (400, 403)
        client.close()
    late = S3SigV4QueryAuth(credentials(server), "s3", "us-east-1", expires=1)
    request = signed(late, "GET", urlsplit(server.url).netloc, f"/{bucket}/main/a")
    expired = request.target.replace(datetime.now(UTC).strftime("X-Amz-Date=%Y%m"), "X-Amz-Date=202001")
    assert send(server, msgspec.structs.replace(request, target=expired)).code in (
        "AccessDenied",
        "AuthorizationQueryParametersError",
    )
    with refused("404"):
        s3.head_object(Bucket=bucket, Key="main/never")


def test_a_presigned_query_says_what_headers_would(s3: Any, server: Headwater, bucket: str) -> None:
    host = urlsplit(server.url).netloc
    signer = S3SigV4QueryAuth(credentials(server), "s3", "us-east-1", expires=60)
    said = "x-amz-meta-colour=red&x-amz-tagging=a%3Db&x-amz-checksum-crc32="

    def put(crc32: str, **headers: str) -> Wire:
        target = signed(signer, "PUT", host, f"/{bucket}/main/a?{said}{quote(crc32)}").target
        return Wire("PUT", target, {"Host": host, **headers}, b"xyz")

    assert send(server, put("AAAAAA==")).code == "BadDigest"
    right = put(base64.b64encode(zlib.crc32(b"xyz").to_bytes(4, "big")).decode())
    assert send(server, right).status == 200
    found = s3.get_object(Bucket=bucket, Key="main/a")
    assert (found["Metadata"], found["TagCount"], found["Body"].read()) == ({"colour": "red"}, 1, b"xyz")
    altered = msgspec.structs.replace(right, target=right.target.replace("=red", "=blue"))
    assert send(server, altered).code == "SignatureDoesNotMatch"
    assert send(server, but(right, "x-amz-acl", "private")).code == "AccessDenied"


def test_signatures_of_version_2(server: Headwater, bucket: str) -> None:
    client = client_of(server, signature_version="s3")
    client.put_object(Bucket=bucket, Key="main/a", Body=b"x", Metadata={"a": "b"})
    assert client.get_object(Bucket=bucket, Key="main/a")["Body"].read() == b"x"
    client.close()
    old = HmacV1Auth(credentials(server))
    request = signed(old, "GET", urlsplit(server.url).netloc, f"/{bucket}/main/a")
    assert send(server, request).body == b"x"
    assert send(server, msgspec.structs.replace(request, target=f"/{bucket}/main/b")).code == "SignatureDoesNotMatch"


def test_nobody_gets_anything_without_a_signature(server: Headwater, bucket: str) -> None:
    client = boto3.client(
        "s3", endpoint_url=server.url, region_name="us-east-1", config=Config(signature_version=UNSIGNED)
    )
    with refused("AccessDenied", 403):
        client.get_object(Bucket=bucket, Key="main/a")
    client.close()
    answer = send(server, Wire("GET", "/main/a", {"Host": f"{bucket}.{S3_DOMAIN}"}))
    assert (answer.status, answer.code) == (403, "AccessDenied")


def test_a_bucket_may_stand_in_the_host(s3: Any, server: Headwater, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="main/a b", Body=b"x")
    host = f"{bucket}.{S3_DOMAIN}"
    assert send(server, signed(v4(server), "GET", host, "/main/a%20b")).body == b"x"
    assert send(server, signed(v4(server), "GET", S3_DOMAIN, f"/{bucket}/main/a%20b")).body == b"x"
    listing = send(server, signed(v4(server), "GET", host, "/?list-type=2"))
    assert b"<Key>main/a b</Key>" in listing.body


def test_other_doors_stay_open_beside_s3(server: Headwater, bucket: str) -> None:
    assert httpx.get(f"{server.api}/repositories/{bucket}", auth=server.login).status_code == 200
    assert httpx.get(f"{server.url}/readiness").status_code == 200


CRC = base64.b64encode(zlib.crc32(BODY).to_bytes(4, "big")).decode()
SIGNED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
KINDS = [SIGNED, f"{SIGNED}-TRAILER", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"]


def chunked(server: Headwater, bucket: str, kind: str, *, crc: str = CRC) -> Wire:
    """A PUT of `BODY` in three chunks."""
    trailed = kind.endswith("-TRAILER")
    headers = {"content-encoding": "aws-chunked,gzip"} | ({"x-amz-trailer": "x-amz-checksum-crc32"} if trailed else {})
    request, seed = in_chunks(server, f"/{bucket}/main/a", kind, len(BODY), headers=headers)
    parts = [BODY[:100], BODY[100:7000], BODY[7000:], b""]
    trailer = [("x-amz-checksum-crc32", crc)]
    if kind.startswith(SIGNED):
        signer = ChunkSigner(server.secret_access_key, request.headers["x-amz-date"], "us-east-1", seed)
        body = b"".join(signer.chunk(part) for part in parts) + (signer.trailers(trailer) if trailed else b"")
    else:
        body = b"".join(f"{len(part):x}\r\n".encode() + (part + b"\r\n" if part else b"") for part in parts)
        body += b"".join(f"{name}:{value}\r\n".encode() for name, value in trailer)
    return msgspec.structs.replace(request, body=body + b"\r\n")


@pytest.mark.parametrize("kind", KINDS)
def test_bodies_in_chunks(s3: Any, server: Headwater, bucket: str, kind: str) -> None:
    answer = send(server, chunked(server, bucket, kind))
    assert answer.status == 200, answer.body
    found = s3.get_object(Bucket=bucket, Key="main/a")
    assert (found["Body"].read(), found["ContentEncoding"]) == (BODY, "gzip")
    assert answer.headers.get("x-amz-checksum-crc32") == (CRC if kind.endswith("-TRAILER") else None)


def refusals(server: Headwater, bucket: str) -> dict[str, tuple[str, Wire]]:
    """What is wrong with a body in chunks, and what is said of it."""
    whole, trailed = (chunked(server, bucket, kind) for kind in KINDS[:2])
    assert isinstance(whole.body, bytes)
    assert isinstance(trailed.body, bytes)
    flipped = whole.body.replace(b"content", b"CONTENT", 1)
    return {
        "a chunk altered": ("SignatureDoesNotMatch", msgspec.structs.replace(whole, body=flipped)),
        "cut short": ("IncompleteBody", msgspec.structs.replace(whole, body=whole.body[:-200])),
        "a trailer altered": (
            "SignatureDoesNotMatch",
            msgspec.structs.replace(trailed, body=trailed.body.replace(CRC.encode(), b"AAAAAA==")),
        ),
        "a trailer that is wrong": ("BadDigest", chunked(server, bucket, KINDS[2], crc="AAAAAA==")),
    }


def test_bodies_in_chunks_that_are_not_what_was_signed_are_refused(s3: Any, server: Headwater, bucket: str) -> None:
    for what, (code, request) in refusals(server, bucket).items():
        answer: Answer = send(server, request)
        assert answer.code == code, (what, answer.body)
        with refused("404"):
            s3.head_object(Bucket=bucket, Key="main/a")
