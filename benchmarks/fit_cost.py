"""What does a fit cost? CPU time of ours against CatBoost's and LightGBM's defaults, one thread.

The training rows of the first of five folds of the twelve tables; each round fits every method
once, in turn. Two limits: the blend takes at most CatBoost's time on nine of twelve tables,
and quality="fast" at most three times LightGBM's plus one second on each. CatBoost is stopped after
one minute, more than the blend takes on any of them. With --time-limit, also whether the blend
keeps to it (in seconds of the clock, within 10 %) on 245,000 flights. Exits 1 if one is over.

    IMPUTEFREE_DATA=../shared/data python -m benchmarks.fit_cost [--tables [T …]] [--rounds 1]
        [--time-limit 30] [--json FILE]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from threadpoolctl import threadpool_limits

from benchmarks.measuring import Step, arguments, medians, write
from benchmarks.table_methods import LIGHTGBM_DEFAULTS, METHODS
from benchmarks.table_tasks import FLIGHTS, TWELVE, Part, is_regression, task
from imputefree import ImputeFreeClassifier

BLEND_LIMIT, BLEND_SHARE = 1.0, 0.75  # times CatBoost, on this share of the tables
FAST_LIMIT, FAST_SECONDS = 3.0, 1.0  # times LightGBM, plus seconds
CATBOOST_SECONDS = 60.0  # at most; on soybean, with 19 classes, it would take half an hour
TIME_SLACK = 0.1
PACKAGES = "torch lightgbm catboost"
COMPARED = {
    "blend": METHODS["blend"],
    "CatBoost": METHODS["CatBoost defaults"],
    "fast": METHODS["blend fast"],
    "LightGBM": LIGHTGBM_DEFAULTS,
}


class StopCatBoost:
    """A callback that ends training after `CATBOOST_SECONDS`."""

    def __init__(self) -> None:
        self.begun = time.process_time()

    def after_iteration(self, info: Any) -> bool:
        """Whether to go on."""
        return time.process_time() - self.begun < CATBOOST_SECONDS


def fits(part: Part) -> dict[str, Step]:
    """One fit of each method."""
    kind = "regression" if is_regression(part.y) else "classification"

    def fit(name: str) -> None:
        options = {"callbacks": [StopCatBoost()]} if name == "CatBoost" else {}
        COMPARED[name].make(kind, 0).fit(part.X, part.y, **options)

    return {name: partial(fit, name) for name in COMPARED}


def compare(name: str, rounds: int) -> dict[str, float]:
    """Median CPU seconds of each method on a table, printed with their limits."""
    took = medians(fits(task(name).part(0)), rounds, warm_up=0, clock=time.process_time)
    stopped = took["CatBoost"] >= CATBOOST_SECONDS
    print(
        f"{name}: blend {took['blend']:.1f} s, {took['blend'] / took['CatBoost']:.2f}x"
        f" CatBoost's {took['CatBoost']:.1f} s{', stopped' * stopped} (limit {BLEND_LIMIT});"
        f" fast {took['fast']:.2f} s, LightGBM {took['LightGBM']:.2f} s"
        f" (limit {fast_limit(took):.2f} s){'  OVER' * (took['fast'] > fast_limit(took))}",
        flush=True,
    )
    return took


def fast_limit(took: Mapping[str, float]) -> float:
    """What quality="fast" may take."""
    return FAST_LIMIT * took["LightGBM"] + FAST_SECONDS


def kept_limit(seconds: float) -> float:
    """How long the blend takes on flights when it is given so many seconds."""
    part = task(FLIGHTS[0]).part(0)
    start = time.perf_counter()
    ImputeFreeClassifier(time_limit=seconds, random_state=0).fit(part.X, part.y)
    took = time.perf_counter() - start
    over = took > seconds * (1 + TIME_SLACK)
    print(f"time_limit={seconds:g} on flights: {took:.1f} s{'  OVER' * over}")
    return took


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--tables", nargs="*", default=TWELVE)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--time-limit", type=float, help="seconds, on flights")
    options = parser.parse_args()
    torch.set_num_threads(1)
    figures: dict[str, Any] = {"rounds": options.rounds}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        medians(fits(task("made 100x4").part(0)), rounds=1, warm_up=0)  # loads every library
        seconds: dict[str, dict[str, float]] = {}
        for name in options.tables:  # what is measured is written at once
            seconds[name] = compare(name, options.rounds)
            write(options.json, PACKAGES, **figures, cpu_seconds=seconds)
        late = False
        if options.time_limit:
            figures["time_limit"] = options.time_limit, kept_limit(options.time_limit)
            late = figures["time_limit"][1] > options.time_limit * (1 + TIME_SLACK)
    within = sum(took["blend"] <= BLEND_LIMIT * took["CatBoost"] for took in seconds.values())
    needed = round(BLEND_SHARE * len(seconds))
    print(
        f"blend within {BLEND_LIMIT}x CatBoost on {within} of {len(seconds)} tables"
        f" (at least {needed}){'  OVER' * (within < needed)}"
    )
    slow = any(took["fast"] > fast_limit(took) for took in seconds.values())
    write(options.json, PACKAGES, **figures, cpu_seconds=seconds)
    return int(within < needed or slow or late)


if __name__ == "__main__":
    sys.exit(main())
