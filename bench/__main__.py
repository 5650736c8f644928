"""Run the benchmarks: `python -m bench` all of them, `python -m bench kv core` these two, `--list` says what there is.

Each file of this folder is one, and runs in a process of its own, so that none finds what another left in memory. That
is all there is to adding one.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def benches() -> dict[str, str]:
    """The names of all benchmarks, and the first sentence of each."""
    files = sorted(file for file in FOLDER.glob("*.py") if not file.stem.startswith("_"))
    return {file.stem: (ast.get_docstring(ast.parse(file.read_text())) or "").partition("\n")[0] for file in files}


def main(names: list[str]) -> int:
    known = benches()
    if names == ["--list"]:
        for name, sentence in known.items():
            print(f"{name:12} {sentence}")
        return 0
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    failed = []
    for name in names or known:
        print(f"== {name}: {known[name]}", flush=True)
        if subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode:  # noqa: S603  (ours)
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
