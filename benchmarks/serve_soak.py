"""`imputefree serve` for an hour: 16 connections on loopback that send everything.

Rows, batches, explanations, uploads, bodies that are wrong in many ways, and clients that leave in
the middle. Records latency and the server's memory once a minute. Exits 1 if an answer differs from
the first answer to the same request, if any is a 500 or has another shape than it should, or if
memory is not flat: after a warm-up (a quarter of the run), the Theil-Sen slope of memory against
requests, the median of the slopes between all pairs of readings, must stay below 1 MB per 10,000
requests.

    python -m benchmarks.serve_soak [--minutes 60] [--connections 16] [--pause 0] [--json FILE]

With a pause (seconds) between the requests of a connection, other work can go on beside it.
"""

from __future__ import annotations

import http.client
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from scipy.stats import theilslopes

from benchmarks.measuring import arguments, write
from benchmarks.serve_load import COLUMNS, bodies, memory_mb, serving, trained

WARM_UP = 0.25  # share of the run
SLOPE_MB = 1.0  # per 10,000 requests
FEWEST = 4  # readings in a run; else one a minute
JSON, FILE = "application/json", "application/octet-stream"


@dataclass(frozen=True)
class Ask:
    """A request; status : that the answer must have, None if the client leaves before it."""

    path: str
    body: bytes
    status: int | None
    kind: str = JSON


def asks() -> list[Ask]:
    """All kinds of requests, in the order in which each connection sends them."""
    good = [Ask(path, body.encode(), 200) for path, body in bodies()]
    header = ",".join(f"x{j}" for j in range(COLUMNS))
    rows = "\n".join(",".join(["0.5"] * COLUMNS) for _ in range(200))
    uploads = [
        Ask("/read?name=rows.csv", f"{header}\n{rows}\n".encode(), 200, FILE),
        Ask("/read?name=rows.csv", b'x0,x1\n1,"2\n', 422, FILE),
        Ask("/read?name=rows.parquet", b"PAR1 no", 422, FILE),
    ]
    bad = [
        Ask("/predict", b"{", 400),
        Ask("/predict", b"\xff\xfe", 400),
        Ask("/predict", b'{"rows": [' + b"[" * 5000, 400),
        Ask("/predict", b'{"x0": "many"}', 422),
        Ask("/predict", b'{"x0": 1e999}', 422),
        Ask("/predict", b'{"no such column": 1}', 422),
        Ask("/predict", b'{"rows": []}', 422),
        Ask("/predict", b"{}", 415, "text/plain"),
        Ask("/nowhere", b"{}", 404),
    ]
    leaving = [Ask("/predict", good[1].body, None), Ask("/explain", good[2].body, None)]
    others = [*uploads, *bad, *leaving]
    return [ask for i, one in enumerate(others) for ask in (good[i % len(good)], one)] + good


