"""What would make the blend better? Candidates on rows held out of training rows only.

Of the training rows of an outer fold of the twelve tables (and of tables that are not among
them), three quarters teach and a quarter scores. Predictions of each candidate family are kept in
build/inner, so that blends of them are compared in seconds. The outer test rows are never seen.

    python -m benchmarks.inner_blends fit --tables twelve others --splits 0 1 2
    python -m benchmarks.inner_blends compare
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.measuring import commit, write
from benchmarks.random_curves import RandomCurves
from benchmarks.table_tasks import TWELVE, MadeWorld, is_regression, task
from imputefree import ImputeFreeClassifier, ImputeFreeRegressor
from imputefree._rules import private_generator
from imputefree.data import draw_folds
from imputefree.estimators import BlendEstimator, read_inputs
from imputefree.families import FamilyTask, ForestFamily, Growth, Pool, TreeFamily, usual_growths
from imputefree.gil import EarlyStopping
from imputefree.lab.studies import load
from imputefree.metrics import scores

CACHE = Path("build") / "inner"
OTHERS = (
    *("chronic_kidney_disease", "labor", "breast_gaps", "wine_gaps", "made600"),
    *("made1500x60", "adult1500", "flights2500"),
    *("diabetes_gaps", "friedman_gaps", "ckd_hemo", "adult_age"),  # numbers
)
USUAL = ("trees", "forest", "density", "network")
ONLY_CLASSES = ("forest", "density")  # as in the default blend
N_RESAMPLES = 1000
HALF = Growth()  # half the learning rate of small tables, twice the patience


def _few_columns(n_rows: int) -> list[Growth]:
    part = {"feature_fraction": 0.2, "feature_fraction_bynode": 1.0}
    return [replace(growth, **part) for growth in usual_growths(n_rows)]


# ---- tables
def _gaps(X: np.ndarray, rate: float, seed: int) -> pd.DataFrame:
    X = np.array(X, dtype=float)
    X[np.random.default_rng(seed).random(X.shape) < rate] = np.nan
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def other(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """A table that is not among the twelve."""
    if name.startswith("made"):
        rows, _, columns = name.removeprefix("made").partition("x")
        X, y = MadeWorld(int(columns or 20)).draw(int(rows), stream=5)
        return _gaps(X, 0.0, 0), y
    if name.startswith(("adult", "flights")):
        part = task("adult" if name.startswith("adult") else "flights_late by time").part(0)
        size = {"adult1500": 1500, "adult_age": 2000, "flights2500": 2500}[name]
        rows = np.random.default_rng(3).choice(len(part.y), size, replace=False)
        X, y = part.X.iloc[rows], part.y[rows]
        if name != "adult_age":
            return X, y
        return X.drop(columns="age").assign(income=y), X["age"].to_numpy(float)
    if name == "breast_gaps":
        X, y = datasets.load_breast_cancer(return_X_y=True)
        return _gaps(X, 0.4, 1)[:400], y[:400]
    if name == "wine_gaps":
        X, y = datasets.load_wine(return_X_y=True)
        return _gaps(X, 0.5, 2), y
    if name == "diabetes_gaps":
        X, y = datasets.load_diabetes(return_X_y=True)
        return _gaps(X, 0.2, 4), y.astype(float)
    if name == "friedman_gaps":
        X, y = datasets.make_friedman1(900, noise=1.0, random_state=1)
        return _gaps(X, 0.2, 5), y
    study = load(f"table:{'chronic_kidney_disease' if name == 'ckd_hemo' else name}")
    if name != "ckd_hemo":
        return study.X, study.y
    column = next(column for column in study.X if column.startswith("hemo"))
    rows = study.X[column].notna().to_numpy()
    return study.X[rows].drop(columns=column), study.X[column][rows].to_numpy(float)


class Inner:
    """A table and a split of it: what families learn from, and what they are scored on."""

    def __init__(self, name: str, split: int) -> None:
        X, y = task(name).part(split % 5)[:2] if name in TWELVE else other(name)
        numbers = is_regression(y)
        quarters = (KFold if numbers else StratifiedKFold)(
            4, shuffle=True, random_state=100 + split
        )
        train, test = next(iter(quarters.split(X, y)))
        if not numbers:
            test = test[np.isin(y[test], y[train])]
        kind = ImputeFreeRegressor if numbers else ImputeFreeClassifier
        self.blend: BlendEstimator = kind(random_state=split, families=["trees"])
        catcher = _Catcher()
        self.blend._new_family = lambda name, seed=None: catcher  # type: ignore[method-assign]
        self.blend.fit(X.iloc[train], y[train])
        del self.blend._new_family
        self.task = catcher.task
        self.test = self.blend._views(read_inputs(self.blend, X.iloc[test]), ["trees"])["trees"]
        self.truth = self.blend._encode_target(y[test])[0]

    def again(self, split: int) -> FamilyTask:
        """The same rows with other folds and another seed."""
        rng = private_generator(5000 + split)
        strata = self.blend._encode_target(self.task.examples.target)[1]
        folds = draw_folds(8, rng, strata)
        return replace(self.task, folds=folds, seed=int(rng.integers(2**31 - 1)))


class _Catcher:
    """A family that learns nothing and keeps its task."""

    task: FamilyTask

    def fit(self, task: FamilyTask) -> np.ndarray:
        self.task = task
        return np.full((len(task.target), 1), np.nan)


# ---- candidates
def _usual(name: str) -> Callable[[BlendEstimator, int], Any]:
    def make(blend: BlendEstimator, seed: int) -> Any:
        family = blend._new_family(name, seed)
        if name == "network":
            family.model._blended = True
        return family

    return make


def _network(**settings: Any) -> Callable[[BlendEstimator, int], Any]:
    def make(blend: BlendEstimator, seed: int) -> Any:
        family = _usual("network")(blend, seed)
        family.model.set_params(**settings)
        return family

    return make


def _forest(leaves: int, trees: int) -> Callable[[BlendEstimator, int], Any]:
    class Forest(ForestFamily):
        n_trees, n_trees_per_class = trees, trees // 3

        def _jobs(self, task: FamilyTask) -> Any:
            return [(fold, growth | {"num_leaves": leaves}) for fold, growth in super()._jobs(task)]

    return lambda *_: Forest()


class _Together:
    """Networks that all stop at the epoch of their least mean loss, as the folds of trees do."""

    def __init__(self, blend: BlendEstimator, seed: int) -> None:
        self.networks = _usual("network")(blend, seed)
        self.predict = self.networks.predict

    def fit(self, task: FamilyTask) -> np.ndarray:
        update = EarlyStopping.update

        def together(stopping: EarlyStopping, losses: Any, epoch: int) -> bool:
            return update(stopping, losses.mean().expand_as(losses), epoch)

        EarlyStopping.update = together  # type: ignore[method-assign]
        try:
            return self.networks.fit(task)
        finally:
            EarlyStopping.update = update  # type: ignore[method-assign]


CANDIDATES: dict[str, Callable[[BlendEstimator, int], Any]] = {
    **{name: _usual(name) for name in USUAL},
    "trees_half": lambda *_: TreeFamily(growths=[HALF, replace(HALF, extra_trees=True)]),
    "trees_8_folds": lambda *_: TreeFamily(n_folds=8),
    "trees_few_columns": lambda *_: TreeFamily(growths=_few_columns),
    "network_together": _Together,
    "network_64_units": _network(hidden_layer_sizes=(64, 64)),
    "network_batch_256": _network(batch_size=256, learning_rate_init=4e-3),
    "network_patience_5": _network(n_iter_no_change=5),
    "network_3_members": _network(n_members=3),
    "network_rate_0.002": _network(learning_rate_init=2e-3),
    "forest_64x60": _forest(64, 60),
    "linear": lambda *_: RandomCurves(n_curves=0, linear=1.0),
    "curves": lambda *_: RandomCurves(),
    **{f"{name}_again": _usual(name) for name in USUAL},
}
# What takes the place of the usual families. "a+b" is the mean of both; "a:b" predicts with a, but
# gets the weight of b.
COMPARISONS: dict[str, list[str]] = {
    "trees: half the rate": ["trees_half", *USUAL[1:]],
    "trees: 8 folds instead of 5": ["trees_8_folds", *USUAL[1:]],
    "trees: a fifth of the columns per tree": ["trees_few_columns", *USUAL[1:]],
    "networks of 64 units": [*USUAL[:3], "network_64_units"],
    "networks: batches of 256": [*USUAL[:3], "network_batch_256"],
    "networks: patience 5": [*USUAL[:3], "network_patience_5"],
    "networks: 3 instead of 5 or 8": [*USUAL[:3], "network_3_members"],
    "networks: half the learning rate": [*USUAL[:3], "network_rate_0.002"],
    "forest: 60 trees of 64 leaves": ["trees", "forest_64x60", *USUAL[2:]],
    "no forest": ["trees", "density", "network"],
    "linear family added": [*USUAL, "linear"],
    "random curves added": [*USUAL, "curves"],
    "random curves instead of networks": [*USUAL[:3], "curves"],
    "networks that stop together": [*USUAL[:3], "network_together"],
    "weights of networks that stop together": [*USUAL[:3], "network:network_together"],
    "folds repeated": [f"{name}+{name}_again" for name in USUAL],
}


def fit(tables: list[str], splits: list[int], names: list[str]) -> None:
    """Fit what is not there yet."""
    for split in splits:
        for table in tables:
            folder = CACHE / f"{table}-{split}"
            todo = [name for name in names if not (folder / f"{name}.npz").exists()]
            if not todo:
                continue
            inner = Inner(table, split)
            folder.mkdir(parents=True, exist_ok=True)
            about = {"codes": inner.task.target, "test": inner.truth}
            np.savez(folder / "base.npz", n_classes=inner.task.n_classes, **about)
            for name in todo:
                task = inner.again(split) if name.endswith("_again") else inner.task
                begun = time.process_time()
                family = CANDIDATES[name](inner.blend, task.seed)
                out_of_fold = family.fit(task)
                seconds = time.process_time() - begun
                kept = {"oof": out_of_fold, "test": family.predict(inner.test), "cpu": seconds}
                np.savez(folder / f"{name}.npz", **kept)
                print(f"{table} {split} {name}: {seconds:.1f} s", flush=True)


# ---- blends
@cache
def blended(folder: Path, names: tuple[str, ...]) -> tuple[float, float, float, float] | None:
    """Score, loss, calibration error and CPU-seconds of a blend; None if a part is not there."""
    if not (folder / "base.npz").exists():
        return None
    base = np.load(folder / "base.npz")
    if not base["n_classes"]:
        names = tuple(name for name in names if not name.startswith(ONLY_CLASSES))
    out_of_fold, predictions, seconds = [], [], 0.0
    for name in names:
        predicting, _, weighted = name.partition(":")
        files = [folder / f"{part}.npz" for part in [*predicting.split("+"), weighted or "base"]]
        if not all(file.exists() for file in files):
            return None
        *parts, judged = map(np.load, files)
        judged = [judged] if weighted else parts
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rows that no fold held out stay NaN
            out_of_fold.append(np.nanmean([part["oof"] for part in judged], 0))
        predictions.append(np.mean([part["test"] for part in parts], 0))
        seconds += sum(float(part["cpu"]) for part in parts)
    pooled = Pool.learn(out_of_fold, base["codes"]).apply(predictions)
    if base["n_classes"]:
        figures = scores("classification", base["test"], pooled)
        return figures["auc"], figures["log_loss"], figures["calibration_error"], seconds
    figures = scores("regression", base["test"], pooled[:, 0])
    return figures["r2"], figures["rmse"], np.nan, seconds


def differences(tables: list[str], names: list[str]) -> Iterator[tuple[str, np.ndarray]]:
    """Per table what the blend of `names` has more than the usual one; (splits, figures)."""
    for table in tables:
        folders = sorted(CACHE.glob(f"{table}-[0-9]*"))
        pairs = [(blended(folder, USUAL), blended(folder, tuple(names))) for folder in folders]
        both = [np.subtract(b, a) for a, b in pairs if a is not None and b is not None]
        if both:
            yield table, np.array(both)


def compare(tables: list[str]) -> dict[str, dict[str, Any]]:
    """Mean difference over tables, and its interval: tables are drawn, and splits of each."""
    found = {}
    for title, names in COMPARISONS.items():
        by_table = dict(differences(tables, names))
        if not by_table:
            continue
        rng, gains = np.random.default_rng(0), [rows[:, 0] for rows in by_table.values()]
        drawn = [
            np.mean([rng.choice(gains[i], len(gains[i])).mean() for i in some])
            for some in rng.integers(len(gains), size=(N_RESAMPLES, len(gains)))
        ]
        mean = np.array([rows.mean(0) for rows in by_table.values()])
        classes = ~np.isnan(mean[:, 2])
        found[title] = {
            "score": mean[:, 0].mean(),
            "interval": np.quantile(drawn, [0.025, 0.975]).tolist(),
            "log_loss": mean[classes, 1].mean(),
            "calibration_error": mean[classes, 2].mean(),
            "cpu_seconds": mean[:, 3].mean(),
            "tables": {table: [len(rows), rows[:, 0].mean()] for table, rows in by_table.items()},
        }
        low, high = found[title]["interval"]
        print(
            f"{title}: {found[title]['score']:+.4f} ({low:+.4f} to {high:+.4f}),"
            f" log-loss {found[title]['log_loss']:+.4f},"
            f" {found[title]['cpu_seconds']:+.1f} s, {len(by_table)} tables"
        )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("fit", "compare"))
    parser.add_argument("--tables", nargs="+", default=["twelve", "others"])
    parser.add_argument("--splits", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--candidates", nargs="+", default=list(CANDIDATES))
    parser.add_argument("--json", type=Path, help="write the comparisons to this file")
    options = parser.parse_args()
    groups = {"twelve": TWELVE, "others": OTHERS}
    tables = [name for word in options.tables for name in groups.get(word, [word])]
    if options.action == "fit":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # categories that a quarter lacks
            fit(tables, options.splits, options.candidates)
        return 0
    write(options.json, "lightgbm torch", commit=commit(), comparisons=compare(tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
