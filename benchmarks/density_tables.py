"""Do densities help trees and networks? Pools with and without them, on the twelve tables.

Every family is fitted once per table and fold of the benchmark, on the same inner folds; pools are
learned from the out-of-fold predictions, with and without a family, and scored on the test fold:
AUC and log-loss, or R² and the share of variance that is left. No setting is chosen here. A table
and fold whose figures are in FILE already is not run again.

    IMPUTEFREE_DATA=../shared/data python -m benchmarks.density_tables [--tables T …] \
        [--folds 0 1] [--families trees network density factors] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.measuring import commit, write
from benchmarks.table_tasks import TWELVE, is_regression, task
from imputefree import ImputeFreeClassifier, ImputeFreeRegressor
from imputefree.data import Examples, draw_folds, read_columns
from imputefree.errors import UnseenCategoryWarning
from imputefree.families import FamilyTask, Pool
from imputefree.metrics import scores

BASE = ("trees", "network")


def run_fold(name: str, fold: int, families: list[str], seed: int = 0) -> dict[str, Any]:
    """Scores of each family alone and of pools on one test fold."""
    part = task(name).part(fold)
    regression = is_regression(part.y)
    model = (ImputeFreeRegressor if regression else ImputeFreeClassifier)(random_state=seed)
    model._learn_target(part.y, None)
    codes, strata = model._encode_target(part.y)
    folds = draw_folds(8, np.random.default_rng(seed), strata)
    examples = Examples.read(read_columns(part.X), part.y, None)
    n_classes = 0 if regression else len(model.classes_)
    learn = FamilyTask(examples, codes, n_classes, folds, seed)
    test, fitted, seconds = read_columns(part.X_test), {}, {}
    for kind in families:
        start, family = time.process_time(), model._new_family(kind, seed)
        out_of_fold = family.fit(learn)
        seconds[kind] = round(time.process_time() - start, 2)
        fitted[kind] = out_of_fold, family.predict(test)
    truth = part.y_test if regression else np.searchsorted(model.classes_, part.y_test)

    def score(prediction: np.ndarray) -> list[float]:
        values = model._in_units(prediction)
        if regression:
            left = float(((truth - values) ** 2).mean() / truth.var())
            return [round(1 - left, 5), round(left, 5)]
        figures = scores("classification", truth, values)
        return [round(figures["auc"], 5), round(figures["log_loss"], 5)]

    def pool(kinds: list[str]) -> list[float]:
        learned = Pool.learn([fitted[kind][0] for kind in kinds], codes)
        weights[" + ".join(kinds)] = learned.weights.round(3).tolist()
        return score(learned.apply([fitted[kind][1] for kind in kinds]))

    weights: dict[str, list[float]] = {}
    base = [kind for kind in BASE if kind in families]
    more = [kind for kind in families if kind not in BASE]
    figures = {kind: score(prediction) for kind, (_, prediction) in fitted.items()}
    for kinds in (base, *([*base, kind] for kind in more)):
        figures[" + ".join(kinds)] = pool(kinds)
    return {
        "table": name,
        "fold": fold,
        "scores": figures,
        "weights": weights,
        "cpu_seconds": seconds,
        "commit": commit(),
    }


def show(runs: list[dict[str, Any]]) -> None:
    """Mean score and loss by table, and the change by each family that joins trees and network."""
    base = " + ".join(BASE)
    added = [kind for kind in runs[0]["scores"] if kind.startswith(f"{base} + ")]
    lines = []
    for name in dict.fromkeys(run["table"] for run in runs):
        mine = [run["scores"] for run in runs if run["table"] == name]
        means = {kind: np.mean([scores[kind] for scores in mine], axis=0) for kind in mine[0]}
        lines.append([means[base], *(means[kind] - means[base] for kind in added)])
        _print(name, lines[-1], added)
    _print("mean", np.mean(lines, axis=0), added)


def _print(name: str, figures: Any, added: list[str]) -> None:
    changes = [
        f"{kind.split(' + ')[-1]} {score:+.4f} {loss:+.4f}"
        for kind, (score, loss) in zip(added, figures[1:], strict=True)
    ]
    print(f"{name:24s} {figures[0][0]:.4f} {figures[0][1]:.4f}", *changes, sep="   ", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=list(TWELVE), choices=TWELVE)
    parser.add_argument("--folds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--families", nargs="+", default=[*BASE, "density", "factors"])
    parser.add_argument("--json", type=Path, help="read finished runs from here, write all here")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", UnseenCategoryWarning)
    runs: list[dict[str, Any]] = []
    if options.json and options.json.exists():
        runs = json.loads(options.json.read_text())["runs"]
    done = [(run["table"], run["fold"]) for run in runs]
    for name in options.tables:
        for fold in options.folds:
            if (name, fold) in done:
                continue
            runs.append(run_fold(name, fold, options.families))
            write(options.json, "torch lightgbm numpy scipy", families=options.families, runs=runs)
    show(runs)


if __name__ == "__main__":
    main()
