"""`make demo`: GIL and its variants compared with ordinary models, on data that needs no download.

First a table: scikit-learn's breast cancer data (real values, 569 rows, 30 columns), with 60 % of
its entries removed completely at random (simulated gaps). Then series: a simulated intensive-care
cohort (no patient data), 72 % missing. One split each, so it is a glance and not a benchmark: the
figures of repeated runs are in benchmarks/results.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from .. import GILClassifier, GILSequenceClassifier
from .studies import simulate_icu

SEED, MISSING = 0, 0.6
STATISTICS = ["last", "mean", "min", "max", "count"]
POLICIES: dict[str, dict[str, Any]] = {
    "GIL, policy none": {"policy": "none"},
    "GIL, policy observed (GIL-H)": {"policy": "observed", "placeholder": 1.0},
    "GIL, policy random": {"policy": "random"},
    "GIL, policy ddpg (the paper's GIL)": {"policy": "ddpg"},
    "GIL, ddpg + contrastive (GIL-D)": {"policy": "ddpg", "reward": "contrastive"},
    "GIL, policy gate (ablation)": {"policy": "gate"},
    "GIL, policy meta": {"policy": "meta"},
}


def table_part(members: int, epochs: int, console: Console | None) -> Table:
    """All models for tables on one split."""
    gaps = FunctionTransformer(lambda X: np.isnan(X).astype(float))
    filled = SimpleImputer(add_indicator=True)
    linear = LogisticRegression(max_iter=2000)
    gil: dict[str, Any] = {"n_members": members, "max_iter": epochs, "random_state": SEED}
    models = {
        "mask only (logistic regression)": make_pipeline(gaps, linear),
        "logistic regression, mean + indicator": make_pipeline(filled, StandardScaler(), linear),
        "gradient boosting": HistGradientBoostingClassifier(random_state=SEED),
        **{name: GILClassifier(**options, **gil) for name, options in POLICIES.items()},
    }
    X, y = load_breast_cancer(return_X_y=True)
    X[np.random.default_rng(SEED).random(X.shape) < MISSING] = np.nan
    split = train_test_split(X, y, test_size=0.3, stratify=y, random_state=SEED)
    title = f"Breast cancer, {MISSING:.0%} of entries removed at random (simulated gaps)"
    return _compare(models, split, title, console)


def series_part(members: int, epochs: int, series: int, console: Console | None) -> Table:
    """All models for series on one split."""
    linear = make_pipeline(StandardScaler(), LogisticRegression())
    boosting = HistGradientBoostingClassifier(random_state=SEED)
    gil: dict[str, Any] = {"id": "patient", "time": "hour", "static": ["age"]}
    gil |= {"n_members": members, "max_iter": epochs, "random_state": SEED}
    models = {
        "mask only (logistic regression)": _summarised(linear, ["count"]),
        "gradient boosting on summaries": _summarised(boosting, STATISTICS),
        **{
            name: GILSequenceClassifier(**options, **gil)
            for name, options in POLICIES.items()
            if options["policy"] != "gate"
        },
    }
    cohort = simulate_icu(series, random_state=SEED)
    train, test = train_test_split(
        cohort.y.index, test_size=0.3, stratify=cohort.y, random_state=SEED
    )
    X_train, X_test = (
        cohort.frame[cohort.frame["patient"].isin(patients)] for patients in (train, test)
    )
    y_train, y_test = (cohort.y.loc[rows["patient"].unique()] for rows in (X_train, X_test))
    title = f"Septic shock within hours, simulated cohort, {cohort.missing_rate:.0%} missing"
    return _compare(models, (X_train, X_test, y_train, y_test), title, console)


def _summarised(model: Any, statistics: list[str]) -> Any:
    """An ordinary model on statistics of each series instead of the series."""

    def summaries(frame: pd.DataFrame) -> np.ndarray:
        by_patient = frame.drop(columns="hour").groupby("patient", sort=False)
        return by_patient.agg(statistics).to_numpy()

    return make_pipeline(FunctionTransformer(summaries), model)


def _compare(models: dict[str, Any], split: Any, title: str, console: Console | None) -> Table:
    """Train each model and score it once, as a table."""
    X_train, X_test, y_train, y_test = split
    table = Table(
        "model",
        title=title,
        caption=f"One split, {len(y_test)} test cases scored once, seed {SEED}: differences below"
        " 0.02 are chance.",
    )
    for name in ("AUC", "accuracy", "log-loss", "seconds"):
        table.add_column(name, justify="right")
    for name in track(models, "training", console=console):
        start = time.perf_counter()
        probability = models[name].fit(X_train, y_train).predict_proba(X_test)[:, 1]
        seconds = time.perf_counter() - start
        table.add_row(
            name,
            f"{roc_auc_score(y_test, probability):.3f}",
            f"{accuracy_score(y_test, probability > 0.5):.3f}",
            f"{log_loss(y_test, probability):.3f}",
            f"{seconds:.1f}",
        )
    return table


def run(
    members: int = 4, epochs: int = 40, series: int = 1000, console: Console | None = None
) -> list[Table]:
    """Both parts."""
    few = max(members // 2, 1)  # a series takes longer than a row
    return [
        table_part(members, epochs, console),
        series_part(few, max(epochs // 2, 1), series, console),
    ]


if __name__ == "__main__":
    terminal = Console()
    for part in run(console=terminal):
        terminal.print(part)
    terminal.print("Next: README.md shows how to fit your own tables and series.")
