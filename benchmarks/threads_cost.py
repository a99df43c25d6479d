"""Is a fit faster with two threads than with one?

Simulated rows (`MadeWorld(30)`); a default `GILClassifier` for some epochs and
`ImputeFreeClassifier(quality="fast")`, each with one thread and with two, taking turns in one
process. Medians of seconds by the clock, so two cores must be free: the load of the machine is
printed and recorded. Exits 1 if two threads are not faster.

    python -m benchmarks.threads_cost [--rows 100000] [--epochs 1] [--rounds 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import psutil
import torch
from threadpoolctl import threadpool_limits

from benchmarks.measuring import Step, commit, medians, write
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--epochs", type=int, default=1, help="of the networks")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    medians(fits(500, 1), rounds=1, warm_up=0)  # loads what is loaded on first use
    took = medians(fits(options.rows, options.epochs), options.rounds, warm_up=0)
    load, slow = psutil.getloadavg()[0], False
    for name in sorted({fit.split()[0] for fit in took}):
        ratio = took[f"{name} 1"] / took[f"{name} 2"]
        slow |= ratio <= 1
        print(
            f"{name}: {ratio:.2f} times as fast with two threads, {took[f'{name} 2']:.1f} s instead"
            f" of {took[f'{name} 1']:.1f} s (load {load:.1f}){'  SLOWER' * (ratio <= 1)}"
        )
    sizes = {"rows": options.rows, "columns": COLUMNS, "epochs": options.epochs}
    write(options.json, "torch lightgbm", commit=commit(), **sizes, seconds=took, load=load)
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
