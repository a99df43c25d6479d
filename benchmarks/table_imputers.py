"""GAIN and MIWAE on complete public tables with 20 % of the entries hidden: RMSE as in the papers.

Columns are scaled to [0, 1]; the figure is the root mean square error over hidden entries, a mean
over seeds. "MICE" is scikit-learn's IterativeImputer; its "draw" samples from the posterior as the
MICE of GAIN's paper does, which costs a factor of up to the square root of two.

    IMPUTEFREE_DATA=../shared/data python benchmarks/table_imputers.py \
        [--tables breast crime] [--methods M …] [--seeds 0 1 2] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer

import imputefree
from imputefree.imputers.gain import GAIN
from imputefree.imputers.miwae import MIWAE


def crime() -> np.ndarray:
    """Communities and crime: 1,994 rows; the numeric columns without gaps of their own."""
    folder = Path(os.environ.get("IMPUTEFREE_DATA", "../shared/data"))
    frame = pd.read_csv(folder / "tabular" / "communities_crime.csv").iloc[:, 5:]
    frame = frame.select_dtypes("number")
    return frame.loc[:, frame.notna().all()].to_numpy(dtype=float)


TABLES: dict[str, Callable[[], np.ndarray]] = {
    "breast": lambda: load_breast_cancer().data,
    "crime": crime,
}
METHODS: dict[str, Callable[[int], Any]] = {
    "mean": lambda seed: SimpleImputer(),
    "MICE": lambda seed: IterativeImputer(max_iter=10, random_state=seed),
    "MICE, a draw": lambda seed: IterativeImputer(
        max_iter=10, sample_posterior=True, random_state=seed
    ),
    "missForest": lambda seed: IterativeImputer(
        RandomForestRegressor(50, max_features="sqrt", n_jobs=1, random_state=seed),
        max_iter=5,
        random_state=seed,
    ),
    "GAIN": lambda seed: GAIN(random_state=seed),
    "GAIN, the paper's": lambda seed: GAIN(hide=0.0, weight_averaging=0.0, random_state=seed),
    "GAIN, alpha chosen": lambda seed: GAIN(alpha=(0.1, 1, 10, 100), random_state=seed),
    "MIWAE": lambda seed: MIWAE(random_state=seed),
    "MIWAE, rate chosen": lambda seed: MIWAE(learning_rate_init=(1e-3, 1e-4), random_state=seed),
}


def one(table: str, method: str, seed: int, rate: float) -> dict[str, Any]:
    """Hide entries, fill them, compare."""
    x = TABLES[table]()
    low, high = x.min(0), x.max(0)
    x = (x - low) / np.where(high > low, high - low, 1.0)
    missing = np.random.default_rng(seed).random(x.shape) < rate
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        filled = METHODS[method](seed).fit_transform(np.where(missing, np.nan, x))
    seconds = time.perf_counter() - start
    rmse = float(np.sqrt(((filled - x)[missing] ** 2).mean()))
    deviation = float(np.sqrt((((filled - x) / x.std(0).clip(1e-9))[missing] ** 2).mean()))
    return {
        "table": table,
        "method": method,
        "seed": seed,
        "rmse": rmse,
        "standardised_mse": deviation**2,
        "seconds": round(seconds, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    usual = ["mean", "MICE", "MICE, a draw", "missForest", "GAIN", "GAIN, the paper's", "MIWAE"]
    parser.add_argument("--methods", nargs="+", default=usual, choices=list(METHODS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--rate", type=float, default=0.2, help="share of entries hidden")
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    runs: list[dict[str, Any]] = []
    for table in options.tables:
        for method in options.methods:
            some = [one(table, method, seed, options.rate) for seed in options.seeds]
            runs += some
            rmse = [run["rmse"] for run in some]
            mse = np.mean([run["standardised_mse"] for run in some])
            print(
                f"{table}, {method}: RMSE {np.mean(rmse):.4f} (sd {np.std(rmse):.4f}),"
                f" standardised MSE {mse:.3f}, {np.mean([run['seconds'] for run in some]):.0f} s",
                flush=True,
            )
    if options.json:
        content = {
            "command": "python " + " ".join(sys.argv),
            "protocol": f"{options.rate:.0%} of entries hidden at random, seed = run",
            "versions": {
                "python": platform.python_version(),
                "imputefree": imputefree.__version__,
                "torch": torch.__version__,
                "scikit-learn": sklearn.__version__,
            },
            "runs": runs,
        }
        options.json.write_text(json.dumps(content, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
