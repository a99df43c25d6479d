"""MNIST, half of all pixels missing: do GAIN and MIWAE reconstruct digits better than the mean?

Pixels are in [0, 1] and missing completely at random; the figure is the mean squared error over
the missing pixels of the training rows. An imputer fails if it is not better than the mean or, on
all 60,000 rows, takes more than 30 minutes.

    IMPUTEFREE_DATA=../shared/data python benchmarks/mnist_imputers.py \
        [--methods mean MIWAE GAIN] [--rows 60000] [--seed 0] [--json FILE]
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from measuring import arguments, write

from imputefree.lab.imputers import make_imputer
from imputefree.lab.studies import load

RATE = 0.5
LIMIT_SECONDS = 1800.0
METHODS: dict[str, Callable[[int], Any]] = {
    "mean": lambda seed: make_imputer("mean"),
    "MIWAE": lambda seed: make_imputer(
        "miwae",
        decoder="bernoulli",
        n_latent=20,
        hidden_layer_sizes=(256, 256),
        n_importance=5,
        n_imputation=50,
        batch_size=128,
        max_steps=4000,
        check_every=200,
        random_state=seed,
        verbose=True,
    ),
    "GAIN": lambda seed: make_imputer(
        "gain", max_steps=2000, check_every=200, random_state=seed, verbose=True
    ),
}


def digits(rows: int) -> np.ndarray:
    """The first rows of MNIST's training part, (rows, 784) float32 in [0, 1]."""
    return load("mnist", rate=0).X[:60_000][:rows]


def run_method(
    method: str, x: np.ndarray, missing: np.ndarray, seed: int, max_steps: int = 0
) -> dict[str, Any]:
    """Fit on rows with gaps, fill the gaps, compare with the truth."""
    start = time.perf_counter()
    imputer = METHODS[method](seed)
    if max_steps and method != "mean":
        imputer.set_params(max_steps=max_steps)
    imputer.fit(np.where(missing, np.nan, x))
    fitted = time.perf_counter()
    filled = imputer.transform(np.where(missing, np.nan, x))
    end = time.perf_counter()
    assert (filled[~missing] == x[~missing]).all()
    history = getattr(imputer, "history_", {"step": [0]})
    return {
        "method": method,
        "mse": float(((filled - x)[missing].astype(np.float64) ** 2).mean()),
        "fit_seconds": round(fitted - start, 1),
        "seconds": round(end - start, 1),
        "steps": int(history["step"][-1]),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--rows", type=int, default=60_000, help="fewer for a quick look")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-steps", type=int, default=0, help="fewer for a quick look")
    options = parser.parse_args()
    x = digits(options.rows)
    missing = np.random.default_rng(options.seed).random(x.shape, dtype=np.float32) < RATE
    runs, failed = [], False
    methods = ["mean", *(m for m in options.methods if m != "mean")]  # all are compared with it
    for method in methods:
        run = run_method(method, x, missing, options.seed, options.max_steps)
        run["ratio_to_mean"] = run["mse"] / (runs or [run])[0]["mse"]
        worse = method != "mean" and run["ratio_to_mean"] >= 1
        over = worse or run["seconds"] > LIMIT_SECONDS
        failed |= over
        runs.append(run)
        print(
            f"{method}: MSE {run['mse']:.5f}, {run['ratio_to_mean']:.3f} x of the mean's,"
            f" {run['seconds']:.0f} s (limit {LIMIT_SECONDS:.0f}), {run['steps']} steps"
            f"{'  OVER' if over else ''}",
            flush=True,
        )
    protocol = f"{RATE:.0%} of pixels missing completely at random, MSE over them"
    figures = {"rows": len(x), "threads": torch.get_num_threads(), "runs": runs}
    write(options.json, "torch scikit-learn", protocol=protocol, **figures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
