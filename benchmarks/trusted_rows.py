"""Training rows with shortcuts, 100 trusted rows without: which methods do not fall for them?

Four real tables, and two times two made columns added to each. Every made column is drawn from a
label. In training rows it is the row's own label; in trusted and in test rows it is that of another
row of the same part (labels are permuted), so that each column looks the same everywhere but tells
nothing there:

    value_1, value_2    0.75 (2 label - 1) + standard normal noise
    gap_1, gap_2        standard normal noise, missing with probability 0.6 (label 1) or 0.15 (0)

Per seed, a third of the rows are for testing and 100 of the others are trusted, both stratified by
class. All methods are `GILClassifier` with four members, relevance=False (trees that learn from
misled rows find shortcuts most relevant) and the same rows, trusted ones included, unless their
name says otherwise; settings of `meta` with trusted rows were chosen on seeds 100 and
101, which are not reported. The target: `meta` with trusted rows has a higher AUC than `none`,
`observed` and `random`, each with p < 0.05 (paired t-test over seeds, two-sided), on at least three
of the four tables. The rivals are printed beside it, without a target. A fit whose figures are in
FILE already is not run again.

    IMPUTEFREE_DATA=../shared/data python -m benchmarks.trusted_rows [--tables T …] \
        [--seeds 0 … 7] [--methods M …] [--json FILE] [--picture FILE] [--page FILE]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from rich.console import Console
from rich.table import Table
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from benchmarks.measuring import Runs, arguments, between_marks
from imputefree import GILClassifier
from imputefree.data import TableEncoder, read_columns
from imputefree.errors import UnseenCategoryWarning
from imputefree.lab.studies import load

TABLES = ("framingham_chd", "titanic3", "pima_zeros_as_missing", "credit_approval")
SEEDS = tuple(range(8))
N_TRUSTED, MEMBERS = 100, 4
SHORTCUTS = ("value_1", "value_2", "gap_1", "gap_2")
OURS, BASELINES = "meta, trusted rows", ("none", "observed", "random")
BEGIN, END = "<!-- trusted_rows: written by the benchmark -->", "<!-- end of trusted_rows -->"
PACKAGES = "torch numpy scipy scikit-learn"


class Split(NamedTuple):
    """Rows to fit, of which some are trusted (n,) bool, and test rows."""

    X: pd.DataFrame
    y: np.ndarray
    trusted: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray


def make_split(name: str, seed: int) -> Split:
    """A table with shortcut columns; the seed draws parts and columns."""
    study = load(f"table:{name}")
    y = np.unique(study.y, return_inverse=True)[1]
    parts: dict[str, Any] = {"random_state": seed}
    rest, test = train_test_split(np.arange(len(y)), test_size=1 / 3, stratify=y, **parts)
    misled, trusted = train_test_split(rest, test_size=N_TRUSTED, stratify=y[rest], **parts)
    rng, label = np.random.default_rng([seed, 17]), y.copy()
    for rows in (test, trusted):
        label[rows] = rng.permutation(y[rows])
    X = add_shortcuts(study.X, label, rng)
    rows = np.concatenate([misled, trusted])
    is_trusted = np.arange(len(rows)) >= len(misled)
    return Split(X.iloc[rows].reset_index(drop=True), y[rows], is_trusted, X.iloc[test], y[test])


def add_shortcuts(X: pd.DataFrame, label: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """The table with four columns that tell `label` (n,): two by their values, two by gaps."""
    made = {}
    for name in SHORTCUTS:
        noise = rng.normal(size=len(label))
        if name.startswith("value"):
            made[name] = 0.75 * (2 * label - 1) + noise
        else:
            made[name] = np.where(
                rng.random(len(label)) < np.where(label, 0.6, 0.15), np.nan, noise
            )
    return X.assign(**made)


# ---- methods: from a split and a seed to a fitted model and the columns it reads
Fitted = tuple[GILClassifier, list[Any]]


def fit_network(
    split: Split,
    seed: int,
    columns: list[Any] | None = None,
    only_trusted: bool = False,
    trusted_weight: float = 1.0,
    use_trusted: bool = False,
    **parameters: Any,
) -> Fitted:
    """A network; without columns named, it reads all."""
    columns = list(split.X) if columns is None else columns
    rows = split.trusted if only_trusted else np.ones(len(split.y), bool)
    weight = np.where(split.trusted, trusted_weight, 1.0)[rows]
    parameters |= {"n_members": MEMBERS, "relevance": False, "random_state": seed}
    model = GILClassifier(**parameters)
    trusted = split.trusted if use_trusted else None
    return model.fit(split.X.loc[rows, columns], split.y[rows], weight, trusted=trusted), columns


def own_columns(split: Split) -> list[Any]:
    """The columns of the table itself."""
    return [name for name in split.X if name not in SHORTCUTS]


def without_dropped(split: Split, seed: int) -> Fitted:
    return fit_network(split, seed, kept_columns(split))


def kept_columns(split: Split) -> list[Any]:
    """Backward elimination by the loss on trusted rows.

    Logistic regression (plain numbers, one input per level, indicators) learns from the other rows.
    The column without which its loss on trusted rows is lowest goes, as long as that lowers it.
    """
    columns = read_columns(split.X)
    encoder = TableEncoder("auto", True, "plain").fit(columns)
    inputs, column_of = encoder.transform(columns).values, np.asarray(encoder.input_columns)
    train, judge = ~split.trusted, split.trusted

    def loss(kept: list[int]) -> float:
        part = inputs[:, np.isin(column_of, kept)]
        model = LogisticRegression(max_iter=1000).fit(part[train], split.y[train])
        return float(log_loss(split.y[judge], model.predict_proba(part[judge])))

    kept = sorted(set(column_of.tolist()))
    lowest = loss(kept)
    while len(kept) > 1:
        losses = {j: loss([other for other in kept if other != j]) for j in kept}
        worst = min(losses, key=losses.__getitem__)
        if losses[worst] >= lowest:
            break
        lowest = losses[worst]
        kept.remove(worst)
    return [split.X.columns[j] for j in kept]


METHODS: dict[str, Callable[[Split, int], Fitted]] = {
    "none": fit_network,
    "observed": lambda split, seed: fit_network(split, seed, policy="observed"),
    "random": lambda split, seed: fit_network(split, seed, policy="random"),
    "ddpg": lambda split, seed: fit_network(split, seed, policy="ddpg"),
    "meta, training rows": lambda split, seed: fit_network(split, seed, policy="meta"),
    OURS: lambda split, seed: fit_network(split, seed, policy="meta", use_trusted=True),
    "trusted rows x 20": lambda split, seed: fit_network(split, seed, trusted_weight=20.0),
    "columns dropped": without_dropped,
    "no indicators": lambda split, seed: fit_network(split, seed, indicator=False),
    "trusted rows only": lambda split, seed: fit_network(split, seed, only_trusted=True),
    "none, no shortcuts": lambda split, seed: fit_network(split, seed, own_columns(split)),
    "meta, trusted rows, no shortcuts": lambda split, seed: fit_network(
        split, seed, own_columns(split), policy="meta", use_trusted=True
    ),
}
RIVALS = ("trusted rows x 20", "columns dropped", "no indicators", "trusted rows only")
SLOW = {  # number of seeds of methods that have fewer, to save time
    "observed": 2,  # with placeholder 0 it is `none`, to the last digit; see `scores`
    "ddpg": 1,
    "meta, training rows": 4,
    "none, no shortcuts": 4,
    "meta, trusted rows, no shortcuts": 1,
}


def run_method(table: str, seed: int, method: str) -> dict[str, Any]:
    """Fit, and score the test rows once."""
    split, start = make_split(table, seed), time.process_time()
    model, columns = METHODS[method](split, seed)
    run: dict[str, Any] = {"table": table, "seed": seed, "method": method}
    run["cpu_seconds"] = round(time.process_time() - start, 2)
    probability = model.predict_proba(split.X_test[columns])
    run["auc"] = round(roc_auc_score(split.y_test, probability[:, 1]), 5)
    run["log_loss"] = round(log_loss(split.y_test, probability), 5)
    run["left_out"] = [str(name) for name in split.X if name not in columns]
    if hasattr(model, "column_importance_"):
        run["distrusted"] = model.distrusted_columns().round(3).values.tolist()
    return run


# ---- figures
def scores(runs: list[dict[str, Any]], table: str, method: str) -> pd.Series:
    """AUC by seed. A method that equals `none` on all of its seeds has all seeds of `none`."""
    values = _own_scores(runs, table, method)
    ordinary = _own_scores(runs, table, "none")
    return ordinary if values.equals(ordinary.reindex(values.index)) and len(values) else values


def _own_scores(runs: list[dict[str, Any]], table: str, method: str) -> pd.Series:
    mine = [run for run in runs if (run["table"], run["method"]) == (table, method)]
    return pd.Series({run["seed"]: 100 * run["auc"] for run in mine}, dtype=float).sort_index()


def interval(values: pd.Series) -> tuple[float, float]:
    """Mean and half the width of its 95 % interval (Student's t; NaN for less than four)."""
    if len(values) < 4:
        return float(values.mean()), float("nan")
    return float(values.mean()), float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))


