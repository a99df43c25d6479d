"""The public tables in one: methods down, tables across, and each method's mean rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from ....errors import ImputefreeError
from ....metrics import HIGHER_IS_BETTER
from ...runs._results import Record
from .._result_tables import NONE, PERCENT, ResultTable
from .._stats import mean_ranks, summary
from ._comparison import compared_over
from ._html import Html
from ._page_tables import NAMES, result_figure
from ._rates import ordered

PREFIX = "table:"


def tables_together(lines: Sequence[Record], runs: pd.DataFrame) -> Iterator[Html]:
    """AUC of tables with classes, R² of those with numbers, then ours against the best rivals."""
    for metric in ("auc", "r2"):
        if metric not in runs or not runs[metric].notna().any():
            continue
        # A table belongs to the metric that any of its runs has: failed ones have none.
        has = runs.groupby("study")[metric].transform("count") > 0
        part = runs[has]
        yield result_figure(_table(part, metric), lines, NAMES[metric])
        if (over := compared_over(part, metric)) is not None:
            yield over


def _table(runs: pd.DataFrame, metric: str) -> ResultTable:
    found = summary(runs, metric)
    found["place"] = [_name(study, setting) for study, setting in _places(found)]
    means = found.pivot(index="method", columns="place", values="mean")
    spreads = found.pivot(index="method", columns="place", values="sd")
    methods = list(ordered(list(runs["method"].unique())))
    places = list(dict.fromkeys(found["place"]))
    ranks, told = _ranks(runs, metric, means)
    best = set()
    columns = []
    for at, place in enumerate(places, start=1):
        values = means[place].reindex(methods).to_numpy(dtype=float)
        sds = spreads[place].reindex(methods).to_numpy(dtype=float)
        columns.append([_cell(v, sd, metric) for v, sd in zip(values, sds, strict=True)])
        if np.isfinite(values).sum() > 1:
            top = np.nanmax(values) if metric in HIGHER_IS_BETTER else np.nanmin(values)
            best |= {(int(row), at) for row in np.flatnonzero(values == top)}
    if ranks:
        columns.append([f"{ranks[name]:.2f}" if name in ranks else NONE for name in methods])
        lowest = min(ranks.values())
        at = len(columns)
        best |= {(row, at) for row, name in enumerate(methods) if ranks.get(name) == lowest}
    head = ["method", *places, *(["mean rank"] if ranks else [])]
    unit = " In per cent." if metric in PERCENT else ""
    captions = [f"Ours: mean ± sd over runs, best in bold; – is not run or failed.{unit}", told]
    rows = [[name, *cells] for name, *cells in zip(methods, *columns, strict=True)]
    return ResultTable("Public tables", head, rows, frozenset(best), captions)


def _ranks(runs: pd.DataFrame, metric: str, means: pd.DataFrame) -> tuple[dict[str, float], str]:
    """Of the methods that finished every table: ranks among other rivals do not compare."""
    everywhere = [str(name) for name in means.index[means.notna().all(axis=1)]]
    if len(everywhere) < 2:
        return {}, "No two methods finished every table, so there are no ranks."
    try:
        found = mean_ranks(runs, metric, everywhere)
    except ImputefreeError as error:
        return {}, f"There are no ranks: {error}"
    told = f"Mean rank: 1 is the best of the {len(everywhere)} methods that finished every table."
    return dict(zip(found["method"], found["mean_rank"], strict=True)), told


def _places(found: pd.DataFrame) -> Iterator[tuple[str, str]]:
    yield from zip(found["study"].astype(str), found["setting"].astype(str), strict=True)


def _name(study: str, setting: str) -> str:
    name = study.removeprefix(PREFIX)
    return name if setting == "natural" else f"{name}, {setting}"


def _cell(value: float, sd: float, metric: str) -> str:
    if not np.isfinite(value):
        return NONE
    scale, digits = (100, 1) if metric in PERCENT else (1, 3)
    spread = f" ± {scale * sd:.{digits}f}" if np.isfinite(sd) else ""
    return f"{scale * value:.{digits}f}{spread}"
