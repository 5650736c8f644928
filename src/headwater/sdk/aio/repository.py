"""A lake, and a repository in it, with `await`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from types import TracebackType
from typing import Self, overload

from headwater.engine.findings import Report
from headwater.engine.repository import Mode
from headwater.history import Verification, sign, verify, verify_any
from headwater.sdk.aio.branch import Branch
from headwater.sdk.aio.growing import CommitInProgress
from headwater.sdk.aio.ref import Ref
from headwater.sdk.describing import NO_METADATA
from headwater.sdk.paging import Pages, gathered
from headwater.sdk.ports import Found, LakePort, RepositoryPort
from headwater.sdk.results import (
    Change,
    Commit,
    Committish,
    CommonPrefix,
    RefChange,
    Tag,
    expression_of,
)


class Lake:
    """Repositories by name. Close it, or leave an `async with`, when done."""

    def __init__(self, lake: LakePort) -> None:
        self._lake = lake

    async def create_repo(
        self,
        name: str,
        *,
        namespace: str | None = None,
        default_branch: str = "main",
        read_only: bool = False,
        metadata: Mapping[str, str] = NO_METADATA,
        mode: Mode = "object",
    ) -> Repository:
        """A new repository with one branch and a first, empty commit.

        *namespace* is the URI where its objects are to be; by default a place in the lake's storage. With *mode*
        `append` its files grow by appends.
        """
        created = await self._lake.create_repo(
            name, namespace=namespace, default_branch=default_branch, read_only=read_only, metadata=metadata, mode=mode
        )
        return Repository(created)

    async def repo(self, name: str) -> Repository:
        """The repository *name*, or `RepositoryNotFound`."""
        return Repository(await self._lake.repo(name))

    def repos(self, prefix: str = "") -> Pages[str]:
        """The names of all repositories, in order."""
        return Pages(partial(self._lake.repos, prefix))

    async def delete_repo(self, name: str) -> None:
        """Forget the repository and all its records. Its objects stay, for garbage collection."""
        await self._lake.delete_repo(name)

    async def aclose(self) -> None:
        await self._lake.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Repository:
    """Branches, tags and commits."""

    def __init__(self, repository: RepositoryPort) -> None:
        self._repository = repository

    def __repr__(self) -> str:
        return f"<Repository {self.name}>"

    @property
    def name(self) -> str:
        return self._repository.name

    @property
    def namespace(self) -> str:
        """Where its objects are."""
        return self._repository.namespace

    @property
    def default_branch(self) -> str:
        return self._repository.default_branch

    @property
    def metadata(self) -> Mapping[str, str]:
        return self._repository.metadata

    @property
    def mode(self) -> Mode:
        """Whether its files are objects, each put as a whole, or grow by appends."""
        return self._repository.mode

    def branch(self, name: str) -> Branch:
        """The branch *name*, which is first looked at when it is used."""
        return Branch(self._repository, name)

    def ref(self, ref: Committish) -> Ref:
        """What *ref* means: a branch with what is staged on it, a tag, a commit, or an expression such as `main~2`."""
        return Ref(self._repository, expression_of(ref))

    async def create_branch(self, name: str, source: Committish) -> Branch:
        """A branch at the commit *source*. What is staged on a branch of that name stays there."""
        await self._repository.refs.create_branch(name, expression_of(source))
        return self.branch(name)

    async def delete_branch(self, name: str) -> None:
        """Drop a branch, and what is staged on it."""
        await self._repository.refs.delete_branch(name)

    def branches(self, prefix: str = "") -> Pages[Branch]:
        """All branches whose names begin with *prefix*, in order."""

        async def fetch(after: str) -> Found[Branch]:
            names, following = await self._repository.refs.branches(prefix, after)
            return [self.branch(name) for name in names], following

        return Pages(fetch)

    async def create_tag(
        self,
        name: str,
        source: Committish,
        *,
        message: str = "",
        metadata: Mapping[str, str] = NO_METADATA,
        signing_key: bytes | None = None,
    ) -> Tag:
        """A tag for the commit *source*, signed with an Ed25519 private key if there is one."""
        return await self._repository.refs.create_tag(
            name, expression_of(source), message=message, metadata=metadata, signing_key=signing_key
        )

    async def verify_tag(self, name: str, trusted: Iterable[bytes]) -> Verification:
        """Whether the tag is signed by one of the *trusted* public keys: "good", "bad", "unknown" or "unsigned".

        It is looked at here, whoever keeps the tag: a signature is of its name, its commit and all that it says.
        """
        tag = await self._repository.refs.signed_tag(name)
        return verify("tag", tag.id, tag.signature, trusted)

    async def sign_commit(self, ref: Committish, signing_key: bytes) -> None:
        """Sign the commit that *ref* means with an Ed25519 private key. It is signed here: the key goes nowhere.

        A signature stands beside the commit, whose id covers all that it holds and all before it. Several may sign.
        """
        commit, _ = await self._repository.refs.signatures(expression_of(ref))
        await self._repository.refs.add_signature(commit, sign("commit", commit, signing_key))

    async def verify_commit(self, ref: Committish, trusted: Iterable[bytes]) -> Verification:
        """Whether one of the *trusted* public keys signed that commit: "good", "bad", "unknown" or "unsigned"."""
        commit, signatures = await self._repository.refs.signatures(expression_of(ref))
        return verify_any("commit", commit, signatures, trusted)

    async def delete_tag(self, name: str) -> None:
        await self._repository.refs.delete_tag(name)

    def tags(self, prefix: str = "") -> Pages[Tag]:
        """All tags whose names begin with *prefix*, in order."""
        return Pages(partial(self._repository.refs.tags, prefix))

    def ref_log(self) -> Pages[RefChange]:
        """How branches and tags were created, moved and deleted, newest first. Ordinary commits are not in it."""
        return Pages(self._repository.refs.ref_log)

    async def undo_ref(self, change: str | RefChange) -> None:
        """Bring a branch or tag that was moved or deleted back to what it was before that change, or its id."""
        await self._repository.refs.undo_ref(change if isinstance(change, str) else change.id)

    async def check(self) -> Report:
        """Read anew all that branches and tags lead to, and tell what is not as it must be. It changes nothing."""
        return await self._repository.refs.check()

    async def commit(self, ref: Committish) -> Commit:
        """The commit that *ref* means."""
        return await self._repository.reading.commit(expression_of(ref))

    @overload
    def diff(
        self, left: Committish, right: Committish, *, three_dot: bool = ..., prefix: str = ...
    ) -> Pages[Change]: ...
    @overload
    def diff(
        self, left: Committish, right: Committish, *, three_dot: bool = ..., prefix: str = ..., delimiter: str
    ) -> Pages[Change | CommonPrefix]: ...
    def diff(
        self, left: Committish, right: Committish, *, three_dot: bool = False, prefix: str = "", delimiter: str = ""
    ) -> Pages[Change] | Pages[Change | CommonPrefix]:
        """What is different on the way from *left* to *right*, both as committed, in the order of paths.

        *three_dot* compares with where the two parted: what right did, whatever left did since.
        """
        ask = partial(
            self._repository.reading.diff,
            expression_of(left),
            expression_of(right),
            prefix,
            delimiter,
            three_dot=three_dot,
        )
        return Pages(ask)

    def new_append_id(self) -> str:
        """An id to append under, for whoever wants to keep it before the append is made."""
        return self._repository.files.new_append_id()

    def read_file(self, path: str, *, since: Committish | None = None, until: Committish | None = None) -> Pages[bytes]:
        """What was added to *path* after the commit *since* up to *until*, in chunks: all of it without *since*.

        *until* is the default branch unless told otherwise, and of a branch includes what is staged. If the file was
        put or deleted in between, it is what came after. `NotAnAncestor` if *since* did not lead to *until*.
        """
        older = None if since is None else expression_of(since)
        newer = self.default_branch if until is None else expression_of(until)
        return gathered(self._repository.files.read_file(path, older, newer), 1)

    async def start_commit(
        self, branch: str, message: str = "", *, parent: Committish | None = None
    ) -> CommitInProgress:
        """Begin a commit that is gathered beside *branch*, for as long as it takes, and by any number of processes.

        With a *parent*, any commit, that is what it will be on top of: then there may be no such branch yet.
        """
        base = None if parent is None else expression_of(parent)
        return CommitInProgress(self._repository, await self._repository.files.start(branch, base), message)

    async def commit_in_progress(self, id: str, message: str = "") -> CommitInProgress:  # noqa: A002  (it is one)
        """The commit in progress of this id, begun by whomever; `NoSuchCommitInProgress` if it is not, any more."""
        return CommitInProgress(self._repository, await self._repository.files.find(id), message)

    async def commits_in_progress(self) -> list[CommitInProgress]:
        """All commits in progress, in the order in which they were begun."""
        begun = await self._repository.files.list_open()
        return [CommitInProgress(self._repository, each) for each in begun]

    def history(self, path: str) -> Pages[Commit]:
        """The commits of the default branch that changed *path*, newest first."""
        return self.ref(self.default_branch).history(path)

    async def is_ancestor(self, older: Committish, newer: Committish) -> bool:
        """Whether *older* is *newer* or led to it along first parents: the clocks of the two tell, without a look."""
        return await self._repository.reading.is_ancestor(expression_of(older), expression_of(newer))

    def commits(self, older: Committish, newer: Committish) -> Pages[Commit]:
        """The commits after *older* up to *newer*, newest first, along first parents. `NotAnAncestor` if none are."""
        return gathered(self._repository.reading.between(expression_of(older), expression_of(newer)))
