"""What a repository needs, found in the plainest way: every entry of every retained commit, and all that is staged."""

from __future__ import annotations

from headwater.engine.bulk import batches
from headwater.engine.repository import Repository
from headwater.garbage.limits import DAY
from headwater.garbage.rules import RetentionRules
from headwater.index.schema import entries_of
from headwater.refs.branch import decode
from headwater.refs.branches import PREFIX


async def needed(repository: Repository, rules: RetentionRules | None, now: int) -> dict[str, str]:
    """The addresses that must be there, and what needs each. Of commits those that branches have or had in time."""
    found: dict[str, str] = {}
    names = [name for name, dropped in await _branches(repository) if not dropped]
    days = {rule.branch_id: rule.retention_days for rule in rules.branches} if rules else {}
    for name in names:
        await _entries(repository, name, found, f"what is staged on {name}")
        commit = await repository.commits.get((await repository.branches.fresh(name)).branch.commit)
        kept = 0 if rules is None else now - days.get(name, rules.default_retention_days) * DAY
        while True:
            await _entries(repository, commit.id, found, f"commit {commit.message} of {name}")
            if not commit.parents or commit.time < kept:
                break
            commit = await repository.commits.get(commit.parents[0])
    return found


async def _entries(repository: Repository, ref: str, found: dict[str, str], why: str) -> None:
    async for rows in batches(repository, ref):
        for entry in entries_of(rows):
            found.update((block.address, why) for block in entry.blocks)


async def _branches(repository: Repository) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    async for page in repository.store.scan(repository.partition, PREFIX):
        for entry in page:
            if entry.key.startswith(PREFIX):
                name = entry.key.removeprefix(PREFIX).decode()
                found.append((name, decode(name, entry.value).dropped))
    return found
