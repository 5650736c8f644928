"""The same calls on another S3 server and on a branch of ours give the same answers.

Where they do not, the difference has a name in `DIFFERENCES`, and a word on which side Amazon's documentation is.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import boto3  # type: ignore[import-untyped]
import pytest
from botocore.config import Config  # type: ignore[import-untyped]
from botocore.exceptions import ClientError  # type: ignore[import-untyped]
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dev.servers import versitygw
from tests.conftest import Servers

BUCKET = "differential"
BODIES = [b"", b"x", b"0123456789", b"y" * 3000]
ETAGS = [f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"' for body in BODIES]
KEYS = ["a", "b/c", "b/d e+%", "ü/ß", "z"]
"""None is a directory of another: the peer keeps keys as files. The last is uploaded in parts, and never copied: its
ETag would differ then (`copies-keep-etags` in docs/s3.md)."""

PART = b"p" * (5 * 1024 * 1024)

Answer = dict[str, Any]
Call = tuple[str, Mapping[str, Any]]

TOLD = (
    "AcceptRanges", "Body", "CacheControl", "CommonPrefixes", "ContentDisposition", "ContentEncoding",
    "ContentLanguage",
    "ContentLength", "ContentRange", "ContentType", "Contents", "ContinuationToken", "Deleted", "Delimiter",
    "EncodingType", "Errors", "ETag", "IsTruncated", "KeyCount", "MaxKeys", "Metadata", "PartsCount", "Parts", "Prefix",
    "StartAfter", "TagCount", "TagSet", "ObjectSize", "StorageClass", "ChecksumCRC32", "ChecksumSHA256",
)  # fmt: skip
"""What of an answer has to be the same: all that does not tell of time, or of the server."""


def told(value: Any) -> Any:
    """*value* without what tells of time."""
    if isinstance(value, dict):
        return {name: told(each) for name, each in value.items() if name not in ("LastModified", "Owner", "Message")}
    if isinstance(value, list):
        return sorted((told(each) for each in value), key=str)
    return value.read() if hasattr(value, "read") else value


def upload(client: Any, arguments: Mapping[str, Any]) -> Any:
    """An object in one part, of bytes or of another object."""
    algorithm = arguments.get("ChecksumAlgorithm", "")
    made = {name: value for name, value in arguments.items() if name in ("Bucket", "Key")}
    sent = {name: value for name, value in arguments.items() if name in ("Body", "CopySource", "ChecksumAlgorithm")}
    condition = {name: value for name, value in arguments.items() if name.startswith("If")}
    described = {name: arguments[name] for name in arguments.keys() - {*made, *condition, "Body", "CopySource"}}
    made["UploadId"] = client.create_multipart_upload(**made, **described)["UploadId"]
    try:
        if "CopySource" in sent:
            part = client.upload_part_copy(**made, **sent, PartNumber=1)["CopyPartResult"]
        else:
            part = client.upload_part(**made, **sent, PartNumber=1)
        known = {name: part[name] for name in ("ETag", f"Checksum{algorithm}") if name in part}
        parts = {"Parts": [{"PartNumber": 1, **known}]}
        return client.complete_multipart_upload(**made, MultipartUpload=parts, **condition)
    except ClientError:
        client.abort_multipart_upload(**made)
        raise


def answer_of(client: Any, name: str, arguments: Mapping[str, Any]) -> Answer:
    """What *client* is answered, as far as it has to be the same."""
    try:
        if name.startswith("upload"):
            found = upload(client, {"Bucket": BUCKET, **arguments})
        else:
            found = getattr(client, name)(Bucket=BUCKET, **arguments)
    except ClientError as error:
        response = error.response
        return {"status": response["ResponseMetadata"]["HTTPStatusCode"], "code": response["Error"]["Code"]}
    result = {each: told(found[each]) for each in TOLD if each in found}
    if "CopyObjectResult" in found:
        result["ETag"] = found["CopyObjectResult"]["ETag"]
    return {"status": found["ResponseMetadata"]["HTTPStatusCode"], **result}


conditions = st.one_of(
    st.just({}),
    st.builds(lambda etag: {"IfMatch": etag}, st.sampled_from([*ETAGS, '"other"'])),
    st.builds(lambda etag: {"IfNoneMatch": etag}, st.sampled_from([*ETAGS, "*"])),
    st.builds(
        lambda name, year: {name: datetime(year, 1, 1, tzinfo=UTC)},
        st.sampled_from(["IfModifiedSince", "IfUnmodifiedSince"]),
        st.sampled_from([1998]),
    ),
)
write_conditions = st.sampled_from([{}, {}, {}, {"IfNoneMatch": "*"}, *({"IfMatch": etag} for etag in ETAGS[:2])])
ranges = st.sampled_from([{}, {}] + [{"Range": f"bytes={each}"} for each in ("0-", "2-4", "-3", "9-", "10-", "5-2")])
descriptions = st.sampled_from(
    [
        {},
        {"ContentType": "text/plain", "Metadata": {"colour": "red"}},
        {"CacheControl": "no-store", "ContentDisposition": "inline", "ContentLanguage": "de"},
        {"ContentEncoding": "gzip", "Metadata": {"Case": "Kept"}},
        {"Tagging": "a=b&c=d"},
        {"ChecksumAlgorithm": "SHA256"},
    ]
)


@st.composite
def calls(draw: st.DrawFn) -> list[tuple[str, str, dict[str, Any]]]:
    """A sequence of calls: the name, the key, and further arguments."""
    key = st.sampled_from(KEYS)
    source = st.sampled_from(KEYS[:-1]).map(_source)
    whole = st.just(KEYS[-1])
    body = st.sampled_from(BODIES)
    one = st.one_of(
        st.tuples(st.just("put_object"), key, st.builds(_merged, body.map(_body), descriptions, write_conditions)),
        st.tuples(st.just("get_object"), key, st.builds(_merged, ranges, conditions)),
        st.tuples(st.just("head_object"), key, conditions),
        st.tuples(st.just("delete_object"), key, st.sampled_from([{}, {}, *({"IfMatch": etag} for etag in ETAGS)])),
        st.tuples(st.just("upload"), whole, st.builds(_merged, body.map(_body), descriptions, write_conditions)),
        st.tuples(st.just("upload_part_of"), whole, st.builds(_merged, source, write_conditions)),
        st.tuples(st.just("delete_objects"), key, st.just({})),
        st.tuples(st.just("copy_object"), key, st.builds(_merged, source, _directives, _source_conditions)),
        st.tuples(st.just("put_object_tagging"), key, st.sampled_from([_tags(), _tags(a="b"), _tags(c="", d="e")])),
        st.tuples(st.just("get_object_tagging"), key, st.just({})),
        st.tuples(st.just("delete_object_tagging"), key, st.just({})),
        st.tuples(
            st.sampled_from(["list_objects", "list_objects_v2"]),
            st.sampled_from(["", "b/", "ü", "b/c/"]),
            st.builds(_merged, _delimiters, _amounts, _starts),
        ),
        st.tuples(st.just("get_object_attributes"), key, st.just({"ObjectAttributes": ["ETag", "ObjectSize"]})),
    )
    put = st.builds(_merged, body.map(_body), descriptions)
    begun = [("put_object", each, draw(put)) for each in draw(st.permutations(KEYS))[:3]]
    return [*begun, *draw(st.lists(one, min_size=4, max_size=14))]


def _merged(*parts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for part in parts for name, value in part.items()}


def _body(body: bytes) -> dict[str, Any]:
    return {"Body": body}


def _source(key: str) -> dict[str, Any]:
    return {"CopySource": key}


def _tags(**tags: str) -> dict[str, Any]:
    return {"Tagging": {"TagSet": [{"Key": name, "Value": value} for name, value in tags.items()]}}


_directives = st.sampled_from([{}, {"MetadataDirective": "REPLACE", "Metadata": {"new": "yes"}}])
_source_conditions = st.sampled_from(
    [{}, {}, *({f"CopySource{name}": ETAGS[1]} for name in ("IfMatch", "IfNoneMatch"))]
)
_delimiters = st.sampled_from([{}, {"Delimiter": "/"}])
_starts = st.sampled_from([{}, {}, *({"After": after} for after in ("", "b", "b/", "b/c", "ü/", "zz"))])
_amounts = st.sampled_from([{}, {"MaxKeys": 1}, {"MaxKeys": 2}, {"MaxKeys": 0}])


def the_peer_tells_the_standard_storage_class(_: str, ours: Answer, theirs: Answer) -> None:
    """Amazon's does not: the header is for other classes only."""
    if "ETag" in ours and ours["status"] < 300 and "ObjectSize" not in ours:
        ours.pop("StorageClass", None)
        theirs.pop("StorageClass", None)


