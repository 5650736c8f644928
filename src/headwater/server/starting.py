"""From settings to a server that answers: stores opened, the first administrator made, the rooms furnished."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import time
from pathlib import Path
from typing import BinaryIO, TextIO
from urllib.parse import quote

from headwater.actions import Actions, Destinations, Executor, Runs
from headwater.auth import AlreadySetUp, Auth
from headwater.errors import HeadwaterError
from headwater.kv import Store
from headwater.metrics import Metrics
from headwater.outside import Outside, real_outside
from headwater.sdk.opening import Opened, open_stores
from headwater.server.access import Callers
from headwater.server.api.calling import Api
from headwater.server.api.table import TREE
from headwater.server.application import Application, Rooms, Running
from headwater.server.beginning import Beginning, CannotStart
from headwater.server.columns import WrittenRows
from headwater.server.config import BadConfiguration, Settings, hook_variables
from headwater.server.handles import Handles
from headwater.server.issued import IssuedAddresses
from headwater.server.limits import START_AGAIN
from headwater.server.logs import Log
from headwater.server.observing import Observer
from headwater.server.pages import Pages
from headwater.server.protection import RepositorySettings
from headwater.server.proxies import Proxies
from headwater.server.pulls import Pulls
from headwater.server.rates import Rates
from headwater.server.s3.gateway import Gateway
from headwater.server.s3.recognising import recogniser
from headwater.server.services import Repositories, Services
from headwater.server.tasks import Tasks
from headwater.server.telemetry.telemetry import Telemetry
from headwater.server.tidying import Upkeep

SECRET_FILE = "secret"  # noqa: S105  (where it is, not what it is)
ADMINISTRATOR = "admin"

WELCOME = """
The first administrator of this lake, shown this once. Keep it:

    access key id      {made.access_key_id}
    secret access key  {made.secret_access_key}

Go on from another shell:

    export HEADWATER_ENDPOINT={settings.endpoint}
    export HEADWATER_ACCESS_KEY_ID={made.access_key_id}
    export HEADWATER_SECRET_ACCESS_KEY={made.secret_access_key}
    hw repo create rivers

"""


def application(settings: Settings, beginning: Beginning, shared: Path) -> Application:
    """The application that answers as *settings* say. Nothing is opened before the worker that runs it starts.

    *shared* is a directory where the workers of one server tell each other how they do, *beginning* how they began.
    """

    async def start() -> Running:
        try:
            running = await opened()
        except Exception as error:
            if not isinstance(error, (HeadwaterError, OSError)):
                Log().defect("the start of a worker", error)
            beginning.fails(_reason(error))
            if beginning.was_seen:  # a store is down, as a rule, and others may be waiting for it, too
                await asyncio.sleep(START_AGAIN)
            raise CannotStart(_reason(error)) from error
        beginning.answers()
        return running

    async def opened() -> Running:
        telemetry = Telemetry(shared, settings.trace)
        services = await open_services(settings, telemetry)
        observer = Observer(services.log, telemetry, settings.request_seconds)
        upkeep = Upkeep(services.repositories, services.log)
        telemetry.start()
        observer.start()
        upkeep.start()

        async def stop() -> None:
            await upkeep.aclose()
            await services.tasks.aclose()
            await services.actions.aclose()
            await services.lake.aclose()
            await observer.aclose()
            await telemetry.aclose()

        rates = Rates(settings.requests_per_second, services.outside.elapsed)
        return Running(rooms_of(services), observer, rates, Proxies(settings.trusted_proxies), stop)

    return Application(start)


def _reason(error: Exception) -> str:
    """Why a worker could not begin, in a line."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) if isinstance(error, (HeadwaterError, OSError)) else f"{type(error).__name__}: {error}"


def rooms_of(services: Services) -> Rooms:
    return Rooms(
        api=Api(services, TREE),
        s3=Gateway(services),
        pages=Pages(services),
        is_s3=recogniser(services.settings.s3_domains),
    )