class Soak:
    """Connections that send requests until the time is over, and what came of them."""

    def __init__(self, address: str, seconds: float, pause: float) -> None:
        self.pause = pause
        self.host, self.port = urlsplit(address).hostname, urlsplit(address).port
        self.end, self.asks = time.monotonic() + seconds, asks()
        self.first: dict[int, bytes] = {}
        self.statuses: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.seconds: list[float] = []
        self.lock = threading.Lock()

    def run(self, number: int) -> None:
        """One connection; number : at which request it begins."""
        connection, at = None, number
        while time.monotonic() < self.end:
            time.sleep(self.pause)
            kind, at = at % len(self.asks), at + 1
            ask = self.asks[kind]
            if ask.status is None:
                self._leave(ask)
                continue
            if connection is None:
                connection = http.client.HTTPConnection(self.host or "", self.port, timeout=300)
            begun = time.perf_counter()
            try:
                connection.request("POST", ask.path, ask.body, {"Content-Type": ask.kind})
                answer = connection.getresponse()
                text, status = answer.read(), answer.status
            except (OSError, http.client.HTTPException) as error:
                text, status = repr(error).encode(), 0
                connection.close()
                connection = None
            self._note(kind, status, text, time.perf_counter() - begun)
        if connection is not None:
            connection.close()

    def _note(self, kind: int, status: int, text: bytes, seconds: float) -> None:
        ask = self.asks[kind]
        with self.lock:
            self.statuses[str(status)] += 1
            self.seconds.append(seconds)
            if status in (429, 503):  # busy, as it may be
                return
            if status != ask.status or self.first.setdefault(kind, text) != text:
                self.wrong.append(f"{ask.path}: {status} {text[:200]!r}")

    def _leave(self, ask: Ask) -> None:
        """Send a part of a request and close the connection."""
        head = (
            f"POST {ask.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {ask.kind}\r\n"
            f"Content-Length: {len(ask.body)}\r\n\r\n"
        )
        cut = (head.encode() + ask.body)[: len(head) + len(ask.body) // 2]
        with socket.create_connection((self.host, self.port), timeout=300) as one:
            one.sendall(cut)
        with self.lock:
            self.statuses["left"] += 1

    def taken(self) -> tuple[int, list[float]]:
        """How many requests there were so far, and the latencies since the last call."""
        with self.lock:
            seconds, self.seconds = self.seconds, []
            return self.statuses.total(), seconds


def flatness(readings: list[dict[str, float]]) -> float:
    """The Theil-Sen slope of memory after the warm-up, in MB per 10,000 requests."""
    rest = readings[int(WARM_UP * len(readings)) :]
    requests = [reading["requests"] / 10_000 for reading in rest]
    return float(theilslopes([reading["memory_mb"] for reading in rest], requests)[0])


def soak(
    address: str, pid: int, minutes: float, connections: int, pause: float
) -> tuple[Soak, list[Any]]:
    """Run all connections; returns them and a reading of figures for each minute."""
    soaked, readings = Soak(address, 60 * minutes, pause), []
    threads = [
        threading.Thread(target=soaked.run, args=(7 * number,), daemon=True)
        for number in range(connections)
    ]
    for thread in threads:
        thread.start()
    begun, every = time.monotonic(), min(60.0, 60 * minutes / FEWEST)
    while time.monotonic() < soaked.end:
        time.sleep(max(0.0, min(every, soaked.end - time.monotonic())))
        requests, seconds = soaked.taken()
        p50, p99 = np.percentile(seconds or [np.nan], [50, 99]) * 1000
        reading = {
            "minutes": round((time.monotonic() - begun) / 60, 3),
            "requests": requests,
            "p50_ms": round(float(p50), 2),
            "p99_ms": round(float(p99), 2),
            "memory_mb": round(memory_mb(pid), 2),
        }
        readings.append(reading)
        print(
            "{minutes:6.1f} min: {requests:,} requests, p50 {p50_ms:.1f} ms,"
            " p99 {p99_ms:.1f} ms, {memory_mb:.1f} MB".format(**reading),
            f"{len(soaked.wrong)} wrong",
            flush=True,
        )
    for thread in threads:
        thread.join()
    return soaked, readings


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--pause", type=float, default=0.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.imputefree"
        trained(model)
        wanted = options.minutes, options.connections, options.pause
        # A busy machine may be slow, but not wrong.
        with serving(model, "--timeout", "300") as (address, server):
            soaked, readings = soak(address, server.pid, *wanted)
            server.terminate()
            stopped = server.wait(120)
    slope = flatness(readings)
    figures = {
        "minutes": options.minutes,
        "connections": options.connections,
        "pause": options.pause,
        "requests": soaked.statuses.total(),
        "statuses": dict(soaked.statuses),
        "wrong": len(soaked.wrong),
        "mb_per_10000_requests": round(slope, 3),
        "limit": SLOPE_MB,
        "readings": readings,
    }
    print(f"{figures['requests']:,} requests: {figures['statuses']}")
    print(f"{len(soaked.wrong)} wrong; the server exited with {stopped}", *soaked.wrong[:3])
    print(f"memory: {slope:+.2f} MB per 10,000 requests (limit {SLOPE_MB:g})")
    over = [*["answers"] * bool(soaked.wrong or stopped), *["memory"] * (slope > SLOPE_MB)]
    print(f"OVER: {', '.join(over)}" if over else "within all limits")
    write(options.json, "torch numpy starlette uvicorn", **figures)
    return int(bool(over))


if __name__ == "__main__":
    sys.exit(main())
