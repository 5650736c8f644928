"""What is left when everybody is done: every commit that ever landed, what is in it, and what nobody cleaned up."""

from __future__ import annotations

import asyncio

import msgspec

from headwater.engine.read import list_entries
from headwater.engine.ref_changes import read_log_head, settle
from headwater.engine.repository import Repository
from headwater.history import Commit, Component
from headwater.index import Entry
from headwater.staging.cleaning import clean
from headwater.staging.limits import GRACE
from headwater.testing.sim.engine.record import Contents, Move
from headwater.testing.sim.engine.world import STAGE, World

AMOUNT = 1000


class Audit(msgspec.Struct, frozen=True):
    landings: list[Move]
    """The moves by which a commit landed: not those that made a branch or moved it back."""

    commits: dict[str, Commit]
    """Every commit that was ever a head, by id, and what each has for a parent."""

    contents: dict[str, Contents]
    branches: dict[str, Contents]
    index: dict[Component, str | None]
    litter: list[str]
    """Tokens in use no more that still hold something."""


async def audit(world: World) -> Audit:
    """Look into everything, undisturbed. What can be cleaned up has been, afterwards."""
    repository = await world.undisturbed()
    heads = list(dict.fromkeys(move.record.commit for move in world.record.moves if move.record.commit))
    commits = {head: await repository.commits.get(head) for head in heads}
    for commit in list(commits.values()):
        for parent in commit.parents:
            commits.setdefault(parent, await repository.commits.get(parent))
    names = {move.branch: move.record for move in world.record.moves}
    branches = {name: await _contents(repository, name) for name, last in names.items() if not last.dropped}
    return Audit(
        landings=_landings(world, commits),
        commits=commits,
        contents={identity: await _contents(repository, identity) for identity in commits},
        branches=branches,
        index={commit.clock.last: await repository.commits.clocks.at(commit.clock.last) for commit in commits.values()},
        litter=await _litter(world, repository),
    )


async def _contents(repository: Repository, ref: str) -> Contents:
    entries = await list_entries(repository, ref, amount=AMOUNT)
    return {entry.key.removeprefix("f/"): entry.checksum for entry in entries if isinstance(entry, Entry)}


def _landings(world: World, commits: dict[str, Commit]) -> list[Move]:
    """A move to a child of the head before it, on one incarnation, is a landing."""
    found = []
    before: dict[str, Move] = {}
    for move in world.record.moves:
        last = before.get(move.branch)
        before[move.branch] = move
        if last is None or last.record.incarnation != move.record.incarnation:
            continue
        if last.record.commit != move.record.commit:
            assert commits[move.record.commit].parents[:1] == (last.record.commit,), (
                "a head that is no child of the last"
            )
            found.append(move)
    return found


async def _litter(world: World, repository: Repository) -> list[str]:
    """What is found under tokens that no branch uses, but for what arrived there when they were cleaned up already."""
    head, _ = await read_log_head(repository)
    for intention in head.pending:
        await settle(repository, intention)
    for _ in range(3):  # notice what was dropped; delete what it holds; forget it
        await asyncio.sleep(2 * GRACE)
        await clean(world.memory, repository.partition, repository.outside)
    last = {move.branch: move for move in world.record.moves}.values()
    used = {token for move in last for token in (move.record.token, *move.record.sealed)}
    left = {token: move.time for move in world.record.moves for token in (move.record.token, *move.record.sealed)}
    found = []
    for token, written in world.memory.tokens.items():
        if token not in used and written < left[token] + GRACE:
            found += [f"{token}: {len(page)}" async for page in world.memory.scan(STAGE + token.encode())]
    return found
