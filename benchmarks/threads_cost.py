"""Is a fit faster with two threads than with one?

Simulated rows (`MadeWorld(30)`); a default `GILClassifier` for some epochs and
`ImputeFreeClassifier(quality="fast")`, each with one thread and with two, taking turns in one
process. The fewest seconds by the clock, so two cores must be free: on a busy machine threads wait
for each other in loops, and two took eight times the CPU time of one. The load of the machine is
printed and recorded. Exits 1 if two threads are not faster.

    python -m benchmarks.threads_cost [--rows 50000] [--epochs 1] [--rounds 3] [--seconds 60]
        [--json FILE]
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import psutil
import torch
from threadpoolctl import threadpool_limits

from benchmarks.measuring import Step, arguments, write
from benchmarks.table_tasks import MadeWorld
from imputefree import GILClassifier, ImputeFreeClassifier

COLUMNS, THREADS = 30, (1, 2)


def fits(rows: int, epochs: int) -> dict[str, Step]:
    """One fit of each model with each number of threads."""
    X, y = MadeWorld(COLUMNS).draw(rows, stream=0)
    models = {
        "network": GILClassifier(max_iter=epochs, random_state=0),
        "fast": ImputeFreeClassifier(quality="fast", random_state=0),
    }

    def fit(model: Any, threads: int) -> Step:
        def run() -> None:
            torch.set_num_threads(threads)
            with threadpool_limits(threads):
                model.fit(X, y)

        return run

    return {f"{name} {n}": fit(model, n) for name, model in models.items() for n in THREADS}


def fewest_seconds(steps: dict[str, Step], rounds: int, seconds: float) -> dict[str, float]:
    """The fewest seconds of each step, all taking turns; no round begins after so many seconds."""
    took = dict.fromkeys(steps, math.inf)
    end = time.monotonic() + seconds
    for _ in range(rounds):
        for name, step in steps.items():
            begun = time.perf_counter()
            step()
            took[name] = min(took[name], time.perf_counter() - begun)
        if time.monotonic() > end:
            break
    return took


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--epochs", type=int, default=1, help="of the networks")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0, help="after which no round begins")
    options = parser.parse_args()
    fewest_seconds(fits(500, 1), 1, 0.0)  # loads what is loaded on first use
    took = fewest_seconds(fits(options.rows, options.epochs), options.rounds, options.seconds)
    load, slow = psutil.getloadavg()[0], False
    for name in sorted({fit.split()[0] for fit in took}):
        ratio = took[f"{name} 1"] / took[f"{name} 2"]
        slow |= ratio <= 1
        print(
            f"{name}: {ratio:.2f} times as fast with two threads, {took[f'{name} 2']:.1f} s instead"
            f" of {took[f'{name} 1']:.1f} s (load {load:.1f}){'  SLOWER' * (ratio <= 1)}"
        )
    sizes = {"rows": options.rows, "columns": COLUMNS, "epochs": options.epochs}
    write(options.json, "torch lightgbm", **sizes, seconds=took, load=load)
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