def compare(runs: list[dict[str, Any]], table: str, method: str) -> tuple[float, float]:
    """How much higher the AUC of `meta` with trusted rows is, and p of a paired t-test."""
    gain = (scores(runs, table, OURS) - scores(runs, table, method)).dropna()
    if len(gain) < 4:
        return float(gain.mean()), float("nan")
    return float(gain.mean()), float(stats.ttest_1samp(gain, 0.0).pvalue)


def show(runs: list[dict[str, Any]]) -> bool:
    """Print all figures; whether the target is missed."""
    tables = [name for name in TABLES if any(run["table"] == name for run in runs)]
    for name in tables:
        shown = Table("AUC x 100", "seeds", "mean", "95 %", "meta, trusted rows: gain", "p")
        for method in METHODS:
            values = scores(runs, name, method)
            if len(values):
                mean, half = interval(values)
                gain, p = compare(runs, name, method)
                figures = [f"{mean:.1f}", f"± {half:.1f}", f"{gain:+.1f}", f"{p:.4f}"]
                count = str(len(_own_scores(runs, name, method)))
                shown.add_row(method, count, *figures[: 2 if method == OURS else 4])
        Console(width=110).print(f"\n{name}", shown)
    won = [name for name in tables if all(_is_above(runs, name, other) for other in BASELINES)]
    print(f"meta with trusted rows is above {', '.join(BASELINES)} on {len(won)} tables:", *won)
    for rival in RIVALS:
        parts = [_verdict(runs, name, rival) for name in tables if len(scores(runs, name, rival))]
        print(f"Against {rival}:", *parts, sep="  ")
    for method in (OURS, "columns dropped"):
        print(f"{method}: {blamed(runs, method)}")
    missed = len(won) < 3
    print("The target of three tables is", "MISSED" if missed else "met")
    return missed


