"""Repositories: created, listed, described, deleted."""

from __future__ import annotations

import msgspec

from headwater.engine.errors import BadRequest
from headwater.engine.repository import Mode, RepositoryRecord
from headwater.server.addresses import namespace_from_client, namespace_to_client
from headwater.server.api.answers import Page, PageQuery, page_of
from headwater.server.api.calling import Call
from headwater.server.api.operation import ALL, REPOSITORY, Group, Needs, needs
from headwater.server.services import Services

group = Group("repositories")

_NEW = "arn:lakefs:fs:::repository/{body.name}"
_NEW_NAMESPACE = "arn:lakefs:fs:::namespace/{body.storage_namespace}"


class Repository(msgspec.Struct, frozen=True):
    """A repository, and where its objects are."""

    id: str
    creation_date: int
    default_branch: str
    storage_namespace: str
    read_only: bool
    mode: Mode
    metadata: dict[str, str]


class RepositoryCreation(msgspec.Struct, frozen=True):
    """A repository to be."""

    name: str
    storage_namespace: str = ""
    default_branch: str = "main"
    storage_id: str = ""
    sample_data: bool = False
    read_only: bool = False
    mode: Mode = "object"
    metadata: dict[str, str] = {}


class RepositoryListQuery(PageQuery, frozen=True):
    """Which page of repositories: those that have *search* in their names, if it is given."""

    search: str = ""


class CreationQuery(msgspec.Struct, frozen=True):
    """Whether the repository is to have no branch and no commit, for references to be restored into."""

    bare: bool = False


class DeletionQuery(msgspec.Struct, frozen=True):
    """Whether even a repository that takes no writes is to be deleted."""

    force: bool = False


def repository_answer(services: Services, record: RepositoryRecord) -> Repository:
    return Repository(
        id=record.name,
        creation_date=record.created // 1000,
        default_branch=record.default_branch,
        storage_namespace=namespace_to_client(services.storage, record.namespace),
        read_only=record.read_only,
        mode=record.mode,
        metadata=record.metadata,
    )


@group.operation("GET", "/repositories", "listRepositories", needs("fs:ListRepositories", ALL))
async def list_repositories(call: Call, query: RepositoryListQuery) -> Page[Repository]:
    """List repositories"""
    lake, size = call.services.lake, query.size
    found = await lake.list(prefix=query.prefix, after=query.after, amount=size + 1, containing=query.search)
    return page_of(
        found, query.size, lambda record: repository_answer(call.services, record), lambda record: record.name
    )


@group.operation(
    "POST",
    "/repositories",
    "createRepository",
    (Needs("fs:CreateRepository", _NEW), Needs("fs:AttachStorageNamespace", _NEW_NAMESPACE)),
    status=201,
)
async def create_repository(call: Call, query: CreationQuery, body: RepositoryCreation) -> Repository:
    """Create a repository, with one branch and a first, empty commit"""
    if body.sample_data:
        raise BadRequest("sample_data: this server has none; create the repository without")
    if body.storage_id:
        raise BadRequest(f"storage_id {body.storage_id!r}: this server has one storage, which has no id")
    services = call.services
    namespace = namespace_from_client(services.storage, body.name, body.storage_namespace)
    await _check_free(call, body.name, namespace)
    created = await services.lake.create(
        body.name,
        namespace,
        default_branch=body.default_branch or "main",
        committer=call.caller.name,
        read_only=body.read_only,
        metadata=body.metadata,
        mode=body.mode,
        bare=query.bare,
    )
    return repository_answer(services, created.record)


async def _check_free(call: Call, name: str, namespace: str) -> None:
    """Raise if some repository has *namespace*, or one around or inside it: each would take the objects of the other
    for garbage. Which one, only those are told who may know. That the *name* itself may be taken is told elsewhere."""
    after = ""
    while page := await call.services.lake.list(after=after):
        for record in page:
            ours, theirs = f"{namespace}/", f"{record.namespace}/"
            if record.name != name and (ours.startswith(theirs) or theirs.startswith(ours)):
                may_know = call.caller.may("fs:ReadRepository", f"arn:lakefs:fs:::repository/{record.name}")
                whose = f"that of repository {record.name!r}" if may_know else "another repository's"
                raise BadRequest(f"storage_namespace: it is {whose}: choose another")
        after = page[-1].name


@group.operation("GET", "/repositories/{repository}", "getRepository", needs("fs:ReadRepository", REPOSITORY))
async def get_repository(call: Call) -> Repository:
    """Describe a repository"""
    repository = await call.services.repositories.fresh(call["repository"])
    return repository_answer(call.services, repository.record)


@group.operation(
    "DELETE",
    "/repositories/{repository}",
    "deleteRepository",
    needs("fs:DeleteRepository", REPOSITORY),
    status=204,
)
async def delete_repository(call: Call, query: DeletionQuery) -> None:
    """Delete a repository and its history; its objects stay until garbage is collected"""
    name = call["repository"]
    lake = call.services.lake
    if query.force and (await lake.record(name)).read_only:
        await lake.set_read_only(name, read_only=False)
    repository = await call.services.repositories.fresh(name)
    await lake.delete(name)
    await call.services.rules.forget(repository)
    await call.services.pulls.forget(repository)
    await call.services.tasks.forget(repository.record.id)
    await call.services.actions.forget(repository)
    call.services.repositories.forget(name)


@group.operation(
    "GET", "/repositories/{repository}/metadata", "getRepositoryMetadata", needs("fs:ReadRepository", REPOSITORY)
)
async def get_repository_metadata(call: Call) -> dict[str, str]:
    """The metadata of a repository"""
    return dict((await call.services.repositories.fresh(call["repository"])).record.metadata)
