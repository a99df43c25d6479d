"""What one row costs with an interval for its gaps and what to measure next, and 1,000 intervals.

ames_housing (79 columns, half of them strings) with a fifth of the entries hidden at random, around
ImputeFreeRegressor(), fitted once on 600 rows and calibrated with 600 others. CPU seconds of one
thread, because machines are busy.

    IMPUTEFREE_DATA=../shared/data python -m benchmarks.mask_cost [--rows 1000] [--quality fast]
        [--json FILE]

Exits 1 if one row takes more than 100 ms for prediction, interval (new gaps) and what to measure
next together (median of ten rows), or 1,000 intervals more than 30 seconds.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from benchmarks.measuring import arguments, write
from imputefree import ImputeFreeRegressor, MaskConformalRegressor, measure_next
from imputefree.inspection import PlausibleValues, read_rows
from imputefree.lab.studies import load

ONE_ROW, THOUSAND_ROWS = 0.1, 30.0
TRAIN = 600


def measure(quality: str, count: int) -> dict[str, Any]:
    """Medians for one row, and the seconds of all rows at once."""
    study = load("table:ames_housing")
    order = np.random.default_rng(0).permutation(len(study.y))
    train, calibrate = order[:TRAIN], order[TRAIN : 2 * TRAIN]
    base = ImputeFreeRegressor(quality=quality, random_state=0)
    base.fit(study.X.iloc[train], study.y[train])
    model = MaskConformalRegressor(base, cv="prefit", random_state=0)
    model.fit(study.X.iloc[calibrate], study.y[calibrate])
    rng = np.random.default_rng(1)
    rows = read_rows(study.X).take(rng.integers(len(study.y), size=count + 11))
    rows = rows.hidden(rng.random(rows.observed.shape) >= 0.2)

    plausible = PlausibleValues(study.X.iloc[train])

    def seconds(ask: Any, chosen: Any) -> float:
        X = rows.take(chosen).X
        begun = time.process_time()
        ask(X)
        return time.process_time() - begun

    def rank(X: Any) -> None:
        measure_next(base, X, background=plausible)

    def milliseconds(ask: Any) -> float:
        seconds(ask, [count + 10])  # warm up
        single = [seconds(ask, [row]) for row in np.arange(count, count + 10)]
        return round(1000 * statistics.median(single), 1)

    parts = {"predict_ms": base.predict, "interval_ms": model.predict_interval, "next_ms": rank}
    figures = {name: milliseconds(ask) for name, ask in parts.items()}
    return {
        **figures,
        "one_row_ms": round(sum(figures.values()), 1),
        "interval_known_gaps_ms": milliseconds(model.predict_interval),
        "rows": count,
        "masks": len(np.unique(rows.observed[:count], axis=0)),
        "all_rows_s": round(seconds(model.predict_interval, np.arange(count)), 2),
    }


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--quality", default="balanced")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        figures = measure(options.quality, options.rows)
    over = {
        f"one row: {figures['one_row_ms']} ms (limit {1000 * ONE_ROW:g}): prediction"
        f" {figures['predict_ms']}, interval {figures['interval_ms']} (with known gaps"
        f" {figures['interval_known_gaps_ms']}), what to measure next {figures['next_ms']}": (
            figures["one_row_ms"] > 1000 * ONE_ROW
        ),
        f"{options.rows} rows with {figures['masks']} masks: {figures['all_rows_s']} s (limit"
        f" {THOUSAND_ROWS:g} for 1000)": figures["all_rows_s"]
        > THOUSAND_ROWS * options.rows / 1000,
    }
    for line, is_over in over.items():
        print(line + "  OVER" * is_over)
    write(options.json, "torch lightgbm numpy", **figures)
    return int(any(over.values()))


if __name__ == "__main__":
    sys.exit(main())