def the_peer_gives_the_checksum_of_the_whole_with_a_part(_: str, ours: Answer, theirs: Answer) -> None:
    """Amazon's does not, unless the range is one that a checksum was computed of."""
    if ours["status"] == 206:
        for name in ("ChecksumCRC32", "ChecksumSHA256"):
            theirs.pop(name, None)


def the_peer_does_not_escape_what_it_is_asked_to(name: str, ours: Answer, theirs: Answer) -> None:
    """Of a listing with `encoding-type=url`, it tells neither that it is escaped, nor escapes what it was asked."""
    if name.startswith("list_objects") and "EncodingType" in ours:
        ours["Prefix"] = unquote(ours["Prefix"])
        for each in (ours, theirs):
            each.pop("EncodingType", None)


def the_peer_echoes_a_token_that_nobody_gave(name: str, ours: Answer, theirs: Answer) -> None:
    """It is the key to start after. To Amazon, a token is echoed that was given."""
    if name == "list_objects_v2" and "ContinuationToken" not in ours:
        theirs.pop("ContinuationToken", None)


def the_peer_gives_nothing_of_nothing(name: str, ours: Answer, theirs: Answer) -> None:
    """Of an empty object, the last three bytes are all of it to the peer, and none that there are to Amazon's."""
    if name == "get_object" and ours.get("code") == "InvalidRange" and theirs.get("ContentLength") == 0:
        theirs.clear()
        theirs.update(ours)


