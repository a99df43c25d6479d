"""What the runs of best_default.py say, as Markdown: for the terminal, the README and the docs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.table_methods import OURS, RIVALS
from benchmarks.table_tasks import FLIGHTS, MADE, TASKS, TWELVE, task
from imputefree.lab.runs import Record, read_results

BLEND, NETWORK, BOOSTING = "blend", "network", "LightGBM validated"
SINGLE = [name for name in TASKS if name not in TWELVE]
N_RESAMPLES = 4000


def read(path: Path) -> pd.DataFrame:
    """One row per run, of each method only the version that was run last: on the twelve tables
    together, and on each larger task.

    score : AUC, or R² for numbers; loss : log-loss, or RMSE
    """
    records = read_results(path)
    latest = {_place(record): record["version"] for record in records}
    rows = []
    for record in records:
        scores = record["scores"]
        if record["version"] == latest[_place(record)]:
            rows.append(
                {
                    "task": record["study"],
                    "part": record["split_seed"],
                    "method": record["method"],
                    "score": scores.get("auc", scores.get("r2")),
                    "loss": scores.get("log_loss", scores.get("rmse")),
                    "ece": scores.get("calibration_error", np.nan),
                    "seconds": record["cost"].get("fit_cpu_seconds", np.nan),
                }
            )
    return pd.DataFrame(rows)


def _place(record: Record) -> tuple[str, str]:
    """What must be of one version: a method on the twelve tables, or on another task."""
    return record["method"], "twelve" if record["study"] in TWELVE else record["study"]


def wide(
    runs: pd.DataFrame, value: str, tasks: Iterable[str], everywhere: bool = True
) -> pd.DataFrame:
    """Mean of a figure over parts, (methods, tasks), NaN where a part is not there.

    everywhere : without the methods that lack a task
    """
    tasks = list(tasks)
    groups = runs[runs["task"].isin(tasks)].groupby(["method", "task"])[value]
    table = groups.mean().unstack("task")
    n_parts = [task(name).n_parts for name in table]
    table = table.where(groups.count().unstack("task") == n_parts)
    order = [name for name in (*OURS, *RIVALS) if name in table.index]
    table = table.reindex(index=order, columns=tasks)
    return table.dropna() if everywhere else table.dropna(how="all")


def interval(runs: pd.DataFrame, value: str, a: str, b: str) -> tuple[float, float, float]:
    """Mean difference a - b over the tables that both have, and its 95 % interval: tables are drawn
    with replacement, and folds within each."""
    both = runs[runs["method"].isin([a, b])]
    figures = both.pivot_table(index=["task", "part"], columns="method", values=value)
    difference = (figures[a] - figures[b]).unstack("part").dropna().to_numpy()
    rng = np.random.default_rng(0)
    n_tables, n_folds = difference.shape
    tables = rng.integers(n_tables, size=(N_RESAMPLES, n_tables, 1))
    folds = rng.integers(n_folds, size=(N_RESAMPLES, n_tables, n_folds))
    drawn = difference[tables, folds].mean(axis=(1, 2))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(difference.mean()), float(low), float(high)


def ranks(scores: pd.DataFrame) -> pd.DataFrame:
    """Rank of each method on each table, 1 the best. Ours compete with the rivals one at a time."""
    rivals = [name for name in scores.index if name in RIVALS]
    ours = [name for name in scores.index if name in OURS]
    found = {name: scores.loc[[name, *rivals]].rank(ascending=False).loc[name] for name in ours}
    against = scores.loc[[*ours[:1], *rivals]].rank(ascending=False)
    return pd.DataFrame({**{name: against.loc[name] for name in rivals}, **found}).T


def markdown(rows: Iterable[Iterable[str]], titles: Iterable[str]) -> str:
    """A table; the first column is text, the others are figures."""
    titles = list(titles)
    lines = [titles, ["---", *["---:"] * (len(titles) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def name_of(method: str) -> str:
    """Ours in bold."""
    return f"**{method}**" if method in OURS else method


def twelve_tables(runs: pd.DataFrame) -> str:
    """Methods by mean score over the twelve tables, with what the first of ours gains on each."""
    runs = runs[runs["task"].isin(TWELVE)]
    scores = wide(runs, "score", TWELVE)
    if scores.empty:
        return ""
    classes = [name for name in TWELVE if runs.loc[runs["task"] == name, "ece"].notna().any()]
    log_loss, ece = (
        wide(runs, "loss", classes).mean(axis=1),
        wide(runs, "ece", classes).mean(axis=1),
    )
    rank = ranks(scores)
    ours = next((name for name in scores.index if name in OURS), None)
    titles = ["method", "mean score", "best on", "mean rank", "log-loss", "calibration error"]
    titles += [f"{ours} ahead by (95 %)"] * (ours is not None)

    def ahead(method: str) -> list[str]:
        if ours is None:
            return []
        mean, low, high = interval(runs, "score", ours, method)
        return ["" if method == ours else f"{mean:+.4f} ({low:+.4f} to {high:+.4f})"]

    rows = [
        [
            name_of(method),
            f"{scores.loc[method].mean():.4f}",
            f"{int((rank.loc[method] == 1).sum())}",
            f"{rank.loc[method].mean():.2f}",
            f"{log_loss[method]:.4f}",
            f"{ece[method]:.4f}",
            *ahead(method),
        ]
        for method in scores.mean(axis=1).sort_values(ascending=False).index
    ]
    some = wide(runs, "score", TWELVE, everywhere=False).notna().sum(axis=1).drop(scores.index)
    rows += [
        [name_of(method), f"{n} of {len(TWELVE)} tables", *[""] * 4, *ahead(str(method))]
        for method, n in some.items()
    ]
    return markdown(rows, titles)


def front_page(runs: pd.DataFrame) -> str:
    """A few columns of it for the README: the blend, and the rivals with what it gains on them, on
    the tables that they were run on."""
    runs = runs[runs["task"].isin(TWELVE) & runs["method"].isin([BLEND, *RIVALS])]
    scores = wide(runs, "score", TWELVE, everywhere=False)
    rows = []
    for method in scores.mean(axis=1, skipna=False).sort_values(ascending=False).index:
        mean, low, high = interval(runs, "score", BLEND, method)
        n, of = int(scores.loc[method].notna().sum()), len(TWELVE)
        rows.append(
            [
                "**imputefree** (default)" if method == BLEND else method,
                f"{scores.loc[method].mean():.4f}" if n == of else f"{n} of {of} tables",
                "" if method == BLEND else f"{mean:+.4f} ({low:+.4f} to {high:+.4f})",
            ]
        )
    return markdown(rows, ["method", "mean score", "we are ahead by (95 % interval)"])


def rivals_by_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Scores of the rivals on the twelve tables, also of those that lack some of them."""
    scores = wide(runs, "score", TWELVE, everywhere=False)
    return scores.loc[[name for name in scores.index if name in RIVALS]]


