"""What a commit is made of: for who reads the storage by themselves, and writes there, as the executors of Spark do."""

from __future__ import annotations

from functools import partial

import msgspec

from headwater.engine.adopting import Proposal, adopt
from headwater.engine.looking import commit_of
from headwater.engine.repository import Repository
from headwater.index.delta import encode_inherited
from headwater.sdk.wire.replies import IndexOf
from headwater.server.addresses import check_addresses
from headwater.server.api.answers import commit_answer, encode
from headwater.server.api.calling import Call
from headwater.server.api.commits import committing, description_of
from headwater.server.api.imports import ImportCreationResponse, ImportQuery, ImportStatus, import_answer
from headwater.server.api.operation import ANYWHERE, BRANCH, EVERYTHING, REPOSITORY, Group, Needs
from headwater.server.tasks import Progress

group = Group("indexes")

KIND = "tree"

_TREES = "/repositories/{repository}/branches/{branch}/trees"
_MAY_PROPOSE = (
    Needs("fs:CreateMetaRange", REPOSITORY),
    Needs("fs:CreateCommit", BRANCH),
    Needs("fs:ReadObject", EVERYTHING),
    Needs("fs:WriteObject", EVERYTHING),
    Needs("fs:DeleteObject", EVERYTHING),
    Needs("fs:ImportFromStorage", ANYWHERE),
)


class TreeCreation(msgspec.Struct, frozen=True):
    """A tree to be committed, made of the commit *base*; none is that of nothing. If it is *relocated*, entries of the
    base lie elsewhere, and nothing else is new."""

    base: str
    message: str
    tree: str | None = None
    relocated: bool = False
    metadata: dict[str, str] = {}


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


@group.operation("POST", _TREES, "proposeTree", _MAY_PROPOSE, status=202)
async def propose_tree(call: Call, body: TreeCreation) -> ImportCreationResponse:
    """Begin to look at a tree that was written to the storage, and to commit it if it is as it must be"""
    repository = await call.repository()
    branch = call["branch"]
    repository.check_writable()
    await call.services.rules.check_committable(repository, branch)
    await repository.branches.fresh(branch)
    work = partial(_adopt, call, repository, body)
    return ImportCreationResponse(await call.services.tasks.start(KIND, repository.record.id, work, subject=branch))


@group.operation("GET", _TREES, "proposeTreeStatus", _MAY_PROPOSE)
async def propose_tree_status(call: Call, query: ImportQuery) -> ImportStatus:
    """How the commit of a tree stands, and how many of its rows were looked at"""
    scope = (await call.repository()).record.id
    return import_answer(await call.services.tasks.find(KIND, scope, query.id, subject=call["branch"]))


@group.operation("DELETE", _TREES, "proposeTreeCancel", _MAY_PROPOSE, status=204)
async def propose_tree_cancel(call: Call, query: ImportQuery) -> None:
    """Stop the commit of a tree, unless it is there already"""
    scope = (await call.repository()).record.id
    await call.services.tasks.cancel(KIND, scope, query.id, subject=call["branch"])


async def _adopt(call: Call, repository: Repository, body: TreeCreation, progress: Progress) -> bytes:
    branch = call["branch"]
    description = description_of(call, body.message, body.metadata)
    async with call.around(repository, committing(branch, description)) as done:
        made = await adopt(
            repository,
            branch,
            Proposal(body.base, body.tree, body.relocated),
            description,
            importable=partial(check_addresses, call.services.settings),
            looked=progress.add,
            check=done.check,
        )
        done.commit = made.id
    return encode(commit_answer(made))
