"""A repository's history as branches make it, next to the naive answers to every question about it."""

from __future__ import annotations

import hashlib
from itertools import count

from hypothesis import settings
from hypothesis import strategies as st

from headwater import kv
from headwater.history import Commit, CommitStore, newest_first
from headwater.kv import Store
from headwater.testing.counting import CountingStore

PARTITION = b"repo/tests"

PATIENTLY = settings(deadline=None)
"""For properties of whole histories: how long one takes is for the machine to say."""

ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["commit", "commit", "commit", "branch", "merge", "move", "recreate", "lose"]),
        st.integers(0, 99),
        st.integers(0, 99),
    ),
    max_size=30,
)
"""What happens to a history: (what, to which branch, with which commit)."""


class World:
    """Branches, every commit that landed, and those that lost a race; in a store that counts.

    Times grow from commit to commit, or are *scattered*.
    """

    def __init__(self, store: Store, *, scattered: bool = False) -> None:
        self._scattered = scattered
        self.store = CountingStore(store)
        self.commits = CommitStore(self.store, PARTITION)
        self.heads: list[Commit] = []
        self.incarnations: list[bytes] = []
        self.landed: dict[str, Commit] = {}
        self.lost: dict[str, Commit] = {}
        self._numbers = count()

    @classmethod
    async def begin(cls, store: Store | None = None, *, scattered: bool = False) -> World:
        """With one commit, on branch 0."""
        world = cls(store or await kv.open("mem://"), scattered=scattered)
        world.heads.append(await world._land([], incarnation := world.new_incarnation()))
        world.incarnations.append(incarnation)
        return world

    @classmethod
    async def after(cls, actions: list[tuple[str, int, int]], nested: int = 0, *, scattered: bool = False) -> World:
        """A world with *nested* branches off branches, one commit each, to which *actions* have happened."""
        world = await cls.begin(scattered=scattered)
        for _ in range(nested):
            world.move(0, world.heads[0])
            await world.commit(0)
        for action in actions:
            await world.act(*action)
        return world

    async def act(self, what: str, which: int, commit: int) -> None:
        branch = which % len(self.heads)
        chosen = self.any(commit)
        match what:
            case "commit":
                await self.commit(branch)
            case "branch":
                self.branch(chosen)
            case "merge" if chosen != self.heads[branch]:
                await self.commit(branch, merging=chosen)
            case "move":
                self.move(branch, chosen)
            case "recreate":
                self.move(branch, self.heads[branch])
            case "lose":
                await self.lose(branch)

    async def commit(self, branch: int = 0, *, merging: Commit | None = None, time: int | None = None) -> Commit:
        parents = [self.heads[branch]] + ([merging] if merging else [])
        self.heads[branch] = await self._land(parents, self.incarnations[branch], time=time)
        return self.heads[branch]

    async def commit_many(self, amount: int, branch: int = 0) -> None:
        for _ in range(amount):
            await self.commit(branch)

    async def lose(self, branch: int = 0) -> Commit:
        """Somebody prepares a commit, writes all of it, and another one is swapped in."""
        commit = self._made([self.heads[branch]], self.incarnations[branch], None)
        await self.store.pipeline(self.commits.landing(commit, self.heads[branch]))
        self.lost[commit.id] = commit
        await self.commit(branch)
        return commit

    def branch(self, commit: Commit) -> int:
        self.heads.append(commit)
        self.incarnations.append(self.new_incarnation())
        return len(self.heads) - 1

    def move(self, branch: int, commit: Commit) -> None:
        self.heads[branch] = commit
        self.incarnations[branch] = self.new_incarnation()

    def any(self, number: int) -> Commit:
        landed = list(self.landed.values())
        return landed[number % len(landed)]

    def forget(self) -> CommitStore:
        """A commit store that has read nothing yet."""
        self.commits = CommitStore(self.store, PARTITION)
        return self.commits

    def new_incarnation(self) -> bytes:
        return hashlib.sha256(b"%d" % next(self._numbers)).digest()[:8]

    def first_parents(self, commit: Commit) -> list[Commit]:
        """The commit and its first-parent ancestors, newest first."""
        history = [commit]
        while history[-1].parents:
            history.append(self.landed[history[-1].parents[0]])
        return history

    def ancestors(self, commit: Commit) -> list[Commit]:
        """The commit and all its ancestors, newest first."""
        found, to_do = {commit.id: commit}, [commit]
        while to_do:
            for parent in to_do.pop().parents:
                if parent not in found:
                    found[parent] = self.landed[parent]
                    to_do.append(self.landed[parent])
        return sorted(found.values(), key=newest_first)

    def merge_bases(self, one: Commit, other: Commit) -> list[Commit]:
        others = {commit.id for commit in self.ancestors(other)}
        common = [commit for commit in self.ancestors(one) if commit.id in others]
        below = {deeper.id for commit in common for deeper in self.ancestors(commit)[1:]}
        return [commit for commit in common if commit.id not in below]

    async def _land(self, parents: list[Commit], incarnation: bytes, *, time: int | None = None) -> Commit:
        commit = self._made(parents, incarnation, time)
        await self.store.pipeline(self.commits.landing(commit, parents[0] if parents else None))
        self.landed[commit.id] = commit
        return commit

    def _made(self, parents: list[Commit], incarnation: bytes, time: int | None) -> Commit:
        number = next(self._numbers)
        usual = number * 37 % 50 * 1000 if self._scattered else number * 1000
        return Commit.create(
            parents,
            incarnation,
            message=f"commit {number}",
            committer="somebody",
            time=usual if time is None else time,
        )
