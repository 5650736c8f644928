"""What the server is and can do: its version, its storage, its health; and what clients would like to tell it."""

from __future__ import annotations

import re
from typing import Any

import msgspec

import headwater
from headwater.garbage.limits import SAFETY_AGE
from headwater.server.addresses import LOCAL, kind_of
from headwater.server.api.calling import Call
from headwater.server.api.operation import ALL, ANYONE, SIGNED_IN, Group, needs
from headwater.server.services import Services

group = Group("config")
health = Group("healthCheck")
internal = Group("internal")

_SIGNING = ("s3", "gs", "azure")
"""The kinds of storage that sign URLs."""

_SCHEMES = {"local": "local", "mem": "mem", "s3": "s3", "gs": "gs", "azure": "https"}


class VersionConfig(msgspec.Struct, frozen=True):
    """Which version of what answers. It asks nobody whether there is a later one."""

    version: str
    version_context: str = "headwater"
    upgrade_recommended: bool = False


class StorageConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Where repositories are kept unless told otherwise, and what clients may do there by themselves."""

    blockstore_type: str
    blockstore_namespace_example: str
    blockstore_namespace_validity_regex: str = msgspec.field(name="blockstore_namespace_ValidityRegex")
    default_namespace_prefix: str
    pre_sign_support: bool
    pre_sign_support_ui: bool
    import_support: bool
    import_validity_regex: str
    pre_sign_multipart_upload: bool


class UIConfig(msgspec.Struct, frozen=True):
    """Viewers of objects for a web page: none beside its own."""

    custom_viewers: list[dict[str, Any]] = []


class CapabilitiesConfig(msgspec.Struct, frozen=True):
    """What the server does beyond what every one does."""

    async_ops: bool = True


class Config(msgspec.Struct, frozen=True):
    """All that a client needs to know."""

    version_config: VersionConfig
    storage_config: StorageConfig
    ui_config: UIConfig
    capabilities_config: CapabilitiesConfig


class GarbageCollectionConfig(msgspec.Struct, frozen=True):
    """For how many seconds what was just written is never collected."""

    grace_period: int


class StatsEvent(msgspec.Struct, frozen=True):
    """So often something happened at a client."""

    name: str
    count: int
    class_: str = msgspec.field(name="class")


class StatsEventsList(msgspec.Struct, frozen=True):
    """What happened at a client."""

    events: list[StatsEvent]


class InstallationUsageReport(msgspec.Struct, frozen=True):
    """How much a server was used. Nothing is counted for anybody, so there are no reports."""

    installation_id: str
    reports: list[dict[str, int]] = []


def version_of() -> VersionConfig:
    return VersionConfig(headwater.__version__)


def storage_of(services: Services) -> StorageConfig:
    """What clients are told of the storage of *services*."""
    kind = kind_of(services.storage)
    scheme = _SCHEMES[kind]
    prefix = LOCAL if kind == "local" else services.storage.uri.partition("?")[0].rstrip("/") + "/"
    imports = list(services.settings.import_from) if kind == "local" else []
    local = "|".join(f"local://{re.escape(directory)}(/|$)" for directory in imports)
    return StorageConfig(
        blockstore_type=kind,
        blockstore_namespace_example=f"{prefix}example",
        blockstore_namespace_validity_regex=f"^{scheme}://",
        default_namespace_prefix=prefix,
        pre_sign_support=kind in _SIGNING,
        pre_sign_support_ui=False,
        import_support=kind in _SIGNING or bool(imports),
        import_validity_regex=f"^({local})" if imports else f"^{scheme}://",
        pre_sign_multipart_upload=kind == "s3",
    )


@group.operation("GET", "/config", "getConfig", needs("fs:ReadConfig", ALL))
async def get_config(call: Call) -> Config:
    """What the server is, and where repositories are kept"""
    return Config(version_of(), storage_of(call.services), UIConfig(), CapabilitiesConfig())


@health.operation("GET", "/healthcheck", "healthCheck", ANYONE, status=204)
async def health_check(call: Call) -> None:
    """That the server answers"""


@internal.operation("GET", "/config/version", "getLakeFSVersion", SIGNED_IN)
async def get_version(call: Call) -> VersionConfig:  # noqa: ARG001
    """Which version answers"""
    return version_of()


@internal.operation("GET", "/config/storage", "getStorageConfig", needs("fs:ReadConfig", ALL))
async def get_storage_config(call: Call) -> StorageConfig:
    """Where repositories are kept"""
    return storage_of(call.services)


@internal.operation("GET", "/config/garbage-collection", "getGarbageCollectionConfig", SIGNED_IN)
async def get_garbage_collection_config(call: Call) -> GarbageCollectionConfig:  # noqa: ARG001
    """For how long what was just written is never collected"""
    return GarbageCollectionConfig(SAFETY_AGE)


@internal.operation("POST", "/statistics", "postStatsEvents", SIGNED_IN, status=204)
async def post_stats_events(call: Call, body: StatsEventsList) -> None:
    """Nothing: what happens at clients is theirs, and is not kept"""


@internal.operation("GET", "/usage-report/summary", "getUsageReportSummary", needs("fs:ReadConfig", ALL))
async def get_usage_report_summary(call: Call) -> InstallationUsageReport:  # noqa: ARG001
    """That no report of anybody's usage is made"""
    return InstallationUsageReport("headwater")
