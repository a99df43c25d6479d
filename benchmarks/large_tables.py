"""What a large table costs, in memory and from a folder of Parquet parts.

Simulated rows (`MadeWorld(30)`), one thread, a process of its own per fit.

- In memory: CPU time of `ImputeFreeClassifier(quality="fast")` and `GILClassifier()` on a float32
  array, as a multiple of LightGBM's defaults on the same array. Memory is the peak of anonymous
  memory (RssAnon, read every 10 ms) above that right before the fit, when libraries are loaded and
  the table is there, as a multiple of the table as float32.
- From files: `fit_files` on a folder of Parquet parts of 250,000 rows; one network of 64 units,
  without bins, for one epoch ("network"), or fast trees with a time limit ("trees"). Memory is the
  peak of all of the process: RssAnon, and VmHWM, which also counts pages of files that the system
  can take back at any time. Throughput is rows per CPU-second of the whole call, which reads,
  stores and learns.

Exits 1 above a limit. Each result is appended to the JSON file as it is there.

    python -m benchmarks.large_tables [--rows 1000000] [--files 1000000 10000000] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import arguments, provenance
from benchmarks.table_tasks import BLOCK, MadeWorld

COLUMNS, PART, TEST_ROWS = 30, 5 * BLOCK, 50_000
TIMES = {"fast": 5.0, "network": 15.0, "one epoch": np.inf}  # LightGBM's CPU time
TABLES = 3.0  # times the table as float32
BYTES = 2e9  # of memory, from files
FLAT = 0.8  # of the throughput of fewer rows
TREE_SECONDS = 100.0


class Peak:
    """The highest anonymous memory while a block runs, in bytes."""

    def __enter__(self) -> Peak:
        self.before = self.highest = status("RssAnon")
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.01):
            self.highest = max(self.highest, status("RssAnon"))

    def __exit__(self, *problem: object) -> None:
        self._done.set()
        self._thread.join()


def status(name: str) -> int:
    """A figure about the memory of this process, in bytes."""
    with open("/proc/self/status") as file:
        return 1024 * next(int(line.split()[1]) for line in file if line.startswith(name))


def cpu() -> float:
    """CPU seconds of this process, with those that it spends in the system."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def estimator(name: str, rows: int) -> Any:
    """What is fitted in memory."""
    import lightgbm

    from imputefree import GILClassifier, ImputeFreeClassifier

    return {
        "lightgbm": lambda: lightgbm.LGBMClassifier(n_jobs=1, verbosity=-1),
        "fast": lambda: ImputeFreeClassifier(quality="fast", random_state=0),
        "network": lambda: GILClassifier(random_state=0),
        "one epoch": lambda: GILClassifier(max_iter=1, random_state=0),
    }[name]()


def in_memory(name: str, rows: int) -> dict[str, Any]:
    """CPU time, memory and the log-loss on other rows of a fit on an array."""
    world = MadeWorld(COLUMNS)
    few = world.draw(1000, stream=2)
    estimator(name, 1000).fit(*few).predict_proba(few[0])  # loads what is loaded on first use
    X, y = world.draw(rows, stream=0)
    model = estimator(name, rows)
    begun = cpu()
    with Peak() as peak:
        model.fit(X, y)
    seconds = cpu() - begun
    X_test, y_test = world.draw(TEST_ROWS, stream=1)
    shares = model.predict_proba(X_test)[np.arange(TEST_ROWS), y_test]
    return {
        "cpu_seconds": round(seconds, 1),
        "memory_mb": round((peak.highest - peak.before) / 1e6),
        "times_the_table": round((peak.highest - peak.before) / (4 * rows * COLUMNS), 2),
        "log_loss": round(float(-np.log(np.maximum(shares, 1e-12)).mean()), 4),
    }


def from_files(name: str, folder: str) -> dict[str, Any]:
    """CPU time and memory of `fit_files`."""
    from imputefree import GILClassifier, ImputeFreeClassifier

    if name == "network":
        model: Any = GILClassifier(
            n_members=1,
            hidden_layer_sizes=(64,),
            numeric_encoding="rich",
            max_iter=1,
            random_state=0,
        )
    else:
        model = ImputeFreeClassifier(quality="fast", time_limit=TREE_SECONDS, random_state=0)
    begun, wall = cpu(), time.monotonic()
    with Peak() as peak:
        model.fit_files(folder, target="y")
    return {
        "cpu_seconds": round(cpu() - begun, 1),
        "wall_seconds": round(time.monotonic() - wall, 1),
        "anonymous_mb": round(peak.highest / 1e6),
        "with_file_pages_mb": round(status("VmHWM") / 1e6),
        "loss": model.history_["validation_loss"] if name == "network" else model.losses_,
    }


def write_parts(folder: Path, rows: int, part: int = PART) -> None:
    """A folder of Parquet parts, of columns x0, x1, … and the label y."""
    import pyarrow
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    world = MadeWorld(COLUMNS)
    for number, begin in enumerate(range(0, rows, part)):
        if (folder / f"part-{number:05}.parquet").exists():
            continue
        X, y = world.draw(min(part, rows - begin), stream=10 + number)
        columns = {f"x{j}": X[:, j] for j in range(COLUMNS)} | {"y": y.astype(np.int8)}
        parquet.write_table(pyarrow.table(columns), folder / f"part-{number:05}.parquet")


def worker(*words: str) -> dict[str, Any]:
    """The figures of a fit in a process of its own, with one thread."""
    command = [sys.executable, "-m", "benchmarks.large_tables", "--worker", *words]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="in memory; 0: none")
    parser.add_argument("--methods", nargs="*", default=["fast", "network"], choices=list(TIMES))
    parser.add_argument("--files", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--models", nargs="*", default=["network", "trees"], help="from files")
    parser.add_argument("--folder", type=Path, help="where parts are kept, and used again")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        name, of = options.worker
        print(json.dumps(in_memory(name, int(of)) if of.isdigit() else from_files(name, of)))
        return 0
    over = False

    def report(**figures: Any) -> None:
        print(json.dumps(figures), flush=True)
        if options.json:
            record = {"protocol": __doc__.split("\n\n    python")[0], "results": []}
            if options.json.exists():
                record = json.loads(options.json.read_text())
            record["results"].append(figures | provenance("torch lightgbm"))
            options.json.write_text(json.dumps(record, indent=1) + "\n")

    if options.rows:
        rival = worker("lightgbm", str(options.rows))
        report(where="memory", rows=options.rows, model="lightgbm", **rival)
        for name, limit in ((name, TIMES[name]) for name in options.methods):
            figures = worker(name, str(options.rows))
            ratio = round(figures["cpu_seconds"] / rival["cpu_seconds"], 2)
            bad = ratio > limit or figures["times_the_table"] > TABLES
            limits = {"times_lightgbm": ratio, "over": bad}
            report(where="memory", rows=options.rows, model=name, **figures, **limits)
            over |= bad
    speeds: dict[str, float] = {}
    for rows in options.files:
        with tempfile.TemporaryDirectory() as temporary:
            folder = str((options.folder or Path(temporary)) / str(rows))
            write_parts(Path(folder), rows)
            for name in options.models:
                figures = worker(name, folder)
                speed = round(rows / figures["cpu_seconds"])
                first = speeds.setdefault(name, speed)
                bad = figures["anonymous_mb"] * 1e6 > BYTES
                if name == "network":  # trees stop when time is up
                    bad |= speed < FLAT * first
                report(
                    where="files", rows=rows, model=name, rows_per_cpu_second=speed, **figures,
                    over=bad,
                )  # fmt: skip
                over |= bad
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
