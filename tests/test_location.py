"""URIs of stores: taken apart, checked, and never showing a secret."""

from __future__ import annotations

import msgspec
import pytest

from headwater.location import BadLocation, parse


class Options(msgspec.Struct, forbid_unknown_fields=True):
    size: int = 1
    region: str = "here"


def test_a_uri_has_its_parts() -> None:
    location = parse("postgresql://ann:pa%20ss@db.example:5433/lake%2Fone?size=3")
    assert (location.scheme, location.host, location.port) == ("postgresql", "db.example", 5433)
    assert (location.user, location.password, location.path) == ("ann", "pa ss", "/lake/one")
    assert location.read_options(Options) == Options(size=3)


def test_neither_text_nor_repr_shows_password_credentials_or_options() -> None:
    location = parse("postgresql://ann:hunter2@db/lake?region=hidden", {"secret_access_key": "hunter3"})
    for text in (str(location), repr(location), f"{location}"):
        assert "hunter" not in text
        assert "ann@db/lake" in text


@pytest.mark.parametrize(
    "uri",
    [
        "s3://bucket?secret_access_key=hunter2",
        "s3://bucket?password=hunter2",
        "az://container?sig=hunter2",
        "s3://bucket?Session_Token=hunter2",
        "postgresql://ann:hunter2@db:port/lake",
        "postgresql://ann:hunter2@db/lake#fragment",
        "hunter2",
        "postgresql://ann:hunter2@db/lake?size",
        "postgresql://ann:hunter2@db/lake?size=1&size=2",
    ],
)
def test_a_wrong_uri_is_refused_without_repeating_a_secret(uri: str) -> None:
    with pytest.raises(BadLocation) as refused:
        parse(uri)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(("query", "named"), [("colour=blue", "colour"), ("size=large", "size")])
def test_a_wrong_option_is_named_with_those_that_exist(query: str, named: str) -> None:
    with pytest.raises(BadLocation, match=named) as refused:
        parse(f"s3://bucket?{query}").read_options(Options)
    assert "size, region" in str(refused.value)


@pytest.mark.parametrize(("uri", "path"), [("lmdb:///a/b", "/a/b"), ("lmdb:a/b", "a/b"), ("file:///a%20b", "/a b")])
def test_a_local_path_is_absolute_or_relative(uri: str, path: str) -> None:
    assert parse(uri).local_path() == path


@pytest.mark.parametrize("uri", ["lmdb://a/b", "lmdb://", "lmdb:"])
def test_a_local_path_with_a_slash_too_few_is_refused(uri: str) -> None:
    with pytest.raises(BadLocation, match="absolute"):
        parse(uri).local_path()