def the_peer_has_no_news_for_a_copy(name: str, ours: Answer, theirs: Answer) -> None:
    """A condition on the source that does not hold is 304 to the peer where it would be of a read; 412 to Amazon."""
    if name in ("copy_object", "upload_part_of") and ours.get("status") == 412 and theirs.get("status") == 304:
        theirs.update(ours)


def the_peer_is_content_if_what_must_match_is_not_there(name: str, ours: Answer, theirs: Answer) -> None:
    """A delete under a condition of what is not there is NoSuchKey to Amazon, as a write is to both."""
    if name == "delete_object" and ours.get("code") == "NoSuchKey" and theirs["status"] == 204:
        theirs.update(ours)


def we_compute_no_checksum_that_nobody_sent(name: str, ours: Answer, theirs: Answer) -> None:
    """The peer does, and so does Amazon: `no-default-checksum` in docs/s3.md."""
    if name.startswith("list_objects") and "Contents" in theirs:
        for mine, other in zip(ours.get("Contents", []), theirs["Contents"], strict=False):
            if other.get("ChecksumAlgorithm") == ["CRC64NVME"]:
                for each in (mine, other):
                    each.pop("ChecksumAlgorithm", None)
                    each.pop("ChecksumType", None)


DIFFERENCES: list[Callable[[str, Answer, Answer], None]] = [
    the_peer_tells_the_standard_storage_class,
    the_peer_gives_the_checksum_of_the_whole_with_a_part,
    the_peer_does_not_escape_what_it_is_asked_to,
    the_peer_echoes_a_token_that_nobody_gave,
    the_peer_gives_nothing_of_nothing,
    the_peer_has_no_news_for_a_copy,
    the_peer_is_content_if_what_must_match_is_not_there,
    we_compute_no_checksum_that_nobody_sent,
]
"""Each takes out of both answers what is known to differ."""


@pytest.fixture(scope="session")
def peer(servers: Servers) -> Iterator[Any]:
    where = servers.start("versitygw", versitygw.serve)
    where.make_bucket(BUCKET)
    client = boto3.client(
        "s3",
        endpoint_url=where.endpoint,
        aws_access_key_id=where.access_key_id,
        aws_secret_access_key=where.secret_access_key,
        region_name="us-east-1",
        config=Config(retries={"max_attempts": 0}, s3={"addressing_style": "path"}),
    )
    yield client
    client.close()


@pytest.fixture(scope="session")
def ours(s3: Any) -> Any:
    s3.create_bucket(Bucket=BUCKET)
    return s3


_examples = itertools.count(1)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls())
def test_the_same_calls_give_the_same_answers(
    ours: Any, peer: Any, sequence: list[tuple[str, str, dict[str, Any]]]
) -> None:
    root = f"main/{next(_examples)}/"
    for name, key, given_arguments in sequence:
        arguments = located(name, root, key, given_arguments)
        mine, other = answer_of(ours, name, arguments), answer_of(peer, name, arguments)
        for taken_out in DIFFERENCES:
            taken_out(name, mine, other)
        assert mine == other, (name, arguments)


def located(name: str, root: str, key: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """*arguments* as they are for an example of its own."""
    made = dict(arguments)
    if name.startswith("list_objects"):
        if (after := made.pop("After", None)) is not None:
            made["Marker" if name == "list_objects" else "StartAfter"] = root + after
        return {"Prefix": root + key, **made}
    if name == "delete_objects":
        return {"Delete": {"Objects": [{"Key": root + key}, {"Key": root + "none"}]}}
    if "CopySource" in made:
        made["CopySource"] = {"Bucket": BUCKET, "Key": root + made["CopySource"]}
    return {"Key": root + key, **made}
