"""The server as a process: it prints its address, answers many clients, and shuts down cleanly."""

from __future__ import annotations

import copy
import http.client
import json
import os
import runpy
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.serve.models import numbers, patients, running

pytest.importorskip("uvicorn", reason="needs the extra serve")
pytestmark = pytest.mark.slow  # each server imports PyTorch
TOKEN = "s3cret"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
LOAD = Path(__file__).parents[2] / "benchmarks" / "serve_load.py"


def wait(process):
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


def test_a_signal_shuts_it_down_after_its_answers(tmp_path):
    """A request whose body is still arriving when the signal comes is answered."""
    with running(numbers(), tmp_path) as (process, address):
        place = urlsplit(address)
        assert place.hostname == "127.0.0.1"
        body = json.dumps({"rows": [{"0": 1.0}] * 50}).encode()
        slow = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
        slow.putrequest("POST", "/predict")
        slow.putheader("Content-Type", "application/json")
        slow.putheader("Content-Length", str(len(body)))
        slow.endheaders(body[:20])
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        slow.send(body[20:])
        answer = slow.getresponse()
        assert answer.status == 200
        assert len(json.loads(answer.read())["predictions"]) == 50
        slow.close()
        code, _, err = wait(process)
    assert code == 0
    assert err == "Stopped.\n"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """One server for several tests, with a token from the environment and narrow limits."""
    folder, environment = (
        tmp_path_factory.mktemp("served"),
        os.environ | {"IMPUTEFREE_TOKEN": TOKEN},
    )
    options = ("--timeout", "5", "--max-bytes", "1000")
    with running(patients(), folder, *options, environment=environment) as (process, address):
        yield address
        process.send_signal(signal.SIGINT)  # Ctrl-C ends it as SIGTERM does
        code, _, err = wait(process)
        assert (code, err) == (0, "Stopped.\n")


def test_a_body_that_never_ends_does_not_hold_the_server(guarded):
    place = urlsplit(guarded)
    with socket.create_connection((place.hostname, place.port), timeout=30) as one:
        one.sendall(
            b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Authorization: Bearer " + TOKEN.encode() + b"\r\nContent-Length: 100\r\n\r\n{"
        )
        answer = one.recv(65536)
        while b"}}" not in answer:
            answer += one.recv(65536)
    assert b" 408 " in answer.split(b"\r\n")[0]
    assert b'"fact":"the body had not arrived after 5 seconds"' in answer


@pytest.mark.parametrize("first", [b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_headers_that_never_end_do_not_hold_a_connection(guarded, first):
    place, start = urlsplit(guarded), time.monotonic()
    with socket.create_connection((place.hostname, place.port), timeout=30) as one:
        one.sendall(first)
        if first:
            assert b"200 OK" in one.recv(65536)
        one.sendall(b"GET /health HTTP/1.1\r\nHost: loc")
        while one.recv(65536):  # b"" once it is closed
            pass
    assert time.monotonic() - start > 4  # --timeout 5


def test_slow_bodies_and_idle_connections_of_a_client_leave_others_alone(guarded):
    """Its share of places and of connections is full; a client from elsewhere is answered."""
    place, opened = urlsplit(guarded), []
    head = (
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Authorization: Bearer " + TOKEN.encode() + b"\r\nContent-Length: 100\r\n\r\n{"
    )
    try:
        for i in range(300):
            address = (place.hostname, place.port)
            one = socket.create_connection(address, 30, source_address=("127.0.0.2", 0))
            opened.append(one)
            with suppress(OSError):  # those beyond its share are closed
                one.sendall(head if i < 70 else b"GET /hea")
        start = time.monotonic()
        with httpx.Client(base_url=guarded, headers=BEARER, timeout=30) as client:
            assert client.post("/predict", json={"age": 40}).status_code == 200
        assert time.monotonic() - start < 3
    finally:
        for one in opened:
            one.close()


def test_an_answer_that_is_never_taken_does_not_hold_a_connection(tmp_path):
    """Answers of /schema with a large card, which nobody reads."""
    model = copy.copy(numbers())
    model.card_ = "x" * 20_000_000
    with running(model, tmp_path, "--timeout", "1") as (_, address):
        place = urlsplit(address)
        with socket.create_connection((place.hostname, place.port), timeout=30) as one:
            one.sendall(b"GET /schema HTTP/1.1\r\nHost: localhost\r\n\r\n")
            time.sleep(3)
            taken = 0
            with suppress(ConnectionResetError):
                while piece := one.recv(1_000_000):
                    taken += len(piece)
        assert taken < 20_000_000


def test_huge_bodies_are_refused_without_being_read(guarded):
    headers = BEARER | {"Content-Type": "application/json"}
    huge = b"[" * 20_000_000
    answer = httpx.post(f"{guarded}/predict", content=huge, headers=headers, timeout=30)
    assert answer.status_code == 413
    assert httpx.get(f"{guarded}/health", timeout=30).json() == {"status": "ok"}


def test_answers_of_many_clients_do_not_mix(guarded):
    expected, wrong = {}, []

    def ask(client, age):
        return client.post("/predict", json={"age": age}).json()["predictions"]

    def ask_often(age):
        with httpx.Client(base_url=guarded, headers=BEARER, timeout=30) as client:
            for _ in range(5):
                if (predictions := ask(client, age)) != expected[age]:
                    wrong.append((age, predictions))

    with httpx.Client(base_url=guarded, headers=BEARER, timeout=30) as client:
        for age in (25, 40, 55, 70):
            expected[age] = ask(client, age)
    threads = [threading.Thread(target=ask_often, args=(age,)) for age in [*expected, *expected]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(set(map(str, expected.values()))) == len(expected)


def test_the_token_of_the_environment_is_asked_for(guarded):
    assert httpx.get(f"{guarded}/schema", timeout=30).status_code == 401
    assert httpx.get(f"{guarded}/schema", headers=BEARER, timeout=30).status_code == 200


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_load(tmp_path, monkeypatch, capsys):
    """The benchmark with few requests; it judges time and memory itself."""
    options = ["--requests", "40", "--json", str(tmp_path / "out.json")]
    monkeypatch.syspath_prepend(str(LOAD.parent))
    monkeypatch.setattr(sys, "argv", [str(LOAD), *options])
    code = runpy.run_path(str(LOAD))["main"]()
    printed = capsys.readouterr().out
    figures = json.loads((tmp_path / "out.json").read_text())
    assert figures["failures"] == 0, printed
    assert figures["requests"] == 40
    assert figures["growth_mb"] < 20
    assert f"p99 {figures['p99_ms']:.1f} ms" in printed
    assert code == int("OVER" in printed)
