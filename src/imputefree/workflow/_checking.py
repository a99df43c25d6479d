"""Traps in a user's file, before anything is learned from it."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..data import Layout, Panel, read_panel, summarise_steps
from ..inspection import Trap, find_traps, group_traps, target_traps, telling_traps
from ..io import read_table
from ._problem import Problem

SUMMARY = re.compile(r"(?:[\w ]+? of|time since) (.+)|(.+) \(static\)")  # of which column
LASTS = (
    "Series that end with the outcome tell it by their length: predict every step (--per-step), or"
    " cut all series at the same time."
)


def check_problem(problem: Problem, other: Problem | None = None) -> list[Trap]:
    """What looks like a trap; other : the file to score on, if there is one."""
    request = problem.request
    if request.id is None:
        test = None if other is None else other.frame
        options: Any = {"groups": problem.groups, "test": test, "task": problem.task}
        traps = find_traps(problem.frame, problem.y, **options)
        traps += _left_out_groups(problem) if problem.groups is None else []
        return [_of_file(trap, problem) for trap in traps]
    layout = Layout(id=request.id, time=request.time, static=tuple(problem.statics))
    panel: Panel = read_panel(problem.frame, layout)
    if problem.steps is None:
        owners = problem.owners(np.arange(problem.n_units))
        y = pd.Series(problem.y, index=owners).loc[panel.ids].to_numpy()
        traps = _by_column(find_traps(panel, y, task=problem.task), problem)
        return traps + _series_groups(panel, problem)
    labels = problem.label_column.iloc[panel.source]
    known = np.flatnonzero(labels.notna())
    y = labels.to_numpy()[known].astype(problem.y.dtype)
    rows = summarise_steps(panel).rows(known)
    traps = _by_column(target_traps(y) + telling_traps(rows, y), problem)
    return traps + _series_groups(panel, problem)


def _series_groups(panel: Panel, problem: Problem) -> list[Trap]:
    """Static columns by which series seem to belong together, such as stays of one patient."""
    if problem.groups is not None or panel.statics is None:
        return []
    return group_traps(panel.statics)


def _of_file(trap: Trap, problem: Problem) -> Trap:
    """A trap of parts of a column, such as the days of a date, as one of the column."""
    known = {} if problem.understood is None else problem.understood.columns
    owner = {part: name for name, reading in known.items() for part in reading.parts}
    columns = dict.fromkeys(owner.get(name, name) for name in trap.columns)
    return replace(trap, columns=tuple(columns))


def _by_column(traps: list[Trap], problem: Problem) -> list[Trap]:
    """Traps of summaries as traps of the columns that they summarise, one each."""
    named: dict[tuple[str, ...], Trap] = {}
    for trap in traps:
        matches = [SUMMARY.fullmatch(name) for name in trap.columns]
        columns = tuple(match[1] or match[2] for match in matches if match)
        if columns and all(name in problem.frame for name in columns):
            trap = replace(trap, columns=columns)
        elif trap.columns:  # how long a series is
            trap = replace(trap, columns=(), remedy=LASTS)
        named.setdefault((trap.kind, *trap.columns), trap)
    return list(named.values())


def _left_out_groups(problem: Problem) -> list[Trap]:
    """Groups by columns that nothing is learned from, such as ids that are strings."""
    request, dropped = problem.request, problem.request.drop
    names = [col.name for col in problem.columns if col.left_out and col.name not in dropped]
    if not names:
        return []
    how = {"target": request.target, "keys": names, **request.marks.of_file}
    whole, _ = read_table(request.data, **how)
    return group_traps(whole, among=names)


def advised(traps: list[Trap]) -> str:
    """The options of `fit` that avoid these traps; "" if none do.

    Nothing is learned from a column that groups rows: it need not be dropped, too.

    >>> trap = Trap("afterwards", ("boat",), 1309, "", "")
    >>> advised([trap, replace(trap, columns=("body",)), Trap("groups", ("ticket",), 1309, "", "")])
    '--drop boat --drop body --group ticket'
    """
    telling = [trap for trap in traps if trap.kind in ("answer", "afterwards")]
    group = next((trap.columns[0] for trap in traps if trap.kind == "groups"), None)
    drop = [name for trap in telling for name in trap.columns if name != group]
    words = [word for name in drop for word in ("--drop", name)]
    return shlex.join(words + ["--group", str(group)] * bool(group))
