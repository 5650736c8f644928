"""`hw spark`: the jobs of the pipeline, on this machine's cores or on a cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from headwater.cli.commanding import Command, group
from headwater.cli.exits import Exit
from headwater.cli.output import visible
from headwater.cli.session import session
from headwater.cli.settings import BadSettings
from headwater.cli.stages import stage_bars
from headwater.errors import HeadwaterError

SUMMARIES = {
    "gc": "Delete objects that nothing refers to any more.",
    "export": "Copy a reference to a plain prefix of an object store.",
    "dedupe": "Keep equal content once.",
    "stats": "Tell what there is, where, of what kind, and how it grew.",
    "search": "Find entries by an expression of SQL.",
    "check": "Verify that every object is there as it must be.",
}


USAGE = {
    "gc": "REPOSITORY [--plan-only | --sweep PLAN] [--dry-run] [--age HOURS] [--rate OBJECTS_A_SECOND]",
    "export": "REPOSITORY REF TARGET [--prefix PATH] [--full] [--delete]",
    "dedupe": "REPOSITORY BRANCH [--dry-run]",
    "stats": "REPOSITORY REF [--depth DIRECTORIES] [--commits N]",
    "search": "REPOSITORY REF CONDITION [--prefix PATH] [--limit N]",
    "check": "REPOSITORY REF [--prefix PATH] [--sample FRACTION] [--content]",
}
"""What comes behind each job. `headwater.pipeline.submit` understands it; it is told here without importing Spark."""


class NoSpark(HeadwaterError):
    """Spark is not installed, or a job failed in it."""


@group("spark")
def spark() -> None:
    """Run jobs over very many entries, on Spark.

    Needs pip install "headwater[spark]", and Java 17. What follows a job is at the end of its help.
    """


def _job(name: str, summary: str) -> Command:
    @click.pass_context
    def call(
        context: click.Context, arguments: Sequence[str], master: str, conf: Sequence[str], objects: str | None
    ) -> None:
        _run(context, name, arguments, master, conf, objects=objects)

    command = Command(
        name, callback=call, help=summary, epilog=USAGE[name], context_settings={"ignore_unknown_options": True}
    )
    options: list[click.Parameter] = [
        click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED, metavar="REPOSITORY …"),
        click.Option(["--master"], default="local[*]", show_default=True, help="Where Spark runs."),
        click.Option(["--conf"], multiple=True, metavar="NAME=VALUE", help="A setting of Spark."),
        click.Option(
            ["--objects"], metavar="URI", help="How to get to the objects of a server: s3://BUCKET?endpoint=…"
        ),
    ]
    command.params = [*options, *command.params]
    return command


for _name, _summary in SUMMARIES.items():
    spark.add_command(_job(_name, _summary))


def _run(
    context: click.Context,
    name: str,
    arguments: Sequence[str],
    master: str,
    conf: Sequence[str],
    *,
    objects: str | None,
) -> None:
    try:
        from pyspark.errors import PySparkException  # noqa: PLC0415  (an extra)
        from pyspark.sql import SparkSession  # noqa: PLC0415

        from headwater.pipeline import submit  # noqa: PLC0415
    except ImportError:
        raise NoSpark('pip install "headwater[spark]" brings what hw spark needs') from None
    given = submit.parser().parse_args([name, *arguments])
    place = _place(given.repository, objects)
    builder = SparkSession.builder.master(master).appName(f"hw spark {name}")
    builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    if master.startswith("local"):  # tasks run in the Python that this is: Spark is told so in no other way
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for setting in conf:
        key, equals, value = setting.partition("=")
        if not equals:
            raise click.UsageError(f"--conf {setting!r}: write NAME=VALUE")
        builder = builder.config(key, value)
    started = builder.getOrCreate()
    try:
        with stage_bars(started):
            done = submit.run(started, place, given)
    except PySparkException as error:
        raise NoSpark(f"the job failed in Spark: {str(error).strip().splitlines()[0]}") from None
    finally:
        started.stop()
    _show(done)
    if getattr(done, "sound", True) is False:
        context.exit(Exit.DAMAGED)


def _place(repository: str, objects: str | None) -> Any:
    from headwater.pipeline.place import Place  # noqa: PLC0415  (it needs Spark)

    settings = session().settings
    if objects is not None and settings.endpoint is None:
        raise click.UsageError("--objects is for a server; a lake of your own has its storage in its settings")
    if settings.lake is not None:
        return Place(repository, lake=str(Path(settings.lake).expanduser()), committer=session().committer)
    if settings.kv is not None:
        return Place(repository, kv=settings.kv, storage=settings.storage, committer=session().committer)
    if settings.endpoint is not None:
        key, secret = session().credentials
        return Place(repository, endpoint=settings.endpoint, key=key, secret=secret, storage=objects)
    raise BadSettings("say where the lake is: hw --lake DIR …, or set kv together with storage, or endpoint")


def _show(done: Any) -> None:
    """A summary: numbers in a line each, and below them the lists, a row a line."""
    output = session().output
    plain = msgspec.to_builtins(done)
    if output.json:
        output.document(plain)
        return
    if isinstance(plain, list):
        plain = {"found": len(plain), "entries": plain}
    numbers = [(name.replace("_", " "), value) for name, value in plain.items() if not isinstance(value, list | dict)]
    if numbers:
        output.fields(plain, numbers)
    for name, rows in plain.items():
        if isinstance(rows, list) and rows:
            output.say(f"{name}:")
            for row in rows:
                output.say("  " + "\t".join(visible(str(value)) for value in row.values()))
