"""How long does a served row take? A default blend, one row per request.

The CPU time that the server's process needs per request: of the call behind the HTTP handler (from
the bytes of a body to the answer as plain JSON), and over loopback HTTP, where the server is a
process of its own and one connection sends rows one after the other. Medians over rows (HTTP: the
mean, as the clock of another process is coarse). On a busy machine others empty the caches between
two requests, and a call takes two to three times as long: then the fastest tenth says more, and the
load is recorded. Exits 1 if a call takes more than 2 ms.

    IMPUTEFREE_DATA=../shared/data python -m benchmarks.served_row [--tables T …] [--rows 200]
        [--json FILE]
"""

from __future__ import annotations

import http.client
import itertools
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import psutil
import torch

from benchmarks.measuring import arguments, write
from benchmarks.serve_load import serving
from benchmarks.table_tasks import is_regression, task
from imputefree import ImputeFreeClassifier, ImputeFreeRegressor
from imputefree.serve import Served

LIMIT = 2.0  # milliseconds
WARM_UP = 20


def bodies(rows: pd.DataFrame) -> list[bytes]:
    """Each row as the body of a request."""
    return [json.dumps(row).encode() for row in json.loads(rows.to_json(orient="records"))]


def called(model: Any, rows: list[bytes], count: int) -> dict[str, float]:
    """Milliseconds of CPU time per call: the median, and below which a tenth of the calls are."""
    served, times = Served(model), []
    for body in itertools.islice(itertools.cycle(rows), WARM_UP + count):
        start = time.process_time()
        served.predict(body)
        times.append(time.process_time() - start)
    fast, usual = 1000 * np.quantile(times[WARM_UP:], [0.1, 0.5])
    return {"call": float(usual), "fastest_tenth": float(fast)}


def over_http(path: Path, rows: list[bytes], count: int) -> tuple[float, float]:
    """Milliseconds per request: CPU time of the server (mean), and until the answer (median)."""
    with serving(path) as (address, server):
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        process, times, begun = psutil.Process(server.pid), [], 0.0
        for number, body in zip(range(WARM_UP + count), itertools.cycle(rows), strict=False):
            if number == WARM_UP:
                begun = sum(process.cpu_times()[:2])
            start = time.perf_counter()
            connection.request("POST", "/predict", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            answer.read()
            times.append(time.perf_counter() - start)
        cpu = sum(process.cpu_times()[:2]) - begun
        return 1000 * cpu / count, 1000 * float(np.median(times[WARM_UP:]))


def measure(name: str, count: int) -> dict[str, float]:
    """Fit a blend on the first training part of a table, and serve its test rows."""
    part = task(name).part(0)
    kind: Any = ImputeFreeRegressor if is_regression(part.y) else ImputeFreeClassifier
    X, X_test = pd.DataFrame(part.X), pd.DataFrame(part.X_test)
    X.columns = X_test.columns = [str(column) for column in X.columns]
    model = kind(random_state=0).fit(X, part.y)
    rows = bodies(X_test.head(count))
    figures = called(model, rows, count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "blend.model"
        model.save(path)
        figures["http_cpu"], figures["http_answer"] = over_http(path, rows, count)
    over = figures["call"] > LIMIT
    print(
        f"{name}: {figures['call']:.2f} ms per call (limit {LIMIT:g}){'  OVER' * over}, the fastest"
        f" tenth {figures['fastest_tenth']:.2f} ms; over HTTP"
        f" {figures['http_cpu']:.2f} ms of CPU time, {figures['http_answer']:.2f} ms to the answer",
        flush=True,
    )
    return figures


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--tables", nargs="+", default=["hepatitis", "credit_approval"])
    parser.add_argument("--rows", type=int, default=200, help="requests that are timed")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = {name: measure(name, options.rows) for name in options.tables}
    load = psutil.getloadavg()[0]
    figures = {"milliseconds": results, "limit": LIMIT, "rows": options.rows, "load": load}
    write(options.json, "torch lightgbm", **figures)
    return int(any(took["call"] > LIMIT for took in results.values()))


if __name__ == "__main__":
    sys.exit(main())