def blamed(runs: list[dict[str, Any]], method: str) -> str:
    """How many shortcuts were left out or got an importance below 0.5, and what else did."""
    mine = [run for run in runs if run["method"] == method]
    sources = [
        {(name, "missing" if name.startswith("gap") else "values") for name in run["left_out"]}
        | {(name, part) for name, part, _ in run.get("distrusted", ())}
        for run in mine
    ]
    hints = {(name, "missing" if name.startswith("gap") else "values") for name in SHORTCUTS}
    hit = sum(len(hints & these) for these in sources)
    others = sum(name not in SHORTCUTS for these in sources for name, _ in these)
    return f"{hit} of {len(hints) * len(mine)} shortcuts, and {others} of the tables' own"


def _is_above(runs: list[dict[str, Any]], table: str, method: str) -> bool:
    gain, p = compare(runs, table, method)
    return gain > 0 and p < 0.05


def _verdict(runs: list[dict[str, Any]], table: str, method: str) -> str:
    gain, p = compare(runs, table, method)
    word = "too few seeds" if np.isnan(p) else "no difference"
    if p < 0.05:
        word = "above" if gain > 0 else "below"
    return f"{table} {gain:+.1f} ({word})"


def markdown(runs: list[dict[str, Any]]) -> str:
    """Mean AUC and interval of each method and table; * where p < 0.05 against ours."""
    lines = [f"| AUC x 100 | {' | '.join(TABLES)} | seeds |", "|---" * (len(TABLES) + 2) + "|"]
    for method in METHODS:
        cells, seeds = [], {len(_own_scores(runs, name, method)) for name in TABLES}
        for name in TABLES:
            mean, half = interval(scores(runs, name, method))
            mark = "\\*" * (compare(runs, name, method)[1] < 0.05)
            cells.append(f"{mean:.1f}" + ("" if np.isnan(half) else f" ± {half:.1f}{mark}"))
        if max(seeds):
            shown = f"**{method}**" if method == OURS else method
            lines.append(f"| {shown} | {' | '.join(cells)} | {min(seeds)} |")
    return "\n".join(lines)


