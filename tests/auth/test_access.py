"""What policies allow: wildcards, denials, conditions, users' names, requirements of several parts."""

from __future__ import annotations

import re
import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.auth import (
    NOTHING,
    Access,
    Decision,
    Forbidden,
    InvalidPolicy,
    Permission,
    Statement,
    all_of,
    any_of,
    resources,
)
from headwater.auth.permissions import (
    ACTIONS,
    CREATE_CREDENTIALS,
    DELETE_OBJECT,
    LIST_REPOSITORIES,
    READ_OBJECT,
    WRITE_OBJECT,
)
from headwater.auth.policy.patterns import Patterns, pieces
from headwater.auth.policy.statement import check
from tests.auth.world import allow, deny

READ = Permission(READ_OBJECT, resources.object_in("sales", "raw/2024/a.csv"))
WRITE = Permission(WRITE_OBJECT, READ.resource)


class TestStatements:
    def test_what_nothing_allows_is_forbidden(self) -> None:
        assert Access("ann", []).check(READ) == Decision(allowed=False, lacking=READ)

    def test_an_action_and_a_resource_must_both_match(self) -> None:
        access = Access("ann", [allow("fs:Read*", on="arn:lakefs:fs:::repository/sales/object/raw/*")])
        assert access.check(READ).allowed
        assert not access.check(WRITE).allowed
        assert not access.allows(READ_OBJECT, resources.object_in("sales", "clean/a.csv"))
        assert not access.allows(READ_OBJECT, resources.object_in("wages", "raw/a.csv"))

    @pytest.mark.parametrize("statements", [[allow("*"), deny("fs:Read*")], [deny("fs:Read*"), allow("*")]])
    def test_a_denial_wins_whatever_allows(self, statements: list[Statement]) -> None:
        access = Access("ann", statements)
        assert access.check(READ) == Decision(allowed=False, lacking=READ, denied=True)
        assert access.check(WRITE).allowed

    def test_a_wildcard_in_the_name_of_an_object_is_none(self) -> None:
        access = Access("ann", [allow("fs:ReadObject", on="arn:lakefs:fs:::repository/sales/object/a")])
        assert not access.allows(READ_OBJECT, "*")
        assert not access.allows(READ_OBJECT, resources.object_in("sales", "*"))
        assert not access.allows(READ_OBJECT, resources.object_in("sales", "?"))

    def test_to_list_all_of_a_kind_a_policy_must_name_everything(self) -> None:
        assert Access("ann", [allow("fs:*")]).allows(LIST_REPOSITORIES, resources.EVERYTHING)
        some = Access("ann", [allow("fs:*", on="arn:lakefs:fs:::repository/*")])
        assert not some.allows(LIST_REPOSITORIES, resources.EVERYTHING)

    def test_one_statement_can_name_several_resources(self) -> None:
        both = msgspec.json.encode([resources.object_in("sales", "*"), resources.object_in("wages", "*")]).decode()
        access = Access("ann", [allow("fs:ReadObject", on=both)])
        assert access.check(READ).allowed
        assert access.allows(READ_OBJECT, resources.object_in("wages", "x"))
        assert not access.allows(READ_OBJECT, resources.object_in("taxes", "x"))


class TestTheNameOfTheUser:
    own = allow("auth:*", on="arn:lakefs:auth:::user/${user}")

    def test_stands_for_whoever_asks(self) -> None:
        access = Access("ann", [self.own])
        assert access.allows(CREATE_CREDENTIALS, resources.user("ann"))
        assert not access.allows(CREATE_CREDENTIALS, resources.user("bob"))

    @pytest.mark.parametrize("name", ["*", "?", "a*", "${user}", "[a-z]", ".+"])
    def test_is_taken_to_the_letter(self, name: str) -> None:
        access = Access(name, [self.own])
        assert access.allows(CREATE_CREDENTIALS, resources.user(name))
        assert not access.allows(CREATE_CREDENTIALS, resources.user("ann"))


class TestRequirements:
    access = Access("ann", [allow("fs:ReadObject")])

    def test_all_of_lacks_the_first_that_is_not_met(self) -> None:
        delete = Permission(DELETE_OBJECT, READ.resource)
        assert self.access.check(all_of(READ, WRITE, delete)) == Decision(allowed=False, lacking=WRITE)
        assert self.access.check(all_of(READ, READ)).allowed

    def test_any_of_is_met_by_one(self) -> None:
        assert self.access.check(any_of(WRITE, READ)).allowed
        assert self.access.check(any_of(WRITE, all_of(READ, WRITE))) == Decision(allowed=False, lacking=WRITE)

    def test_none_of_all_is_always_met_and_none_of_any_never(self) -> None:
        nobody = Access("nobody", [])
        assert nobody.check(NOTHING).allowed
        assert not Access("ann", [allow("*")]).check(any_of()).allowed

    def test_a_refusal_says_what_is_lacking(self) -> None:
        with pytest.raises(Forbidden, match=r"no policy that allows fs:WriteObject on .*/sales/object/raw/2024/a\.csv"):
            self.access.require(WRITE)
        with pytest.raises(Forbidden, match="denied fs:ReadObject"):
            Access("ann", [deny("*")]).require(READ)

    def test_what_no_policy_can_name_cannot_be_needed(self) -> None:
        with pytest.raises(AssertionError, match="fs:Raed"):
            self.access.allows("fs:Raed", "*")


