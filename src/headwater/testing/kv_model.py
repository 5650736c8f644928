"""Any sequence of calls on a store has the outcome that it has on a dict: the property, found by Hypothesis."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from itertools import count
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from headwater import kv
from headwater.kv import ABSENT, Delete, Operation, Predicate, Set, SetIf, Store

Outcome = TypeVar("Outcome")


class _Model:
    """A store as a dict: each write gives a key a new number, which is its predicate."""

    def __init__(self) -> None:
        self.values: dict[bytes, tuple[bytes, int]] = {}
        self._numbers = count(1)

    def number(self, key: bytes) -> int:
        """0 while absent, so that one equality serves every predicate."""
        return self.values[key][1] if key in self.values else 0

    def put(self, key: bytes, value: bytes) -> None:
        self.values[key] = (value, next(self._numbers))

    def drop(self, key: bytes) -> None:
        self.values.pop(key, None)


def check_against_model(uri: str, credentials: dict[str, str], *, max_key: int, examples: int) -> None:
    """Run *examples* random programs against the store at *uri* and a dict, each in a partition of its own."""
    partitions = count()
    keys = st.sampled_from(
        [b"\0", b"\0\0", b"a", b"a\0", b"a\xff", b"ab", b"b", b"/", b".", b"\xff", b"\xff\xff", b"k" * max_key]
    ) | st.binary(min_size=1, max_size=3)
    values = st.binary(max_size=4) | st.just(b"v" * 5000)

    with asyncio.Runner() as runner:
        store = runner.run(kv.open(uri, credentials=credentials))

        class Machine(RuleBasedStateMachine):
            def __init__(self) -> None:
                super().__init__()
                self.partition = b"%d" % next(partitions)
                self.model = _Model()
                self.seen: list[tuple[bytes, int, Predicate]] = []

            @rule(key=keys, value=values)
            def set(self, key: bytes, value: bytes) -> None:
                self._run(store.set(self.partition, key, value))
                self.model.put(key, value)

            @rule(key=keys)
            def delete(self, key: bytes) -> None:
                self._run(store.delete(self.partition, key))
                self.model.drop(key)

            @rule(key=keys)
            def get(self, key: bytes) -> None:
                found = self._run(store.get(self.partition, key))
                expected = self.model.values.get(key)
                assert (found and found.value) == (expected and expected[0])
                if found is not None:
                    self.seen.append((key, self.model.number(key), found.predicate))

            @rule(key=keys, value=values)
            def create(self, key: bytes, value: bytes) -> None:
                self._swap(key, value, 0, ABSENT)

            @rule(choice=st.randoms(use_true_random=False), value=values)
            def swap_by_an_old_predicate(self, choice: Any, value: bytes) -> None:
                if self.seen:
                    key, number, predicate = choice.choice(self.seen)
                    self._swap(key, value, number, predicate)

            @rule(many=st.dictionaries(keys, values, max_size=5))
            def set_many(self, many: dict[bytes, bytes]) -> None:
                self._run(store.set_many(self.partition, many))
                for key, value in many.items():
                    self.model.put(key, value)

            @rule(many=st.lists(keys, max_size=5))
            def delete_many(self, many: list[bytes]) -> None:
                self._run(store.delete_many(self.partition, many))
                for key in many:
                    self.model.drop(key)

            @rule(many=st.lists(keys, max_size=5))
            def get_many(self, many: list[bytes]) -> None:
                found = self._run(store.get_many(self.partition, many))
                expected = [self.model.values.get(key) for key in many]
                assert [one and one.value for one in found] == [one and one[0] for one in expected]

            @rule(steps=st.lists(st.tuples(st.sampled_from([Set, SetIf, Delete]), keys, values), max_size=4))
            def pipeline(self, steps: list[tuple[type[Operation], bytes, bytes]]) -> None:
                operations: list[Operation] = []
                stopped = False
                for kind, key, value in steps:
                    if kind is Delete:
                        operations.append(Delete(self.partition, key))
                    elif kind is Set:
                        operations.append(Set(self.partition, key, value))
                    else:
                        operations.append(SetIf(self.partition, key, value, ABSENT))
                    stopped = stopped or (kind is SetIf and self.model.number(key) != 0)
                    if not stopped and kind is Delete:
                        self.model.drop(key)
                    elif not stopped:
                        self.model.put(key, value)
                assert self._refused(store.pipeline(operations)) == stopped

            @rule(start=keys | st.just(b""), page=st.integers(1, 4))
            def scan(self, start: bytes, page: int) -> None:
                expected = [(key, self.model.values[key][0]) for key in sorted(self.model.values) if key >= start]
                assert self._run(_scanned(store, self.partition, start, page)) == expected

            @invariant()
            def nothing_but_the_model_is_there(self) -> None:
                expected = [(key, self.model.values[key][0]) for key in sorted(self.model.values)]
                assert self._run(_scanned(store, self.partition, b"", 1000)) == expected

            def _swap(self, key: bytes, value: bytes, number: int, predicate: Predicate) -> None:
                holds = self.model.number(key) == number
                assert self._refused(store.set_if(self.partition, key, value, predicate)) == (not holds)
                if holds:
                    self.model.put(key, value)

            def _refused(self, call: Coroutine[Any, Any, object]) -> bool:
                try:
                    self._run(call)
                except kv.PredicateFailed:
                    return True
                return False

            def _run(self, call: Coroutine[Any, Any, Outcome]) -> Outcome:
                return runner.run(call)

        try:
            run_state_machine_as_test(
                Machine,
                settings=settings(
                    max_examples=examples,
                    stateful_step_count=30,
                    deadline=None,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            runner.run(store.aclose())


async def _scanned(store: Store, partition: bytes, start: bytes, page: int) -> list[tuple[bytes, bytes]]:
    return [(entry.key, entry.value) async for entries in store.scan(partition, start, page=page) for entry in entries]
