"""Rows per second of torchrun with two processes against one process, one thread each.

A simulated table (100,000 × 30 by default) and the default networks for its size. Both run in
turns, in separate processes; medians over rounds. Exits 1 when two processes train less than 1.6
times as many rows per second. The load of the machine is printed: two ranks need two free cores.
The ratio of CPU-seconds per rank does not depend on it, but leaves out waiting.

    python benchmarks/ranks_cost.py [--rows 100000] [--epochs 2] [--rounds 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measuring import arguments, write
from torch import distributed as dist

from imputefree import GILClassifier
from imputefree.distributed import fit
from imputefree.gil import Trainer

COLUMNS, GAPS, TARGET = 30, 0.2, 1.6
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")


def made_table(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, COLUMNS)).astype(np.float32)
    y = (X[:, :5].sum(1) + X[:, 5] * X[:, 6] + rng.normal(size=rows) > 0).astype(int)
    X[rng.random(X.shape) < GAPS] = np.nan
    return X, y


def job(rows: int, epochs: int, output: Path) -> None:
    """One fit, by this process alone or with the others that torchrun started."""
    torch.set_num_threads(1)
    X, y = made_table(rows)
    seconds: dict[str, float] = {}
    run = Trainer.run

    def timed(trainer: Trainer, *args: Any, **options: Any) -> None:
        clocks = time.perf_counter(), time.process_time()
        run(trainer, *args, **options)
        seconds["training"] = time.perf_counter() - clocks[0]
        seconds["training CPU"] = time.process_time() - clocks[1]

    Trainer.run = timed  # type: ignore[method-assign]
    model = GILClassifier(random_state=0, max_iter=epochs)
    several = "RANK" in os.environ
    if several:
        dist.init_process_group("gloo")
    begun = time.perf_counter()
    fit(model, X, y) if several else model.fit(X, y)
    seconds["fit"] = time.perf_counter() - begun
    weights = sum(weight.numel() for weight in model.predictor_.parameters())
    if several:
        seconds |= {"sum of weights": all_reduce(weights), "sum of one number": all_reduce(1)}
        dist.destroy_process_group()
    if not several or os.environ["RANK"] == "0":
        figures = {"seconds": seconds, "weights": weights, "loss": model.history_["loss"][-1]}
        output.write_text(json.dumps(figures | {"settings": model.settings_}))


def all_reduce(count: int) -> float:
    """Median seconds of a sum over ranks of so many numbers."""
    times, numbers = [], torch.zeros(count)
    for _ in range(20):
        begun = time.perf_counter()
        dist.all_reduce(numbers)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def measure(launcher: tuple[str, ...], options: argparse.Namespace) -> dict[str, Any]:
    """The figures of a fit in new processes, by its first rank."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "figures.json"
        size = ["--rows", str(options.rows), "--epochs", str(options.epochs)]
        words = [sys.executable, *launcher, __file__, *size, "--job", str(output)]
        subprocess.run(words, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
        return json.loads(output.read_text())


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3, help="fits of each kind")
    parser.add_argument("--job", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job(options.rows, options.epochs, options.job)
        return 0
    load = os.getloadavg()[0]
    rounds = [(measure((), options), measure(TORCHRUN, options)) for _ in range(options.rounds)]
    ratios = {
        clock: statistics.median(
            one["seconds"][clock] / two["seconds"][clock] for one, two in rounds
        )
        for clock in ("training", "training CPU", "fit")
    }
    seen = options.rows * options.epochs
    speeds = [
        statistics.median(seen / figures["seconds"]["training"] for figures in kind)
        for kind in zip(*rounds, strict=True)
    ]
    one, two = rounds[0]
    print(f"load {load:.1f} before, {os.getloadavg()[0]:.1f} after; {os.cpu_count()} cores")
    print(f"{one['weights']} weights, settings {one['settings']}")
    print(f"loss of the last epoch: {one['loss']:.6f} by one process, {two['loss']:.6f} by two")
    print(f"rows per second: {speeds[0]:.0f} by one process, {speeds[1]:.0f} by two")
    short = "" if ratios["training"] >= TARGET else "  SHORT"
    busy = statistics.median(seen / one["seconds"]["training CPU"] for one, _ in rounds)
    print(f"rows per CPU-second of one process: {busy:.0f}")
    print(f"training {ratios['training']:.2f}x (target {TARGET}){short}")
    print(f"CPU-seconds per rank 1/{ratios['training CPU']:.2f}, whole fit {ratios['fit']:.2f}x")
    sums = {
        name: statistics.median(two["seconds"][name] for _, two in rounds)
        for name in ("sum of weights", "sum of one number")
    }
    print(", ".join(f"{name} {1000 * second:.2f} ms" for name, second in sums.items()))
    rounded = {name: round(ratio, 3) for name, ratio in ratios.items()}
    about = {"rows": options.rows, "epochs": options.epochs, "load": round(load, 1)}
    about |= {"rows_per_cpu_second": round(busy), "seconds": sums}
    write(options.json, "torch numpy", ratios=rounded, rows_per_second=speeds, **about)
    return int(ratios["training"] < TARGET)


if __name__ == "__main__":
    sys.exit(main())
