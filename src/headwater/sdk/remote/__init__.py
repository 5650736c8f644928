"""A lake on a server: the ports of the SDK over its REST API."""

from headwater.sdk.remote.connection import Connection
from headwater.sdk.remote.lake import RemoteLake, RemoteRepository

__all__ = ["Connection", "RemoteLake", "RemoteRepository"]
