"""A lake on a server: what is sent when connections break, how much is asked, and what is not as in this process."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

import headwater
from dev.servers import headwater as headwater_server
from dev.servers.certificates import make_certificate
from dev.servers.headwater import Headwater
from dev.servers.process import free_port
from headwater import aio
from headwater.auth import Forbidden, NotAuthenticated
from headwater.kv import SlowDown, StoreUnavailable, UnknownOutcome
from headwater.sdk.remote.limits import CONNECTIONS
from tests.sdk.cuts import Cut, Cuts, every, first, none

pytestmark = pytest.mark.anyio

TRIES = 5
"""Times that a request is sent at most."""


@pytest.fixture
async def cuts(server: Headwater) -> AsyncIterator[Cuts]:
    """What the lake is asked through."""
    async with Cuts(urlsplit(server.url).port or 0) as proxy:
        yield proxy


@pytest.fixture
async def lake(server: Headwater, cuts: Cuts) -> AsyncIterator[aio.Lake]:
    async with await aio.connect(cuts.url, *server.login) as opened:
        yield opened


@pytest.fixture
async def main(lake: aio.Lake) -> aio.Branch:
    return (await lake.create_repo("sales")).branch("main")


@pytest.fixture
async def stream(lake: aio.Lake) -> aio.Branch:
    return (await lake.create_repo("events", mode="append")).branch("main")


@pytest.fixture
async def api(server: Headwater) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the API itself."""
    async with httpx.AsyncClient(base_url=server.api, auth=server.login) as client:
        yield client


