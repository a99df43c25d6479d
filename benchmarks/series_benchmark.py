"""What the benchmarks on series share: splits, methods, scores, and results that can be resumed.

Five stratified splits, seed = split: 80 % training, 10 % validation, 10 % test, scored once. Every
method learns from training and validation rows together and decides on its own what to hold out.
LightGBM's settings are chosen by five-fold validation on these rows, and its five models averaged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import torch
from measuring import Runs, arguments
from rich.console import Console
from rich.table import Table
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from imputefree import ImputeFreeSequenceClassifier, Panel
from imputefree.data import Columns, TableEncoder, summarise, summarise_mask
from imputefree.metrics import classification_scores

PROTOCOL = (
    "stratified 80/10/10, seed = split; all methods learn from the first two parts, test scored"
    " once; LightGBM's settings by five-fold validation on them"
)
PACKAGES = "torch lightgbm scikit-learn"
BLEND = "ImputeFreeSequenceClassifier()"
Scores = np.ndarray  # the probability of class 1 for each test series


@dataclass(frozen=True)
class SplitTask:
    """Series with one label each (0 or 1), and the rows of one split."""

    panel: Panel
    y: np.ndarray
    train: np.ndarray
    chosen: np.ndarray
    test: np.ndarray
    seed: int

    @classmethod
    def of(cls, panel: Panel, y: np.ndarray, seed: int) -> SplitTask:
        rows = np.arange(len(y))
        rest, test = train_test_split(rows, test_size=0.1, stratify=y, random_state=seed)
        train, chosen = train_test_split(rest, test_size=1 / 9, stratify=y[rest], random_state=seed)
        return cls(panel, y, train, chosen, test, seed)

    @property
    def rest(self) -> np.ndarray:
        """All rows but those of the test."""
        return np.concatenate([self.train, self.chosen])


Method = Callable[[SplitTask], dict[str, Scores]]


class Watched(ImputeFreeSequenceClassifier):
    """The blend, which remembers the families that it drops, too."""

    def _new_family(self, name: str, seed: int | None = None) -> Any:
        self.made = getattr(self, "made", {})
        return self.made.setdefault(name, super()._new_family(name, seed))


def blend(task: SplitTask) -> dict[str, Scores]:
    """The default, and what its families say alone; the network is `GILSequenceClassifier()`."""
    model = Watched(random_state=task.seed).fit(task.panel[task.rest], task.y[task.rest])
    print(f"weights {model.weights_}, seconds {model.seconds_}", flush=True)
    test = task.panel[task.test]
    scores = {BLEND: model.predict_proba(test)[:, 1]}
    summaries = model.encoder_.summarised(test)
    for name, family in model.made.items():
        scores[f"its {name}"] = family.predict(test if name == "network" else summaries)[:, 1]
    return scores


def numbers(panel: Panel, summary: Callable[[Panel], Columns], rows: np.ndarray) -> np.ndarray:
    """Summaries as trees read them; categories from these rows."""
    table = summary(panel)
    return (
        TableEncoder(indicator=False, numeric_encoding="plain").fit(table.rows(rows)).numbers(table)
    )


SETTINGS = [
    {"num_leaves": 4, "feature_fraction": 0.1, "learning_rate": 0.1},
    {"num_leaves": 15, "feature_fraction": 0.1, "learning_rate": 0.05},
    {"num_leaves": 31, "feature_fraction": 0.2, "learning_rate": 0.05},
]


def boosted(task: SplitTask, summary: Callable[[Panel], Columns] = summarise) -> Scores:
    """LightGBM of the settings with the least log-loss over five folds, its models averaged."""
    X, y, rows = numbers(task.panel, summary, task.rest), task.y, task.rest
    folds = StratifiedKFold(5, shuffle=True, random_state=task.seed)
    best: tuple[float, Scores] = (np.inf, np.empty(0))
    for setting in SETTINGS:
        held_out, tests = np.empty(len(rows)), []
        for fold, (learn, stop) in enumerate(folds.split(rows, y[rows])):
            options = setting | {"seed": 5 * task.seed + fold, "objective": "binary"}
            options |= {"bagging_fraction": 0.8, "bagging_freq": 1, "min_data_in_leaf": 20}
            options |= {"lambda_l2": 5.0, "num_threads": 1, "verbosity": -1}
            training = lightgbm.Dataset(X[rows[learn]], y[rows[learn]], params={"verbosity": -1})
            validation = lightgbm.Dataset(X[rows[stop]], y[rows[stop]], reference=training)
            early = lightgbm.early_stopping(50, verbose=False)
            model = lightgbm.train(
                options, training, 3000, valid_sets=[validation], callbacks=[early]
            )
            held_out[stop] = model.predict(X[rows[stop]])
            tests.append(model.predict(X[task.test], raw_score=True))
        loss = log_loss(y[rows], held_out)
        if loss < best[0]:
            best = loss, expit(np.mean(tests, axis=0))
    return best[1]


def mask_only(task: SplitTask) -> Scores:
    """Logistic regression on when something was measured, without any value."""
    X = numbers(task.panel, summarise_mask, task.rest)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    model.fit(X[task.rest], task.y[task.rest])
    return model.predict_proba(X[task.test])[:, 1]


METHODS: dict[str, Method] = {
    "mask-only": lambda task: {"mask-only": mask_only(task)},
    "LightGBM on summaries": lambda task: {"LightGBM on summaries": boosted(task)},
    BLEND: blend,
}


def run_split(method: Method, task: SplitTask) -> list[dict[str, Any]]:
    """Fit and score a method on one split; one line for each model that it tells of."""
    start, cpu = time.perf_counter(), time.process_time()
    scores = method(task)
    seconds = round(time.perf_counter() - start, 1), round(time.process_time() - cpu, 1)
    truth, lines = task.y[task.test], []
    for name, probability in scores.items():
        figures = classification_scores(truth, np.column_stack([1 - probability, probability]))
        line = {
            "method": name,
            "split": task.seed,
            "auroc": figures["auc"],
            "auprc": figures["average_precision"],
            "log_loss": figures["log_loss"],
            "calibration_error": figures["calibration_error"],
        }
        lines.append(line | {"seconds": seconds[0], "cpu_seconds": seconds[1]})
    return lines


def show(title: str, runs: pd.DataFrame) -> None:
    """Mean over splits by method, best first."""
    table = Table(title=f"{title}: mean (standard deviation) over splits")
    table.add_column("method")
    names = {"auroc": "AUROC", "auprc": "AUPRC", "log_loss": "log-loss"}
    names["calibration_error"] = "calibration error"
    for heading in (*names.values(), "splits", "CPU s"):
        table.add_column(heading, justify="right")
    means = runs.groupby("method").mean(numeric_only=True).sort_values("auroc", ascending=False)
    spread = runs.groupby("method").std(numeric_only=True).fillna(0.0)
    for method, row in means.iterrows():
        figures = [f"{row[name]:.4f} ({spread.loc[method, name]:.4f})" for name in names]
        count = (runs["method"] == method).sum()
        table.add_row(str(method), *figures, str(count), f"{row['cpu_seconds']:.0f}")
    Console().print(table)


def compare(
    title: str,
    study: Callable[[int], tuple[Panel, np.ndarray]],
    methods: Mapping[str, Method] = METHODS,
    usual: tuple[str, ...] = tuple(METHODS),
) -> int:
    """Run the methods on the splits; what the results file has already is not repeated."""
    parser = arguments(title)
    parser.add_argument("--splits", nargs="+", type=int, default=[0, 1, 2, 3, 4])
    parser.add_argument("--methods", nargs="+", default=list(usual), choices=list(methods))
    parser.add_argument("--stays", type=int, default=0, help="fewer for a quick look")
    parser.add_argument("--threads", type=int, default=1, help="threads of a fit")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    panel, y = study(options.stays)
    about = {"stays": len(panel), "variables": len(panel.steps.names)}
    runs = Runs(options.json, "method split", PACKAGES, protocol=PROTOCOL, **about)
    for split, method in product(options.splits, options.methods):
        if runs.has(method, split):
            continue
        for run in run_split(methods[method], SplitTask.of(panel, y, split)):
            runs.add(run)
            print(
                f"{run['method']}, split {split}: AUROC {run['auroc']:.4f}, AUPRC"
                f" {run['auprc']:.4f}, log-loss {run['log_loss']:.4f}, {run['cpu_seconds']:.0f} s",
                flush=True,
            )
    show(title, pd.DataFrame(runs))
    return 0


def some(panel: Panel, y: np.ndarray, count: int) -> tuple[Panel, np.ndarray]:
    """The first `count` stays of a fixed shuffle; all of them if it is 0."""
    if not 0 < count < len(y):
        return panel, y
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:count])
    return panel[rows], y[rows]
