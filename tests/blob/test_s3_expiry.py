"""Rules of expiry: one is set, and nothing else of what the bucket was told is changed.

The S3 server of the tests keeps no such rules, so this is a pretender, which is as strict as Amazon's about what a
request has to say.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator

import pytest

from headwater import blob
from headwater.blob import BlobStore, ExpiryRule, RuleSet
from tests.blob.pretender import Pretender, pretending

pytestmark = pytest.mark.anyio

OTHER = (
    "<Rule><ID>other &amp; older</ID><Filter><Prefix>logs/</Prefix></Filter><Status>Enabled</Status>"
    "<Transition><Days>3</Days><StorageClass>GLACIER</StorageClass></Transition></Rule>"
)
NAMELESS = "<Rule><Prefix/><Status>Disabled</Status><AbortIncompleteMultipartUpload/></Rule>"
RULE = ExpiryRule("ours", "lake/workspaces/", {"path.0": "a&b"}, 30)
SIZES = "x-amz-transition-default-minimum-object-size"


@pytest.fixture
def server() -> Iterator[Pretender]:
    with pretending() as server:
        yield server


@pytest.fixture
async def store(server: Pretender) -> AsyncIterator[BlobStore]:
    async with await blob.open(server.uri, credentials={"access_key_id": "k", "secret_access_key": "s"}) as store:
        yield store


def document(*rules: str) -> str:
    inner = "\n  ".join(rules)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<LifecycleConfiguration xmlns="x">\n {inner}</LifecycleConfiguration>'
    )


def rules_of(server: Pretender) -> list[str]:
    return re.findall("<Rule>.*?</Rule>", server.rules or "", re.DOTALL)


async def test_the_first_rule_of_a_bucket(server: Pretender, store: BlobStore) -> None:
    assert await store.expiry().put_rule(RULE) == RuleSet(0, replaced=False)
    (rule,) = rules_of(server)
    assert "<ID>ours</ID>" in rule
    assert "<Prefix>lake/workspaces/</Prefix><Tag><Key>path.0</Key><Value>a&amp;b</Value></Tag>" in rule
    assert "<Status>Enabled</Status><Expiration><Days>30</Days></Expiration>" in rule


async def test_other_rules_and_what_is_told_beside_them_stay_to_the_letter(server: Pretender, store: BlobStore) -> None:
    server.rules, server.told_with_rules = document(OTHER, NAMELESS), {SIZES: "varies_by_storage_class"}
    assert await store.expiry().put_rule(RULE) == RuleSet(2, replaced=False)
    assert rules_of(server)[:2] == [OTHER, NAMELESS]
    assert server.told_with_rules == {SIZES: "varies_by_storage_class"}
    changed = ExpiryRule("ours", "lake/workspaces/", {"path.0": "a&b"}, 7)
    assert await store.expiry().put_rule(changed) == RuleSet(2, replaced=True)
    assert rules_of(server)[:2] == [OTHER, NAMELESS]
    assert [rule for rule in rules_of(server) if "<ID>ours</ID>" in rule and "<Days>7</Days>" in rule]
    assert len(rules_of(server)) == 3


@pytest.mark.parametrize(
    "written",
    [
        document(OTHER).replace("<Rule>", "<a:Rule>").replace("</Rule>", "</a:Rule>"),
        document(OTHER) + "<More/>",
        document(OTHER, "<Unknown>1</Unknown>"),
        "no document",
    ],
)
async def test_what_is_not_understood_is_not_touched(server: Pretender, store: BlobStore, written: str) -> None:
    server.rules = written
    with pytest.raises(blob.NotSupported, match="not understood"):
        await store.expiry().put_rule(RULE)
    assert server.rules == written


async def test_other_stores_have_no_such_rules() -> None:
    async with await blob.open("mem://") as store:
        with pytest.raises(blob.NotSupported):
            store.expiry()
