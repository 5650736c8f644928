"""Clients of the S3 gateway, and a bucket for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]  # it has no types
import pytest
from botocore.config import Config  # type: ignore[import-untyped]
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from dev.servers.headwater import Headwater
from dev.servers.process import NotInstalled, find

_numbers = itertools.count(1)


def client_of(server: Headwater, **settings: Any) -> Any:
    """A boto3 client that fails at once, as a test wants it."""
    return boto3.client(
        "s3",
        endpoint_url=server.url,
        aws_access_key_id=server.access_key_id,
        aws_secret_access_key=server.secret_access_key,
        region_name="us-east-1",
        config=Config(retries={"max_attempts": 0}, **settings),
    )


@pytest.fixture(scope="session")
def s3(server: Headwater) -> Iterator[Any]:
    client = client_of(server)
    yield client
    client.close()


@pytest.fixture
def bucket(s3: Any) -> str:
    """A bucket that no other test has."""
    name = f"bucket-{next(_numbers)}"
    s3.create_bucket(Bucket=name)
    return name


def listed(s3: Any, bucket: str, prefix: str = "") -> list[str]:
    """All keys of *bucket* below *prefix*."""
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    return [each["Key"] for page in pages for each in page.get("Contents", [])]


def installed(program: str | Path, installer: str) -> str:
    """Where *program* is. Skips the test, saying why, where it is not."""
    try:
        return find(program, installer)
    except NotInstalled as reason:
        pytest.skip(str(reason))


@contextmanager
def refused(code: str, status: int | None = None) -> Iterator[None]:
    """That what is done inside is answered with this error. To a HEAD the status is all there is."""
    with pytest.raises(ClientError) as caught:
        yield
    response = caught.value.response
    assert response["Error"]["Code"] == code, response
    assert status is None or response["ResponseMetadata"]["HTTPStatusCode"] == status
    assert response["ResponseMetadata"]["RequestId"]
