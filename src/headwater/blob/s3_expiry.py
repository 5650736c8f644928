"""Rules of expiry on S3, where setting one means to write all of them.

So the others are written back as they were read, to the letter. What cannot be told apart into rules is not touched.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from html import escape, unescape
from typing import TYPE_CHECKING

from obstore.store import S3Store

from headwater.blob.errors import BlobError, NotFound, NotSupported
from headwater.blob.expiry import ExpiryRule, RuleSet
from headwater.blob.s3_requests import S3Requests

if TYPE_CHECKING:
    import httpx

_ROOT = re.compile(
    r"\s*(?:<\?xml[^>]*\?>)?\s*<LifecycleConfiguration[^>]*?(?:/>|>(.*)</LifecycleConfiguration>)\s*", re.DOTALL
)
_RULE = re.compile(r"<Rule>.*?</Rule>", re.DOTALL)
_ID = re.compile(r"<ID>([^<]*)</ID>")

_SIZES = "x-amz-transition-default-minimum-object-size"
"""A setting that is not in the document, and falls back to its default if a request does not repeat it."""

_MEANINGS: Mapping[str, type[BlobError]] = {"NoSuchLifecycleConfiguration": NotFound}


class S3Expiry:
    """The rules of a bucket."""

    def __init__(self, store: S3Store, login: Mapping[str, str]) -> None:
        self._requests = S3Requests(store, login, _MEANINGS)

    async def put_rule(self, rule: ExpiryRule) -> RuleSet:
        """See `Expiry`."""
        place = await self._requests.place_of_bucket()
        bucket = self._requests.bucket
        what = f"the rules of bucket {bucket!r}"
        answer: httpx.Response | None = None
        try:
            answer = await self._requests.send("GET", place, "lifecycle=", what=what)
        except NotFound as error:
            if "NoSuchLifecycleConfiguration" not in str(error):
                raise
        before = [] if answer is None else _rules_in(answer.text, bucket)
        others = [each for each in before if _id_of(each) != rule.id]
        body = _document([*others, _written(rule)])
        signed = {"content-md5": base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()}
        if answer is not None and _SIZES in answer.headers:
            signed[_SIZES] = answer.headers[_SIZES]
        await self._requests.send("PUT", place, "lifecycle=", body=body, signed=signed, what=what)
        return RuleSet(len(others), len(others) < len(before))


def _rules_in(document: str, bucket: str) -> list[str]:
    """The rules of a document, each as it is written there."""
    root = _ROOT.fullmatch(document)
    within = "" if root is None else root[1] or ""
    if root is None or _RULE.sub("", within).strip():
        raise NotSupported(
            f"the rules of bucket {bucket!r} are written in a way that is not understood: set this one there"
        )
    return _RULE.findall(within)


def _id_of(rule: str) -> str | None:
    found = _ID.search(rule)
    return None if found is None else unescape(found[1])


def _document(rules: Sequence[str]) -> bytes:
    namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
    return f'<LifecycleConfiguration xmlns="{namespace}">{"".join(rules)}</LifecycleConfiguration>'.encode()


def _written(rule: ExpiryRule) -> str:
    tags = "".join(
        f"<Tag><Key>{escape(key)}</Key><Value>{escape(value)}</Value></Tag>" for key, value in rule.tags.items()
    )
    return (
        f"<Rule><ID>{escape(rule.id)}</ID><Filter><And><Prefix>{escape(rule.prefix)}</Prefix>{tags}</And></Filter>"
        f"<Status>Enabled</Status><Expiration><Days>{rule.days}</Days></Expiration></Rule>"
    )
