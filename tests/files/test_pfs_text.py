"""The examples of the text that growing files come from: clocks, directories, and reading before all is known."""

from __future__ import annotations

from itertools import pairwise

import pytest

from headwater import blob, kv
from headwater.engine import branches, read, write
from headwater.engine.commit import commit
from headwater.engine.lake import Lake
from headwater.engine.limits import INLINE_BLOCKS
from headwater.engine.repository import Repository
from headwater.files.append import append
from headwater.files.directories import Directory, list_dir, walk
from headwater.history import NotAnAncestor, between, is_first_parent_ancestor
from headwater.outside import real_outside
from headwater.testing.counting import CountingStore
from headwater.testing.counting_blobs import CountingBlobs
from tests.files.worlds import add, add_and_commit, description, repository_of

pytestmark = pytest.mark.anyio


class Counted:
    """An append repository over stores that count."""

    def __init__(self, keys: CountingStore, blobs: CountingBlobs) -> None:
        self.keys = keys
        self.blobs = blobs
        self.repository: Repository


@pytest.fixture
async def counted() -> Counted:
    found = Counted(CountingStore(await kv.open("mem://")), CountingBlobs(await blob.open("mem://")))

    async def open_blobs(_: str) -> blob.BlobStore:
        return found.blobs

    found.repository = await Lake(found.keys, open_blobs, real_outside()).create("files", "mem://", mode="append")
    return found


async def test_the_clocks_of_foo_bar_and_buzz_tell_who_came_before_whom(counted: Counted) -> None:
    """Three commits on each of three branches, each branch off the middle of the one before."""
    repository, parent = counted.repository, "main"
    lines: dict[str, list[str]] = {}
    for name in ("foo", "bar", "buzz"):
        await branches.create_branch(repository, name, parent)
        lines[name] = [await add_and_commit(repository, name, **{f"{name}{number}": "x"}) for number in range(3)]
        parent = lines[name][1]
    leading = {
        "foo": lines["foo"],
        "bar": [*lines["foo"][:2], *lines["bar"]],
        "buzz": [*lines["foo"][:2], *lines["bar"][:2], *lines["buzz"]],
    }
    everything = [made for line in lines.values() for made in line]
    found = {made: await repository.commits.get(made) for made in everything}
    for name, line in lines.items():
        for newer in line:
            before = leading[name][: leading[name].index(newer) + 1]
            for older in everything:
                with counted.keys.counted() as trips:
                    told = await is_first_parent_ancestor(repository.commits, found[older], found[newer])
                assert told == (older in before)
                assert trips.total == 0  # the clocks tell
    one, other = found[lines["foo"][0]], found[lines["buzz"][2]]
    assert [each.incarnation for each in other.clock.components[-2:]] == [
        found[lines[name][0]].clock.last.incarnation for name in ("bar", "buzz")
    ]
    with counted.keys.counted() as trips:
        ids = [each.id async for batch in between(repository.commits, one, other) for each in batch]
    assert ids == [*reversed(lines["buzz"]), *reversed(lines["bar"][:2]), lines["foo"][1]]
    assert trips.scan <= 3  # one for each branch on the way
    with pytest.raises(NotAnAncestor):
        [batch async for batch in between(repository.commits, found[lines["foo"][2]], other)]


async def test_one_path_is_in_three_directories_with_what_is_below_each() -> None:
    repository = await repository_of()
    await add(repository, **{"foo/bar/buzz": "12345"})
    for ref in ("main", "main@"):
        if ref == "main@":
            await commit(repository, "main", description())
        for path, child in (("", "foo"), ("foo", "foo/bar")):
            assert await list_dir(repository, ref, path, totals=True) == [Directory(child, 5, 1)]
        (file,) = await list_dir(repository, ref, "foo/bar")
        assert file == await read.stat(repository, ref, "foo/bar/buzz")
    await add(repository, **{"foo/bar/second": "1", "foo/beside": "22"})
    assert await list_dir(repository, "main", "", totals=True) == [Directory("foo", 8, 3)]
    assert [each.path async for each in walk(repository, "main")] == ["", "foo", "foo/bar"]


async def test_a_directory_is_there_as_long_as_it_holds_something() -> None:
    repository = await repository_of()
    await add(repository, **{"foo/bar/buzz": "1", "foo/beside": "1"})
    await write.delete(repository, "main", ["foo/bar/buzz"])
    assert [each.path async for each in walk(repository, "main")] == ["", "foo"]
    await write.delete(repository, "main", ["foo/beside"])
    assert await list_dir(repository, "main") == []


async def test_the_first_byte_is_sent_before_the_last_block_is_known(counted: Counted) -> None:
    blocks = 3 * INLINE_BLOCKS * INLINE_BLOCKS
    for number in range(blocks):
        await append(counted.repository, "main", "log", b"%04d" % number)
        if number % 16 == 15:
            await commit(counted.repository, "main", description())
    fresh = Lake(counted.keys, lambda _: _answer(counted.blobs), real_outside())
    repository = await fresh.open("files")
    with counted.blobs.counted() as requests:
        reading = await read.get(repository, "main", "log")
        chunks = reading.chunks
        assert await anext(chunks) == b"0000"
        early = requests.get
        rest = [chunk async for chunk in chunks]
    assert early <= 4  # a list of each level, and one block
    assert len(rest) == blocks - 1
    assert all(int(one) < int(other) for one, other in pairwise(rest))
    assert requests.get >= blocks + 4


async def _answer(blobs: blob.BlobStore) -> blob.BlobStore:
    return blobs
