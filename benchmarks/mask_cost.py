"""What intervals of the method "mask" cost: one row, and 1,000 rows that all have other gaps.

ames_housing (79 columns, half of them strings) with a fifth of the entries hidden at random, around
ImputeFreeRegressor(), fitted once on 600 rows and calibrated with 600 others. CPU seconds of one
thread, because machines are busy.

    IMPUTEFREE_DATA=../shared/data python -m benchmarks.mask_cost [--rows 1000] [--quality fast]
        [--json FILE]

Exits 1 if one row takes more than 100 ms (median of ten rows with new gaps), or 1,000 rows more
than 30 seconds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from benchmarks.measuring import commit, write
from imputefree import ImputeFreeRegressor, MaskConformalRegressor
from imputefree.inspection import read_rows
from imputefree.lab.studies import load

ONE_ROW, THOUSAND_ROWS = 0.1, 30.0
TRAIN = 600


def measure(quality: str, count: int) -> dict[str, Any]:
    """Median seconds for one row with new gaps and with known ones, and for all rows at once."""
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

    def seconds(chosen: Any) -> float:
        X = rows.take(chosen).X
        begun = time.process_time()
        model.predict_interval(X)
        return time.process_time() - begun

    seconds([count + 10])  # warm up
    single = np.arange(count, count + 10)
    first = [seconds([row]) for row in single]
    again = [seconds([row]) for row in single]
    return {
        "one_row_ms": round(1000 * statistics.median(first), 1),
        "one_row_known_gaps_ms": round(1000 * statistics.median(again), 1),
        "rows": count,
        "masks": len(np.unique(rows.observed[:count], axis=0)),
        "all_rows_s": round(seconds(np.arange(count)), 2),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--quality", default="balanced")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        figures = measure(options.quality, options.rows)
    over = {
        f"one row: {figures['one_row_ms']} ms (limit {1000 * ONE_ROW:g});"
        f" again with the same gaps: {figures['one_row_known_gaps_ms']} ms": (
            figures["one_row_ms"] > 1000 * ONE_ROW
        ),
        f"{options.rows} rows with {figures['masks']} masks: {figures['all_rows_s']} s (limit"
        f" {THOUSAND_ROWS:g} for 1000)": figures["all_rows_s"]
        > THOUSAND_ROWS * options.rows / 1000,
    }
    for line, is_over in over.items():
        print(line + "  OVER" * is_over)
    write(options.json, "torch lightgbm numpy", commit=commit(), **figures)
    return int(any(over.values()))


if __name__ == "__main__":
    sys.exit(main())
