"""Limits on bytes, rows, steps, seconds, and requests at a time."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from tests.serve.models import client, refused

JSON = {"Content-Type": "application/json"}
limits = pytest.importorskip("imputefree.serve._limits", reason="needs the extra serve")


def test_a_large_body_is_refused_with_or_without_its_length():
    served = client("array", limits=limits.Limits(bytes=1000))
    assert served.post("/predict", json={"rows": [{}] * 100}).status_code == 200
    text = b'{"rows": [' + b" " * 1000 + b"{}]}"
    refused(served.post("/predict", content=text, headers=JSON), 413, None, "1,000 bytes")

    def pieces():
        yield from (text[:600], text[600:])

    refused(served.post("/predict", content=pieces(), headers=JSON), 413, None, "1,000 bytes")


def test_rows_are_counted():
    served = client("array", limits=limits.Limits(rows=3))
    assert served.post("/predict", json={"rows": [{}] * 3}).status_code == 200
    refused(served.post("/predict", json={"rows": [{}] * 4}), 413, "rows", "4 rows", "--max-rows")


def test_steps_of_all_series_are_counted():
    served = client("series", limits=limits.Limits(rows=5))
    series = {"steps": [{"hour": i} for i in range(3)]}
    assert served.post("/predict", json={"rows": [series]}).status_code == 200
    refused(served.post("/predict", json={"rows": [series] * 2}), 413, "rows", "6 steps")


class Slow:
    """Work that ends when told to."""

    def __init__(self):
        self.end, self.count = threading.Event(), 0

    def __call__(self):
        self.count += 1
        self.end.wait(10)
        return "done"


def test_a_slow_request_keeps_its_place_until_its_thread_is_free():
    async def run():
        gate = limits.Gate(limits.Limits(seconds=0.1, waiting=1), workers=1)
        slow = Slow()
        start = time.monotonic()
        with pytest.raises(limits.RequestError) as late:
            async with gate.enter("one"):
                await gate.run("one", slow)
        assert late.value.status == 504
        assert time.monotonic() - start < 5
        with pytest.raises(limits.RequestError) as full:  # its thread is not free yet
            async with gate.enter("one"):
                pass
        assert full.value.status == 503
        assert full.value.headers == {"Retry-After": "1"}
        slow.end.set()
        await until_empty(gate)
        async with gate.enter("one"):
            assert await gate.run("one", lambda: "quick") == "quick"
        gate.close()

    asyncio.run(run())


def test_work_that_waits_too_long_is_never_started():
    async def run():
        gate = limits.Gate(limits.Limits(seconds=0.2, waiting=5), workers=1)
        first, second = Slow(), Slow()
        errors = await asyncio.gather(
            gate.run("one", first), gate.run("one", second), return_exceptions=True
        )
        assert [error.status for error in errors] == [504, 504]
        first.end.set()
        second.end.set()
        gate.close()
        assert (first.count, second.count) == (1, 0)
        await until_empty(gate)

    asyncio.run(run())


async def until_empty(gate):
    for _ in range(100):
        if gate.places.inside == 0:
            return
        await asyncio.sleep(0.02)
    raise AssertionError


def test_one_client_with_many_requests_does_not_starve_another():
    """It fills its share of places and its threads; a second client is answered at once."""

    async def run():
        gate, slow = limits.Gate(limits.Limits(seconds=5, waiting=16), workers=2), Slow()

        async def ask(client, work):
            async with gate.enter(client):
                return await gate.run(client, work)

        greedy = [asyncio.create_task(ask("greedy", slow)) for _ in range(20)]
        await asyncio.sleep(0.05)
        assert slow.count == 2  # a thread is left
        start = time.monotonic()
        assert await ask("other", lambda: "quick") == "quick"
        assert time.monotonic() - start < 2
        slow.end.set()
        done = await asyncio.gather(*greedy, return_exceptions=True)
        refused = [error for error in done if error != "done"]
        assert len(refused) == 12  # beyond half of the places
        assert {error.status for error in refused} == {429}
        assert (gate.places.inside, gate._running.total(), gate._waiting) == (0, 0, {})
        gate.close()

    asyncio.run(run())


def test_clients_take_turns():
    async def run():
        gate, first = limits.Gate(limits.Limits(waiting=100), workers=1), Slow()
        order, step = [], threading.Semaphore(0)

        def work(name):
            order.append(name)
            step.acquire(timeout=30)

        tasks = [asyncio.create_task(gate.run(name, first)) for name in ("a", "b")]
        await asyncio.sleep(0)
        for name in "aaabbc":
            tasks.append(asyncio.create_task(gate.run(name, work, name)))
            await asyncio.sleep(0)
        first.end.set()
        while len(order) < 2:  # one for each of two threads
            await asyncio.sleep(0.001)
        step.release()  # one ends, and the next in turn begins
        while len(order) < 3:
            await asyncio.sleep(0.001)
        step.release(5)
        await asyncio.gather(*tasks)
        gate.close()
        return order

    order = asyncio.run(asyncio.wait_for(run(), 60))
    assert sorted(order[:3]) == ["a", "b", "c"]
    assert sorted(order) == sorted("aaabbc")


def test_limits_are_in_the_schema_and_in_the_description_of_the_api():
    served = client("array", limits=limits.Limits(rows=7, seconds=3))
    stated = served.get("/schema").json()["limits"]
    assert stated == {
        "rows": 7,
        "bytes": 4_000_000,
        "seconds": 3,
        "waiting": 64,
        "connections": 512,
    }
    api = served.get("/openapi.json").json()
    assert api["info"]["x-limits"] == stated
    assert "429" in api["paths"]["/predict"]["post"]["responses"]