class TestBrokenConnections:
    @pytest.mark.parametrize("cut", [Cut.BEFORE, Cut.ANSWER, Cut.HALF, Cut.UNAVAILABLE])
    async def test_an_append_is_sent_again_and_counts_once(self, cuts: Cuts, stream: aio.Branch, cut: Cut) -> None:
        await stream.append("log", b"before ")
        cuts.plan, cuts.seen = first(cut, "/append"), []
        receipt = await stream.append("log", b"once ")
        assert len(cuts.seen) == 2
        assert all(receipt.id in request for request in cuts.seen)
        await stream.append("log", b"after")
        assert await stream.get("log") == b"before once after"
        await stream.commit("all")
        assert await stream.get("log") == b"before once after"

    async def test_an_append_counts_once_even_if_it_is_committed_before_it_is_sent_again(
        self, server: Headwater, cuts: Cuts, stream: aio.Branch
    ) -> None:
        async with await aio.connect(server.url, *server.login) as beside:
            other = (await beside.repo("events")).branch("main")

            async def plan(request: str) -> Cut:
                if "again=true" in request:
                    await other.commit("in between")
                    return Cut.NONE
                return Cut.ANSWER

            cuts.plan = plan
            await stream.append("log", b"once")
            cuts.plan = none
            assert await stream.get("log") == b"once"
            await stream.commit("and another", allow_empty=True)
            assert await stream.get("log") == b"once"

    @pytest.mark.parametrize("cut", [Cut.BEFORE, Cut.ANSWER, Cut.HALF, Cut.UNAVAILABLE])
    async def test_reads_and_writes_that_may_be_repeated_are(self, cuts: Cuts, main: aio.Branch, cut: Cut) -> None:
        async def kept() -> None:
            cuts.plan, cuts.seen = first(cut), []

        await kept()
        await main.put("a", b"1")
        assert len(cuts.seen) == 2
        await kept()
        assert await main.get("a") == b"1"
        assert len(cuts.seen) == 2
        await kept()
        assert [entry.path async for entry in main.list()] == ["a"]
        assert len(cuts.seen) == 2
        await kept()
        await main.delete("a")
        assert len(cuts.seen) == 2
        assert not await main.exists("a")

    async def test_what_must_not_be_done_twice_is_not_sent_twice(self, cuts: Cuts, main: aio.Branch) -> None:
        await main.put("a", b"1")
        cuts.plan, cuts.seen = every(Cut.ANSWER), []
        with pytest.raises(UnknownOutcome, match="look whether"):
            await main.commit("first")
        with pytest.raises(UnknownOutcome):
            await main.put("b", b"1", if_absent=True)
        assert len(cuts.seen) == 2
        cuts.plan = none
        assert (await anext(main.log())).message == "first"
        assert await main.get("b") == b"1"

    @pytest.mark.parametrize("cut", [Cut.UNAVAILABLE, Cut.TOO_MANY])
    async def test_what_was_certainly_not_done_is_sent_again(self, cuts: Cuts, main: aio.Branch, cut: Cut) -> None:
        await main.put("a", b"1")
        cuts.plan, cuts.seen = first(cut), []
        await main.commit("first")
        assert len(cuts.seen) == 2
        assert len([commit async for commit in main.log()]) == 2

    async def test_it_is_given_up_in_the_end(self, cuts: Cuts, main: aio.Branch) -> None:
        await main.put("a", b"1")
        for cut, error in (
            (Cut.ANSWER, StoreUnavailable),
            (Cut.UNAVAILABLE, StoreUnavailable),
            (Cut.TOO_MANY, SlowDown),
        ):
            cuts.plan, cuts.seen = every(cut), []
            with pytest.raises(error):
                await main.get("a")
            assert len(cuts.seen) == TRIES
        cuts.plan, cuts.seen = every(Cut.OVERDUE), []
        with pytest.raises(StoreUnavailable):
            await main.get("a")
        with pytest.raises(UnknownOutcome):
            await main.put("a", b"2")
        assert len(cuts.seen) == 2
        cuts.plan = every(Cut.ANSWER)
        with pytest.raises(UnknownOutcome):
            await main.put("a", b"2")
        cuts.plan = every(Cut.UNAVAILABLE)
        with pytest.raises(StoreUnavailable):
            await main.put("a", b"3")
        cuts.plan = none
        assert await main.get("a") == b"2"

    async def test_a_stream_is_sent_but_once(self, cuts: Cuts, main: aio.Branch) -> None:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"1"
            yield b"2"

        cuts.plan, cuts.seen = every(Cut.ANSWER), []
        with pytest.raises(UnknownOutcome):
            await main.put("a", chunks())
        assert len(cuts.seen) == 1
        cuts.plan = none
        assert await main.get("a") == b"12"

    @pytest.mark.parametrize("what", ["glob", "walk", "after"])
    async def test_an_answer_of_many_lines_that_is_cut_off_is_never_taken_for_all_of_it(
        self, lake: aio.Lake, cuts: Cuts, main: aio.Branch, what: str
    ) -> None:
        for number in range(20):
            await main.put(f"d{number}/a", b"1")
            await main.commit(f"{number}")
        repo = await lake.repo("sales")
        ask: dict[str, Callable[[], AsyncIterator[object]]] = {
            "glob": lambda: main.glob("**/a"),
            "walk": main.walk,
            "after": lambda: repo.commits("main~20", "main"),
        }
        assert len([each async for each in ask[what]()]) >= 20
        cuts.plan = every(Cut.HALF)
        with pytest.raises(StoreUnavailable):
            _ = [each async for each in ask[what]()]

    async def test_a_range_of_commits_that_is_cut_off_is_never_taken_for_all_of_it(
        self, lake: aio.Lake, cuts: Cuts, stream: aio.Branch
    ) -> None:
        await stream.append("log", bytes(1_000_000))
        cuts.plan = every(Cut.HALF)
        with pytest.raises(StoreUnavailable):
            _ = [chunk async for chunk in (await lake.repo("events")).read_file("log")]

    async def test_a_server_that_is_silent_is_not_waited_for_twice(
        self, server: Headwater, cuts: Cuts, main: aio.Branch
    ) -> None:
        assert main.name == "main"
        cuts.plan, cuts.seen = every(Cut.SILENCE), []
        async with await aio.connect(cuts.url, *server.login, timeout=2) as impatient:
            with pytest.raises(StoreUnavailable):
                await impatient.repo("sales")
            with pytest.raises(UnknownOutcome):
                await impatient.create_repo("more")
        assert len(cuts.seen) == 2

    async def test_a_server_that_is_not_there_is_told(self) -> None:
        async with await aio.connect(f"http://127.0.0.1:{free_port()}", "key", "secret") as lake:
            with pytest.raises(StoreUnavailable, match="does not answer"):
                await lake.create_repo("sales")


Work = Callable[[aio.Repository, aio.Branch], Awaitable[object]]


async def _all(pages: AsyncIterator[object]) -> int:
    return len([each async for each in pages])


async def _opened(_: aio.Repository, main: aio.Branch) -> None:
    async with main.open("a") as file:
        await file.read(1)
        await file.read(1)


async def _written(_: aio.Repository, main: aio.Branch) -> None:
    async with main.open("b", "wb") as file:
        await file.write(b"1")


