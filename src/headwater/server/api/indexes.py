"""What a commit is made of: for who reads the storage by themselves, as the executors of Spark do."""

from __future__ import annotations

from headwater.engine.looking import commit_of
from headwater.index.delta import encode_inherited
from headwater.sdk.wire.replies import IndexOf
from headwater.server.api.calling import Call
from headwater.server.api.operation import EVERYTHING, REPOSITORY, Group, Needs

group = Group("indexes")


@group.operation(
    "GET",
    "/repositories/{repository}/refs/{ref}/index",
    "describeIndex",
    (Needs("fs:ListObjects", REPOSITORY), Needs("fs:ReadObject", EVERYTHING)),
)
async def describe_index(call: Call) -> IndexOf:
    """The tree of what is committed at a reference, and the few changes to be laid over it"""
    repository = await call.repository()
    commit = await commit_of(repository, call["ref"])
    index = await repository.index_of(commit.id)
    return IndexOf(repository.record.id, commit.id, index.record.tree or "", encode_inherited(index.delta))
