"""Objects over the REST API: written, read, listed, under conditions and in ranges."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx
import pytest

from dev.servers.headwater import Headwater
from tests.server.test_lakefs_sdk import until_done

ODD = [
    "a b",
    "a+b",
    "ä/ö",
    "a%2Fb",
    "a//b",
    "/lead",
    "tail/",
    "q?x=1&y",
    "#",
    "日本/語",
    "..",
    "a/../b",
    "\\",
    "x" * 1022,
]


def put(api: httpx.Client, repository: str, path: str, content: bytes, **headers: str) -> httpx.Response:
    return api.post(
        f"/repositories/{repository}/branches/main/objects", params={"path": path}, content=content, headers=headers
    )


def get(api: httpx.Client, repository: str, path: str, ref: str = "main", **headers: str) -> httpx.Response:
    return api.get(f"/repositories/{repository}/refs/{ref}/objects", params={"path": path}, headers=headers)


@pytest.mark.parametrize("path", ODD)
def test_a_path_is_any_text_that_is_not_too_long(api: httpx.Client, repository: str, path: str) -> None:
    written = put(api, repository, path, path.encode())
    assert written.status_code == 201, written.text
    assert written.json()["path"] == path
    assert get(api, repository, path).content == path.encode()
    listed = api.get(f"/repositories/{repository}/refs/main/objects/ls").json()["results"]
    assert [each["path"] for each in listed] == [path]


@pytest.mark.parametrize("path", ["", "x" * 1023, "a\0b"])
def test_what_can_be_no_path_is_refused_and_changes_nothing(api: httpx.Client, repository: str, path: str) -> None:
    refused = put(api, repository, path, b"x")
    assert refused.status_code == 400
    assert "path" in refused.json()["message"]
    assert api.get(f"/repositories/{repository}/refs/main/objects/ls").json()["results"] == []


def test_an_upload_may_be_a_form(api: httpx.Client, repository: str) -> None:
    for size in (0, 10, 3_000_000):
        content = bytes(size)
        files = {"content": ("name.csv", content, "text/csv")}
        url = f"/repositories/{repository}/branches/main/objects"
        written = api.post(url, params={"path": "form"}, files=files)
        assert written.status_code == 201, written.text
        assert written.json()["content_type"] == "text/csv"
        assert get(api, repository, "form").content == content


def test_a_form_without_the_field_is_refused(api: httpx.Client, repository: str) -> None:
    url = f"/repositories/{repository}/branches/main/objects"
    refused = api.post(url, params={"path": "form"}, files={"other": b"x"})
    assert refused.status_code == 400
    assert "content" in refused.json()["message"]


def test_a_read_says_what_it_is_and_may_be_of_a_range(api: httpx.Client, repository: str) -> None:
    put(api, repository, "digits", b"0123456789", **{"content-type": "text/plain", "x-lakefs-meta-colour": "red"})
    whole = get(api, repository, "digits")
    assert whole.headers["content-type"] == "text/plain"
    assert whole.headers["x-lakefs-meta-colour"] == "red"
    assert parsedate_to_datetime(whole.headers["last-modified"]).year > 2020
    ranges = {"bytes=2-4": b"234", "bytes=7-": b"789", "bytes=-2": b"89", "bytes=8-100": b"89"}
    for asked, content in ranges.items():
        part = get(api, repository, "digits", range=asked)
        assert (part.status_code, part.content) == (206, content)
        assert part.headers["content-range"].endswith("/10")
    beyond = get(api, repository, "digits", range="bytes=10-")
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, "bytes */10")
    assert get(api, repository, "digits", range="lines=1-2").content == b"0123456789"


def test_conditions_on_a_read(api: httpx.Client, repository: str) -> None:
    put(api, repository, "a", b"x")
    etag = get(api, repository, "a").headers["etag"]
    assert get(api, repository, "a", **{"if-none-match": etag}).status_code == 304
    assert get(api, repository, "a", **{"if-none-match": '"other"'}).status_code == 200
    assert get(api, repository, "a", **{"if-match": etag}).status_code == 200
    assert get(api, repository, "a", **{"if-match": '"other"'}).status_code == 412
    assert get(api, repository, "a", **{"if-modified-since": "Thu, 01 Jan 2099 00:00:00 GMT"}).status_code == 304
    assert get(api, repository, "a", **{"if-unmodified-since": "Thu, 01 Jan 1998 00:00:00 GMT"}).status_code == 412


def test_conditions_on_an_upload(api: httpx.Client, repository: str) -> None:
    assert put(api, repository, "a", b"1", **{"if-none-match": "*"}).status_code == 201
    assert put(api, repository, "a", b"2", **{"if-none-match": "*"}).status_code == 412
    etag = get(api, repository, "a").headers["etag"]
    assert put(api, repository, "a", b"3", **{"if-match": etag}).status_code == 201
    assert put(api, repository, "a", b"4", **{"if-match": etag}).status_code == 412
    assert get(api, repository, "a").content == b"3"


def test_a_head_tells_what_a_get_would(api: httpx.Client, repository: str) -> None:
    put(api, repository, "a", b"x" * 1000)
    url = f"/repositories/{repository}/refs/main/objects"
    head = api.head(url, params={"path": "a"})
    assert (head.status_code, head.headers["content-length"], head.content) == (200, "1000", b"")
    assert api.head(url, params={"path": "b"}).status_code == 404


def test_a_large_object_comes_back_as_it_was(api: httpx.Client, repository: str) -> None:
    content = bytes(range(256)) * 40_000
    put(api, repository, "large", content)
    assert get(api, repository, "large").content == content
    assert get(api, repository, "large", range="bytes=5000000-5000009").content == content[5_000_000:5_000_010]


def test_a_listing_is_paged_and_rolls_up_behind_a_delimiter(api: httpx.Client, repository: str) -> None:
    for name in ("a/1", "a/2", "b", "c/d/1", "e"):
        put(api, repository, name, b"x")
    url = f"/repositories/{repository}/refs/main/objects/ls"
    seen: list[str] = []
    after = ""
    while True:
        page = api.get(url, params={"delimiter": "/", "amount": 2, "after": after}).json()
        seen += [each["path"] for each in page["results"]]
        after = page["pagination"]["next_offset"]
        if not page["pagination"]["has_more"]:
            break
    assert seen == ["a/", "b", "c/", "e"]


@pytest.mark.parametrize("options", [{}, {"user_metadata": "false"}, {"details": "true"}, {"delimiter": "/"}])
def test_what_is_committed_is_listed_as_it_was_when_it_was_staged(
    api: httpx.Client, repository: str, imports: Path, options: dict[str, str]
) -> None:
    """What is in a segment is written by columns, what is staged one by one."""
    odd = ['quote"', "back\\slash", "tab\there", "line\nfeed", "ä/ö", "日本/語", "q?x=1&y"]
    for number, path in enumerate([*odd, *(f"{number:03}" for number in range(600))]):
        kind = {"content-type": 'odd/"type"'} if number % 7 == 0 else {}
        put(api, repository, path, path.encode(), **kind)
    put(api, repository, "described", b"x", **{"x-lakefs-meta-colour": 'a "red"', "x-lakefs-meta-size": "1"})
    (imports / "ä b").write_bytes(b"outside")
    elsewhere = {"physical_address": f"local://{imports}/ä b", "checksum": "", "size_bytes": 7, "mtime": 1}
    staging = f"/repositories/{repository}/branches/main/objects"
    api.put(staging, params={"path": "linked"}, json=elsewhere).raise_for_status()

    def pages() -> list[object]:
        url = f"/repositories/{repository}/refs/main/objects/ls"
        asked = ({"amount": "7"}, {"amount": "150", "after": "299"}, {"amount": "1000"}, {"prefix": "ä"})
        return [api.get(url, params={**options, **ask}).raise_for_status().json() for ask in asked]

    staged = pages()
    api.post(f"/repositories/{repository}/branches/main/commits", json={"message": "all"}).raise_for_status()
    assert pages() == staged
    assert pages() == staged


def test_deleting_many_copying_and_changing_metadata(api: httpx.Client, repository: str) -> None:
    for name in ("a", "b", "c"):
        put(api, repository, name, name.encode())
    base = f"/repositories/{repository}/branches/main/objects"
    copied = api.post(f"{base}/copy", params={"dest_path": "d"}, json={"src_path": "a"})
    assert copied.status_code == 201
    assert api.put(f"{base}/stat/user_metadata", params={"path": "d"}, json={"set": {"k": "v"}}).status_code == 201
    assert api.post(f"{base}/delete", json={"paths": ["a", "b", "nothing"]}).json() == {"errors": []}
    assert api.delete(base, params={"path": "nothing"}).status_code == 204
    listed = api.get(f"/repositories/{repository}/refs/main/objects/ls").json()["results"]
    assert [(each["path"], each["metadata"]) for each in listed] == [("c", {}), ("d", {"k": "v"})]


def test_nothing_is_at_a_path_or_ref_or_repository_that_is_not(api: httpx.Client, repository: str) -> None:
    assert get(api, repository, "a").status_code == 404
    assert get(api, repository, "a", "nowhere").status_code == 404
    assert get(api, "no-such-repository", "a").status_code == 404
    assert get(api, repository, "a", "main@{then}").status_code == 400


def test_nobody_reads_without_credentials(api: httpx.Client, repository: str) -> None:
    put(api, repository, "a", b"x")
    url = f"{api.base_url}repositories/{repository}/refs/main/objects?path=a"
    assert httpx.get(url).status_code == 401
    assert httpx.get(url, auth=("AKIAJNOBODYNOBODYNOQ", "x")).status_code == 401


def test_what_somebody_wrote_is_no_page_of_the_server(api: httpx.Client, repository: str, server: Headwater) -> None:
    """Else whoever opens it in a browser, and has logged in, does what its scripts say."""
    put(api, repository, "page.html", b"<script>alert(1)</script>", **{"content-type": "text/html"})
    for answer in (get(api, repository, "page.html"), get(api, repository, "page.html", range="bytes=0-3")):
        assert answer.headers["content-type"] == "text/html"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]
    page = httpx.get(f"{server.url}/docs")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<script" not in page.text
    assert "http" not in page.text.replace("http-", "")  # nothing of it comes from elsewhere


def test_an_imported_file_that_became_a_link_is_not_followed(
    api: httpx.Client, repository: str, imports: Path, tmp_path: Path
) -> None:
    content, secret = bytes(2_000_000), tmp_path / "secret"
    secret.write_bytes(b"s" * len(content))
    (imports / "large").write_bytes(content)
    source = {"path": f"local://{imports}/large", "destination": "large", "type": "object"}
    url = f"/repositories/{repository}/branches/main/import"
    started = api.post(url, json={"paths": [source], "commit": {"message": "import"}}).json()["id"]
    until_done(lambda: api.get(url, params={"id": started}).json(), is_done=lambda each: each["completed"])
    assert get(api, repository, "large").content == content
    (imports / "large").unlink()
    (imports / "large").symlink_to(secret)
    assert get(api, repository, "large").status_code == 404
