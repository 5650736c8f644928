"""Reference expressions: how they are taken apart, where they lead, and how errors tell the place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.drive import drive
from headwater.history import AmbiguousPrefix, BadExpression, Commit, Expression, NotFound, parse, resolve
from headwater.history.expression import Ancestor, AsOf, Committed, Parent, Step
from headwater.testing.counting import Trips
from tests.history.world import ACTIONS, PATIENTLY, World

STEPS = st.lists(st.builds(Ancestor, st.integers(0, 3)) | st.builds(Parent, st.integers(0, 2)), max_size=5)


async def follow(world: World, text: str, names: dict[str, Commit] | None = None) -> Commit:
    known = {"main": world.heads[0], **(names or {})}

    async def resolve_name(name: str) -> str | None:
        return known[name].id if name in known else None

    return await resolve(world.commits, parse(text), resolve_name)


@pytest.mark.parametrize(
    ("text", "name", "steps"),
    [
        ("main", "main", ()),
        ("feature/x-1.0_b", "feature/x-1.0_b", ()),
        ("main~", "main", (Ancestor(1),)),
        ("main~2^2~1", "main", (Ancestor(2), Parent(2), Ancestor(1))),
        ("main^^", "main", (Parent(1), Parent(1))),
        ("main~0^0", "main", (Ancestor(0), Parent(0))),
        ("main@", "main", (Committed(),)),
        ("main@~3", "main", (Committed(), Ancestor(3))),
        ("main@{1717200000}", "main", (AsOf(1_717_200_000_000),)),
        ("main@{1717200000.5}~1", "main", (AsOf(1_717_200_000_500), Ancestor(1))),
        ("main@{1717200000123}", "main", (AsOf(1_717_200_000_123),)),
        ("main@{2024-06-01}", "main", (AsOf(1_717_200_000_000),)),
        ("main@{2024-06-01T00:00:00Z}", "main", (AsOf(1_717_200_000_000),)),
        ("main@{2024-06-01 02:00:00.5+02:00}", "main", (AsOf(1_717_200_000_500),)),
        ("ab" * 32 + "~1", "ab" * 32, (Ancestor(1),)),
    ],
)
def test_an_expression_is_a_name_and_steps(text: str, name: str, steps: tuple[Step, ...]) -> None:
    expression = parse(text)
    assert (expression.text, expression.name, expression.steps) == (text, name, steps)


@PATIENTLY
@given(st.sampled_from(["main", "a.b", "0123abcd"]), STEPS)
def test_what_is_written_is_read(name: str, steps: list[Step]) -> None:
    text = name + "".join(f"~{step.n}" if isinstance(step, Ancestor) else f"^{step.n}" for step in steps)  # type: ignore[union-attr]  # only these two are drawn
    assert parse(text).steps == tuple(steps)


@pytest.mark.parametrize(
    ("text", "character", "reason"),
    [
        ("", 1, "expected a branch, tag or commit id"),
        ("~1", 1, "expected a branch"),
        ("-main", 1, "starts with one of the first three"),
        ("ma in", 1, "expected a branch"),
        ("main~1x", 7, "expected '~', '^', '@' or the end"),
        ("main~-1", 6, "expected '~'"),
        ("main~1@", 7, "right behind a name"),
        ("main@@", 6, "right behind a name"),
        ("main^2@{", 7, "without a '}'"),
        ("main@{}", 7, "expected a time"),
        ("main@{yesterday}", 7, "expected a time"),
        ("main@{1969-12-31}", 7, "after 1970"),
        ("main@{" + "9" * 30 + "}", 7, "before the year 10000"),
        ("main~" + "9" * 19, 6, "at most 18 digits"),
        ("main" + "~" * 1021, 1025, "at most 1024 characters"),
        ("main~²", 6, "expected '~'"),
    ],
)
def test_what_cannot_be_understood_is_told_with_its_place(text: str, character: int, reason: str) -> None:
    with pytest.raises(BadExpression) as error:
        parse(text)
    assert f"character {character}: " in str(error.value)
    assert reason in str(error.value)


@PATIENTLY
@given(st.text(alphabet="main01~^@{}-:.T/ Z", max_size=30))
def test_any_text_is_understood_or_refused(text: str) -> None:
    try:
        expression = parse(text)
    except BadExpression as refused:
        place = refused.position
        assert place <= len(text)
    else:
        assert expression == Expression(text, expression.name, expression.steps, expression.ends)
        assert not expression.steps or expression.ends[-1] == len(text)


@PATIENTLY
@given(ACTIONS, STEPS)
def test_an_expression_leads_where_its_steps_lead(actions: list[tuple[str, int, int]], steps: list[Step]) -> None:
    world = drive(World.after(actions))
    commit: Commit | None = world.heads[0]
    text = "main"
    for step in steps:
        match step:
            case Ancestor(n):
                text += f"~{n}"
                history = [] if commit is None else world.first_parents(commit)
                commit = history[n] if n < len(history) else None
            case Parent(n):
                text += f"^{n}"
                parents = [] if commit is None else [commit.id, *commit.parents]
                commit = world.landed[parents[n]] if n < len(parents) else None
    if commit is not None:
        assert drive(follow(world, text)) == commit
    else:
        with pytest.raises(NotFound):
            drive(follow(world, text))


def test_a_time_leads_to_what_was_there_then() -> None:
    world = drive(World.begin())
    for time in (1_000_000, 2_000_000, 3_000_000):
        drive(world.commit(time=time))
    history = world.first_parents(world.heads[0])
    assert drive(follow(world, "main@{1999.999}")) == history[2]
    assert drive(follow(world, "main@{2000}")) == history[1]
    assert drive(follow(world, "main@{2030-01-01}~1")) == history[1]
    assert drive(follow(world, "main@")) == history[0]
    late = Commit.create([], b"late....", message="", committer="", time=1_000_000)
    drive(world.store.pipeline(world.commits.landing(late, None)))
    with pytest.raises(NotFound, match=r"'late@\{999\}': the history of commit .* begins later"):
        drive(follow(world, "late@{999}", {"late": late}))


def test_a_name_comes_before_the_beginning_of_an_id() -> None:
    world = drive(World.begin())
    first, head = world.heads[0], drive(world.commit())
    assert drive(follow(world, first.id[:10])) == first
    assert drive(follow(world, first.id[:10], {first.id[:10]: head})) == head


def test_a_whole_id_is_never_asked_about_as_a_name() -> None:
    world = drive(World.begin())
    first = world.heads[0]
    drive(world.commit())
    world.forget()
    with world.store.counted() as trips:
        assert drive(follow(world, first.id, {first.id: world.heads[0]})) == first
    assert trips == Trips(get=1)


@pytest.mark.parametrize("name", ["develop", "abc", "dead", "feed" * 8])
def test_a_name_that_leads_nowhere_is_told(name: str) -> None:
    world = drive(World.begin())
    with pytest.raises(NotFound, match=repr(name)):
        drive(follow(world, name))


def test_several_commits_that_begin_alike_are_listed() -> None:
    world = drive(World.begin())
    one, other = "abcdef" + "0" * 58, "abcdef" + "1" * 58
    for identity in (one, other):
        drive(world.store.set(b"repo/tests", b"commit/" + bytes.fromhex(identity), b""))
    with pytest.raises(AmbiguousPrefix, match=f"{one}, {other}"):
        drive(follow(world, "abcdef"))


def test_a_step_that_leads_nowhere_is_told_with_what_led_there() -> None:
    world = drive(World.begin())
    drive(world.commit())
    with pytest.raises(NotFound, match=r"'main\^1\^1': commit [0-9a-f]{64} has 0 parents"):
        drive(follow(world, "main^1^1^1"))
    with pytest.raises(NotFound, match=r"'main~2': commit [0-9a-f]{64} has fewer than 2"):
        drive(follow(world, "main~2"))


def test_a_step_a_hundred_thousand_commits_back_costs_two_trips() -> None:
    world = drive(World.begin())
    drive(world.commit_many(3000))
    world.forget()
    drive(world.commits.get(world.heads[0].id))
    with world.store.counted() as trips:
        assert drive(follow(world, "main~2999")) == world.any(1)
    assert trips == Trips(get=2)
