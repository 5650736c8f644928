"""What `blob.open` makes of a URI, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater import blob

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("uri", "named"),
    [
        ("ftp://host/path", "ftp"),
        ("no uri", "scheme"),
        ("file:///tmp?durability=perhaps", "durability"),
        ("file:///tmp?sync=yes", "sync"),
        ("file://host/path", "file:///"),
        ("file:///proc/nothing/here", "/proc/nothing/here"),
        ("file:///dev/null", "/dev/null"),
        ("mem://?page=3", "page"),
        ("mem://name/a//b", "prefix"),
        ("s3://", "bucket"),
        ("s3://bucket?bucket=other", "bucket"),
        ("s3://bucket:80/prefix", "bucket"),
        ("s3://bucket/a/../b", "prefix"),
        ("s3://bucket?endpoint=127.0.0.1:9000", "endpoint"),
        ("s3://bucket?endpoint=ftp://host", "endpoint"),
        ("s3://bucket?path_style=maybe", "path_style"),
        ("gs://bucket?region=eu", "region"),
        ("az://container?region=eu", "region"),
        ("s3://bucket?secret_access_key=hush", "secret_access_key"),
    ],
)
async def test_what_cannot_be_opened_is_refused_by_name(uri: str, named: str) -> None:
    with pytest.raises(blob.CannotOpen, match=named) as caught:
        await blob.open(uri)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("uri", "known"),
    [
        ("s3://bucket", "access_key_id"),
        ("gs://bucket", "service_account_key"),
        ("az://container?account=a", "account_key"),
    ],
)
async def test_an_unknown_credential_is_refused_without_showing_it(uri: str, known: str) -> None:
    with pytest.raises(blob.CannotOpen, match=f"passphrase.*{known}") as caught:
        await blob.open(uri, credentials={"passphrase": "hush"})
    assert "hush" not in str(caught.value)


async def test_credentials_that_the_client_cannot_use_are_refused_without_showing_them() -> None:
    with pytest.raises(blob.CannotOpen, match="service_account_key") as caught:
        await blob.open("gs://bucket", credentials={"service_account_key": "hush"})
    assert "hush" not in str(caught.value)


async def test_a_directory_takes_no_credentials(tmp_path: Path) -> None:
    with pytest.raises(blob.CannotOpen, match="credentials"):
        await blob.open(f"file://{tmp_path}", credentials={"access_key_id": "me"})


async def test_a_remote_store_is_opened_without_a_request() -> None:
    async with await blob.open("s3://bucket/lake?region=eu-west-1&endpoint=https://s3.invalid") as store:
        assert repr(store) == "<BlobStore s3://bucket/lake/>"


async def test_a_named_memory_is_one_store_for_all_who_hold_it() -> None:
    async with await blob.open("mem://lake") as one, await blob.open("mem://lake") as other:
        await one.put("object", b"")
        assert await other.stat("object") == await one.stat("object") is not None
    async with await blob.open("mem://another") as stranger:
        assert await stranger.stat("object") is None
