"""What an operator sees of a server and can set: metrics, logs, traces, limits, TLS; and how it starts and stops."""

from __future__ import annotations

import gzip
import json
import os
import signal
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from prometheus_client.parser import text_string_to_metric_families

from dev.servers import headwater
from dev.servers.certificates import make_certificate
from dev.servers.headwater import Headwater
from tests.server.processes import workers_of


class Collector:
    """Where a server sends its traces."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.spans: list[Span] = []
        self.arrived = threading.Condition()

    def wait_for(self, name: str) -> Span:
        """The first span called *name*, once there is one."""

        def found() -> Span | None:
            return next((span for span in self.spans if span.name == name), None)

        with self.arrived:
            assert self.arrived.wait_for(lambda: found() is not None, timeout=30)
            span = found()
        assert span is not None
        return span


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            told = ExportTraceServiceRequest.FromString(body)
            with made.arrived:
                made.spans += [
                    span for each in told.resource_spans for scope in each.scope_spans for span in scope.spans
                ]
                made.arrived.notify_all()
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made = Collector(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield made
        server.shutdown()
        thread.join()


class Watched(NamedTuple):
    """A server of two workers that tells all it can."""

    server: Headwater
    log: Path


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory, collector: Collector) -> Iterator[Watched]:
    directory = tmp_path_factory.mktemp("watched")
    log = directory / "access.log"
    settings = {
        "HEADWATER_ACCESS_LOG": str(log),
        "HEADWATER_TRACE": collector.url,
        "HEADWATER_REQUEST_SECONDS": "2",
        "HEADWATER_MAX_UPLOAD": "100000",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    with headwater.serve(directory, settings, workers=2) as server:
        yield Watched(server, log)


@pytest.fixture
def client(watched: Watched) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=watched.server.api, auth=watched.server.login, timeout=60) as client:
        yield client


def metrics_of(server: Headwater) -> dict[str, float]:
    """What `/metrics` says: names with their labels in order, and values."""
    page = httpx.get(f"{server.url}/metrics")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/plain")
    return {
        sample.name + "".join(f" {name}={value}" for name, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(page.text)
        for sample in family.samples
    }


def test_metrics_are_sums_over_all_workers(watched: Watched, client: httpx.Client) -> None:
    assert client.post("/repositories", json={"name": "counted"}).status_code == 201
    base = "/repositories/counted"
    client.post(f"{base}/branches/main/objects", params={"path": "a"}, content=b"x")
    for _ in range(40):  # over new connections, so that both workers answer some
        httpx.get(f"{watched.server.api}{base}/refs/main/objects/stat", params={"path": "a"}, auth=watched.server.login)
    wanted = "api_request_duration_seconds_count code=200 operation=statObject"
    deadline = time.monotonic() + 30
    while (found := metrics_of(watched.server)).get(wanted) != 40:
        assert time.monotonic() < deadline, found.get(wanted)
    assert found["headwater_workers"] == 2
    assert len([name for name in found if name.startswith("headwater_worker_resident_bytes")]) == 2
    assert found["api_requests_total code=201 method=POST"] >= 2
    assert found["api_request_duration_seconds_bucket code=200 le=+Inf operation=statObject"] == 40
    assert found["graveler_branch_reads_total branch=main dirty=true op=get repo=counted"] == 40
    assert found["graveler_staging_read_attempts_total branch=main op=get repo=counted"] == 40
    assert found["kv_request_duration_seconds_count operation=get type=lmdb"] > 40
    assert found["local_operation_duration_seconds_count error=false operation=put"] >= 1


def test_a_line_of_the_access_log_tells_a_request_and_no_secret(watched: Watched, client: httpx.Client) -> None:
    identity = f"a-request.of-{os.getpid()}"
    secrets = {"password": "hush-hush", "X-Token": "hush-hush"}
    answer = client.get("/repositories", params=secrets, headers={"x-request-id": identity, "x-secret": "hush-hush"})
    assert answer.headers["x-request-id"] == identity
    client.post("/auth/login", json={"access_key_id": "AKIA", "secret_access_key": "hush-hush"})
    deadline = time.monotonic() + 30
    while not (found := [line for line in lines_of(watched.log) if line["request_id"] == identity]):
        assert time.monotonic() < deadline
    [line] = found
    assert (line["method"], line["path"], line["status"]) == ("GET", "/api/v1/repositories", 200)
    assert (line["user"], line["operation"]) == ("admin", "listRepositories")
    assert (line["client"], line["sent"]) == ("127.0.0.1", len(answer.content))
    assert line["milliseconds"] > 0
    text = watched.log.read_text()
    assert "hush-hush" not in text
    assert watched.server.secret_access_key not in text


def lines_of(log: Path) -> list[dict[str, Any]]:
    """What was logged so far. A line is written after its answer was sent."""
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_a_name_for_a_request_that_could_not_be_logged_is_not_taken(client: httpx.Client) -> None:
    for told in ("", "x" * 65, 'a"b', "a b", "-a"):
        answered = client.get("/healthcheck", headers={"x-request-id": told}).headers["x-request-id"]
        assert answered != told
        assert len(answered) >= 12


def test_requests_are_spans_of_the_trace_that_their_client_began(client: httpx.Client, collector: Collector) -> None:
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    client.get("/user", params={"token": "hush-hush"}, headers={"traceparent": f"00-{trace}-{parent}-01"})
    span = collector.wait_for("getCurrentUser")
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (trace, parent)
    told = {attribute.key: attribute.value for attribute in span.attributes}
    assert told["url.path"].string_value == "/api/v1/user"
    assert told["http.response.status_code"].int_value == 200
    assert told["user.name"].string_value == "admin"
    assert "hush-hush" not in str(span)


def test_a_request_that_takes_too_long_is_ended(watched: Watched, client: httpx.Client) -> None:
    def slowly() -> Iterator[bytes]:
        while not stop.wait(0.2):
            yield b"x"

    stop = threading.Event()
    client.post("/repositories", json={"name": "slow"})
    began = time.monotonic()
    try:
        answer = client.post("/repositories/slow/branches/main/objects", params={"path": "a"}, content=slowly())
        assert answer.status_code == 504
        assert "longer" in answer.json()["message"]
    except httpx.TransportError:  # it was answered, and closed, while the client was still sending
        pass
    finally:
        stop.set()
    assert time.monotonic() - began < 60
    assert client.get("/repositories/slow/refs/main/objects/ls").json()["results"] == []
    refused = "headwater_requests_refused_total limit=request_seconds"
    deadline = time.monotonic() + 30
    while metrics_of(watched.server).get(refused, 0) < 1:
        assert time.monotonic() < deadline


def test_what_is_too_large_is_refused(client: httpx.Client) -> None:
    client.post("/repositories", json={"name": "large"})
    url = "/repositories/large/branches/main/objects"
    assert client.post(url, params={"path": "a"}, content=bytes(100_001)).status_code == 413
    assert client.post(url, params={"path": "a"}, content=iter([bytes(60_000)] * 2)).status_code == 413
    assert client.post(url, params={"path": "a"}, content=bytes(100_000)).status_code == 201
    assert client.get("/repositories", params={"prefix": "x" * 40_000}).status_code == 414


def test_what_is_refused_before_it_is_looked_at_is_told_in_the_words_of_its_protocol(watched: Watched) -> None:
    long = "x" * 40_000
    with httpx.Client(base_url=watched.server.url) as client:
        api = client.get("/api/v1/repositories", params={"prefix": long})
        assert (api.status_code, "at most" in api.json()["message"]) == (414, True)
        signed = {"authorization": "AWS4-HMAC-SHA256 Credential=AKIA/20261119/us-east-1/s3/aws4_request"}
        s3 = client.get(f"/bucket/{long}", headers=signed)
        assert (s3.status_code, s3.headers["content-type"]) == (400, "application/xml")
        assert "<Code>InvalidURI</Code>" in s3.text
        assert s3.headers["x-amz-request-id"] in s3.text


def test_a_connection_whose_request_was_not_read_to_its_end_is_closed(client: httpx.Client) -> None:
    refused = client.post("/nothing/such", content=b"never read")
    assert (refused.status_code, refused.headers.get("connection")) == (404, "close")
    assert "connection" not in client.post("/repositories", json={"name": "kept-open"}).headers


@contextmanager
def serving(directory: Path, **settings: str) -> Iterator[Headwater]:
    names = {f"HEADWATER_{name.upper()}": value for name, value in settings.items()}
    with headwater.serve(directory, names) as server:
        yield server


def test_an_address_makes_no_more_requests_than_it_may_and_metrics_can_be_off(tmp_path: Path) -> None:
    with serving(tmp_path, requests_per_second="5", metrics="false") as server, httpx.Client() as client:
        statuses = [client.get(f"{server.url}/healthcheck").status_code for _ in range(60)]
        assert statuses[:5] == [204] * 5
        refused = client.get(f"{server.url}/healthcheck")
        assert 429 in {*statuses, refused.status_code}
        deadline = time.monotonic() + 30
        while (answer := client.get(f"{server.url}/metrics")).status_code == 429:
            assert answer.headers["retry-after"] == "1"
            assert time.monotonic() < deadline
        assert answer.status_code == 404


def test_whom_a_proxy_asks_for_is_believed_if_the_proxy_is(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    with serving(tmp_path, trusted_proxies="127.0.0.1, 10.0.0.0/8", access_log=str(log)) as server:
        told = {
            "203.0.113.9": "203.0.113.9",
            "198.51.100.1, 203.0.113.9": "203.0.113.9",  # whoever asks may make up what stands before
            "203.0.113.9, 10.1.2.3": "203.0.113.9",
            "203.0.113.9, nonsense": "127.0.0.1",
            "2001:db8::1": "2001:db8::1",
        }
        for number, forwarded in enumerate(told):
            headers = {"x-forwarded-for": forwarded, "x-request-id": f"of-{number}"}
            assert httpx.get(f"{server.api}/user", headers=headers, auth=server.login).status_code == 200
        deadline = time.monotonic() + 30
        while len(found := [line["client"] for line in lines_of(log) if "of-" in line["request_id"]]) < len(told):
            assert time.monotonic() < deadline
        assert found == list(told.values())
        login = {"access_key_id": server.access_key_id, "secret_access_key": server.secret_access_key}
        for scheme, secure in (("https", True), ("http", False)):
            answer = httpx.post(f"{server.api}/auth/login", json=login, headers={"x-forwarded-proto": scheme})
            assert ("; Secure" in answer.headers["set-cookie"]) == secure


def test_whom_anybody_else_asks_for_is_passed_over(watched: Watched, client: httpx.Client) -> None:
    identity = f"made-up-{os.getpid()}"
    client.get("/user", headers={"x-forwarded-for": "203.0.113.9", "x-request-id": identity})
    deadline = time.monotonic() + 30
    while not (found := [line for line in lines_of(watched.log) if line["request_id"] == identity]):
        assert time.monotonic() < deadline
    assert found[0]["client"] == "127.0.0.1"


def test_a_server_with_a_certificate_speaks_tls_alone(tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    make_certificate(certificate, key)
    with serving(tmp_path, tls_certificate=str(certificate), tls_key=str(key)) as server:
        secure = server.url.replace("http://", "https://")
        trust = ssl.create_default_context(cafile=str(certificate))
        assert httpx.get(f"{secure}/healthcheck", verify=trust).status_code == 204
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{server.url}/healthcheck")
        old = ssl.create_default_context(cafile=str(certificate))
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        assert httpx.get(f"{secure}/healthcheck", verify=old).status_code == 204


def test_a_server_that_is_told_to_stop_finishes_what_it_is_doing(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        begun, go_on = threading.Event(), threading.Event()

        def content() -> Iterator[bytes]:
            yield b"before "
            begun.set()
            assert go_on.wait(30)
            yield b"after"

        statuses: list[int] = []

        def upload() -> None:
            url = f"{server.api}/repositories/stopping/branches/main/objects"
            answer = httpx.post(url, params={"path": "a"}, content=content(), auth=server.login, timeout=60)
            statuses.append(answer.status_code)

        httpx.post(f"{server.api}/repositories", json={"name": "stopping"}, auth=server.login)
        uploading = threading.Thread(target=upload)
        uploading.start()
        assert begun.wait(30)
        [worker] = workers_of(server)
        os.kill(worker.parent, signal.SIGTERM)
        go_on.set()
        uploading.join()
        assert statuses == [201]
    with serving(tmp_path, admin_access_key_id="", admin_secret_access_key="") as again:
        login = server.login
        read = httpx.get(f"{again.api}/repositories/stopping/refs/main/objects", params={"path": "a"}, auth=login)
        assert read.content == b"before after"


def test_the_first_answer_takes_less_than_two_seconds_of_a_processor(tmp_path: Path) -> None:
    """What it takes of a processor, not of a clock: this machine may be busy with other tests."""
    with serving(tmp_path) as server:
        assert httpx.get(f"{server.url}/readiness").status_code == 200
        [worker] = workers_of(server)
        assert worker.seconds() + worker.of_parent().seconds() < 2
