"""How often `find_traps` cries wolf on real tables, and how often it finds traps that were planted.

Clean: real tables without the columns that their descriptions call identifiers or leaks. Real
traps: the same tables with those columns. Planted: into each clean table, one trap at a time; what
was planted is in `PLANTED`. A trap is found if an alarm of its kind names its column.

    python -m benchmarks.trap_alarms [--tables T …] [--seeds 0 1 2] [--json FILE] [--docs]
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measuring import commit, write
from imputefree.inspection import find_traps
from imputefree.lab.studies import KNOWN, Study, load

TABLES = (*KNOWN, "flights_late")
RESULTS = Path(__file__).parent / "results" / "trap_alarms.json"
PAGE = Path(__file__).parents[1] / "docs" / "check.md"
BEGIN, END = "<!-- trap_alarms -->\n", "<!-- end -->\n"
NAME = "planted"
TITLES = {
    "the answer itself": "a column that is the answer, in other words",
    "the answer, 5 % wrong": "the answer with 5 % of the rows wrong (numbers: noise of 0.1 sd)",
    "the answer, 15 % wrong": "the answer with 15 % of the rows wrong (numbers: noise of 0.3 sd)",
    "filled in afterwards": "known in 90 % of the rows of one class and in 2 % of the others",
    "only for one class": "known in 30 % of the rows of one class, never in others",
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


def alarms(X: pd.DataFrame, y: np.ndarray, test: pd.DataFrame | None = None) -> list[Any]:
    """What is found, as plain JSON."""
    task = "regression" if y.dtype.kind == "f" else "classification"
    return [trap.to_dict() for trap in find_traps(X, y, test=test, task=task)]


def look_at(name: str, seeds: list[int]) -> dict[str, Any]:
    """Alarms of one table: as it is, with its own traps, and with planted ones."""
    X, y = table(name)
    begin = time.process_time()
    run: dict[str, Any] = {"table": name, "rows": len(X), "columns": X.shape[1]}
    run["clean"] = alarms(X, y)
    run["seconds"] = round(time.process_time() - begin, 2)
    if name in KNOWN and KNOWN[name].drop:
        run["real"] = alarms(*table(name, clean=False))
    run["planted"] = {}
    for trap in TITLES:
        found = 0
        for seed in seeds:
            planted, test, labels, kind = plant(trap, X, y, seed)
            seen = alarms(planted, labels, test)
            found += any(
                alarm["kind"] in {kind, "afterwards" if kind == "answer" else kind}
                and (kind == "copies" or NAME in alarm["columns"])
                for alarm in seen
            )
        run["planted"][trap] = found
    return run


def markdown(runs: list[dict[str, Any]], seeds: int) -> str:
    """The figures as a table and a sentence."""
    tables, columns = len(runs), sum(run["columns"] for run in runs)
    false = sum(len(run["clean"]) for run in runs)
    touched = sum(bool(run["clean"]) for run in runs)
    lines = ["| planted | found |", "| --- | ---: |"]
    for trap, title in TITLES.items():
        found = sum(run["planted"][trap] for run in runs)
        lines.append(f"| {title} | {found} of {tables * seeds} |")
    said = f"On {tables} clean tables ({columns:,} columns): {false} alarms, in {touched} of them."
    return "\n".join([*lines, "", said]) + "\n"


def documented(page: str, content: dict[str, Any]) -> str:
    """The page with these figures between its marks."""
    before, _, rest = page.partition(BEGIN)
    figures = markdown(content["runs"], content["seeds"])
    return f"{before}{BEGIN}{figures}{END}{rest.partition(END)[2]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--docs", action="store_true", help="only put results into docs/check.md")
    options = parser.parse_args()
    if options.docs:
        content = json.loads(RESULTS.read_text())
        PAGE.write_text(documented(PAGE.read_text(encoding="utf-8"), content), encoding="utf-8")
        return
    runs = []
    for name in options.tables:
        runs.append(look_at(name, options.seeds))
        print(name, runs[-1]["seconds"], "s;", runs[-1]["planted"], flush=True)
        for alarm in [*runs[-1]["clean"], *runs[-1].get("real", ())]:
            print("   ", alarm["kind"], alarm["fact"])
    print(markdown(runs, len(options.seeds)))
    command = shlex.join(["python", "-m", "benchmarks.trap_alarms", *sys.argv[1:]])
    facts = {"command": command, "commit": commit(), "seeds": len(options.seeds)}
    write(options.json, "numpy lightgbm", **facts, runs=runs)


if __name__ == "__main__":
    main()
