"""The process that runs one script. It is started as a file by itself, and imports nothing of Headwater.

What to run comes as one line of JSON on the standard input; whatever the script asks for, says, or ends with, goes out
as lines of JSON. Starlark can reach no file, clock or network by its nature. The limits that this process puts on
itself are for what it could take of the machine, and for defects of the interpreter.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

import starlark

LIBRARY = """
lake = struct(read = _read, stat = _stat, list = _list, diff = _diff, metadata = _metadata)
"""
STACK = 200
"""Calls within calls of a script."""

STEPS = 1000
"""Instructions between two times that the interpreter asks whether to go on."""


def main() -> None:
    given = json.loads(sys.stdin.readline())
    _limit(given["memory"], given["cpu"])
    try:
        _run(given)
    except starlark.StarlarkError as error:
        _tell(str(error))
    except MemoryError:
        _say({"failed": "the script took more memory than it may"})
    else:
        _say({"ended": True})


def _tell(error: str) -> None:
    """Say what went wrong and where; and before that, how it came there, which may be long."""
    calls, found, reason = error.rpartition("\nerror: ")
    if found:
        _say({"print": calls})
    _say({"failed": reason})


def _limit(memory: int, cpu: int) -> None:
    """Take no more than so many bytes and seconds; write no file, open none, start nothing."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))


def _run(given: dict[str, Any]) -> None:
    steps: int = given["steps"] // STEPS

    def spent() -> bool:
        nonlocal steps
        steps -= 1
        return steps < 0

    options = starlark.EvalOptions(check_cancelled=spent, max_callstack_size=STACK)
    extensions = (starlark.LibraryExtension.StructType, starlark.LibraryExtension.Json, starlark.LibraryExtension.Map)
    builtins = starlark.Globals.extended_by([*extensions, starlark.LibraryExtension.Filter])
    dialect = starlark.Dialect.extended()
    dialect.enable_load = False
    dialect.enable_f_strings = True
    module = starlark.Module()
    for name in ("read", "stat", "list", "diff", "metadata"):
        module.add_callable(f"_{name}", _asking(name))
    module.add_callable("print", _printing(given["output"]))
    module["event"] = given["event"]
    module["args"] = given["arguments"]
    starlark.eval_with(options, module, starlark.parse("library", LIBRARY, dialect), builtins)
    try:
        starlark.eval_with(options, module, starlark.parse(given["name"], given["source"], dialect), builtins)
    except starlark.StarlarkError:
        if steps < 0:
            _say({"failed": f"the script took more than the {given['steps']} steps that it may"})
            raise SystemExit(0) from None
        raise


def _asking(name: str) -> Any:
    """A function of the library: it asks the other side, and waits for what it says."""

    def ask(*positional: Any, **named: Any) -> Any:
        _say({"call": name, "positional": list(positional), "named": named})
        line = sys.stdin.readline()
        if not line:
            raise SystemExit(1)
        answer = json.loads(line)
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["value"]

    return ask


def _printing(room: int) -> Any:
    """What prints so many characters, and drops the rest: nobody keeps it, and reading it would keep others waiting."""

    def print_values(*values: Any) -> None:
        nonlocal room
        if room > 0:
            text = " ".join(value if isinstance(value, str) else json.dumps(value, default=str) for value in values)
            _say({"print": text[: room + 1]})
            room -= len(text) + 1

    return print_values


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
