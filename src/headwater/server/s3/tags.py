"""Tags of an object: as a header, as a document, and as they are kept."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

from headwater.index import Entry
from headwater.server.http import Response
from headwater.server.s3.bodies import checked_document
from headwater.server.s3.call import Call
from headwater.server.s3.errors import S3Error
from headwater.server.s3.getting import check_version
from headwater.server.s3.limits import MAX_TAG_KEY, MAX_TAG_VALUE, MAX_TAGS
from headwater.server.s3.metadata import TAGS
from headwater.server.s3.xml import CONTENT_TYPE, document, element, text


async def get_tagging(call: Call) -> Response:
    """GetObjectTagging"""
    call.require("fs:ReadObject", key=call.target.key)
    check_version(call)
    place, path = call.place(await call.repository())
    tags = tags_of(await place.stat(path))
    rows = [element("Tag", text("Key", name), text("Value", value)) for name, value in tags.items()]
    return Response(200, (CONTENT_TYPE,), document("Tagging", element("TagSet", *rows)))


async def put_tagging(call: Call) -> Response:
    """PutObjectTagging"""
    call.require("fs:WriteObject", key=call.target.key)
    check_version(call)
    root = await checked_document(call, "Tagging")
    sets = [child for child in root if child.name == "TagSet"]
    if len(sets) != 1:
        raise S3Error("MalformedXML", "Tagging: it must have one element TagSet")
    await _replace(call, _checked([(tag.need("Key"), tag.need("Value")) for tag in sets[0]]))
    return Response(200)


async def delete_tagging(call: Call) -> Response:
    """DeleteObjectTagging"""
    call.require("fs:WriteObject", key=call.target.key)
    check_version(call)
    await _replace(call, "")
    return Response(204)


def tags_of(entry: Entry) -> Mapping[str, str]:
    return dict(parse_qsl(entry.metadata.get(TAGS, ""), keep_blank_values=True))


def tags_in_header(call: Call) -> str:
    """The tags that `x-amz-tagging` gives an object, as they are kept."""
    told = call.header("x-amz-tagging")
    if not told:
        return ""
    return _checked(parse_qsl(told, keep_blank_values=True))


async def _replace(call: Call, tags: str) -> None:
    def change(metadata: Mapping[str, str]) -> Mapping[str, str]:
        others = {name: value for name, value in metadata.items() if name != TAGS}
        return {**others, TAGS: tags} if tags else others

    place, path = call.place(await call.repository())
    await place.check_writable()
    await place.redescribe(path, change)


def _checked(tags: list[tuple[str, str]]) -> str:
    """*tags* as they are kept, sorted; else what S3 answers to those that cannot be."""
    if len(tags) > MAX_TAGS:
        raise S3Error("InvalidTag", f"Object tags cannot be greater than {MAX_TAGS}")
    if len({name for name, _ in tags}) < len(tags):
        raise S3Error("InvalidTag", "Cannot provide multiple Tags with the same key")
    for name, value in tags:
        if not 1 <= len(name) <= MAX_TAG_KEY:
            raise S3Error(
                "InvalidTag", f"The TagKey you have provided is invalid: it has 1 to {MAX_TAG_KEY} characters"
            )
        if len(value) > MAX_TAG_VALUE:
            raise S3Error("InvalidTag", f"The TagValue you have provided is invalid: it has {MAX_TAG_VALUE} at most")
    return urlencode(sorted(tags))
