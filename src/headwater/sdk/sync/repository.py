"""A lake, and a repository in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Self, overload

from headwater.engine.check import Report
from headwater.engine.repository import Mode
from headwater.history import Verification
from headwater.sdk import aio
from headwater.sdk.describing import NO_METADATA
from headwater.sdk.results import Change, Commit, Committish, CommonPrefix, RefChange, Tag
from headwater.sdk.sync.branch import Branch
from headwater.sdk.sync.growing import CommitInProgress
from headwater.sdk.sync.ref import Ref
from headwater.sdk.sync.running import Runner


class Lake:
    """Repositories by name. Close it, or leave a `with`, when done. It may be used from any thread."""

    def __init__(self, runner: Runner, lake: aio.Lake) -> None:
        self._runner = runner
        self._lake = lake

    def create_repo(
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
        creating = self._lake.create_repo(
            name, namespace=namespace, default_branch=default_branch, read_only=read_only, metadata=metadata, mode=mode
        )
        return Repository(self._runner, self._runner.run(creating))

    def repo(self, name: str) -> Repository:
        """The repository *name*, or `RepositoryNotFound`."""
        return Repository(self._runner, self._runner.run(self._lake.repo(name)))

    def repos(self, prefix: str = "") -> Iterator[str]:
        """The names of all repositories, in order."""
        return self._runner.iterate(self._lake.repos(prefix))

    def delete_repo(self, name: str) -> None:
        """Forget the repository and all its records. Its objects stay, for garbage collection."""
        self._runner.run(self._lake.delete_repo(name))

    def close(self) -> None:
        """Let go of the stores. Content when that was done before."""
        if not self._runner.closed:
            self._runner.give_up()
            self._runner.run(self._lake.aclose())
            self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Repository:
    """Branches, tags and commits."""

    def __init__(self, runner: Runner, repository: aio.Repository) -> None:
        self._runner = runner
        self._repository = repository

    def __repr__(self) -> str:
        return repr(self._repository)

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
        return Branch(self._runner, self._repository.branch(name))

    def ref(self, ref: Committish) -> Ref:
        """What *ref* means: a branch with what is staged on it, a tag, a commit, or an expression such as `main~2`."""
        return Ref(self._runner, self._repository.ref(ref))

    def create_branch(self, name: str, source: Committish) -> Branch:
        """A branch at the commit *source*. What is staged on a branch of that name stays there."""
        return Branch(self._runner, self._runner.run(self._repository.create_branch(name, source)))

    def delete_branch(self, name: str) -> None:
        """Drop a branch, and what is staged on it."""
        self._runner.run(self._repository.delete_branch(name))

    def branches(self, prefix: str = "") -> Iterator[Branch]:
        """All branches whose names begin with *prefix*, in order."""
        return (Branch(self._runner, branch) for branch in self._runner.iterate(self._repository.branches(prefix)))

    def create_tag(
        self,
        name: str,
        source: Committish,
        *,
        message: str = "",
        metadata: Mapping[str, str] = NO_METADATA,
        signing_key: bytes | None = None,
    ) -> Tag:
        """A tag for the commit *source*, signed with an Ed25519 private key if there is one."""
        creating = self._repository.create_tag(
            name, source, message=message, metadata=metadata, signing_key=signing_key
        )
        return self._runner.run(creating)

    def verify_tag(self, name: str, trusted: Iterable[bytes]) -> Verification:
        """Whether the tag is signed by one of the *trusted* public keys: "good", "bad", "unknown" or "unsigned".

        It is looked at here, whoever keeps the tag: a signature is of its name, its commit and all that it says.
        """
        return self._runner.run(self._repository.verify_tag(name, trusted))

    def sign_commit(self, ref: Committish, signing_key: bytes) -> None:
        """Sign the commit that *ref* means with an Ed25519 private key. It is signed here: the key goes nowhere.

        A signature stands beside the commit, whose id covers all that it holds and all before it. Several may sign.
        """
        self._runner.run(self._repository.sign_commit(ref, signing_key))

    def verify_commit(self, ref: Committish, trusted: Iterable[bytes]) -> Verification:
        """Whether one of the *trusted* public keys signed that commit: "good", "bad", "unknown" or "unsigned"."""
        return self._runner.run(self._repository.verify_commit(ref, trusted))

    def delete_tag(self, name: str) -> None:
        self._runner.run(self._repository.delete_tag(name))

    def tags(self, prefix: str = "") -> Iterator[Tag]:
        """All tags whose names begin with *prefix*, in order."""
        return self._runner.iterate(self._repository.tags(prefix))

    def ref_log(self) -> Iterator[RefChange]:
        """How branches and tags were created, moved and deleted, newest first. Ordinary commits are not in it."""
        return self._runner.iterate(self._repository.ref_log())

    def undo_ref(self, change: str | RefChange) -> None:
        """Bring a branch or tag that was moved or deleted back to what it was before that change, or its id."""
        self._runner.run(self._repository.undo_ref(change))

    def check(self) -> Report:
        """Read anew all that branches and tags lead to, and tell what is not as it must be. It changes nothing."""
        return self._runner.run(self._repository.check())

    def commit(self, ref: Committish) -> Commit:
        """The commit that *ref* means."""
        return self._runner.run(self._repository.commit(ref))

    @overload
    def diff(
        self, left: Committish, right: Committish, *, three_dot: bool = ..., prefix: str = ...
    ) -> Iterator[Change]: ...
    @overload
    def diff(
        self, left: Committish, right: Committish, *, three_dot: bool = ..., prefix: str = ..., delimiter: str
    ) -> Iterator[Change | CommonPrefix]: ...
    def diff(
        self, left: Committish, right: Committish, *, three_dot: bool = False, prefix: str = "", delimiter: str = ""
    ) -> Iterator[Change] | Iterator[Change | CommonPrefix]:
        """What is different on the way from *left* to *right*, both as committed, in the order of paths.

        *three_dot* compares with where the two parted: what right did, whatever left did since.
        """
        pages = self._repository.diff(left, right, three_dot=three_dot, prefix=prefix, delimiter=delimiter)
        return self._runner.iterate(pages)

    def new_append_id(self) -> str:
        """An id to append under, for whoever wants to keep it before the append is made."""
        return self._repository.new_append_id()

    def read_file(
        self, path: str, *, since: Committish | None = None, until: Committish | None = None
    ) -> Iterator[bytes]:
        """What was added to *path* after the commit *since* up to *until*, in chunks: all of it without *since*.

        *until* is the default branch unless told otherwise, and of a branch includes what is staged. If the file was
        put or deleted in between, it is what came after. `NotAnAncestor` if *since* did not lead to *until*.
        """
        return self._runner.iterate(self._repository.read_file(path, since=since, until=until))

    def start_commit(self, branch: str, message: str = "", *, parent: Committish | None = None) -> CommitInProgress:
        """Begin a commit that is gathered beside *branch*, for as long as it takes, and by any number of processes.

        With a *parent*, any commit, that is what it will be on top of: then there may be no such branch yet.
        """
        begun = self._runner.run(self._repository.start_commit(branch, message, parent=parent))
        return CommitInProgress(self._runner, begun)

    def commit_in_progress(self, id: str, message: str = "") -> CommitInProgress:  # noqa: A002  (it is one)
        """The commit in progress of this id, begun by whomever; `NoSuchCommitInProgress` if it is not, any more."""
        return CommitInProgress(self._runner, self._runner.run(self._repository.commit_in_progress(id, message)))

    def commits_in_progress(self) -> list[CommitInProgress]:
        """All commits in progress, in the order in which they were begun."""
        begun = self._runner.run(self._repository.commits_in_progress())
        return [CommitInProgress(self._runner, each) for each in begun]

    def history(self, path: str) -> Iterator[Commit]:
        """The commits of the default branch that changed *path*, newest first."""
        return self._runner.iterate(self._repository.history(path))

    def is_ancestor(self, older: Committish, newer: Committish) -> bool:
        """Whether *older* is *newer* or led to it along first parents: the clocks of the two tell, without a look."""
        return self._runner.run(self._repository.is_ancestor(older, newer))

    def commits(self, older: Committish, newer: Committish) -> Iterator[Commit]:
        """The commits after *older* up to *newer*, newest first, along first parents. `NotAnAncestor` if none are."""
        return self._runner.iterate(self._repository.commits(older, newer))