BUDGETS: dict[str, tuple[int, Work]] = {
    "stat": (1, lambda _, main: main.stat("a")),
    "exists": (1, lambda _, main: main.exists("nowhere")),
    "get": (1, lambda _, main: main.get("a")),
    "get a range": (1, lambda _, main: main.get("a", start=1, end=2)),
    "list": (1, lambda _, main: _all(main.list())),
    "list as a table": (1, lambda _, main: main.as_arrow()),
    "put": (1, lambda _, main: main.put("b", b"1")),
    "append": (1, lambda _, main: main.append("b", b"1")),
    "copy": (1, lambda _, main: main.copy("a", "b")),
    "delete a thousand": (1, lambda _, main: main.delete(f"{number}" for number in range(1000))),
    "commit": (1, lambda _, main: main.commit("more")),
    "head": (1, lambda _, main: main.head()),
    "log": (1, lambda _, main: _all(main.log())),
    "diff": (1, lambda repo, _: _all(repo.diff("main~1", "main"))),
    "revert": (1, lambda _, main: main.revert("main")),
    "hard reset": (2, lambda _, main: main.hard_reset("main~1")),
    "a range of commits": (1, lambda repo, _: _all(repo.read_file("a", since="main~1"))),
    "list a directory": (1, lambda _, main: _all(main.list_dir())),
    "walk": (1, lambda _, main: _all(main.walk())),
    "glob": (1, lambda _, main: _all(main.glob("**/1*"))),
    "history": (1, lambda repo, _: _all(repo.history("a"))),
    "is ancestor": (1, lambda repo, _: repo.is_ancestor("main~1", "main")),
    "start a commit": (1, lambda repo, _: repo.start_commit("main")),
    "open and read": (3, _opened),
    "open and write": (2, _written),
    "tag": (1, lambda repo, _: repo.create_tag("v1", "main")),
    "ref log": (1, lambda repo, _: _all(repo.ref_log())),
    "check": (1, lambda repo, _: repo.check()),
}


async def test_a_call_is_a_request(lake: aio.Lake, cuts: Cuts, stream: aio.Branch) -> None:
    repo = await lake.repo("events")
    for number in range(2):
        await stream.append("a", b"12")
        await stream.commit(f"{number}")
    spent = {}
    for name, (_, work) in BUDGETS.items():
        await stream.put(f"new/{name.replace(' ', '-')}", b"1")
        cuts.seen = []
        await work(repo, stream)
        spent[name] = len(cuts.seen)
    assert spent == {name: budget for name, (budget, _) in BUDGETS.items()}


class TestNames:
    @pytest.mark.parametrize(
        "path",
        ["a b", "a+b", "ä/ö", "a%2Fb", "a//b", "/lead", "tail/", "q?x=1&y", "#", "日本/語", "..", "a/../b", "\\", ";"],
    )
    async def test_a_path_is_any_text(self, main: aio.Branch, path: str) -> None:
        written = await main.put(path, path.encode())
        assert (written.path, await main.get(path)) == (path, path.encode())
        assert [entry.path async for entry in main.list()] == [path]
        assert [change.path async for change in main.diff()] == [path]

    async def test_what_an_object_is_said_to_be_may_be_any_text(self, main: aio.Branch) -> None:
        metadata = {"Ünï": "日本 語\n%41", "UPPER": "", "a": "\x7f"}
        written = await main.put("a", b"1", content_type='tëxt/html; q="x"', metadata=metadata)
        assert (written.content_type, written.metadata) == ('tëxt/html; q="x"', metadata)
        assert await main.stat("a") == written
        plain = await main.put("b", b"1")
        assert (plain.content_type, plain.metadata) == (None, {})

    async def test_a_form_is_stored_as_it_is(self, main: aio.Branch) -> None:
        kind = "multipart/form-data; boundary=x"
        await main.put("form", b"--x--", content_type=kind)
        assert (await main.get("form"), (await main.stat("form")).content_type) == (b"--x--", kind)

    async def test_a_checksum_that_nothing_can_have_is_that_of_nothing(self, main: aio.Branch) -> None:
        await main.put("a", b"1")
        for checksum in ("", "ä", "a\r\nb: c", "*"):
            with pytest.raises(headwater.PreconditionFailed):
                await main.put("a", b"2", if_match=checksum)

    @pytest.mark.parametrize("name", ["..", ".", "", "a/b", "%2e%2e", "a?b#c"])
    async def test_no_name_leads_to_another_place(self, lake: aio.Lake, main: aio.Branch, name: str) -> None:
        with pytest.raises(headwater.HeadwaterError):
            await lake.repo(name)
        with pytest.raises(headwater.HeadwaterError):
            await lake.delete_repo(name)
        repo = await lake.repo("sales")
        with pytest.raises(headwater.HeadwaterError):
            await repo.delete_branch(name)
        with pytest.raises(headwater.HeadwaterError):
            await repo.branch(name).commit("x")
        assert (await main.head()).message == "Repository created"

    async def test_a_branch_may_have_a_slash_in_its_name(self, lake: aio.Lake, main: aio.Branch) -> None:
        repo = await lake.repo("sales")
        branch = await repo.create_branch("feature/a", "main")
        await branch.put("a", b"1")
        made = await branch.commit("there")
        assert await repo.ref("feature/a~0").get("a") == b"1"
        assert (await branch.merge_into(main)).parents[1] == made.id


