"""`make run`: a short demonstration on an embedded lake, in a directory of its own that is removed in the end."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import headwater
from headwater.sdk.sync import Repository

COMMITS = 200


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="headwater-") as directory, headwater.open(Path(directory)) as lake:
        print(f"A lake in {directory}: LMDB for what changes, plain files for everything else.")
        repo = lake.create_repo("rivers")
        show_branches(repo)
        show_commits(repo)
    print("\nThe README has a tour to type along. Next: make test")


def show_branches(repo: Repository) -> None:
    main = repo.branch("main")
    main.put("raw/rhine.csv", b"1,Rhine,1230\n")
    first = main.commit("one river")
    print(f"\n  main has commit {first.id[:8]}: {first.message}")

    dev = repo.create_branch("dev", source="main")
    dev.put("raw/danube.csv", b"2,Danube,2850\n")
    dev.put("raw/rhine.csv", b"1,Rhine,1233\n")
    dev.commit("another river, and a longer one")
    print("  dev differs from main:", ", ".join(f"{each.type} {each.path}" for each in repo.diff("main", "dev")))

    main.put("raw/rhine.csv", b"1,Rhine,1236\n")
    main.commit("longer still")
    try:
        dev.merge_into("main")
    except headwater.MergeConflict as conflict:
        print(f"  a merge that nobody decided: {conflict}")
    dev.merge_into("main", strategy="source-wins")
    print("  merged, dev wins: raw/rhine.csv is", main.get("raw/rhine.csv"))
    print("  one commit before it was", repo.ref("main~1").get("raw/rhine.csv"))
    print("  the log:", " < ".join(each.message for each in main.log()))


def show_commits(repo: Repository) -> None:
    branch = repo.create_branch("load", source="main")
    began = time.perf_counter()
    for number in range(COMMITS):
        branch.put(f"load/{number}", b"x")
        branch.commit(f"commit {number}")
    each = (time.perf_counter() - began) / COMMITS
    print(f"\n  {COMMITS} puts, each committed, each durable before the next: {each * 1000:.1f} ms")


if __name__ == "__main__":
    main()
