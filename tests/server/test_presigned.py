"""Presigned URLs on storage that signs them: the published clients send bytes past the server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from dev.servers import headwater, versitygw
from dev.servers.headwater import Headwater
from dev.servers.versitygw import S3
from tests.conftest import Servers
from tests.server.clients import generated, high, high_level, sdk

PART = 5 * 1024 * 1024


@pytest.fixture(scope="module")
def on_s3(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Headwater]:
    """A server whose repositories are in a bucket."""
    storage: S3 = servers.start("versitygw", versitygw.serve)
    storage.make_bucket("presigned")
    settings = {
        "HEADWATER_STORAGE": f"s3://presigned/lake?endpoint={storage.endpoint}",
        "HEADWATER_STORAGE_CREDENTIALS": (
            f"access_key_id={storage.access_key_id},secret_access_key={storage.secret_access_key}"
        ),
    }
    directory: Path = tmp_path_factory.mktemp("on-s3")
    with headwater.serve(directory, settings) as server:
        yield server


@pytest.fixture
def lake(on_s3: Headwater, request: pytest.FixtureRequest) -> Any:
    name = request.node.name.replace("_", "-")[:60].strip("-")
    made = high.Repository(name, client=high_level(on_s3))
    return made.create(storage_namespace=f"s3://presigned/{name}")


def test_objects_go_past_the_server_both_ways(lake: Any) -> None:
    branch = lake.branch("main")
    assert branch.object("a")._client.storage_config.pre_sign_support  # noqa: SLF001  (what the client goes by)
    branch.object("a").upload(b"hello", content_type="text/plain", metadata={"k": "v"})
    stat = branch.object("a").stat(pre_sign=True)
    assert (stat.size_bytes, stat.metadata, stat.content_type) == (5, {"k": "v"}, "text/plain")
    assert stat.physical_address.startswith("http")
    assert httpx.get(stat.physical_address).content == b"hello"
    with branch.object("a").reader(pre_sign=True) as reader:
        assert reader.read() == b"hello"


def test_what_was_not_given_out_cannot_be_linked(lake: Any, on_s3: Headwater) -> None:
    branch, api = lake.branch("main"), generated(on_s3).staging_api
    branch.object("secret").upload(b"theirs", pre_sign=False)
    taken = branch.object("secret").stat().physical_address
    issued = api.get_physical_address(lake.id, "main", "mine").physical_address
    for address in (taken, issued, f"s3://presigned/{lake.id}/meta/x", "s3://other/key", ""):
        staging = sdk.StagingMetadata(staging=sdk.StagingLocation(physical_address=address), checksum="x", size_bytes=6)
        with pytest.raises(sdk.ApiException) as refused:
            api.link_physical_address(lake.id, "main", "other", staging)
        assert refused.value.status == 400
    with pytest.raises(sdk.ApiException) as refused:  # it was given out, and nothing was written there
        api.link_physical_address(
            lake.id,
            "main",
            "mine",
            sdk.StagingMetadata(staging=sdk.StagingLocation(physical_address=issued), checksum="x", size_bytes=6),
        )
    assert refused.value.status == 404


def test_a_large_object_is_sent_in_parts(lake: Any, on_s3: Headwater) -> None:
    api = generated(on_s3).experimental_api
    content = bytes(range(256)) * (PART // 256) + b"the rest"
    begun = api.create_presign_multipart_upload(lake.id, "main", "large", parts=1)
    second = api.upload_part(
        lake.id, "main", begun.upload_id, "large", 2, sdk.UploadPartFrom(physical_address=begun.physical_address)
    )
    etags = [
        httpx.put(url, content=part).raise_for_status().headers["etag"]
        for url, part in ((begun.presigned_urls[0], content[:PART]), (second.presigned_url, content[PART:]))
    ]
    parts = [sdk.UploadPart(part_number=number, etag=etag) for number, etag in enumerate(etags, 1)]
    done = sdk.CompletePresignMultipartUpload(
        physical_address=begun.physical_address, parts=parts, user_metadata={"k": "v"}, content_type="text/plain"
    )
    stats = api.complete_presign_multipart_upload(
        lake.id, "main", begun.upload_id, "large", complete_presign_multipart_upload=done
    )
    assert (stats.size_bytes, stats.metadata, stats.content_type) == (len(content), {"k": "v"}, "text/plain")
    branch = lake.branch("main")
    assert branch.object("large").reader(pre_sign=False).read() == content
    again = api.complete_presign_multipart_upload(
        lake.id, "main", begun.upload_id, "large", complete_presign_multipart_upload=done
    )
    assert again.checksum == stats.checksum


def test_a_part_may_be_copied_from_what_is_there(lake: Any, on_s3: Headwater) -> None:
    api, branch = generated(on_s3).experimental_api, lake.branch("main")
    branch.object("source").upload(b"0123456789", pre_sign=False)
    begun = api.create_presign_multipart_upload(lake.id, "main", "copied")
    source = sdk.CopyPartSource(repository=lake.id, ref="main", path="source", range="bytes=2-5")
    answer = api.upload_part_copy_with_http_info(
        lake.id,
        "main",
        begun.upload_id,
        "copied",
        1,
        sdk.UploadPartCopyFrom(physical_address=begun.physical_address, copy_source=source),
    )
    headers = answer.headers
    done = sdk.CompletePresignMultipartUpload(
        physical_address=begun.physical_address, parts=[sdk.UploadPart(part_number=1, etag=headers["ETag"])]
    )
    api.complete_presign_multipart_upload(
        lake.id, "main", begun.upload_id, "copied", complete_presign_multipart_upload=done
    )
    assert branch.object("copied").reader(pre_sign=False).read() == b"2345"


def test_an_upload_that_is_given_up_cannot_be_completed(lake: Any, on_s3: Headwater) -> None:
    api = generated(on_s3).experimental_api
    begun = api.create_presign_multipart_upload(lake.id, "main", "never", parts=1)
    where = begun.physical_address
    api.abort_presign_multipart_upload(
        lake.id,
        "main",
        begun.upload_id,
        "never",
        abort_presign_multipart_upload=sdk.AbortPresignMultipartUpload(physical_address=where),
    )
    parts = [sdk.UploadPart(part_number=1, etag='"0"')]
    done = sdk.CompletePresignMultipartUpload(physical_address=where, parts=parts)
    with pytest.raises(sdk.ApiException) as refused:
        api.complete_presign_multipart_upload(
            lake.id, "main", begun.upload_id, "never", complete_presign_multipart_upload=done
        )
    assert refused.value.status in (400, 404)  # some stores look at the parts before they look for the upload
    assert not lake.branch("main").object("never").exists()


def test_storage_without_parts_says_so(server: Headwater, repository: str) -> None:
    with pytest.raises(sdk.ApiException) as refused:
        generated(server).experimental_api.create_presign_multipart_upload(repository, "main", "a", parts=1)
    assert refused.value.status == 501
    with pytest.raises(sdk.ApiException) as refused:
        generated(server).staging_api.get_physical_address(repository, "main", "a", presign=True)
    assert refused.value.status == 400