class TestWhoAsks:
    async def test_wrong_credentials_are_told_and_shown_nowhere(self, server: Headwater) -> None:
        async with await aio.connect(server.url, server.access_key_id, "not-the-secret") as lake:
            with pytest.raises(NotAuthenticated) as raised:
                await lake.create_repo("sales")
        assert "not-the-secret" not in str(raised.value)

    async def test_what_one_may_not_do_is_told(
        self, server: Headwater, api: httpx.AsyncClient, main: aio.Branch
    ) -> None:
        await main.put("a", b"1")
        await api.post("/auth/users", json={"id": "eve"})
        eve = (await api.post("/auth/users/eve/credentials")).raise_for_status().json()
        async with await aio.connect(server.url, eve["access_key_id"], eve["secret_access_key"]) as lake:
            with pytest.raises(Forbidden, match="fs:ReadRepository"):
                await lake.repo("sales")

    async def test_a_protected_branch_is_only_merged_into(
        self, api: httpx.AsyncClient, lake: aio.Lake, main: aio.Branch
    ) -> None:
        repo = await lake.repo("sales")
        dev = await repo.create_branch("dev", "main")
        rules = [{"pattern": "main"}]
        (await api.put("/repositories/sales/settings/branch_protection", json=rules)).raise_for_status()
        with pytest.raises(Forbidden, match="protected"):
            await main.put("a", b"1")
        await dev.put("a", b"1")
        await dev.commit("a")
        await dev.merge_into("main")

    @pytest.mark.parametrize(
        "url",
        [
            "127.0.0.1:8000",
            "ftp://host",
            "http://host?x=1",
            "http://key:secret@host",
            "",
            "http://host:port",
            "http://a..b",
        ],
    )
    async def test_what_is_no_url_of_a_server_is_refused(self, url: str) -> None:
        with pytest.raises(headwater.BadRequest, match="URL") as raised:
            await aio.connect(url, "key", "secret")
        assert "key:secret" not in str(raised.value)

    async def test_a_hook_that_refuses_is_told(self, main: aio.Branch) -> None:
        hook = "{id: never, type: starlark, properties: {script: 'fail(\"not today\")'}}"
        await main.put("_lakefs_actions/a.yaml", f"on: {{pre-commit: }}\nhooks: [{hook}]\n".encode())
        with pytest.raises(headwater.HookRefused, match="never") as raised:
            await main.commit("first")
        assert (raised.value.status, raised.value.kind) == (412, "actions.HookRefused")
        assert (await main.head()).message == "Repository created"

    async def test_the_url_may_have_the_path_of_the_api(self, server: Headwater, main: aio.Branch) -> None:
        async with await aio.connect(f"{server.api}/", *server.login) as lake:
            assert (await lake.repo("sales")).default_branch == main.name

    async def test_no_handle_is_believed_that_the_server_did_not_make(
        self, api: httpx.AsyncClient, main: aio.Branch
    ) -> None:
        await main.put("mine", b"mine")
        await main.put("other", b"other")
        url = "/repositories/sales/refs/main/objects/open"
        handle = (await api.get(url, params={"path": "mine"})).json()["handle"]

        async def read(path: str, handle: str) -> httpx.Response:
            return await api.get("/repositories/sales/contents", params={"path": path, "handle": handle})

        assert (await read("mine", handle)).content == b"mine"
        forged = [("other", handle), *(("mine", told) for told in (f"{handle[:-4]}AAA=", "", "ä", "A" * 40))]
        for path, told in forged:
            refused = await read(path, told)
            assert (refused.status_code, "handle" in refused.json()["message"]) == (400, True)


