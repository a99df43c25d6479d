"""What the benchmarks of tables predict: twelve small tables, two large ones, and a simulated task.

A task has parts (folds); `Task.part(k)` gives the k-th training and test rows. Every part is the
same on every machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, StratifiedKFold

from imputefree.io import read_csv
from imputefree.lab.studies import load

TWELVE = (
    "hepatitis",
    "horse_colic_uci",
    "congress_vote",
    "credit_approval",
    "mammographic_masses",
    "pima_zeros_as_missing",
    "titanic3",
    "framingham_chd",
    "soybean",
    "communities_crime",
    "ames_housing",
    "arrhythmia",
)
EIGHT = TWELVE[:8]  # two classes each
FLIGHTS = ("flights_late by time", "flights_late by days")
MADE = tuple(
    f"made {rows}x{columns}" for rows in (10_000, 100_000, 1_000_000) for columns in (20, 200)
)
N_FOLDS, TEST_ROWS, BLOCK = 5, 50_000, 50_000
PROTOCOL = (
    "twelve tables: StratifiedKFold(5, shuffle=True, random_state=7), KFold for numbers; adult: its"
    " two files; flights_late: months 1-9 and 10-12, or whole days 75/25; made: 50,000 test rows"
    " drawn apart; each test part scored once"
)


class Part(NamedTuple):
    """Training and test rows; groups : (n,) of the training rows that belong together, or None."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    groups: np.ndarray | None = None


@dataclass(frozen=True)
class Task:
    """What is predicted, and how it is split.

    name : as results call it
    n_parts : how many times it is fitted
    part : the part of a number
    """

    name: str
    n_parts: int
    part: Callable[[int], Part]


def task(name: str) -> Task:
    """A task by name: one of `TASKS`, or "made ROWSxCOLUMNS" of any size."""
    if name in FLIGHTS:
        return Task(name, 1, lambda k: _flights(by_days=name.endswith("days")))
    if name.startswith("made "):
        rows, columns = map(int, name.removeprefix("made ").split("x"))
        return Task(name, 1, lambda k: _made(rows, columns))
    if name == "adult":
        return Task(name, 1, lambda k: _adult())
    return Task(name, N_FOLDS, lambda k: _fold(name, k))


TASKS = (*TWELVE, "adult", *FLIGHTS, *MADE)
GROUPS = {
    "twelve": TWELVE,
    "eight": EIGHT,
    "flights": FLIGHTS,
    "made": MADE,
}  # short names for several


def is_regression(y: np.ndarray) -> bool:
    """Whether the target is a number."""
    return np.asarray(y).dtype.kind == "f"


def _apart(X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray, groups: Any = None) -> Part:
    return Part(X.iloc[train], y[train], X.iloc[test], y[test], groups)


def _fold(name: str, k: int) -> Part:
    study = load(f"table:{name}")
    kind = KFold if is_regression(study.y) else StratifiedKFold
    folds = list(kind(N_FOLDS, shuffle=True, random_state=7).split(study.X, study.y))
    return _apart(study.X, study.y, *folds[k])


def _adult() -> Part:
    study = load("table:adult")
    test = np.isin(np.arange(len(study.y)), study.splits.test_rows)
    return _apart(study.X, study.y, np.flatnonzero(~test), np.flatnonzero(test))


@lru_cache(maxsize=1)
def _flight_rows() -> pd.DataFrame:
    return read_csv(Path(os.environ["IMPUTEFREE_DATA"]) / "tabular" / "flights_late.csv.gz")


