"""MNIST with fixed masks through the public estimator: densities and networks on factors, blended.

Pixels / 255; each image has one mask, drawn once (missing completely at random), the same as in
mnist_mixture.py. Everything inside the blend is learned from training rows. The settings of the
families were chosen with --judge validation, which scores a sixth of the training rows; the test
images are scored once per rate. A rate whose figures are in FILE already is not run again.

    IMPUTEFREE_DATA=../shared/data python benchmarks/mnist_blend.py \
        [--rates 0.9 0.7 0.5] [--families density factors] [--rows 60000] [--seed 0] \
        [--judge test|validation] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

import numpy as np
from measuring import Runs, arguments
from mnist_mixture import any_missed, hide, images
from sklearn.model_selection import train_test_split

from imputefree import ImputeFreeClassifier
from imputefree.data import read_columns
from imputefree.metrics import scores

GOALS = {0.9: 0.87, 0.7: 0.955, 0.5: 0.973}  # accuracy by share of missing pixels, all rows
SETTINGS = ("families", "rows", "seed", "judge")


def run_rate(rate: float, options: argparse.Namespace) -> dict[str, Any]:
    """Fit and score at one rate of missing pixels."""
    train, test, y, y_test = images(options.rows)
    rng = np.random.default_rng([options.seed, round(1000 * rate)])
    X, X_test = hide(train, rate, rng), hide(test, rate, rng)
    if options.judge == "validation":
        learn, judged = train_test_split(
            np.arange(len(y)), test_size=1 / 6, stratify=y, random_state=0
        )
        X, X_test, y, y_test = X[learn], X[judged], y[learn], y[judged]
    model = ImputeFreeClassifier(families=options.families, random_state=options.seed)
    start, busy = time.perf_counter(), time.process_time()
    model.fit(X, y)
    fitted, busy = time.perf_counter(), time.process_time() - busy
    probability = model.predict_proba(X_test)
    predicted = time.perf_counter() - fitted
    columns = read_columns(X_test)
    figures = scores("classification", y_test, probability)
    run = {
        "rate": rate,
        "accuracy": figures["accuracy"],
        "goal": GOALS.get(rate),
        "log_loss": figures["log_loss"],
        "calibration_error": figures["calibration_error"],
        "accuracy_of_families": {
            name: float((family.predict(columns).argmax(1) == y_test).mean())
            for name, family in model.families_.items()
        },
        "weights": model.weights_,
        "sharpness": model.sharpness_,
        "fit_seconds": round(fitted - start, 1),
        "fit_cpu_seconds": round(busy, 1),
        "predict_seconds": round(predicted, 1),
    }
    print(json.dumps(run), flush=True)
    return run


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--rates", nargs="+", type=float, default=[0.9, 0.7, 0.5])
    parser.add_argument("--families", nargs="+", default=["density", "factors"])
    parser.add_argument("--rows", type=int, default=60_000, help="fewer for a quick look")
    parser.add_argument("--seed", type=int, default=0, help="of masks and models")
    parser.add_argument("--judge", choices=["test", "validation"], default="test")
    options = parser.parse_args()
    settings = {name: getattr(options, name) for name in SETTINGS}
    threads = os.environ.get("OMP_NUM_THREADS", "all cores")
    packages = "torch numpy scipy scikit-learn"
    runs = Runs(options.json, "rate", packages, **settings, threads=threads)
    if any(runs.before.get(name, value) != value for name, value in settings.items()):
        parser.error(f"{options.json} holds runs with other settings")
    for rate in options.rates:
        if not runs.has(rate):
            runs.add(run_rate(rate, options))
    return int(options.rows == 60_000 and any_missed(runs))


if __name__ == "__main__":
    sys.exit(main())
