"""How many files there are, without reading them: a tree has the number of rows of each of its segments."""

from __future__ import annotations

from headwater.engine.looking import commit_of
from headwater.index import Entry, Index, IndexRecord
from headwater.index.keys import after_prefix
from headwater.pipeline.frames import FILES
from headwater.pipeline.place import Place, opened
from headwater.pipeline.remote import served
from headwater.pipeline.snapshots import positions


def count_entries(place: Place, ref: str, *, prefix: str = "") -> int:
    """How many files the commit of *ref* has whose paths begin with *prefix*.

    Read are the tree, the segments at both ends of the prefix, and those that hold, or would, what changed since the
    tree was made; that is at most some 220 keys. It takes no Spark. Of a server, the same is read where it is.
    """
    if place.endpoint is not None:
        with served(place) as remote:
            return remote.run(_count(remote.index(remote.made_of(ref)), FILES + prefix))
    with opened(place) as driver:
        commit = driver.run(commit_of(driver.repository, ref))
        return driver.run(_count(driver.run(driver.repository.index_of(commit.id)), FILES + prefix))


async def _count(index: Index, prefix: str) -> int:
    tree = await index.tree()
    places = positions(tree, prefix)
    counts = tree.rows.column("count").to_pylist()
    found: int = sum(counts[place] for place in places)
    for place in {places.start, places.stop - 1} if places else ():
        if not (tree.firsts[place].startswith(prefix) and tree.lasts[place].startswith(prefix)):
            rows = await index.store.rows(tree.segments[place])
            stop = after_prefix(prefix)
            end = len(rows) if stop is None else rows.position(stop)
            found -= len(rows) - (end - rows.position(prefix))
    told = {key: edit for key, edit in index.delta.items() if key.startswith(prefix)}
    below = Index(index.store, IndexRecord(index.record.tree, None, own_in_tree=True))
    there = await below.get_many(list(told))
    return found + sum(isinstance(edit, Entry) for edit in told.values()) - sum(each is not None for each in there)
