"""What predictions cost: rows per second with NaN as input, against filling the gaps first.

One process, one trained ensemble (the default `GILClassifier()`), 20,000 training rows of 30
columns, 30 % missing. The same networks predict new rows
- from the estimator: a table with NaN in, probabilities out
- bare: from tensors, so that only the networks are timed, in the estimator's chunks
- after kNN, fitted on the 20,000 rows, or MICE, fitted on 2,000 of them (what it costs to fill a
  row does not depend on how many it learned from, only its fit does), has filled the gaps
in large batches, and one row at a time. Medians of CPU time on one thread; estimator and bare
networks take turns, kNN and MICE take theirs after them. Only ratios are judged, yet on a busy
machine those to kNN and MICE moved by half from run to run. Exits 1 when a ratio misses its limit.

    python benchmarks/predict_cost.py [--rounds 3] [--json FILE]
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from measuring import arguments, medians, write
from scipy.special import expit

from imputefree import GILClassifier
from imputefree.baselines import Filler, ImputingEncoder
from imputefree.data import FEW_ROWS, read_columns
from imputefree.gil import TrainingData, predict_raw
from imputefree.lab.imputers import make_imputer

COLUMNS, MISSING, MICE_ROWS = 30, 0.3, 2000
# At least this many times their rows per second, one row at a time. In batches, a sweep of ridge
# regressions costs less per row than our networks do, so that MICE has no limit there.
RIVALS = {"knn": 100.0, "mice": 5.0}
CLOSE_TURNS = 20  # rounds of estimator and bare networks for one of the rivals
BARE, BARE_ONE = 1.1, 2.0  # at most this many times the bare networks' time; for one row


def make_rows(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns with gaps, and a class that depends on two of them."""
    factors = rng.normal(size=(rows, 5)) @ np.random.default_rng(1).normal(size=(5, COLUMNS))
    X = factors + rng.normal(size=(rows, COLUMNS))
    y = X[:, 0] + X[:, 1] ** 2 / 5 + rng.normal(size=rows) > 1
    X[rng.random(X.shape) < MISSING] = np.nan
    return X, y


def with_imputer(model: GILClassifier, name: str, X: np.ndarray) -> Any:
    """The same trained networks behind an imputer fitted on X, as `ImputeThenPredict` has them."""
    filled = copy.copy(model)
    encoder = ImputingEncoder(model.encoder_, make_imputer(name, random_state=0), True)
    encoder.filler = Filler(model.encoder_, encoder.imputer).fit(read_columns(X))
    filled.encoder_ = encoder
    return filled


def bare_networks(model: GILClassifier, X: np.ndarray) -> Callable[[], Any]:
    """From network inputs to probabilities, all members on the same rows, the fastest way."""
    values = model.encoder_.transform(read_columns(X)).values
    if len(values) <= FEW_ROWS:
        return lambda: expit(model.predictor_.raw_of_few(values).astype(float)).mean(0)
    inputs = torch.from_numpy(values)
    data = TrainingData(inputs, None, torch.empty(0))
    return lambda: predict_raw(model.predictor_, data).double().sigmoid().mean(0).numpy()


def measure(
    model: GILClassifier, filled: dict[str, Any], X: np.ndarray, rounds: int
) -> dict[str, float]:
    """Seconds of each way to predict these rows.

    The bare networks are nearly as slow as the estimator, so these two take many more turns: in
    five, the estimator once came out faster than a part of itself.
    """
    ours: dict[str, Callable[[], Any]] = {
        "estimator": lambda: model.predict_proba(X),
        "bare": bare_networks(model, X),
    }
    rivals = {name: lambda m=m: m.predict_proba(X) for name, m in filled.items()}
    near = medians(ours, CLOSE_TURNS * rounds, warm_up=3, clock=time.process_time)
    return near | medians(rivals, rounds, warm_up=0, clock=time.process_time)


def judge(rows: int, seconds: dict[str, float]) -> tuple[dict[str, float], bool]:
    """Print rows per second and every ratio with its limit; the ratios, and whether one fails."""
    ours = seconds["estimator"]
    speeds = ", ".join(f"{name} {rows / took:,.0f}" for name, took in seconds.items())
    print(f"{rows:,} at a time, rows per second: {speeds}")
    ratios = {name: seconds[name] / ours for name in RIVALS} | {"bare": ours / seconds["bare"]}
    failed = False
    for name, least in RIVALS.items():
        judged = rows == 1
        short = judged and ratios[name] < least
        bare = seconds[name] / seconds["bare"]
        failed |= short
        limit = f" (at least {least:.0f})" if judged else ""
        print(f"  {ratios[name]:.0f}x the rows of {name} + network{limit}", end="")
        print(f"; the bare network {bare:.0f}x", end="")
        print("  SHORT" * short)
    limit = BARE_ONE if rows == 1 else BARE
    over = ratios["bare"] > limit
    print(f"  {ratios['bare']:.2f}x the time of the bare network (limit {limit})", end="")
    print("  OVER" if over else "")
    return ratios, failed or over


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument(
        "--rounds",
        type=int,
        default=3,
        help="timed rounds of kNN and MICE; 20 times as many of the others",
    )
    parser.add_argument("--train-rows", type=int, default=20_000)
    parser.add_argument("--rows", type=int, nargs="+", default=[5000, 1], help="rows at a time")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    X, y = make_rows(rng, options.train_rows)
    model = GILClassifier(max_iter=1, random_state=0).fit(X, y)
    filled = {
        "knn": with_imputer(model, "knn", X),
        "mice": with_imputer(model, "mice", X[:MICE_ROWS]),
    }
    by_rows, failed = {}, False
    for rows in options.rows:
        seconds = measure(model, filled, make_rows(rng, rows)[0], options.rounds)
        ratios, short = judge(rows, seconds)
        failed |= short
        by_rows[str(rows)] = {
            "rows_per_second": {name: round(rows / took, 1) for name, took in seconds.items()},
            "ratios": {name: round(ratio, 2) for name, ratio in ratios.items()},
        }
    sizes = {"train_rows": options.train_rows, "columns": COLUMNS, "missing": MISSING}
    limits = {"at_least, one row": RIVALS, "bare": BARE, "bare, one row": BARE_ONE}
    figures = {**sizes, "rounds": options.rounds, "limits": limits, "by_rows_at_a_time": by_rows}
    write(options.json, "torch scikit-learn", **figures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
