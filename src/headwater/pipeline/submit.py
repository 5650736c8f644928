"""The jobs as a program: `spark-submit …/headwater/pipeline/submit.py JOB …`, or `python -m headwater.pipeline.submit`.

`hw spark` is this, with the settings of `hw`. A job prints one JSON document, and ends with status 0, or 8 if a check
found something; what goes wrong is told in a line, with status 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from headwater.errors import HeadwaterError
from headwater.garbage.limits import SAFETY_AGE
from headwater.pipeline.checking import check_objects
from headwater.pipeline.deduplicating import deduplicate
from headwater.pipeline.exporting import export
from headwater.pipeline.garbage import collect_garbage, plan_garbage
from headwater.pipeline.limits import SAMPLE
from headwater.pipeline.place import Place
from headwater.pipeline.reading import search
from headwater.pipeline.statistics import stats
from headwater.pipeline.sweeping import sweep_garbage

Job = Callable[[SparkSession, Place, argparse.Namespace], Any]


def _gc(spark: SparkSession, place: Place, given: argparse.Namespace) -> Any:
    if given.sweep:
        return sweep_garbage(spark, place, given.sweep, rate=given.rate, dry_run=given.dry_run)
    if given.plan_only:
        return plan_garbage(spark, place, age=given.age * 3600)
    return collect_garbage(spark, place, age=given.age * 3600, rate=given.rate, dry_run=given.dry_run)


def _export(spark: SparkSession, place: Place, given: argparse.Namespace) -> Any:
    return export(spark, place, given.ref, given.target, prefix=given.prefix, full=given.full, delete=given.delete)


def _dedupe(spark: SparkSession, place: Place, given: argparse.Namespace) -> Any:
    return deduplicate(spark, place, given.branch, dry_run=given.dry_run)


def _stats(spark: SparkSession, place: Place, given: argparse.Namespace) -> Any:
    return stats(spark, place, given.ref, depth=given.depth, commits=given.commits)


def _search(spark: SparkSession, place: Place, given: argparse.Namespace) -> Any:
    found = search(spark, place, given.ref, given.condition, prefix=given.prefix)
    rows = found.select("path", "size", "checksum", "content_type", "metadata").orderBy("path").limit(given.limit)
    return [row.asDict() for row in rows.collect()]


def _check(spark: SparkSession, place: Place, given: argparse.Namespace) -> Any:
    return check_objects(spark, place, given.ref, prefix=given.prefix, sample=given.sample, content=given.content)


JOBS: dict[str, tuple[str, Job]] = {
    "gc": ("Delete objects that nothing refers to any more.", _gc),
    "export": ("Copy a reference to a plain prefix of an object store.", _export),
    "dedupe": ("Keep equal content once.", _dedupe),
    "stats": ("Tell what there is, where, of what kind, and how it grew.", _stats),
    "search": ("Find entries by an expression of SQL.", _search),
    "check": ("Verify that every object is there as it must be.", _check),
}


def parser() -> argparse.ArgumentParser:
    """What the program understands."""
    found = argparse.ArgumentParser("headwater.pipeline.submit", description=__doc__)
    found.add_argument("--lake", help="the directory of a lake")
    found.add_argument("--kv", help="or its key-value store,")
    found.add_argument("--storage", help="and its object store; of a server, how to get there")
    found.add_argument("--endpoint", help="or a server; its keys are the settings spark.headwater.key and .secret")
    jobs = found.add_subparsers(dest="job", required=True)
    made = {name: jobs.add_parser(name, help=summary) for name, (summary, _) in JOBS.items()}
    for job in made.values():
        job.add_argument("repository")
    for name in ("export", "stats", "search", "check"):
        made[name].add_argument("ref")
    for name in ("export", "search", "check"):
        made[name].add_argument("--prefix", default="")
    for name in ("gc", "dedupe"):
        made[name].add_argument("--dry-run", action="store_true")
    made["gc"].add_argument("--age", type=float, default=SAFETY_AGE / 3600, help="hours for which all is kept")
    made["gc"].add_argument("--rate", type=float, help="objects deleted a second, at most")
    made["gc"].add_argument("--plan-only", action="store_true")
    made["gc"].add_argument("--sweep", metavar="PLAN", help="sweep that plan, and make none")
    made["export"].add_argument("target", help="a URI")
    made["export"].add_argument("--full", action="store_true", help="whatever was exported before")
    made["export"].add_argument("--delete", action="store_true", help="what vanished")
    made["dedupe"].add_argument("branch")
    made["stats"].add_argument("--depth", type=int, default=1)
    made["stats"].add_argument("--commits", type=int, default=20)
    made["search"].add_argument("condition", help="as \"metadata['owner'] = 'ann' AND size > 0\"")
    made["search"].add_argument("--limit", type=int, default=SAMPLE)
    made["check"].add_argument("--sample", type=float, default=1.0)
    made["check"].add_argument("--content", action="store_true", help="read bytes, and compare checksums")
    return found


def run(spark: SparkSession, place: Place, given: argparse.Namespace) -> Any:
    """What the job that was *given* answers."""
    return JOBS[given.job][1](spark, place, given)


def main(arguments: Sequence[str] | None = None) -> int:
    given = parser().parse_args(arguments)
    spark = SparkSession.builder.appName(f"headwater {given.job} {given.repository}").getOrCreate()
    place = Place(
        given.repository,
        lake=given.lake,
        kv=given.kv,
        storage=given.storage,
        endpoint=given.endpoint,
        key=spark.conf.get("spark.headwater.key", "") or "",
        secret=spark.conf.get("spark.headwater.secret", "") or "",
    )
    try:
        done = run(spark, place, given)
    except HeadwaterError as error:
        sys.stderr.write(f"{given.job}: {error}\n")
        return 1
    finally:
        spark.stop()
    sys.stdout.write(msgspec.json.encode(done).decode() + "\n")
    return 8 if getattr(done, "sound", True) is False else 0


if __name__ == "__main__":
    sys.exit(main())
