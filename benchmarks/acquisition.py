"""Acquisition curves: accuracy against cost as hidden values are measured one after the other.

Eleven real tables (five of more than two classes) without their incomplete rows, or without
their incomplete columns if that leaves more entries, and a simulated one in which one of four
numbers decides, and a category says which ("made", shown beside them). Each test row starts with a
fifth of its entries, at random; true values are revealed in the order of `plan_measurements`, in
random order (mean of five) and in the order of global permutation importance on training rows (per
unit of cost). Models: scikit-learn's HistGradientBoosting and our blend (quality "fast"), both
trained on three copies of the training rows with extra gaps (per row a random share). Costs: 1
each, and a made cost per column (1, 2, 5 or 10, drawn once per table).

Chosen before any of these tables was scored: the figure that counts is the area under accuracy,
the mean accuracy over 41 budgets from nothing to everything; log-loss is printed beside it. Paired
by split, corrected resampled t-test. Settings were chosen on other tables (docs/measure-next.md).
Earlier versions were scored on other splits of the first five tables: the first on 0 to 4, one
whose gains were not drawn towards usual ones on 100 to 109.

One row must take our blend less than 100 ms (CPU time, median of nine, adult).

    python -m benchmarks.acquisition [--tables T …] [--models M …] [--splits 10] [--json FILE]
        [--draw PNG] [--docs FILE] [--show]

Finished runs of the file are kept. Exit 1 unless, for each model and kind of cost, the area is
better (p < 0.05) than that of random order and than that of importance order on four real tables,
and the row is fast enough.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from rich.console import Console
from rich.table import Table
from scipy.stats import t as student
from sklearn.datasets import load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

from benchmarks.measuring import Runs, arguments, between_marks, medians
from imputefree import ImputeFreeClassifier, measure_next, plan_measurements
from imputefree.inspection import PlausibleValues
from imputefree.lab.report import corrected_t

RESULTS = Path(__file__).parent / "results" / "acquisition.json"
TABLES = {
    "adult": "income",
    "credit_approval": "class",
    "mammographic_masses": "severity",
    "pima_zeros_as_missing": "class",
    "titanic3": "survived",
    "anneal": "class",
    "framingham_chd": "TenYearCHD",
    "soybean": "class",
    "digits": "target",
    "wine": "target",
    "mnist": "digit",
}
SHIPPED = {"digits": load_digits, "wine": load_wine}  # with scikit-learn
COARSE = 4  # pixels of MNIST per side that make one column, their mean
MADE = "made"
DROPPED = {"titanic3": ["name", "ticket", "cabin", "boat", "body", "home.dest"]}
MODELS = ("boosting", "blend")
MOST_ROWS, TEST_ROWS, KNOWN, COPIES, ORDERS, BUDGETS = 1500, 100, 0.2, 3, 5, 41
PRICES = (1.0, 2.0, 5.0, 10.0)
RIVALS, COSTS = ("random", "importance"), ("unit", "made")
BEGIN, END = "<!-- figures of benchmarks/acquisition.py -->", "<!-- end of figures -->"
FIRST_SPLIT, ONE_ROW_MS = 200, 100.0
ACROSS = 3  # panels of the picture
FEWEST = 10  # rows of a class, or they are left out
TREES = 100  # of boosting, in all classes of many together three times as many


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """A complete table (at most MOST_ROWS) with categories as such, and class codes."""
    if name == MADE:
        return made_table()
    if name in SHIPPED:
        frame = SHIPPED[name](as_frame=True).frame
    elif name == "mnist":
        with np.load(Path(os.environ["IMPUTEFREE_DATA"]) / "mnist" / "mnist.npz") as file:
            images, digit = file["x_train"][:MOST_ROWS], file["y_train"][:MOST_ROWS]
        side = images.shape[1] // COARSE
        coarse = images.reshape(len(images), side, COARSE, side, COARSE).mean((2, 4))
        frame = pd.DataFrame(coarse.reshape(len(images), -1)).rename(columns=str)
        frame["digit"] = digit
    else:
        file = {"adult": "adult_train"}.get(name, name)
        path = Path(os.environ["IMPUTEFREE_DATA"]) / "tabular" / f"{file}.csv"
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    frame = frame.drop(columns=DROPPED.get(name, []))
    frame = max(frame.dropna(), frame.dropna(axis=1), key=lambda part: part.size)
    frame = frame[frame.groupby(TABLES[name])[TABLES[name]].transform("size") >= FEWEST]
    frame = frame.loc[:, frame.nunique() > 1]
    frame = frame.sample(min(MOST_ROWS, len(frame)), random_state=0).reset_index(drop=True)
    y = pd.factorize(frame.pop(TABLES[name]), sort=True)[0]
    words = [column for column in frame if not pd.api.types.is_numeric_dtype(frame[column])]
    return frame.astype(dict.fromkeys(words, "category")), y


def made_table() -> tuple[pd.DataFrame, np.ndarray]:
    """Simulated: the class is the sign of one of four numbers, and a category says of which."""
    rng = np.random.default_rng(0)
    numbers, which = rng.normal(size=(MOST_ROWS, 4)), rng.integers(4, size=MOST_ROWS)
    frame = pd.DataFrame(numbers, columns=list("abcd"))
    frame["which"] = pd.Categorical.from_codes(which, list("abcd"))
    noise = 0.3 * rng.normal(size=MOST_ROWS)
    return frame, (numbers[np.arange(MOST_ROWS), which] + noise > 0).astype(int)


def fit(kind: str, X: pd.DataFrame, y: np.ndarray, rng: np.random.Generator) -> Any:
    """A model trained with extra gaps, and the rows it saw."""
    X, y = pd.concat([X] * COPIES, ignore_index=True), np.tile(y, COPIES)
    X = X.mask(rng.random(X.shape) < rng.random((len(X), 1)))
    if kind == "blend":
        model: Any = ImputeFreeClassifier(quality="fast", random_state=0)
    else:
        most = min(TREES, 3 * TREES // len(np.unique(y)))
        options = {"learning_rate": 0.05 * TREES / most, "max_iter": most, "max_leaf_nodes": 8}
        model = HistGradientBoostingClassifier(
            **options, categorical_features="from_dtype", random_state=0
        )
    return model.fit(X, y), X, y


def revealed(model: Any, start: pd.DataFrame, truth: pd.DataFrame, order: np.ndarray) -> np.ndarray:
    """Predictions before and after each measurement of a fixed order; order (n, d), -1 at the end.

    Returns (n, d + 1, classes).
    """
    seen, predicted = start.notna().to_numpy(), [model.predict_proba(start)]
    for choice in order.T:
        rows = np.flatnonzero(choice >= 0)
        seen[rows, choice[rows]] = True
        predicted.append(model.predict_proba(truth.where(seen)))
    return np.stack(predicted, axis=1)


def ordered(start: pd.DataFrame, score: np.ndarray) -> np.ndarray:
    """Hidden columns by falling score, -1 once there are none; (n, d)."""
    hidden = start.isna().to_numpy()
    order = np.argsort(-np.where(hidden, score, -np.inf), axis=1, kind="stable")
    return np.where(np.arange(hidden.shape[1]) < hidden.sum(1, keepdims=True), order, -1)


def curves(
    predicted: np.ndarray, order: np.ndarray, cost: np.ndarray, y: np.ndarray
) -> dict[str, list[float]]:
    """Accuracy and log-loss at each budget; predicted (n, d + 1, classes), order (n, d)."""
    spent = np.cumsum(np.where(order >= 0, cost[order], np.inf), axis=1)
    budget = np.linspace(0, cost.sum(), BUDGETS)
    step = (spent[:, :, None] <= budget * (1 + 1e-12)).sum(1)  # (n, budgets)
    then = np.take_along_axis(predicted, step[:, :, None], 1)  # (n, budgets, classes)
    right = np.take_along_axis(then, y[:, None, None], 2)[:, :, 0]
    accuracy = (then.argmax(2) == y[:, None]).mean(0)
    loss = -np.log(np.clip(right, 1e-6, 1)).mean(0)
    return {"accuracy": accuracy.round(4).tolist(), "log_loss": loss.round(4).tolist()}


def run(name: str, kind: str, split: int) -> dict[str, Any]:
    """One split: curves of every order, by kind of cost."""
    X, y = load(name)
    rng, began = np.random.default_rng(split), time.process_time()
    size = min(TEST_ROWS, len(X) // 4)
    parts = train_test_split(X, y, test_size=size, stratify=y, random_state=split)
    train, test, y_train, y_test = parts
    train, test = train.reset_index(drop=True), test.reset_index(drop=True)
    model, gappy, y_gappy = fit(kind, train, y_train, rng)
    start = test.mask(rng.random(test.shape) >= KNOWN)
    rows = rng.permutation(len(gappy))[:500]
    importance = permutation_importance(
        model, gappy.iloc[rows], y_gappy[rows], scoring="neg_log_loss", n_repeats=2, random_state=0
    ).importances_mean
    random = [ordered(start, rng.random(start.shape)) for _ in range(ORDERS)]
    random = [(order, revealed(model, start, test, order)) for order in random]
    plausible = PlausibleValues(train)
    prices = np.random.default_rng(sum(name.encode())).choice(PRICES, X.shape[1])
    result: dict[str, Any] = {"table": name, "model": kind, "split": split}
    for costs, cost in (("unit", np.ones(X.shape[1])), ("made", prices)):
        score = np.where(importance > 0, importance / cost, importance * cost)
        order = ordered(start, score)
        orders = {"importance": (order, revealed(model, start, test, order))}
        named = dict(zip(X.columns, cost, strict=True))
        plan = plan_measurements(model, start, background=plausible, costs=named, truth=test)
        orders["next"] = plan.order, plan.prediction
        result[costs] = {
            policy: curves(p, order, cost, y_test) for policy, (order, p) in orders.items()
        }
        drawn = [curves(p, order, cost, y_test) for order, p in random]
        result[costs]["random"] = {
            figure: np.mean([each[figure] for each in drawn], axis=0).round(4).tolist()
            for figure in drawn[0]
        }
    return result | {
        "test_to_train": round(len(test) / len(train), 4),
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def differences(runs: list[dict[str, Any]], costs: str, rival: str, figure: str) -> np.ndarray:
    """Area of our order minus that of a rival, by split."""
    pairs = ((r[costs]["next"][figure], r[costs][rival][figure]) for r in runs)
    return np.array([np.mean(ours) - np.mean(other) for ours, other in pairs])


def judge(runs: list[dict[str, Any]], console: Console) -> bool:
    """Print areas by table, model and costs; True if the claim is missed."""
    shown = Table("model", "costs", "table", "splits", "next", *(f"- {r}" for r in RIVALS), "all")
    missed = False
    for kind in dict.fromkeys(run["model"] for run in runs):
        for costs in COSTS:
            better = dict.fromkeys(RIVALS, 0)
            for name in (*TABLES, MADE):
                own = [r for r in runs if (r["table"], r["model"]) == (name, kind)]
                if len(own) < 2:
                    continue
                area = np.mean([np.mean(r[costs]["next"]["accuracy"]) for r in own])
                words = []
                for rival in RIVALS:
                    gain = differences(own, costs, rival, "accuracy")
                    p = corrected_t(gain, own[0]["test_to_train"])[1]
                    loss = differences(own, costs, rival, "log_loss").mean()
                    better[rival] += bool(name != MADE and gain.mean() > 0 and p < 0.05)
                    words.append(f"{gain.mean():+.4f} (p {p:.3f}; log-loss {loss:+.4f})")
                last = np.mean([r[costs]["next"]["accuracy"][-1] for r in own])
                shown.add_row(
                    kind, costs, name, str(len(own)), f"{area:.4f}", *words, f"{last:.4f}"
                )
            missed |= min(better.values()) < 4
            console.print(f"{kind}, {costs} costs: better on so many tables (p < 0.05): {better}")
    console.print(shown)
    return missed


def table_lines(runs: list[dict[str, Any]]) -> list[str]:
    """Gains in area over both rivals, in percentage points, with 95 % intervals."""
    titles = [f"{costs} costs, against {rival}" for costs in COSTS for rival in RIVALS]
    lines = [
        "| table, model (splits) | " + " | ".join(titles) + " |",
        "|---|" + "---|" * len(titles),
    ]
    for kind in dict.fromkeys(run["model"] for run in runs):
        for name in (*TABLES, MADE):
            own = [r for r in runs if (r["table"], r["model"]) == (name, kind)]
            if len(own) < 2:
                continue
            cells = [_cell(own, costs, rival) for costs in COSTS for rival in RIVALS]
            title = name.replace("_zeros_as_missing", "") + " (simulated)" * (name == MADE)
            lines.append(f"| {title}, {kind} ({len(own)}) | " + " | ".join(cells) + " |")
    return lines


def _cell(runs: list[dict[str, Any]], costs: str, rival: str) -> str:
    gain, ratio = 100 * differences(runs, costs, rival, "accuracy"), runs[0]["test_to_train"]
    n = len(gain)
    half = student.ppf(0.975, n - 1) * gain.std(ddof=1) * np.sqrt(1 / n + ratio)
    bold = "**" if abs(gain.mean()) > half else ""
    return (
        f"{bold}{gain.mean():+.1f}{bold} ({gain.mean() - half:+.1f} to {gain.mean() + half:+.1f})"
    )


def draw(runs: list[dict[str, Any]], path: Path) -> None:
    """A picture of the mean curves with unit costs around boosting, a panel per table."""
    from matplotlib.figure import Figure

    own = [r for r in runs if r["model"] == runs[0]["model"]]
    names = [name for name in (*TABLES, MADE) if any(r["table"] == name for r in own)]
    height = -(-len(names) // ACROSS)
    figure = Figure(figsize=(3.2 * ACROSS, 2.4 * height + 0.8), layout="constrained")
    places = figure.subplots(height, ACROSS, squeeze=False)
    styles = {
        "next": ("#0072b2", "-", "measure_next"),
        "importance": ("#d55e00", "--", "importance order"),
        "random": ("#777777", ":", "random order"),
    }
    for axes in places.flat[len(names) :]:
        axes.set_axis_off()
    for name, axes in zip(names, places.flat, strict=False):
        curves_of = [r["unit"] for r in own if r["table"] == name]
        for policy, (colour, dash, label) in styles.items():
            mean = np.mean([each[policy]["accuracy"] for each in curves_of], axis=0)
            share, style = np.linspace(0, 1, BUDGETS), {"drawstyle": "steps-post"}
            axes.plot(share, mean, dash, color=colour, label=label, **style)
        everything = np.mean([each["next"]["accuracy"][-1] for each in curves_of])
        axes.axhline(everything, color="black", linewidth=0.6, label="everything at once")
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
        title = name.replace("_zeros_as_missing", "").replace("_", " ")
        axes.set_title(title + " (simulated)" * (name == MADE), fontsize=10)
    figure.supxlabel("cost spent, as a share of that of all columns", fontsize=9)
    figure.supylabel("accuracy on test rows", fontsize=9)
    handles, labels = places[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False, fontsize=9)
    figure.savefig(path, dpi=110)


def one_row() -> float:
    """Milliseconds of CPU for one row of adult with our blend; the median of nine."""
    X, y = load("adult")
    model, _, _ = fit("blend", X, y, np.random.default_rng(0))
    plausible = PlausibleValues(X)
    row = X.iloc[[0]].mask(np.arange(X.shape[1])[None] % 3 > 0)

    def step() -> None:
        measure_next(model, row, background=plausible)

    return 1000 * medians({"row": step}, rounds=9, warm_up=2, clock=time.process_time)["row"]


def main() -> int:
    parser = arguments(__doc__, RESULTS)
    every = (*TABLES, MADE)
    parser.add_argument("--tables", nargs="+", default=every, choices=every)
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--draw", type=Path, help="a picture of the curves")
    parser.add_argument("--docs", type=Path, help="page whose table is written anew")
    parser.add_argument("--show", action="store_true", help="run nothing")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    runs = Runs(options.json, "table model split", "scikit-learn lightgbm torch numpy")
    if options.show:
        milliseconds = runs.before["one_row_ms"] or 0.0  # None: not measured
    else:
        splits = range(FIRST_SPLIT, FIRST_SPLIT + options.splits)
        for split, kind, name in product(splits, options.models, options.tables):
            if not runs.has(name, kind, split):
                runs.add(run(name, kind, split))
        milliseconds = runs.about["one_row_ms"] = round(one_row(), 1)
        runs.write()
    if options.docs is not None:
        between_marks(options.docs, BEGIN, END, table_lines(runs))
    if options.draw is not None:
        draw(runs, options.draw)
    console = Console(width=160)
    missed = judge(runs, console)
    slow = milliseconds > ONE_ROW_MS
    console.print(f"one row: {milliseconds} ms (limit {ONE_ROW_MS:g}){'  OVER' * slow}")
    return int(missed or slow)


if __name__ == "__main__":
    sys.exit(main())
