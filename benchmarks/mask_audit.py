"""What the mask is worth to a model, what it costs to ignore it, and what that gains.

Models with missingness="use" and "ignore" predict the same test rows as they are, with their own
gaps and as many values, and with the gaps of other rows (see `imputefree.audit_missingness`; five
draws). Figures are AUC with 95 % intervals by the bootstrap over test rows, and their paired
differences. Tasks:

- leak: simulated (tests/inspection/made_gaps.py); gaps of one column tell the class
- the eight tables with two classes: `StratifiedKFold(5, shuffle=True, random_state=7)`, test parts
  of the first folds pooled
- physionet2012: stays of set a, 2,400 to learn from and 1,600 to test

- boats: the example of docs/audit.md; the Titanic with its lifeboats, 900 passengers to learn from

    IMPUTEFREE_DATA=../shared/data python -m benchmarks.mask_audit [--tasks T …] [--methods M …]
        [--folds 5] [--json FILE] [--picture docs/audit.png]
    python -m benchmarks.mask_audit --docs          # puts the results into docs/audit.md

What FILE already has is not computed again.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.measuring import Runs, arguments
from benchmarks.table_tasks import EIGHT, Part, task
from imputefree import (
    GILClassifier,
    GILSequenceClassifier,
    ImputeFreeClassifier,
    ImputeFreeSequenceClassifier,
    audit_missingness,
)
from imputefree.inspection import GapScenarios, read_rows
from imputefree.io import read_csv
from imputefree.lab.studies import load
from imputefree.metrics import intervals
from scripts.generated import with_block
from tests.inspection import made_gaps

DRAWS = 5
TABLES = {
    "fast": lambda mode: ImputeFreeClassifier(quality="fast", missingness=mode, random_state=0),
    "balanced": lambda mode: ImputeFreeClassifier(missingness=mode, random_state=0),
    "network": lambda mode: GILClassifier(missingness=mode, random_state=0),
}
SERIES = {
    "fast": lambda mode: ImputeFreeSequenceClassifier(
        quality="fast", missingness=mode, random_state=0
    ),
    "balanced": lambda mode: ImputeFreeSequenceClassifier(missingness=mode, random_state=0),
    "network": lambda mode: GILSequenceClassifier(missingness=mode, random_state=0),
}
LEAK, STAYS, BOATS = "leak", "physionet2012", "boats"
ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "benchmarks/results/mask_audit.json", ROOT / "docs/audit.md"
WAYS = ("as it is", "own gaps", "gaps of others")


def parts(name: str, folds: int) -> Iterator[Part]:
    """Training and test rows; y is 0 or 1."""
    if name == LEAK:
        for seed in range(folds):
            yield Part(
                *made_gaps.table(600, seed, leak=True),
                *made_gaps.table(1000, 100 + seed, leak=True),
            )
    elif name == STAYS:
        study = load("physionet2012", sets="a")
        order = np.random.default_rng(7).permutation(len(study.y))
        train, test = order[:2400], order[2400:4000]
        X, y = study.inputs, study.y
        yield Part(X[train], y[train], X[test], y[test])
    else:
        whole = task(name)
        for k in range(min(folds, whole.n_parts)):
            part = whole.part(k)
            classes = np.unique(part.y)
            yield part._replace(
                y=np.searchsorted(classes, part.y), y_test=np.searchsorted(classes, part.y_test)
            )


def compare(name: str, method: str, folds: int) -> dict[str, Any]:
    """Both modes on the same test rows; figures by mode and way, and paired differences."""
    models = SERIES if name == STAYS else TABLES
    guesses: dict[str, list[np.ndarray]] = {
        f"{m}, {w}": [] for m in ("use", "ignore") for w in WAYS
    }
    truths, begun = [], time.process_time()
    for number, part in enumerate(parts(name, folds)):
        rows = read_rows(part.X_test)
        scenarios = GapScenarios(rows, np.random.default_rng(number))
        drawn = [scenarios.exchanged() for _ in range(DRAWS)]
        tables = {
            "as it is": [rows] * DRAWS,
            "own gaps": [own for _, own in drawn],
            "gaps of others": [theirs for theirs, _ in drawn],
        }
        truths.append(part.y_test)
        for mode in ("use", "ignore"):
            model = models[method](mode).fit(part.X, part.y)
            for way, some in tables.items():
                once = some[:1] if way == "as it is" else some
                shown = [model.predict_proba(table.X)[:, 1] for table in once]
                guesses[f"{mode}, {way}"].append(np.resize(shown, (DRAWS, len(part.y_test))))
    truth = np.concatenate(truths)
    every = {key: _classes(np.hstack(guess).ravel()) for key, guess in guesses.items()}
    answers, rows_of = np.tile(truth, DRAWS), np.tile(np.arange(len(truth)), DRAWS)
    result: dict[str, Any] = {"task": name, "method": method, "test_rows": len(truth)}
    result["cpu_seconds"] = round(time.process_time() - begun, 1)

    def paired(ours: str, *others: str) -> tuple[Any, Any]:
        some = {key: every[key] for key in (ours, *others)}
        return intervals("classification", answers, some, groups=rows_of, ours=ours)

    figures, _ = paired(*every)
    result["auc"] = {key: _rounded(figures[key]["auc"]) for key in every}
    result["log_loss"] = {key: _rounded(figures[key]["log_loss"]) for key in every}
    result["differences"] = {
        "cost of ignoring, as it is": _between(paired, "ignore, as it is", "use, as it is"),
        "gain of ignoring, gaps of others": _between(
            paired, "ignore, gaps of others", "use, gaps of others"
        ),
        "the mask's, use": _between(paired, "use, own gaps", "use, gaps of others"),
        "the mask's, ignore": _between(paired, "ignore, own gaps", "ignore, gaps of others"),
    }
    return result


def audit_boosting(name: str) -> dict[str, Any]:
    """The audit alone, around a pipeline of scikit-learn, on the first test part."""
    part = next(parts(name, 1))
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    strings = make_column_selector(dtype_exclude="number")
    columns = make_column_transformer((codes, strings), remainder="passthrough")
    boosting = make_pipeline(columns, HistGradientBoostingClassifier(random_state=0))
    begun = time.process_time()
    audit = audit_missingness(boosting.fit(part.X, part.y), part.X_test, part.y_test)
    plain = audit.to_dict()
    kept = ("mask", "mask_share", "telling", "indispensable", "worse", "summary")
    seconds = round(time.process_time() - begun, 1)
    facts = {"task": name, "method": "boosting", "cpu_seconds": seconds}
    return facts | {key: plain[key] for key in kept}


def audit_boats(picture: Path | None) -> dict[str, Any]:
    """A column that was filled in after the fact."""
    frame = read_csv(Path(os.environ["IMPUTEFREE_DATA"]) / "tabular" / "titanic3.csv")
    frame = frame.drop(columns=["name", "ticket", "cabin", "body", "home.dest"])
    frame = frame.sample(frac=1, random_state=0)
    X, y = frame.drop(columns="survived"), frame["survived"].to_numpy()
    begun, models = time.process_time(), TABLES["fast"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of boats that training never saw
        model = models("use").fit(X[:900], y[:900])
        audit = audit_missingness(model, X[900:], y[900:], groups=X["pclass"][900:])
        ways = {"use": (model, X), "ignore": (models("ignore").fit(X[:900], y[:900]), X)}
        ashore = X.drop(columns="boat")
        ways["without the column"] = (models("use").fit(ashore[:900], y[:900]), ashore)
        auc = {
            name: round(roc_auc_score(y[900:], fitted.predict_proba(rows[900:])[:, 1]), 4)
            for name, (fitted, rows) in ways.items()
        }
    if picture is not None:
        audit.draw(picture)
    seconds = round(time.process_time() - begun, 1)
    facts = {"task": BOATS, "method": "fast", "cpu_seconds": seconds}
    return facts | {"boats_auc": auc, "summary": audit.summary()}


def markdown(runs: list[dict[str, Any]]) -> str:
    """The results as a table."""
    names = ("cost of ignoring, as it is", "gain of ignoring, gaps of others", "the mask's, use")
    names += ("the mask's, ignore",)
    titles = ("task", "model", "AUC, use", "ignore, same gaps", "ignore, gaps of other rows")
    lines = [[*titles, "the mask's, use", "the mask's, ignore"], ["---"] * 7]
    for run in runs:
        if "differences" in run:
            shown = [f"{run['auc']['use, as it is'][0]:.3f}"]
            for name in names:
                value, low, high = run["differences"][name]
                sign = "" if "mask" in name else "+"
                shown.append(f"{value:{sign}.3f} ({low:{sign}.3f} to {high:{sign}.3f})")
            label = "leak (simulated)" if run["task"] == LEAK else run["task"]
            lines.append([label, run["method"], *shown])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def documented(page: str, runs: list[dict[str, Any]]) -> str:
    """A page with the words of the example and the table of results in their places."""
    boats = next(run for run in runs if run["task"] == BOATS)
    auc = boats["boats_auc"]
    words = (
        f'> {boats["summary"]}\n\nThe same model with `missingness="ignore"` (below) has an AUC'
        f" of {auc['ignore']:.3f} on these passengers, though it has the column; one that never"
        f" had it, {auc['without the column']:.3f}."
    )
    page = with_block(page, "boats", words)
    return with_block(page, "mask_audit", markdown(runs))


def _classes(positive: np.ndarray) -> np.ndarray:
    return np.column_stack([1 - positive, positive])


def _rounded(figure: Any) -> list[float]:
    return [round(float(number), 4) for number in figure]


def _between(paired: Any, ours: str, other: str) -> list[float]:
    return _rounded(paired(ours, other)[1][other]["auc"])


def main() -> None:
    parser = arguments(__doc__)
    known = [LEAK, *EIGHT, STAYS, BOATS]
    parser.add_argument("--tasks", nargs="+", default=known, choices=known)
    methods = ["fast", "network", "balanced", "boosting"]
    parser.add_argument("--methods", nargs="+", default=methods, choices=methods)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--picture", type=Path, help="of the example")
    parser.add_argument("--docs", action="store_true", help="only put results into docs/audit.md")
    options = parser.parse_args()
    if options.docs:
        page, content = PAGE.read_text(encoding="utf-8"), json.loads(RESULTS.read_text())
        PAGE.write_text(documented(page, content["runs"]), encoding="utf-8")
        return
    torch.set_num_threads(1)
    runs = Runs(options.json, "task method", "torch lightgbm scikit-learn numpy", draws=DRAWS)
    for name, method in product(options.tasks, options.methods):
        senseless = (name == STAYS and method == "boosting") or (name == BOATS and method != "fast")
        if senseless or runs.has(name, method):
            continue
        if name == BOATS:
            run = audit_boats(options.picture)
        elif method == "boosting":
            run = audit_boosting(name)
        else:
            folds = 1 if name == STAYS else options.folds
            run = compare(name, method, folds) | {"folds": folds}
        runs.add(run)
        for figure in ("differences", "auc", "summary"):
            if figure in run:
                print(name, method, run["cpu_seconds"], run[figure], flush=True)


if __name__ == "__main__":
    main()
