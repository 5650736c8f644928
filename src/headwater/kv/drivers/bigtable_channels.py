"""The connections to Bigtable: to Google with TLS and the credentials of its standard chain, to an emulator as it is.

The calls are the service's own, without the library's layer of retries above them, which would send a write again whose
outcome is unknown.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from google.api_core.exceptions import GoogleAPICallError
from google.auth.exceptions import GoogleAuthError
from google.cloud.bigtable_v2 import BigtableAsyncClient
from google.cloud.bigtable_v2.services.bigtable.transports import BigtableGrpcAsyncIOTransport as DataTransport
from grpc import StatusCode, aio  # type: ignore[import-untyped]  # it ships none

from headwater.kv.errors import CannotOpen

if TYPE_CHECKING:
    from google.cloud.bigtable_admin_v2.services.bigtable_table_admin.transports import (
        BigtableTableAdminGrpcAsyncIOTransport as AdminTransport,
    )

_UNLIMITED = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
"""The service has limits of its own; 4 MB, which is gRPC's, is less than a page may have."""

_REFUSED = {
    StatusCode.NOT_FOUND,
    StatusCode.PERMISSION_DENIED,
    StatusCode.UNAUTHENTICATED,
    StatusCode.INVALID_ARGUMENT,
    StatusCode.FAILED_PRECONDITION,
    StatusCode.OUT_OF_RANGE,
    StatusCode.UNIMPLEMENTED,
}


def refused(error: GoogleAPICallError) -> bool:
    """Whether Bigtable would not do it: it looked at the request, wrote nothing, and will say the same again."""
    return error.grpc_status_code in _REFUSED


class Channels:
    """*endpoint* is a URL: `http://…` for an emulator, `https://…` for another address of the service."""

    def __init__(self, endpoint: str | None) -> None:
        parts = urlsplit(endpoint or "https://")
        if parts.scheme not in {"http", "https"} or (endpoint and not parts.netloc):
            raise CannotOpen(f"endpoint={endpoint}: write http://host:port for an emulator, else https://host")
        self._plain = parts.netloc if parts.scheme == "http" else None
        self._host = parts.netloc or BigtableAsyncClient.DEFAULT_ENDPOINT
        self._open: list[aio.Channel] = []

    @cached_property
    def data(self) -> BigtableAsyncClient:
        try:
            transport = DataTransport(channel=self._emulator()) if self._plain else DataTransport(host=self._host)
        except GoogleAuthError as error:
            raise CannotOpen(f"no credentials for Bigtable: {error}") from error
        self._open.append(transport.grpc_channel)
        return BigtableAsyncClient(transport=transport)

    def admin_transport(self, kind: type[AdminTransport]) -> AdminTransport:
        """A transport of that *kind* for making a table. Handed in, because its module takes a second to import."""
        transport = kind(channel=self._emulator()) if self._plain else kind()
        self._open.append(transport.grpc_channel)
        return transport

    async def aclose(self) -> None:
        for channel in self._open:
            await channel.close()

    def _emulator(self) -> aio.Channel:
        return aio.insecure_channel(self._plain, options=_UNLIMITED)
