"""What branches, tags and repositories may be called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.history import BadExpression, BadName, check_name, check_repository_name, is_name, parse


@pytest.mark.parametrize(
    "name", ["main", "a", "v1.0.2", "feature/x", "_x", "a.-", "0", "a" * 255, "ab" * 31, "A-b_c.d/e"]
)
def test_letters_digits_and_a_few_marks_make_a_name(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-x",
        "/x",
        "x/",
        "x.",
        "a..b",
        "a//b",
        "a/./b",
        ".a",
        "a~b",
        "a^b",
        "a@b",
        "a:b",
        "a\\b",
        "a b",
        "a+b",
        "a\n",
        "\x00",
        "é",
        "a" * 256,
        "ab" * 32,
        "AB" * 32,
        "a?b",
        "a#b",
        "a%b",
        "a{b",
    ],
)
def test_what_would_mean_something_else_makes_none(name: str) -> None:
    with pytest.raises(BadName, match="a name has 1 to 255 letters"):
        check_name(name)


@given(st.text(alphabet="ab0./-_~^@: +", max_size=12))
def test_a_name_and_nothing_else_is_an_expression_without_steps(text: str) -> None:
    try:
        alone = parse(text).steps == ()
    except BadExpression:
        alone = False
    assert alone == is_name(text)


@pytest.mark.parametrize("name", ["sales", "a1b", "my-lake-2", "0ab", "a" * 63])
def test_a_repository_is_called_as_a_bucket_is(name: str) -> None:
    check_repository_name(name)


@pytest.mark.parametrize("name", ["", "ab", "a" * 64, "Sales", "-ab", "a_b", "a.b", "a/b", "abc\n"])
def test_what_no_bucket_is_called_no_repository_is(name: str) -> None:
    with pytest.raises(BadName, match="3 to 63"):
        check_repository_name(name)
