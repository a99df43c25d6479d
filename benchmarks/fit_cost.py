"""What does a fit cost? CPU time of ours against CatBoost's and LightGBM's defaults, one thread.

The training rows of the first of five folds of the twelve tables; each round fits every method
once, in turn. Two limits: the blend takes at most twice CatBoost's time on nine of twelve tables,
and quality="fast" at most three times LightGBM's plus one second on each. Exits 1 if one is over.

    IMPUTEFREE_DATA=../shared/data python -m benchmarks.fit_cost [--tables T …] [--rounds 1]
        [--json FILE]
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import torch
from threadpoolctl import threadpool_limits

from benchmarks.measuring import Step, commit, medians, write
from benchmarks.table_methods import LIGHTGBM_DEFAULTS, METHODS
from benchmarks.table_tasks import TWELVE, Part, is_regression, task

BLEND_LIMIT, BLEND_SHARE = 2.0, 0.75  # times CatBoost, on this share of the tables
FAST_LIMIT, FAST_SECONDS = 3.0, 1.0  # times LightGBM, plus seconds
COMPARED = {
    "blend": METHODS["blend"],
    "CatBoost": METHODS["CatBoost defaults"],
    "fast": METHODS["blend fast"],
    "LightGBM": LIGHTGBM_DEFAULTS,
}


def fits(part: Part) -> dict[str, Step]:
    """One fit of each method."""
    kind = "regression" if is_regression(part.y) else "classification"

    def fit(method: Any) -> Step:
        return lambda: method.make(kind, 0).fit(part.X, part.y)

    return {name: fit(method) for name, method in COMPARED.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=TWELVE)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    torch.set_num_threads(1)
    seconds: dict[str, dict[str, float]] = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        medians(fits(task("made 100x4").part(0)), rounds=1, warm_up=0)  # loads every library
        for name in options.tables:
            steps = fits(task(name).part(0))
            seconds[name] = medians(steps, options.rounds, 0, clock=time.process_time)
            took = seconds[name]
            allowed = FAST_LIMIT * took["LightGBM"] + FAST_SECONDS
            print(
                f"{name}: blend {took['blend']:.1f} s, {took['blend'] / took['CatBoost']:.2f}x"
                f" CatBoost's {took['CatBoost']:.1f} s (limit {BLEND_LIMIT});"
                f" fast {took['fast']:.2f} s, LightGBM {took['LightGBM']:.2f} s"
                f" (limit {allowed:.2f} s){'  OVER' if took['fast'] > allowed else ''}",
                flush=True,
            )
    within = sum(took["blend"] <= BLEND_LIMIT * took["CatBoost"] for took in seconds.values())
    needed = round(BLEND_SHARE * len(seconds))
    over = within < needed
    print(
        f"blend within {BLEND_LIMIT}x CatBoost on {within} of {len(seconds)} tables"
        f" (at least {needed}){'  OVER' if over else ''}"
    )
    slow = [
        name
        for name, took in seconds.items()
        if took["fast"] > FAST_LIMIT * took["LightGBM"] + FAST_SECONDS
    ]
    figures = {"commit": commit(), "rounds": options.rounds, "cpu_seconds": seconds}
    write(options.json, "torch lightgbm catboost", **figures)
    return int(over or bool(slow))


if __name__ == "__main__":
    sys.exit(main())