def _flights(by_days: bool) -> Part:
    """Rows of one day tell each other's label, so they are never split and are the groups."""
    frame = _flight_rows()
    day = (frame["month"] * 100 + frame["day"]).to_numpy()
    if by_days:
        days = np.random.default_rng(7).permutation(np.unique(day))
        test = np.isin(day, days[: len(days) // 4])
    else:
        test = frame["month"].to_numpy() >= 10
    train, test = np.flatnonzero(~test), np.flatnonzero(test)
    return _apart(frame.drop(columns="late"), frame["late"].to_numpy(), train, test, day[train])


@lru_cache(maxsize=1)
def _made(n_rows: int, n_columns: int) -> Part:
    """Simulated. A smaller table is the beginning of a larger one; all share their test rows."""
    world = MadeWorld(n_columns)
    X, y = world.draw(n_rows, stream=0)
    return Part(X, y, *world.draw(TEST_ROWS, stream=1))


class MadeWorld:
    """A made classification task that favours neither trees nor networks by construction.

    Columns are correlated normal variables, a third of them skewed and a third rounded to whole
    numbers. The log-odds are the sum of three parts of the same variance, each with its own
    columns drawn at random: smooth curves of one column, products of two, and corners (one column
    above a threshold, another below one). A fifth of all entries is missing, at random.

    >>> X, y = MadeWorld(20).draw(1000, stream=0)
    >>> X.shape, round(float(np.isnan(X).mean()), 2), np.unique(y).tolist()
    ((1000, 20), 0.2, [0, 1])
    """

    missing_rate, log_odds_sd = 0.2, 3.0

    def __init__(self, n_columns: int) -> None:
        rng = np.random.default_rng([7, n_columns])
        n_effects, n_factors = max(4, n_columns // 16), max(3, n_columns // 10)
        self.n_columns = n_columns
        loadings = rng.normal(size=(n_factors, n_columns))
        self.loadings = loadings * np.sqrt(0.5 / (loadings**2).sum(0))  # half of each variance
        self.smooth = rng.integers(n_columns, size=n_effects)
        self.frequency = rng.uniform(0.7, 1.5, n_effects)
        self.phase = rng.uniform(0, 2 * np.pi, n_effects)
        self.products = self._pairs(rng, n_effects)
        self.corners = self._pairs(rng, n_effects)
        self.edges = rng.uniform(-0.5, 0.5, (2, n_effects))
        self.signs = rng.choice([-1.0, 1.0], (3, n_effects))
        effects = self._effects(self._latent(np.random.default_rng([8, n_columns]), 100_000))
        self.mean, self.sd = effects.mean(1, keepdims=True), effects.std(1, keepdims=True)

    def _pairs(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return np.stack([rng.choice(self.n_columns, 2, replace=False) for _ in range(n)], axis=1)

    def _latent(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """(n, columns), each of mean 0 and variance 1."""
        factors = rng.normal(size=(n, len(self.loadings)))
        return factors @ self.loadings + np.sqrt(0.5) * rng.normal(size=(n, self.n_columns))

    def _effects(self, z: np.ndarray) -> np.ndarray:
        """The three parts of the log-odds; (n, columns) -> (3, n)."""
        (a, b), (above, below) = self.products, self.corners
        parts = (
            np.sin(z[:, self.smooth] * self.frequency + self.phase),
            z[:, a] * z[:, b],
            (z[:, above] > self.edges[0]) & (z[:, below] < self.edges[1]),
        )
        return np.stack([part @ signs for part, signs in zip(parts, self.signs, strict=True)])

    def draw(self, n_rows: int, stream: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows (n, columns) float32 with gaps and classes (n,); streams share no row."""
        X = np.empty((n_rows, self.n_columns), np.float32)
        y = np.empty(n_rows, np.int64)
        for begin in range(0, n_rows, BLOCK):  # blocks: little memory, and beginnings that agree
            rng = np.random.default_rng([9, self.n_columns, stream, begin])
            z = self._latent(rng, BLOCK)
            effects = (self._effects(z) - self.mean) / self.sd
            log_odds = effects.sum(0) * self.log_odds_sd / np.sqrt(3)
            label = rng.random(BLOCK) < 1 / (1 + np.exp(-log_odds))
            z[:, 1::3] = np.exp(z[:, 1::3])
            z[:, 2::3] = np.round(2 * z[:, 2::3])
            z[rng.random(z.shape) < self.missing_rate] = np.nan
            rows = slice(begin, min(begin + BLOCK, n_rows))
            X[rows], y[rows] = z[: n_rows - begin], label[: n_rows - begin]
        return X, y
