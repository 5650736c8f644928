"""Jobs on a repository of a server: it tells what there is, and executors do the rest at the object store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import msgspec
import pyarrow as pa
import pytest

import headwater
from dev.servers import versitygw
from headwater import pipeline
from headwater.auth import Forbidden
from headwater.blob.namespace import data_name
from headwater.engine.errors import BadRequest
from headwater.garbage import NoSuchPlan
from headwater.pipeline import Place, submit
from headwater.pipeline.remote import served
from headwater.staging.errors import NothingToCommit
from tests.conftest import Servers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.sdk.sync import Branch, Lake

LOCAL = ["spark.driver.host=127.0.0.1", "spark.driver.bindAddress=127.0.0.1", "spark.driver.memory=512m"]


@pytest.fixture
def place(served_place: Place) -> Place:
    return served_place


@pytest.fixture
def lake(place: Place) -> Iterator[Lake]:
    assert place.endpoint is not None
    with headwater.connect(place.endpoint, place.key, place.secret) as connected:
        connected.create_repo("sales")
        yield connected
        connected.delete_repo("sales")


@pytest.fixture
def main(lake: Lake) -> Branch:
    """A branch of two commits."""
    main = lake.repo("sales").branch("main")
    for path, content in {"a/x.csv": b"one", "a/y.csv": b"two", "b/copy.bin": b"one", "c": b"three"}.items():
        main.put(path, content)
    main.commit("first")
    main.put("a/y.csv", b"twelve")
    main.delete("c")
    main.commit("second")
    return main


def without_storage(place: Place) -> Place:
    """The same, known by nothing but the server."""
    return msgspec.structs.replace(place, storage=None, storage_credentials={})


def test_statistics_are_the_same_by_segments_and_by_listings(spark: SparkSession, place: Place, main: Branch) -> None:
    main.put("z", b"staged, which counts for nothing")
    told = pipeline.stats(spark, place, "main")
    assert (told.objects, told.bytes) == (3, 12)
    assert {share.name: (share.objects, share.bytes) for share in told.prefixes} == {"a/": (2, 9), "b/": (1, 3)}
    assert [(each.message, each.added_bytes, each.removed_bytes) for each in told.growth] == [
        ("second", 6, 8),
        ("first", 14, 0),
        ("Repository created", 0, 0),
    ]
    assert [(each.name, each.unique_bytes) for each in told.branches] == [("main", 12)]
    assert pipeline.stats(spark, without_storage(place), "main") == told


def test_commits_are_those_of_all_branches_with_their_trees(
    spark: SparkSession, place: Place, lake: Lake, main: Branch
) -> None:
    side = lake.repo("sales").create_branch("side", "main~1")
    paths = [f"many/{number:05d}" for number in range(600)]
    for path in paths:
        side.put(path, b"")
    aside = side.commit("aside")
    found = {row.message: row for row in pipeline.commits(spark, without_storage(place)).collect()}
    assert found.keys() == {"Repository created", "first", "second", "aside"}
    assert (found["aside"].id, list(found["aside"].parents)) == (aside.id, [main.head().parents[0]])
    assert found["aside"].tree
    assert found["first"].tree is None
    assert pipeline.entries(spark, place, "side", prefix="many/").count() == len(paths)
    changes = pipeline.diff(spark, place, "main", "side")
    assert changes.where("change = 'added'").count() == len(paths) + 1
    assert {row.path for row in changes.where("change <> 'added'").collect()} == {"a/y.csv"}


def target_of(place: Place) -> str:
    storage = place.storage or ""
    return storage.replace("pipeline/lake", "pipeline/export")


def exported(spark: SparkSession, target: str) -> dict[str, bytes]:
    root = target.partition("?")[0].replace("s3://", "s3a://")
    rows = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(root).collect()
    found = {row.path.partition("/export/")[2]: bytes(row.content) for row in rows}
    return {path: content for path, content in found.items() if not path.startswith("_")}


def test_an_export_copies_what_changed_and_knows_the_repository(
    spark: SparkSession, place: Place, lake: Lake, main: Branch
) -> None:
    target = target_of(place)
    first = pipeline.export(spark, place, "main~1", target)
    assert (first.files, first.copied, first.bytes, first.since) == (4, 4, 14, None)
    second = pipeline.export(spark, place, "main", target, delete=True)
    assert (second.files, second.copied, second.deleted, second.since) == (1, 1, 1, first.commit)
    assert exported(spark, target) == {"a/x.csv": b"one", "a/y.csv": b"twelve", "b/copy.bin": b"one"}
    assert pipeline.export(spark, place, main.head().id, target).copied == 0
    lake.create_repo("other")
    with pytest.raises(BadRequest, match="another repository"):
        pipeline.export(spark, msgspec.structs.replace(place, repo="other"), "main", target)
    lake.delete_repo("other")


def entries_of(numbers: range, salt: str = "") -> pa.Table:
    return pa.table(
        {
            "path": [f"many/{number:06d}" for number in numbers],
            "address": [f"s3://elsewhere/{number}{salt}" for number in numbers],
            "size": [number % 1000 for number in numbers],
            "checksum": [f"c{number}{salt}" for number in numbers],
            "modified": [1_700_000_000_000 + number for number in numbers],
        }
    )


def test_entries_become_the_tree_that_the_server_itself_would_make(
    spark: SparkSession, place: Place, lake: Lake, main: Branch
) -> None:
    lake.repo("sales").create_branch("engine", "main")
    engine = lake.repo("sales").branch("engine")
    for table in (entries_of(range(30_000)), entries_of(range(100, 2_700), "changed")):
        done = pipeline.commit_entries(
            spark.createDataFrame(table), place, "main", message="many", metadata={"job": "7"}, tasks=3
        )
        engine.import_table(table, "many")
        trees = {row.id: row.tree for row in pipeline.commits(spark, place).collect()}
        assert trees[done.commit] == trees[engine.head().id] == done.tree
        assert (main.head().id, main.head().metadata) == (done.commit, {"job": "7"})
    assert main.get("b/copy.bin") == b"one"
    assert pipeline.entries(spark, place, "main", prefix="many/").where("checksum LIKE '%changed'").count() == 2_600

    few = spark.createDataFrame(entries_of(range(3)))
    pipeline.commit_entries(few, place, "main", message="only these", mode="replace", prefix="many/")
    assert len(list(main.list("many/"))) == pipeline.count_entries(place, "main", prefix="many/") == 3
    with pytest.raises(NothingToCommit):
        pipeline.commit_entries(few, place, "main", message="again")


def test_a_server_commits_no_entries_from_where_it_may_not_import(
    spark: SparkSession, place: Place, main: Branch
) -> None:
    head = main.head()
    rows = [("a", "file:///etc/passwd", 1)]
    frame = spark.createDataFrame(rows, "path string, address string, size long")
    with pytest.raises(Forbidden, match="import_from"):
        pipeline.commit_entries(frame, place, "main", message="secrets")
    assert main.head() == head


def test_equal_content_is_kept_once(spark: SparkSession, place: Place, main: Branch) -> None:
    dry = pipeline.deduplicate(spark, place, "main", dry_run=True)
    assert (dry.groups, dry.objects, dry.bytes_saved, dry.entries, dry.commit) == (1, 1, 3, 1, None)
    done = pipeline.deduplicate(spark, place, "main")
    assert done.commit == main.head().id
    rows = pipeline.entries(spark, place, "main").where("path IN ('a/x.csv', 'b/copy.bin')").collect()
    assert len({row.address for row in rows}) == 1
    assert (main.get("a/x.csv"), main.get("b/copy.bin")) == (b"one", b"one")
    assert pipeline.deduplicate(spark, place, "main").commit is None


def test_garbage_is_planned_by_executors_as_the_server_would_and_swept_by_it(
    spark: SparkSession, place: Place, main: Branch, servers: Servers
) -> None:
    names = [data_name(1_700_000_000_000 + number * 4_000_000, f"old{number}") for number in range(8)]
    in_tree, in_delta, staged, *garbage = names
    with served(place) as remote:
        namespace = remote.repository.namespace
        for name in names:
            remote.run(remote.blobs().put(name, b"old"))
    lying = servers.start("versitygw", versitygw.serve).directory / namespace.removeprefix("s3://")
    for file in lying.glob("data/*/*"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
    many = [f"many/{number:05d}" for number in range(3_000)]
    for paths, name in ((many, in_tree), (["few"], in_delta)):
        table = pa.table({"path": paths, "address": [name] * len(paths), "size": [3] * len(paths)})
        main.import_table(table, "names of the namespace")
    main.link("staged", f"{namespace}/{staged}", size=3)
    plan = pipeline.plan_garbage(spark, place)
    root = namespace.replace("s3://", "s3a://")
    ours = spark.read.parquet(f"{root}/{plan.objects_prefix}").collect()
    assert {row.address for row in ours} == set(garbage)
    assert (plan.objects, plan.bytes, plan.candidates) == (5, 15, 8)
    assert plan.segments > 0
    url = f"{place.endpoint}/api/v1/repositories/sales/gc/prepare_commits"
    theirs = httpx.post(url, auth=(place.key, place.secret), timeout=60).json()
    found = spark.read.parquet(theirs["gc_addresses_location"].replace("s3://", "s3a://")).collect()
    assert sorted(map(tuple, found)) == sorted(map(tuple, ours))

    assert pipeline.collect_garbage(spark, place, dry_run=True).deleted == 5
    assert all((lying / name).exists() for name in garbage)
    assert pipeline.collect_garbage(spark, place).deleted == 5
    assert not any((lying / name).exists() for name in garbage)
    assert [main.get(path) for path in ("staged", "few", "many/00007", "a/x.csv")] == [b"old", b"old", b"old", b"one"]
    with pytest.raises(NoSuchPlan), served(place) as remote:
        remote.run(remote.repository.garbage.sweep("20200101T000000Z-00000000", rate=None, dry_run=False))


def ran(command: Sequence[str | Path], place: Place) -> Any:
    """What a command answered that knows the server, and the keys of its storage, from the environment."""
    keys = {f"AWS_{name.upper()}": value for name, value in place.storage_credentials.items()}
    environment = {
        **os.environ,
        **keys,
        "HEADWATER_ENDPOINT": place.endpoint or "",
        "HEADWATER_ACCESS_KEY_ID": place.key,
        "HEADWATER_SECRET_ACCESS_KEY": place.secret,
        "PYSPARK_PYTHON": sys.executable,
    }
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_hw_spark_and_the_program_know_a_server(spark: SparkSession, place: Place, main: Branch) -> None:
    class_path = f"spark.driver.extraClassPath={spark.conf.get('spark.driver.extraClassPath')}"
    conf = [part for setting in (*LOCAL, class_path) for part in ("--conf", setting)]
    tools = Path(sys.executable).parent
    started = ["--master", "local[1]", "--objects", place.storage or "", *conf]
    told = ran([tools / "hw", "--json", "spark", "stats", *started, "sales", "main"], place)
    assert (told["objects"], told["bytes"]) == (3, 12)
    told = ran([tools / "hw", "--json", "spark", "gc", *started, "sales", "--plan-only"], place)
    assert (told["repository"], told["commits"]) == ("sales", 3)
    keys = ["--conf", f"spark.headwater.key={place.key}", "--conf", f"spark.headwater.secret={place.secret}"]
    server = ["--endpoint", place.endpoint or "", "--storage", place.storage or ""]
    target = target_of(place).replace("/export", "/submitted")
    command: list[str | Path] = [tools / "spark-submit", "--master", "local[1]", *conf, *keys, submit.__file__, *server]
    told = ran([*command, "export", "sales", "main", target], place)
    assert (told["files"], told["copied"], told["commit"]) == (3, 3, main.head().id)
    told = ran([*command, "dedupe", "sales", "main"], place)
    assert (told["entries"], told["commit"]) == (1, main.head().id)