async def open_services(settings: Settings, telemetry: Telemetry) -> Services:
    """Open all that *settings* name. The first server of a lake makes its administrator, and says so once."""
    outside = real_outside()
    log = Log(access=_access_log(settings.access_log))
    opened = await open_lake(settings, telemetry.tally)
    telemetry.cache = opened.cache
    secret = secret_of(settings)
    auth = Auth(opened.store, secret, outside)
    await _first_administrator(auth, settings)
    return Services(
        settings=settings,
        store=opened.store,
        lake=opened.lake,
        storage=opened.storage,
        repositories=Repositories(opened.lake, outside, immediate=opened.store.immediate),
        auth=auth,
        callers=Callers(auth),
        tasks=Tasks(opened.store, outside, log),
        rules=RepositorySettings(opened.store, outside),
        pulls=Pulls(opened.store, outside),
        issued=IssuedAddresses(secret, outside),
        handles=Handles(secret),
        telemetry=telemetry,
        actions=_actions(settings, opened.store, outside, log),
        log=log,
        outside=outside,
        written_rows=WrittenRows(),
    )


def _actions(settings: Settings, store: Store, outside: Outside, log: Log) -> Actions:
    """The hooks of repositories, which reach what *settings* allow."""
    destinations = Destinations(settings.webhook_hosts, enabled=settings.webhooks)
    executor = Executor(destinations, hook_variables(settings, os.environ), outside, log.defect)
    return Actions(Runs(store, outside), executor, outside, log.defect)


async def open_lake(settings: Settings, metrics: Metrics) -> Opened:
    """The lake that *settings* name: all in the data directory, or in stores, with caches in the data directory."""
    data = data_directory(settings)
    if settings.storage is None:
        return await open_stores(
            data,
            durability=settings.durability,
            metrics=metrics,
            dirty_read_optimization=settings.experimental_graveler_dirty_read_optimization,
        )
    return await open_stores(
        kv=settings.kv or f"lmdb://{quote(str(data / 'kv'))}?durability={settings.durability}",
        storage=settings.storage,
        cache=data / "cache",
        kv_credentials=settings.kv_credentials or None,
        storage_credentials=settings.storage_credentials or None,
        dirty_read_optimization=settings.experimental_graveler_dirty_read_optimization,
        metrics=metrics,
    )


def data_directory(settings: Settings) -> Path:
    """The data directory, which is made if need be."""
    data = Path(settings.data).absolute()
    data.mkdir(parents=True, exist_ok=True)
    return data


def secret_of(settings: Settings) -> bytes:
    """What tokens are signed and secrets encrypted with: as set, or made once and kept in the data directory."""
    if settings.secret is not None:
        return settings.secret.encode()
    file = data_directory(settings) / SECRET_FILE
    made = secrets.token_hex(32)
    try:
        with _new_private(file) as out:
            out.write(made)
    except FileExistsError:
        return _written(file)
    return made.encode()


async def _first_administrator(auth: Auth, settings: Settings) -> None:
    """Make the administrator of a lake that has none, and show its credentials: they are not to be had again.

    Of several workers that start together one does it.
    """
    if await auth.setup.is_done():
        return
    given = settings.admin_access_key_id, settings.admin_secret_access_key
    if given == (None, None) and not settings.create_admin:
        return
    try:
        made = await auth.setup.run(ADMINISTRATOR, access_key_id=given[0], secret_access_key=given[1])
    except AlreadySetUp:
        return
    if given[1] is None:
        sys.stdout.write(WELCOME.format(settings=settings, made=made))
        sys.stdout.flush()


def _new_private(file: Path) -> TextIO:
    """A new file that only its owner may read; `FileExistsError` if there is one."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    return os.fdopen(descriptor, "w")


def _written(file: Path) -> bytes:
    """What is in *file*, which another worker may be about to write."""
    for _ in range(100):
        if text := file.read_text().strip():
            return text.encode()
        time.sleep(0.01)
    raise BadConfiguration(f"{file} is empty: delete it if no server of this lake was ever started, else restore it")


def _access_log(where: str) -> BinaryIO | None:
    """Where lines are told, each by one call: those of several workers do not run into each other."""
    if not where:
        return None
    if where == "-":
        return sys.stderr.buffer
    return Path(where).open("ab", buffering=0)
