"""Where a repository is: its name, and the stores of its lake. The driver opens them; executors get objects alone."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypedDict, TypeVar
from urllib.parse import quote, unquote, urlsplit

import msgspec
from pyspark.sql import SparkSession

from headwater import blob
from headwater.blob import BlobStore
from headwater.engine.errors import BadRequest
from headwater.engine.lake import Lake
from headwater.engine.repository import Repository
from headwater.sdk.opening import Storage, open_stores
from headwater.sdk.sync.running import Runner

Result = TypeVar("Result")

SCHEME: Final = "hw://"


class Place(msgspec.Struct, frozen=True):
    """A repository in a lake: in a directory, in the stores *kv* and *storage*, or on a server. Shows no credentials.

    Of a server there are the URL, *endpoint*, and whom to be there, *key* and *secret*. It tells where objects are; how
    executors get there, *storage* and its credentials say, or else what the session and the machines know themselves.
    """

    repo: str
    lake: str | None = None
    kv: str | None = None
    storage: str | None = None
    kv_credentials: dict[str, str] = {}
    storage_credentials: dict[str, str] = {}
    committer: str = "spark"
    endpoint: str | None = None
    key: str = ""
    secret: str = ""

    def __repr__(self) -> str:
        return f"<Place {self.repo} in {self.endpoint or self.lake or self.kv}>"

    __str__ = __repr__


class Objects(msgspec.Struct, frozen=True):
    """A storage namespace as an executor reaches it: the URI with its options, and credentials, if it needs any."""

    uri: str
    credentials: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<Objects {self.uri.partition('?')[0]}>"

    async def open(self) -> BlobStore:
        return await blob.open(self.uri, credentials=self.credentials or None)

    @property
    def root(self) -> str:
        """The URI as Hadoop has it."""
        return hadoop_path(self.uri.partition("?")[0]).rstrip("/")


class Where(TypedDict, total=False):
    """What `Place` wants to know beside a name: in which lake."""

    lake: str
    kv: str
    storage: str
    kv_credentials: dict[str, str]
    storage_credentials: dict[str, str]
    endpoint: str
    key: str
    secret: str


def split_uri(uri: str, where: Where) -> tuple[Place, str, str]:
    """The place, the reference and the path that `hw://repository/ref/path` names, of a lake that is *where*."""
    repo, _, rest = uri.removeprefix(SCHEME).partition("/")
    ref, _, path = rest.partition("/")
    if not uri.startswith(SCHEME) or not repo or not ref:
        raise BadRequest(f"{uri!r}: write hw://repository/ref/path, and %2F for a slash in a reference")
    return Place(repo, **where), unquote(ref), path


class Driver:
    """A repository as the driver works on it: coroutines of the engine are run to their end."""

    def __init__(self, runner: Runner, lake: Lake, repository: Repository, objects: Objects) -> None:
        self._runner = runner
        self.lake = lake
        self.repository = repository
        self.objects = objects

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run_on_loop(coroutine)


@contextmanager
def opened(place: Place, spark: SparkSession | None = None) -> Iterator[Driver]:
    """The repository at *place*, which has stores; with *spark*, that session is told how to reach its objects."""
    runner = Runner()
    try:
        stores = runner.run(
            open_stores(
                place.lake,
                kv=place.kv,
                storage=place.storage,
                kv_credentials=place.kv_credentials or None,
                storage_credentials=place.storage_credentials or None,
            )
        )
        try:
            repository = runner.run_on_loop(stores.lake.open(place.repo))
            objects = objects_of(stores.storage, repository.record.namespace)
            if spark is not None:
                tell_hadoop(spark, objects)
            yield Driver(runner, stores.lake, repository, objects)
        finally:
            runner.run_on_loop(stores.lake.aclose())
    finally:
        runner.close()


def on_driver(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """What *coroutine* answers, which opens and closes what it needs: for what the driver does at a place by itself."""
    runner = Runner()
    try:
        return runner.run_on_loop(coroutine)
    finally:
        runner.close()


def objects_of(storage: Storage, namespace: str) -> Objects:
    """How executors reach *namespace*, in a lake whose objects are in *storage*."""
    bare, _, options = namespace.partition("?")
    scheme = urlsplit(bare).scheme
    if scheme == "mem":
        raise BadRequest(f"{bare}: what is in the memory of one process no executor can read")
    if scheme == "file":
        path = urlsplit(bare).path
        if not path.startswith("/"):
            if storage.directory is None:
                raise BadRequest(f"{bare} is inside the directory of a lake: give that directory as lake")
            bare = f"file://{quote(str(storage.directory))}/{path}"
        return Objects(bare)
    ours = urlsplit(storage.uri)
    if scheme != ours.scheme:
        return Objects(namespace)
    if not options:
        options = ours.query
    uri = f"{bare}?{options}" if options else bare
    return Objects(uri, dict(storage.credentials) if options == ours.query else {})


def hadoop_path(uri: str) -> str:
    """*uri* as Spark names it: S3 is read through S3A."""
    for scheme, name in (("s3://", "s3a://"), ("gs://", "gs://"), ("file:///", "file:///")):
        if uri.startswith(scheme):
            return name + uri.removeprefix(scheme)
    raise BadRequest(f"{uri}: Spark reads s3://, gs:// and file:/// namespaces")


def tell_hadoop(spark: SparkSession, objects: Objects) -> None:
    """Have *spark* reach the bucket of *objects* as the lake does. What a session sets itself for all buckets stays."""
    parts = urlsplit(objects.uri)
    if parts.scheme != "s3":
        return
    options = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
    told = {"path.style.access": options.get("path_style", "true")}
    if "endpoint" in options:
        told["endpoint"] = options["endpoint"]
        told["connection.ssl.enabled"] = str(options["endpoint"].startswith("https:")).lower()
    told["endpoint.region"] = options.get("region", "us-east-1")
    names = {"access_key_id": "access.key", "secret_access_key": "secret.key", "session_token": "session.token"}
    told |= {names[name]: value for name, value in objects.credentials.items() if name in names}
    if "access.key" in told and "session.token" not in told:
        told["aws.credentials.provider"] = "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"
    for name, value in told.items():
        spark.conf.set(f"fs.s3a.bucket.{parts.netloc}.{name}", value)
