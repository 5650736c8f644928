"""Which commands there are, where each is, and what it does in a few words: all that `hw --help` needs to know."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import click


class Place(NamedTuple):
    """Where a command is, as module:name, and its first sentence."""

    where: str
    summary: str


SECTIONS: dict[str, dict[str, Place]] = {
    "Repositories and references": {
        "repo": Place("headwater.cli.repo:repo", "Make, list and delete repositories."),
        "branch": Place("headwater.cli.branch:branch", "Make, list and delete branches."),
        "tag": Place("headwater.cli.tag:tag", "Make, list and delete tags."),
        "ref-log": Place("headwater.cli.ref_log:ref_log", "Show what was done to branches and tags, newest first."),
        "undo": Place("headwater.cli.ref_log:undo", "Take back what was done to a branch or tag."),
        "sign": Place(
            "headwater.cli.signing:sign", "Sign a commit. Its id covers all that it holds, and all that led to it."
        ),
        "verify": Place(
            "headwater.cli.signing:verify",
            "Look whether somebody who is trusted signed a commit. The status is 1 unless it is so.",
        ),
    },
    "History": {
        "commit": Place("headwater.cli.committing:commit", "Commit what is staged on a branch."),
        "log": Place("headwater.cli.log:log", "Show the commits that led to a reference, newest first."),
        "show": Place("headwater.cli.log:show", "Show a commit, and what it changed."),
        "diff": Place("headwater.cli.diff:diff", "Show what is staged, or different between two references."),
        "merge": Place(
            "headwater.cli.merging:merge", "Bring what was committed to one reference to a branch, in one commit there."
        ),
        "revert": Place("headwater.cli.merging:revert", "Undo what a commit did, in a new commit on a branch."),
        "cherry-pick": Place(
            "headwater.cli.merging:cherry_pick", "Do what a commit did again, in a new commit on a branch."
        ),
        "annotate": Place("headwater.cli.annotate:annotate", "Show who last changed each path."),
        "bisect": Place("headwater.cli.bisect:bisect", "Find the commit that broke something, by looking at few."),
        "reset": Place("headwater.cli.committing:reset", "Give up what is staged on a branch, or at a path."),
    },
    "Files": {
        "fs": Place("headwater.cli.fs:fs", "Read and write files, and copy trees to and fro."),
        "cat": Place("headwater.cli.reading:cat", "Write the bytes of files to standard output."),
        "ls": Place(
            "headwater.cli.reading:ls",
            "Show what is in a directory; of a repository, its references; and without a place, the repositories.",
        ),
        "glob": Place("headwater.cli.growing:glob", "Show the files that match a pattern."),
        "history": Place("headwater.cli.growing:history", "Show the commits that changed a path, newest first."),
        "append": Place("headwater.cli.growing:append", "Add to the end of a file of an append repository."),
        "progress": Place("headwater.cli.progress:progress", "Gather what will be one commit, beside a branch."),
        "local": Place("headwater.cli.local:local", "Keep a directory in step with a branch."),
        "import": Place(
            "headwater.cli.importing:import_objects",
            "Commit objects that are somewhere already. Nothing is copied.",
        ),
        "ingest": Place("headwater.cli.ingesting:ingest", "Follow a place on the object store that others fill."),
        "ws": Place("headwater.cli.ws:ws", "Write straight to the object store, and commit it where it lies."),
    },
    "Servers": {
        "auth": Place("headwater.cli.auth:auth", "Say who may do what."),
        "actions": Place("headwater.cli.actions:actions", "See what the hooks of a server did."),
    },
    "Headwater itself": {
        "doctor": Place(
            "headwater.cli.doctor:doctor",
            "Look at settings, versions, the connection and the stores, and tell what is wrong.",
        ),
        "profile": Place("headwater.cli.profile:profile", "Keep lakes by name, with credentials for each."),
        "completion": Place(
            "headwater.cli.completion:completion", "Print what lets a shell complete commands, options and places."
        ),
        "check": Place(
            "headwater.cli.check:check", "Read anew all that branches and tags lead to, and tell what is damaged."
        ),
        "serve": Place("headwater.cli.serve:serve", "Run a server."),
        "config": Place("headwater.cli.serve:config", "See the settings of a server."),
        "gc": Place("headwater.cli.gc:gc", "Delete objects that nothing refers to any more."),
        "kv": Place("headwater.cli.kv:kv", "See to the database that keeps a lake's records."),
        "spark": Place("headwater.cli.spark:spark", "Run jobs over very many entries, on Spark."),
        "sim": Place("headwater.cli.sim:sim", "Look for a broken promise of the engine, under many seeds."),
    },
}
"""In the order in which `hw --help` shows them."""

COMMANDS = {name: place for section in SECTIONS.values() for name, place in section.items()}


def load(name: str) -> click.Command:
    """The command *name*, which is imported now."""
    module, _, attribute = COMMANDS[name].where.partition(":")
    command: click.Command = getattr(import_module(module), attribute)
    return command