def draw(runs: list[dict[str, Any]], path: Path) -> None:
    """Mean AUC and interval of each method, table by table; of those that have an interval."""
    from matplotlib.figure import Figure

    methods = [m for m in METHODS if all(len(scores(runs, name, m)) > 3 for name in TABLES)]
    counts = {m: min(len(_own_scores(runs, name, m)) for name in TABLES) for m in methods}
    labels = [m + f" ({n} seeds)" * (n < max(counts.values())) for m, n in counts.items()]
    figure = Figure(figsize=(10.5, 4.3), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(TABLES), sharey=True), TABLES, strict=True):
        for place, method in enumerate(methods):
            mean, half = interval(scores(runs, name, method))
            colour = "#b7410e" if method == OURS else "#00695c" if method in RIVALS else "#607d8b"
            style = {"fmt": "D" if method == OURS else "o", "ms": 6 if method == OURS else 5}
            axes.errorbar(mean, place, xerr=half, color=colour, capsize=2, **style)
        clean = interval(scores(runs, name, "none, no shortcuts"))[0]
        axes.axvline(clean, color="#607d8b", linewidth=0.8, linestyle=":")
        axes.set_yticks(range(len(methods)), labels)
        axes.set_title(name.removesuffix("_zeros_as_missing"), fontsize=10)
        axes.grid(axis="x", linewidth=0.3)
    axes.invert_yaxis()
    seeds = max(counts.values())
    figure.supxlabel(f"test AUC x 100, mean of {seeds} seeds and its 95 % interval", fontsize=9)
    figure.savefig(path, dpi=130)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--picture", type=Path, help="draw the figures here")
    parser.add_argument("--page", type=Path, help="put the figures into this page")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", UnseenCategoryWarning)
    runs = Runs(options.json, "table seed method", PACKAGES)
    for seed, method, table in product(options.seeds, options.methods, options.tables):
        wanted = seed in options.seeds[: SLOW.get(method)]
        if wanted and not runs.has(table, seed, method):
            runs.add(run_method(table, seed, method))
    if options.page:
        between_marks(options.page, BEGIN, END, [markdown(runs)])
    if options.picture:
        draw(runs, options.picture)
    return show(runs)


if __name__ == "__main__":
    sys.exit(main())