def conditional(effect: str, operator: str, *addresses: str) -> Statement:
    written = {
        "effect": effect,
        "action": ["fs:*"],
        "resource": "*",
        "condition": {operator: {"SourceIp": list(addresses)}},
    }
    return msgspec.convert(written, Statement)


class TestConditions:
    @pytest.mark.parametrize(
        ("source", "allowed"),
        [("10.1.2.3", True), ("11.1.2.3", False), ("::ffff:10.1.2.3", True), ("2001:db8::1", True), (None, False),
         ("nonsense", False), ("2001:db9::1", False)],
    )  # fmt: skip
    def test_an_allowance_counts_for_requests_from_these_addresses(self, source: str | None, *, allowed: bool) -> None:
        access = Access("ann", [conditional("allow", "IpAddress", "10.0.0.0/8", "2001:db8::/32")])
        assert access.check(READ, source).allowed is allowed

    @pytest.mark.parametrize(("source", "allowed"), [("10.1.2.3", False), ("11.1.2.3", True), (None, False)])
    def test_an_allowance_counts_for_requests_from_elsewhere(self, source: str | None, *, allowed: bool) -> None:
        access = Access("ann", [conditional("allow", "NotIpAddress", "10.0.0.0/8")])
        assert access.check(READ, source).allowed is allowed

    @pytest.mark.parametrize(("source", "allowed"), [("10.1.2.3", False), ("11.1.2.3", True), (None, False)])
    def test_a_denial_counts_unless_it_is_certain_that_it_does_not(self, source: str | None, *, allowed: bool) -> None:
        access = Access("ann", [allow("*"), conditional("deny", "IpAddress", "10.0.0.0/8")])
        assert access.check(READ, source).allowed is allowed


class TestWhatAPolicyMaySay:
    @pytest.mark.parametrize(
        "statement",
        [
            Statement("allow", (), "*"),
            Statement("allow", ("ReadObject",), "*"),
            Statement("allow", ("fs:Read Object",), "*"),
            Statement("allow", ("fs:ReadObject",), "repository/sales"),
            Statement("allow", ("fs:ReadObject",), ""),
            Statement("allow", ("fs:ReadObject",), "[1]"),
            Statement("allow", ("fs:ReadObject",), "[]"),
            Statement("allow", ("fs:ReadObject",), '["arn:lakefs:fs:::a", "b"]'),
            Statement("allow", ("fs:ReadObject",), "arn:lakefs:fs:::" + "x" * 3000),
            Statement("allow", ("fs:ReadObject",), "arn:lakefs:fs:::\ud800"),
            Statement("allow", ("fs:ReadObject",), "*", {"IpAddress": {"SourceIp": ("10.0.0",)}}),
            Statement("allow", ("fs:ReadObject",), "*", {"IpAddress": {"SourceIp": ()}}),
            Statement("allow", ("fs:ReadObject",), "*", {"IpAddress": {"Agent": ("10.0.0.1",)}}),
            Statement("deny", ("fs:ReadObject",), "*", {"DateGreaterThan": {"SourceIp": ("10.0.0.1",)}}),
        ],
    )
    def test_is_only_what_can_be_followed_to_the_letter(self, statement: Statement) -> None:
        with pytest.raises(InvalidPolicy):
            check([statement])

    def test_has_at_least_one_statement(self) -> None:
        with pytest.raises(InvalidPolicy, match="1 to 100"):
            check([])


def simple(pattern: str, text: str) -> bool:
    """What a pattern means, in the words of another library."""
    expression = "".join(".*" if one == "*" else "." if one == "?" else re.escape(one) for one in pattern)
    return re.fullmatch(expression, text, re.DOTALL) is not None


class TestPatterns:
    @given(st.lists(st.text("ab*?/\n", max_size=8), max_size=4), st.text("ab*?/\n", max_size=12))
    def test_any_number_match_what_each_of_them_matches(self, patterns: list[str], text: str) -> None:
        compiled = Patterns(pieces(pattern) for pattern in patterns)
        assert compiled.match(text) == any(simple(pattern, text) for pattern in patterns)

    @given(st.text("a*?${user}", max_size=20), st.text("a*?", min_size=1, max_size=4), st.text("a*?", max_size=12))
    def test_a_users_name_in_a_pattern_is_text(self, pattern: str, user: str, text: str) -> None:
        compiled = Patterns([pieces(pattern, user)])
        stand_in = pattern.replace("${user}", "\0")
        expression = "".join(
            ".*" if one == "*" else "." if one == "?" else re.escape(user if one == "\0" else one) for one in stand_in
        )
        assert compiled.match(text) == (re.fullmatch(expression, text, re.DOTALL) is not None)

    def test_no_pattern_and_no_text_take_long(self) -> None:
        pattern = Patterns([pieces("*a" * 100 + "*b")])
        began = time.process_time()
        assert not pattern.match("a" * 1000)
        assert time.process_time() - began < 1


def test_the_actions_are_named_as_those_of_lakefs() -> None:
    assert all(re.fullmatch(r"(fs|auth|ci|retention|branches|pr):[A-Z][A-Za-z]+", action) for action in ACTIONS)
