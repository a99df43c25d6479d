"""How often `find_traps` cries wolf on real tables, and how often it finds traps that were planted.

Clean: real tables without the columns that their descriptions call identifiers or leaks. Real
traps: the same tables with those columns. Planted: into each clean table, one trap at a time; what
was planted is in `TITLES`. A trap is found if an alarm of its kind names its column.

The limits of `find_traps` were chosen with these tables in view. So they are chosen again, three
times: of limits from loose to strict, the loosest with alarms in at most 1 % of the clean columns
of a random half of the tables; and alarms and finds are counted in the other half.

    python -m benchmarks.trap_alarms [--tables T …] [--seeds 0 1 2] [--json FILE] [--docs]
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measuring import arguments, with_lines, write
from imputefree.inspection import TrapLimits, find_traps
from imputefree.lab.studies import KNOWN, Study, load

TABLES = (*KNOWN, "flights_late")
RESULTS = Path(__file__).parent / "results" / "trap_alarms.json"
PAGE = Path(__file__).parents[1] / "docs" / "check.md"
BEGIN, END = "<!-- trap_alarms -->", "<!-- end -->"
NAME = "planted"
MOST_ROWS = 20_000  # of a table that traps are planted into
STEPS = (-2, -1, 0, 1, 2)  # from loose to strict; 0 is what is used
SHIFTS = {"AUC": (0.0, 0.02, 0.01, 0.03, -0.03), "R²": (0.0, 0.04, 0.02, 0.06, 0.0)}  # per step
UNLIMITED = ("copies", "copies in the test part", "groups")  # have no such limits
ALLOWED = 0.01  # alarms per clean column
TITLES = {
    "the answer itself": "a column that is the answer, in other words",
    "the answer, 5 % wrong": "the answer with 5 % of the rows wrong (numbers: noise of 0.1 sd)",
    "the answer, 15 % wrong": "the answer with 15 % of the rows wrong (numbers: noise of 0.3 sd)",
    "filled in afterwards": "known in 90 % of the rows of one class and in 2 % of the others",
    "only for one class": "known in 30 % of the rows of one class, never in others",
    "a level of one class": "a code that is 0 in half of one class and in 1 % of the others",
    "copies": "5 % of the rows are copies of others",
    "copies in the test part": "5 % of the test rows are in the training part",
    "groups": "a number per three rows, in which half of the columns are the same",
}
WRONG = {"the answer itself": 0.0, "the answer, 5 % wrong": 0.05, "the answer, 15 % wrong": 0.15}
Planted = tuple[pd.DataFrame, pd.DataFrame | None, np.ndarray, str]  # X, test, y, kind of trap


def table(name: str, clean: bool = True) -> tuple[pd.DataFrame, np.ndarray]:
    """A real table, with or without identifiers and leaks, and its target; floats are numbers."""
    if name == "flights_late":
        frame = load_file("flights_late.csv.gz")
        return frame.drop(columns="late"), frame["late"].to_numpy()
    study: Study = load(f"table:{name}")
    X, y = study.X.copy(), study.y
    if not clean and KNOWN[name].drop:
        whole = load_file(f"{name}.csv")
        whole = whole[whole[KNOWN[name].target].notna()].reset_index(drop=True)
        X = X.assign(**{column: whole[column] for column in KNOWN[name].drop})
    return X, y


def load_file(name: str) -> pd.DataFrame:
    """A file of the folder `tabular`."""
    path = Path(os.environ["IMPUTEFREE_DATA"]) / "tabular" / name
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def noisy(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """The target with a share of wrong values; numbers with noise of twice that share in sd."""
    if y.dtype.kind == "f":
        return y * 3.0 + 7.0 + 3.0 * rng.normal(0, 2 * share * y.std(), len(y))
    wrong = rng.random(len(y)) < share
    names = np.unique(y)
    other = names[(np.searchsorted(names, y) + 1) % len(names)]
    return np.array([f"code {label}" for label in np.where(wrong, other, y)], dtype=object)


def one_class(y: np.ndarray) -> np.ndarray:
    """Whether each row has the second most frequent class, or a number in the upper third."""
    if y.dtype.kind == "f":
        return y > np.quantile(y, 2 / 3)
    names, counts = np.unique(y, return_counts=True)
    return y == names[np.argsort(-counts)[1]]


def plant(trap: str, X: pd.DataFrame, y: np.ndarray, seed: int) -> Planted:
    """A table with a trap in it."""
    rng, n = np.random.default_rng(seed), len(X)
    if trap.startswith("the answer"):
        return X.assign(planted=noisy(y, WRONG[trap], rng)), None, y, "answer"
    if trap in ("filled in afterwards", "only for one class"):
        often, rarely = (0.9, 0.02) if trap == "filled in afterwards" else (0.3, 0.0)
        share = np.where(one_class(y), often, rarely)
        values = np.where(rng.random(n) < share, rng.normal(size=n), np.nan)
        return X.assign(planted=values), None, y, "afterwards"
    if trap == "a level of one class":
        zero = rng.random(n) < np.where(one_class(y), 0.5, 0.01)
        return X.assign(planted=np.where(zero, 0, rng.integers(1, 20, n))), None, y, "answer"
    if trap == "copies":
        rows = np.concatenate([np.arange(n), rng.choice(n, max(n // 20, 3), replace=False)])
        rows = rng.permutation(rows)
        return X.iloc[rows].reset_index(drop=True), None, y[rows], "copies"
    if trap == "copies in the test part":
        rows = rng.permutation(n)
        train, test = rows[: n * 7 // 10], rows[n * 7 // 10 :]
        test = np.concatenate([test, rng.choice(train, max(len(test) // 20, 3), replace=False)])
        parts = (X.iloc[part].reset_index(drop=True) for part in (train, test))
        return *parts, y[train], "copies"
    who = np.arange(n) // 3
    static = rng.permutation(X.shape[1])[: X.shape[1] // 2]
    rows, first = rng.permutation(n), rng.permutation(n)
    grown = X.iloc[rows].reset_index(drop=True)
    for j in static:  # all rows of a group have the value of its first row
        grown.isetitem(j, X.iloc[first[who * 3], j].to_numpy())
    return grown.assign(planted=1000 + 7 * who), None, y[rows], "groups"


def alarms(
    X: pd.DataFrame, y: np.ndarray, test: pd.DataFrame | None = None, step: int = 0
) -> list[Any]:
    """What is found with limits of this step, as plain JSON."""
    metric, task = ("R²", "regression") if y.dtype.kind == "f" else ("AUC", "classification")
    pairs = zip(TrapLimits.of(metric), SHIFTS[metric], strict=True)
    limits = TrapLimits(*(limit + step * shift for limit, shift in pairs))
    return [trap.to_dict() for trap in find_traps(X, y, test=test, task=task, limits=limits)]


def look_at(name: str) -> dict[str, Any]:
    """Alarms of one table: as it is, with limits of every step, and with its own traps."""
    X, y = table(name)
    begin = time.process_time()
    run: dict[str, Any] = {"table": name, "rows": len(X), "columns": X.shape[1]}
    run["clean"] = alarms(X, y)
    run["seconds"] = round(time.process_time() - begin, 2)
    run["by_step"] = {str(step): len(alarms(X, y, step=step)) for step in STEPS}
    if name in KNOWN and KNOWN[name].drop:
        run["real"] = alarms(*table(name, clean=False))
    run["planted"] = {}
    return run


def plant_into(name: str, seeds: list[int], step: int, before: dict[str, int]) -> dict[str, int]:
    """How many of the traps that are planted into a table are found; before : with other limits."""
    X, y = table(name)
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_ROWS])
    X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    steady = {trap: found for trap, found in before.items() if trap in UNLIMITED}
    return {
        trap: sum(is_found(trap, X, y, seed, step) for seed in seeds)
        for trap in TITLES
        if trap not in steady
    } | steady


def is_found(trap: str, X: pd.DataFrame, y: np.ndarray, seed: int, step: int) -> bool:
    """Whether a trap that is planted with this seed is found."""
    planted, test, labels, kind = plant(trap, X, y, seed)
    kinds = {"answer", "afterwards"} if kind == "answer" else {kind}
    return any(
        alarm["kind"] in kinds and (kind == "copies" or NAME in alarm["columns"])
        for alarm in alarms(planted, labels, test, step)
    )


def loosest(runs: list[dict[str, Any]]) -> int:
    """The loosest step with alarms in few enough of the columns of these tables."""
    allowed = ALLOWED * sum(run["columns"] for run in runs)
    fitting = [s for s in STEPS if sum(run["by_step"][str(s)] for run in runs) <= allowed]
    return min(fitting, default=STEPS[-1])


def left_out_alarms(runs: list[dict[str, Any]]) -> int:
    """Alarms of each table with limits that are chosen on all others."""
    return sum(
        run["by_step"][str(loosest([other for other in runs if other is not run]))] for run in runs
    )


def chosen_on_half(runs: list[dict[str, Any]], seeds: list[int], seed: int) -> dict[str, Any]:
    """Limits chosen on a random half of the tables, and what they do on the other half."""
    order = np.random.default_rng(seed).permutation(len(runs))
    chosen_on, others = ([runs[i] for i in part] for part in np.array_split(order, 2))
    step = loosest(chosen_on)
    for run in others:
        if step not in run["planted"]:
            before = run["planted"][0]
            run["planted"][step] = plant_into(run["table"], seeds, step, before)
    return {
        "seed": seed,
        "step": step,
        "chosen_on": sorted(run["table"] for run in chosen_on),
        "tables": len(others),
        "columns": sum(run["columns"] for run in others),
        "alarms": sum(run["by_step"][str(step)] for run in others),
        "planted": {trap: sum(run["planted"][step][trap] for run in others) for trap in TITLES},
    }


def markdown(runs: list[dict[str, Any]], halves: list[dict[str, Any]], seeds: int) -> str:
    """The figures as a table and a sentence."""
    tables, columns = len(runs), sum(run["columns"] for run in runs)
    false = sum(len(run["clean"]) for run in runs)
    touched = sum(bool(run["clean"]) for run in runs)
    lines = ["| planted | found | in the other half |", "| --- | ---: | ---: |"]
    tried = sum(half["tables"] for half in halves) * seeds
    for trap, title in TITLES.items():
        found = sum(run["found"][trap] for run in runs)
        new = sum(half["planted"][trap] for half in halves)
        lines.append(f"| {title} | {found} of {tables * seeds} | {new} of {tried} |")
    said = f"On {tables} clean tables ({columns:,} columns): {false} alarms, in {touched} of them."
    words = [
        f"{half['alarms']} alarms in {half['columns']:,} columns"
        f" ({half['alarms'] / half['columns']:.1%})"
        for half in halves
    ]
    other = f"In the half that limits were not chosen on, by seed: {'; '.join(words)}."
    left = left_out_alarms(runs)
    share = f"{left} alarms ({left / columns:.1%})"
    each = f"With limits chosen on all tables but one, on that one: {share}."
    return "\n".join([*lines, "", said, other, each]) + "\n"


def documented(page: str, content: dict[str, Any]) -> str:
    """The page with these figures between its marks."""
    figures = markdown(content["runs"], content["halves"], content["seeds"])
    return with_lines(page, BEGIN, END, figures.splitlines())


def main() -> None:
    parser = arguments(__doc__, RESULTS)
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--docs", action="store_true", help="only put results into docs/check.md")
    options = parser.parse_args()
    if options.docs:
        content = json.loads(RESULTS.read_text())
        PAGE.write_text(documented(PAGE.read_text(encoding="utf-8"), content), encoding="utf-8")
        return
    runs = []
    for name in options.tables:
        runs.append(look_at(name))
        runs[-1]["planted"][0] = plant_into(name, options.seeds, 0, {})
        runs[-1]["found"] = runs[-1]["planted"][0]
        print(name, runs[-1]["seconds"], "s;", runs[-1]["found"], flush=True)
        for alarm in [*runs[-1]["clean"], *runs[-1].get("real", ())]:
            print("   ", alarm["kind"], alarm["fact"])
    halves = []
    if len(runs) > 1:
        halves = [chosen_on_half(runs, options.seeds, seed) for seed in options.seeds]
    print(markdown(runs, halves, len(options.seeds)))
    seeds = len(options.seeds)
    write(options.json, "numpy lightgbm", seeds=seeds, halves=halves, runs=runs)


if __name__ == "__main__":
    main()