class TestEncryption:
    async def test_a_server_is_believed_by_the_certificates_that_are_given(self, tmp_path: Path) -> None:
        certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
        make_certificate(certificate, key)
        settings = {"HEADWATER_TLS_CERTIFICATE": str(certificate), "HEADWATER_TLS_KEY": str(key)}
        with headwater_server.serve(tmp_path, settings) as server:
            url = server.url.replace("http:", "https:")
            async with await aio.connect(url, *server.login, ca=certificate) as lake:
                main = (await lake.create_repo("sales")).branch("main")
                await main.put("a", b"1")
                assert await main.get("a") == b"1"
            async with await aio.connect(url, *server.login) as lake:
                with pytest.raises(StoreUnavailable, match="certificate"):
                    await lake.repo("sales")


def test_what_is_not_read_to_its_end_holds_no_connection(server: Headwater) -> None:
    with headwater.connect(server.url, *server.login) as lake:
        main = lake.create_repo("sales").branch("main")
        main.import_table(
            {
                "path": [f"d{number:06}/a" for number in range(20_000)],
                "address": ["s3://b/a"] * 20_000,
                "size": [1] * 20_000,
            }
        )
        for _ in range(CONNECTIONS + 5):
            assert next(main.glob("**/a")).path == "d000000/a"
        assert main.stat("d000001/a").size == 1


ID = re.compile(r"\b[0-9a-f]{64}\b")
"""The id of a commit: it is another on each side, and a server names some commits by it that were called otherwise."""


async def test_an_import_that_fails_says_why(lake: aio.Lake, main: aio.Branch, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(headwater.NothingToCommit):
        await main.import_prefix(f"file://{tmp_path}/empty/")
    with pytest.raises(Forbidden, match="import_from"):
        await main.import_prefix("file:///etc/")
    with pytest.raises(headwater.RefNotFound):
        await (await lake.repo("sales")).branch("nowhere").import_prefix(f"file://{tmp_path}/empty/")
    with pytest.raises(headwater.BadRequest, match="columns"):
        await main.import_table({"path": ["a"]})


async def test_an_error_is_the_same_as_in_this_process(lake: aio.Lake, main: aio.Branch) -> None:
    async with await aio.open(kv="mem://", storage="mem://") as embedded:
        here = (await embedded.create_repo("sales")).branch("main")
        repo = await lake.repo("sales")

        async def failure(work: Callable[[], Awaitable[object]]) -> headwater.HeadwaterError:
            with pytest.raises(headwater.HeadwaterError) as raised:
                await work()
            return raised.value

        attempts: list[Callable[[aio.Lake, aio.Repository, aio.Branch], Awaitable[object]]] = [
            lambda lake, _repo, _main: lake.repo("nowhere"),
            lambda lake, _repo, _main: lake.create_repo("Not A Name"),
            lambda lake, _repo, _main: lake.create_repo("sales"),
            lambda _lake, _repo, main: main.get("nowhere"),
            lambda _lake, _repo, main: main.get("x" * 2000),
            lambda _lake, _repo, main: main.commit("nothing"),
            lambda _lake, _repo, main: main.append("a", b"1"),
            lambda _lake, repo, _main: repo.commit("main~~?"),
            lambda _lake, repo, _main: repo.commit("main~7"),
            lambda _lake, repo, _main: repo.create_branch("a b", "main"),
            lambda _lake, repo, _main: repo.create_branch("main", "main"),
            lambda _lake, repo, _main: repo.undo_ref("nothing"),
            lambda _lake, repo, _main: repo.commit_in_progress("nothing"),
            lambda _lake, _repo, main: _all(main.glob("[")),
            lambda _lake, _repo, main: _all(main.list_dir("nowhere")),
            lambda _lake, _repo, main: main.merge_into("main"),
            lambda _lake, _repo, main: main.put("a", b"1", if_match="nothing"),
        ]
        inside = await embedded.repo("sales")
        for attempt in attempts:
            there = await failure(lambda attempt=attempt: attempt(lake, repo, main))  # type: ignore[misc]
            inside_error = await failure(lambda attempt=attempt: attempt(embedded, inside, here))  # type: ignore[misc]
            assert type(there) is type(inside_error)
            assert vars(there).keys() == vars(inside_error).keys()
            assert ID.sub("main", str(there)) == ID.sub("main", str(inside_error))
