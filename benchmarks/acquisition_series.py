"""Acquisition curves for series: what to measure now, at the last step of a stay.

SIMULATED septic-shock cohorts (`imputefree.lab.studies`, a new one per run) have a true value
for every gap. A stay is cut to its last six steps, of which the last is empty at first. Then up to
five of its 14 attributes are measured, one after the other, and the true value is revealed: in the
order of `plan_measurements`, in random order (mean of five), and in one order for everybody, by how
much each attribute lowers the log-loss of training stays if it is measured first. Around
HistGradientBoosting on summaries of the series, trained on stays whose last step has a random share
of its values.

The figure that counts is the mean accuracy over none to five measurements; log-loss is beside it.
Runs share no stay, so an ordinary paired t-test is right.

    python -m benchmarks.acquisition_series [--runs 16] [--stays 600] [--json FILE]

Finished runs of the file are kept. Exits 1 unless our order is better (p < 0.05) than both others.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from scipy.stats import ttest_rel

from benchmarks.mask_coverage import OnSummaries
from benchmarks.measuring import Runs, arguments
from imputefree import Panel, plan_measurements
from imputefree.inspection import PlausibleValues
from imputefree.lab.studies import simulate_icu

STEPS, MEASURED, ORDERS, TEST = 6, 5, 5, 100
RIVALS = ("one order", "random")
FIGURES = ("accuracy", "log_loss")


class Stays:
    """Stays as a long frame, what their last step could have, and the class of each."""

    def __init__(self, n: int, seed: int) -> None:
        cohort = simulate_icu(n, seed)
        last = cohort.frame.groupby("patient").cumcount(ascending=False)
        kept = (last < STEPS).to_numpy()
        self.names = list(cohort.truth.columns)
        self.frame = cohort.frame[kept].reset_index(drop=True)
        self.truth = cohort.truth[kept].to_numpy()
        self.patient = self.frame["patient"].to_numpy()
        self.ends = np.flatnonzero(last[kept] == 0)
        self.y = cohort.y.loc[self.patient[self.ends]].to_numpy()

    def panel(self, stays: np.ndarray, known: np.ndarray) -> Panel:
        """Some stays whose last step has true values where `known`, (stays, attributes)."""
        values = self.frame[self.names].to_numpy(copy=True)
        values[self.ends[stays]] = np.where(known, self.truth[self.ends[stays]], np.nan)
        frame = self.frame.assign(**dict(zip(self.names, values.T, strict=True)))
        frame = frame[np.isin(self.patient, self.patient[self.ends[stays]])]
        return Panel.from_long(frame, id="patient", time="hour", static=["age"])


def losses(probability: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Log-loss of each stay."""
    return -np.log(np.clip(probability[np.arange(len(y)), y], 1e-6, 1))


def run(n: int, seed: int) -> dict[str, Any]:
    """Accuracy and log-loss after none to five measurements, by order."""
    rng, began, stays = np.random.default_rng(seed), time.process_time(), Stays(n, seed)
    order = rng.permutation(len(stays.y))
    test, train = np.sort(order[:TEST]), np.sort(order[TEST:])
    width, y, y_test = len(stays.names), stays.y[train], stays.y[test]
    known = rng.random((len(train), width)) < rng.random((len(train), 1))
    learned = stays.panel(train, known)
    model = OnSummaries().fit(learned, y)
    nothing = np.zeros((len(train), width), dtype=bool)
    empty = losses(model.predict_proba(stays.panel(train, nothing)), y).mean()
    falls = np.empty(width)
    for column in range(width):
        nothing[:, column] = True
        falls[column] = empty - losses(model.predict_proba(stays.panel(train, nothing)), y).mean()
        nothing[:, column] = False

    def revealed(orders: np.ndarray) -> np.ndarray:
        """Predictions before and after each measurement; (test, 1 + MEASURED, classes)."""
        seen = np.zeros((TEST, width), dtype=bool)
        predicted = [model.predict_proba(stays.panel(test, seen))]
        for column in orders[:, :MEASURED].T:
            seen[np.arange(TEST), column] = True
            predicted.append(model.predict_proba(stays.panel(test, seen)))
        return np.stack(predicted, axis=1)

    def figures(predicted: np.ndarray) -> dict[str, list[float]]:
        right = predicted.argmax(2) == y_test[:, None]
        loss = [losses(step, y_test).mean() for step in predicted.transpose(1, 0, 2)]
        return {"accuracy": right.mean(0).tolist(), "log_loss": np.round(loss, 4).tolist()}

    start, truth = (stays.panel(test, np.full((TEST, width), all_)) for all_ in (False, True))
    costs = {"age": np.inf}
    plan = plan_measurements(
        model,
        start,
        background=PlausibleValues(learned),
        costs=costs,
        truth=truth,
        budget=MEASURED,
    )
    random = [
        figures(revealed(rng.permuted(np.tile(np.arange(width), (TEST, 1)), axis=1)))
        for _ in range(ORDERS)
    ]
    return {
        "seed": seed,
        "next": figures(plan.prediction[:, : MEASURED + 1]),
        "one order": figures(revealed(np.tile(np.argsort(-falls), (TEST, 1)))),
        "random": {
            name: np.mean([r[name] for r in random], axis=0).round(4).tolist() for name in FIGURES
        },
        "everything": figures(model.predict_proba(truth)[:, None]),
        "first": [stays.names[g] for g in plan.order[:, 0]],
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def judge(runs: list[dict[str, Any]]) -> bool:
    """Print areas; True if our order is not better than both others."""
    table = Table("order", *(f"{name}: area" for name in FIGURES), "difference in accuracy", "p")
    missed = False
    ours = {name: [np.mean(r["next"][name]) for r in runs] for name in FIGURES}
    table.add_row("next", *(f"{np.mean(ours[name]):.4f}" for name in FIGURES))
    for rival in RIVALS:
        theirs = {name: [np.mean(r[rival][name]) for r in runs] for name in FIGURES}
        difference = np.mean(ours["accuracy"]) - np.mean(theirs["accuracy"])
        p = ttest_rel(ours["accuracy"], theirs["accuracy"]).pvalue
        missed |= not (difference > 0 and p < 0.05)
        areas = (f"{np.mean(theirs[name]):.4f}" for name in FIGURES)
        table.add_row(rival, *areas, f"{difference:+.4f}", f"{p:.3f}")
    Console(width=100).print(table)
    first = pd.Series([name for r in runs for name in r["first"]]).value_counts(normalize=True)
    print("measured first:", ", ".join(f"{name} {share:.0%}" for name, share in first.items()))
    return missed


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--stays", type=int, default=600)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    runs = Runs(options.json, "seed", "scikit-learn numpy", stays=options.stays)
    for seed in range(100, 100 + options.runs):
        if not runs.has(seed):
            runs.add(run(options.stays, seed))
    return int(judge(runs))


if __name__ == "__main__":
    sys.exit(main())
