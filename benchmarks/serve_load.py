"""`imputefree serve` under load: 2,000 requests from 16 connections, on loopback.

Starts the server with a model of 12 columns, warms it up, and sends rows, batches of 20 and
explanations in turn. Exits 1 if a request fails or its answer differs from the answer it gets
alone, if it takes longer than the limit, or if the server's memory grows.

    python -m benchmarks.serve_load [--requests 2000] [--connections 16] [--json FILE]
"""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from benchmarks.measuring import arguments, write
from imputefree import GILClassifier

SECONDS_EACH = 0.1  # limit on the whole time: 200 s for 2,000 requests, on any machine
GROWTH_MB = 8.0
COLUMNS = 12


def bodies() -> list[tuple[str, str]]:
    """(path, body): a row with gaps, a batch of 20, an explanation; each of several kinds."""
    rng = np.random.default_rng(1)

    def row() -> dict[str, float | None]:
        values = rng.normal(size=COLUMNS).round(3)
        return {f"x{j}": None if rng.random() < 0.3 else float(v) for j, v in enumerate(values)}

    kinds = []
    for _ in range(5):
        kinds += [("/predict", row()), ("/predict", {"rows": [row() for _ in range(20)]})]
        kinds.append(("/explain", row()))
    return [(path, json.dumps(body)) for path, body in kinds]


def trained(path: Path) -> None:
    """A model with the default network, hardly trained: predictions cost the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, COLUMNS))
    y = X[:, 0] + X[:, 1] > 0
    X[rng.random(X.shape) < 0.3] = np.nan
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS)])
    GILClassifier(max_iter=3, random_state=0).fit(frame, y).save(path)


class Load:
    """Connections that send requests until none is left, and the outcomes."""

    def __init__(self, address: str, expected: dict[int, bytes], requests: int) -> None:
        self.host, self.port = urlsplit(address).hostname, urlsplit(address).port
        self.work, self.expected, self.left = bodies(), expected, requests
        self.seconds: list[float] = []
        self.failures: list[str] = []
        self.lock = threading.Lock()

    def run(self, connections: int) -> float:
        """Send all requests; returns the seconds it took."""
        threads = [threading.Thread(target=self._connection) for _ in range(connections)]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - begun

    def _connection(self) -> None:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        while True:
            with self.lock:
                if self.left == 0:
                    break
                self.left -= 1
                kind = self.left % len(self.work)
            path, body = self.work[kind]
            begun = time.perf_counter()
            try:
                connection.request("POST", path, body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                text, status = answer.read(), answer.status
            except (OSError, http.client.HTTPException) as error:
                text, status = repr(error).encode(), 0
                connection.close()
            with self.lock:
                self.seconds.append(time.perf_counter() - begun)
                same = self.expected.setdefault(kind, text) == text
                if status != 200 or not same:
                    self.failures.append(f"{path}: {status} {text[:200]!r}")
        connection.close()


@contextmanager
def serving(model: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a server of this model, and its process, ended afterwards."""
    words = [sys.executable, "-m", "imputefree", "serve", str(model), "--port", "0", *options]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        line = server.stdout.readline()
        address = re.search(r"http://\S+", line)
        if address is None:
            raise RuntimeError(f"the server did not start: {line}")
        yield address[0], server
    finally:
        server.kill()
        server.wait()


def memory_mb(process: int) -> float:
    """The resident memory of a process, now."""
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found
    return int(found.group(1)) / 1024


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--connections", type=int, default=16)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.imputefree"
        trained(model)
        with serving(model) as (address, server):
            expected: dict[int, bytes] = {}
            alone = Load(address, expected, len(bodies()))
            alone.run(1)  # the answer to each request on its own
            warm = Load(address, expected, max(options.requests // 4, 100))
            warm.run(options.connections)
            before = memory_mb(server.pid)
            load = Load(address, expected, options.requests)
            seconds = load.run(options.connections)
            growth = memory_mb(server.pid) - before
            server.terminate()
            stopped = server.wait(30)
    failures = alone.failures + warm.failures + load.failures
    p50, p99 = np.percentile(load.seconds, [50, 99]) * 1000
    limit = SECONDS_EACH * options.requests
    print(f"{len(load.seconds)} requests from {options.connections} connections: {seconds:.1f} s")
    print(
        f"{len(load.seconds) / seconds:.0f} requests a second; p50 {p50:.1f} ms, p99 {p99:.1f} ms"
    )
    print(f"memory {before:.0f} MB after warming up, {growth:+.1f} MB after the load")
    print(f"{len(failures)} failures; the server exited with {stopped}", *failures[:3], sep="\n  ")
    over = [
        *(["failures"] if failures or stopped else []),
        *([f"time (limit {limit:.0f} s)"] if seconds > limit else []),
        *([f"memory (limit {GROWTH_MB:g} MB)"] if growth > GROWTH_MB else []),
    ]
    print(f"OVER: {', '.join(over)}" if over else "within all limits")
    figures = {
        "requests": len(load.seconds),
        "connections": options.connections,
        "seconds": seconds,
        "p50_ms": p50,
        "p99_ms": p99,
        "memory_mb": before,
        "growth_mb": growth,
        "failures": len(failures),
    }
    write(options.json, "torch numpy", **figures)
    return int(bool(over))


if __name__ == "__main__":
    sys.exit(main())
