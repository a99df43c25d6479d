"""Results on a terminal: the paper's tables, what failed and why."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd
from rich.console import Console

from ..data import counted
from ..lab.report import SCORES, correlation_table, frame_of, has, results_table, what_was_cut
from ..lab.runs import PLANS, Record

ERROR = "imputation_error"
FEWEST = 3  # points of a correlation
WIDE = 200  # columns where no terminal says how many
MOST = 10  # lines of failures


def console() -> Console:
    """For stdout. A file has no width: there lines are as long as a table needs."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if known else WIDE)


def show_tables(
    records: Sequence[Record],
    to: Console,
    metrics: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
) -> None:
    """A table for each study, and that of imputation error where truth is known.

    metrics, methods : columns and rows, in this order; None: those of the study's plan, and all
    """
    runs = frame_of(records)
    for study in runs["study"].unique():
        own = runs[runs["study"] == study]
        cut = what_was_cut([record for record in records if record["study"] == study])
        shown = _metrics(own, metrics or _planned(study))
        # Where all runs failed there is no column.
        own = own.assign(**{name: np.nan for name in shown if name not in own})
        there = set(own["method"])
        rows = None if methods is None else [name for name in methods if name in there]
        to.print(results_table(own, study, shown, methods=rows, cut=cut).rich())
        score = next((name for name in SCORES if has(own, name)), None)
        if score is not None and has(own, ERROR):
            imputed = own[own[ERROR].notna()]
            if imputed.groupby("setting").size().max() >= FEWEST:
                to.print(correlation_table(imputed, error=ERROR, score=score, cut=cut).rich())


def failures(records: Sequence[Record]) -> list[str]:
    """Lines that say how many runs failed, and why; none if none did.

    >>> failed = {"study": "icu", "method": "gil", "status": "failed", "error": "no memory"}
    >>> failures([failed, failed, {"status": "done"}])
    ['2 of 3 runs failed:', '  icu gil, 2 times: no memory']
    """
    lost = [record for record in records if record["status"] != "done"]
    if not lost:
        return []
    why = Counter((one["study"], one["method"], one.get("error", "unknown")) for one in lost)
    lines = [
        f"  {study} {method}{f', {times} times' if times > 1 else ''}: {error}"
        for (study, method, error), times in why.most_common()
    ]
    if len(lines) > MOST:
        lines[MOST:] = [f"  and {counted(len(lines) - MOST, 'other failure')}"]
    return [f"{len(lost)} of {counted(len(records), 'run')} failed:", *lines]


def _planned(study: str) -> Sequence[str]:
    name = "tables" if study.startswith("table:") else study
    return PLANS[name].metrics if name in PLANS else SCORES[:2]


def _metrics(runs: pd.DataFrame, wanted: Sequence[str]) -> list[str]:
    """Those wanted that some run has; a table of numbers to predict has others."""
    known = [name for name in wanted if has(runs, name)]
    return known or [name for name in SCORES if has(runs, name)] or list(wanted)
