"""`make demo`: GIL and its variants beside ordinary models, on data that needs no download.

scikit-learn's breast cancer table (real values, 569 rows, 30 columns), with 60 % of its entries
removed completely at random (simulated gaps). One split, so a glance and not a benchmark: the
figures of repeated runs are in benchmarks/results.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
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

from . import GILClassifier

SEED, MISSING = 0, 0.6


def variants(members: int, epochs: int) -> dict[str, Any]:
    """Everything the demo trains, by the name its table shows."""

    def gil(policy: str, **options: Any) -> GILClassifier:
        return GILClassifier(
            policy=policy, n_members=members, max_iter=epochs, random_state=SEED, **options
        )

    gaps = FunctionTransformer(lambda X: np.isnan(X).astype(float))
    filled = SimpleImputer(add_indicator=True)
    return {
        "mask only (logistic regression)": make_pipeline(gaps, LogisticRegression(max_iter=2000)),
        "logistic regression, mean + indicator": make_pipeline(
            filled, StandardScaler(), LogisticRegression(max_iter=2000)
        ),
        "gradient boosting": HistGradientBoostingClassifier(random_state=SEED),
        "GIL, policy none": gil("none"),
        "GIL, policy observed (GIL-H)": gil("observed", placeholder=1.0),
        "GIL, policy random": gil("random"),
        "GIL, policy ddpg (the paper's GIL)": gil("ddpg"),
        "GIL, ddpg + contrastive (GIL-D)": gil("ddpg", reward="contrastive"),
        "GIL, policy gate (ablation)": gil("gate"),
        "GIL, policy meta": gil("meta"),
    }


def run(members: int = 4, epochs: int = 40, console: Console | None = None) -> Table:
    """Train everything on one split and return the comparison as a table."""
    X, y = load_breast_cancer(return_X_y=True)
    X[np.random.default_rng(SEED).random(X.shape) < MISSING] = np.nan
    split = train_test_split(X, y, test_size=0.3, stratify=y, random_state=SEED)
    X_train, X_test, y_train, y_test = split
    table = Table(
        title=f"Breast cancer, {MISSING:.0%} of entries removed at random (simulated gaps)",
        caption=f"One split, {len(y_test)} test rows scored once, seed {SEED}: differences below"
        " 0.02 are chance.",
    )
    table.add_column("model")
    for title in ("AUC", "accuracy", "log-loss", "seconds"):
        table.add_column(title, justify="right")
    models = variants(members, epochs)
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


if __name__ == "__main__":
    terminal = Console()
    terminal.print(run(console=terminal))
    terminal.print("Next: README.md shows how to fit your own table.")