def table_by_table(runs: pd.DataFrame) -> str:
    """Ours, the best rival and the difference, for each of the twelve tables."""
    scores, rivals = wide(runs, "score", TWELVE), rivals_by_table(runs)
    ours = [name for name in (BLEND, NETWORK) if name in scores.index]
    if rivals.empty or rivals.isna().all().any():
        return ""
    rows = [
        [
            name,
            *(f"{scores.loc[method, name]:.4f}" for method in ours),
            f"{rivals[name].max():.4f} ({rivals[name].idxmax()})",
            *(f"{scores.loc[method, name] - rivals[name].max():+.4f}" for method in ours),
        ]
        for name in TWELVE
    ]
    titles = ["table", *ours, "best rival", *(f"{method} - best rival" for method in ours)]
    return markdown(rows, titles)


def larger_tasks(runs: pd.DataFrame, value: str, title: str, digits: int = 4) -> str:
    """One figure of every method on the larger tasks, as far as they are there."""
    table = runs[runs["task"].isin(SINGLE)].pivot_table(
        index="task", columns="method", values=value, dropna=False
    )
    tasks = [name for name in SINGLE if name in table.index]
    methods = [name for name in (*OURS, *RIVALS) if name in table.columns]
    rows = [
        [name, *("" if np.isnan(x) else f"{x:.{digits}f}" for x in table.loc[name, methods])]
        for name in tasks
    ]
    return markdown(rows, [title, *map(name_of, methods)]) if rows else ""


class Claim(NamedTuple):
    """A line that ours must reach: the figure, and its least value."""

    text: str
    figure: float
    least: float

    @property
    def reached(self) -> bool:
        return self.figure >= self.least


def claims(runs: pd.DataFrame) -> Iterator[Claim]:
    """What must show, as far as the runs are there."""
    scores, rivals = wide(runs, "score", TWELVE), rivals_by_table(runs)
    for method, least in ((BLEND, 0.880), (NETWORK, 0.876)):
        if method in scores.index:
            yield Claim(f"{method}, mean score of the twelve", scores.loc[method].mean(), least)
    if BLEND in scores.index and len(rivals):
        behind = scores.loc[BLEND] - rivals.max()
        yield Claim(f"blend - best rival, worst table ({behind.idxmin()})", behind.min(), -0.008)
        for value, text in (("loss", "log-loss"), ("ece", "calibration error")):
            small = runs[runs["task"].isin(TWELVE) & runs["ece"].notna()]
            there = wide(small, value, small["task"].unique())
            best = there.loc[[name for name in there.index if name in RIVALS]].mean(axis=1)
            _, _, high = interval(small, value, str(best.idxmin()), BLEND)
            yield Claim(f"best rival's {text} ({best.idxmin()}) - blend's, upper end", high, 0.0)
    for tasks, slack in ((("adult", *FLIGHTS), -0.003), (MADE, 0.0)):
        for name in tasks:
            table = wide(runs, "score", [name])
            for method, least in ((BLEND, 0.0), (NETWORK, slack)):
                if method in table.index and BOOSTING in table.index:
                    difference = table.loc[method, name] - table.loc[BOOSTING, name]
                    yield Claim(f"{name}: {method} - {BOOSTING}", difference, least)


def report(path: Path) -> str:
    """All of it."""
    runs = read(path)
    lines = [
        f"{claim.figure:+.4f} (at least {claim.least:+.4f}){' ' if claim.reached else ' SHORT '}"
        f"{claim.text}"
        for claim in claims(runs)
    ]
    parts = [
        twelve_tables(runs),
        table_by_table(runs),
        larger_tasks(runs, "score", "AUC"),
        larger_tasks(runs, "loss", "log-loss"),
        larger_tasks(runs, "ece", "calibration error"),
        larger_tasks(runs, "seconds", "CPU-seconds of the fit", digits=1),
        "\n".join(lines),
    ]
    return "\n\n".join(part for part in parts if part)
