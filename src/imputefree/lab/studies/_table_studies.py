"""Real tables with natural gaps, and any CSV file of your own.

The named tables are CSV files in a folder `tabular`; identifiers and columns that give the target
away are left out. They come from the sources named below, mostly the UCI Machine Learning
Repository, and have no one public address in this form, so `imputefree data get` has none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...data import Splits, counted, shorten
from ...errors import InputError, ParameterError
from ...io import TASKS, need_columns, read_csv, read_label_column, words_as_gaps
from ._data_files import Root, find
from ._study import Study

UCI = "UCI Machine Learning Repository, data set {}"


class Known(NamedTuple):
    """What is known of a table beforehand."""

    target: str
    rows: tuple[int, ...]  # of each file
    source: str
    drop: tuple[str, ...] = ()
    task: str = "classification"
    licence: str = "CC BY 4.0"
    test: str = ""  # a second file that is the test part
    none: tuple[str, ...] = ()  # columns where an empty cell means that there is none
    note: str = ""


KNOWN = {
    "horse_colic_uci": Known(
        "surgical_lesion",
        (300,),
        UCI.format(47),
        ("hospital_number", "outcome", "lesion_1", "lesion_2", "lesion_3", "cp_data"),
    ),
    "hepatitis": Known("Class", (155,), UCI.format(46)),
    "mammographic_masses": Known("severity", (961,), UCI.format(161)),
    "pima_zeros_as_missing": Known(
        "class",
        (768,),
        "Smith et al. 1988, Pima Indians Diabetes (NIDDK)",
        licence="see its source",
        note="Zeros that cannot be measurements were made gaps.",
    ),
    "credit_approval": Known("class", (690,), UCI.format(27)),
    "titanic3": Known(
        "survived",
        (1309,),
        "Vanderbilt Biostatistics, titanic3",
        ("name", "ticket", "cabin", "boat", "body", "home.dest"),
        licence="see its source",
    ),
    "framingham_chd": Known(
        "TenYearCHD",
        (4240,),
        "Framingham Heart Study, teaching data",
        licence="see its source",
    ),
    "congress_vote": Known("Class", (435,), UCI.format(105)),
    "chronic_kidney_disease": Known(
        "class", (400,), UCI.format(336), note="It is nearly separable."
    ),
    "soybean": Known("class", (683,), UCI.format(90)),
    "anneal": Known("class", (898,), UCI.format(3)),
    "arrhythmia": Known("class", (452,), UCI.format(5)),
    "labor": Known("class", (57,), UCI.format(57), note="It has 57 rows only."),
    "adult": Known("income", (32561, 16281), UCI.format(2), test="adult_test"),
    "communities_crime": Known(
        "ViolentCrimesPerPop",
        (1994,),
        UCI.format(183),
        ("state", "county", "community", "communityname", "fold"),
        "regression",
    ),
    "ames_housing": Known(
        "SalePrice",
        (2930,),
        "De Cock 2011, Ames, Iowa: Alternative to the Boston Housing Data",
        ("Order", "PID"),
        "regression",
        "see its source",
        none=(
            *("Alley", "Bsmt Qual", "Bsmt Cond", "Bsmt Exposure", "BsmtFin Type 1"),
            *("BsmtFin Type 2", "Fireplace Qu", "Garage Type", "Garage Finish", "Garage Qual"),
            *("Garage Cond", "Pool QC", "Fence", "Misc Feature"),
        ),
        note="In 14 columns an empty cell means 'none' (no alley, no pool) and is no gap.",
    ),
}


def study(
    name: str,
    root: Root = None,
    target: str | None = None,
    drop: Sequence[str] = (),
    task: str | None = None,
) -> Study:
    """A table as a study: X a frame (n, d) with gaps, y (n,) classes or numbers.

    Parameters
    ----------
    name : one of `KNOWN`, or the path of a CSV file
    root : the folder with the known tables, or the one above
    target : the column to predict; the known tables know theirs. A file without one gets a constant
    drop : columns to leave out: identifiers, and what would give the target away
    task : "classification" or "regression"; by default texts and up to 20 whole numbers are classes
    """
    if task not in (None, *TASKS):
        raise ParameterError(
            f"task is {task!r}", f"It must be {TASKS[0]!r} or {TASKS[1]!r}", "Pass one, or none"
        )
    if isinstance(drop, str):
        raise ParameterError(
            f"drop is the text {drop!r}",
            "It must be a list of column names",
            f"Pass drop=[{drop!r}]",
        )
    if name in KNOWN:
        return _known(name, root, target, tuple(drop), task)
    if not Path(name).is_file() and not Path(name).suffix:
        raise ParameterError(
            f"there is no table {name!r}",
            f"Known tables are {shorten(list(KNOWN), limit=20)}",
            "Name one of them, or the path of a CSV file",
        )
    path = Path(name)
    frame, words = words_as_gaps(read_csv(path))
    frame, notes = _labelled(frame, target, tuple(drop), path)
    y = (
        np.zeros(len(frame), int)
        if target is None
        else read_label_column(frame.pop(target), task, path)
    )
    need_inputs(frame, path)
    return Study(
        f"table:{path.name}",
        frame.reset_index(drop=True),
        y,
        citation=f"a file of your own, {path.name}",
        licence="yours to know",
        simulated=False,
        notes=(*notes, *words),
    )


def _known(
    name: str, root: Root, target: str | None, drop: tuple[str, ...], task: str | None
) -> Study:
    about = KNOWN[name]
    files = [f"{name}_train.csv", f"{about.test}.csv"] if about.test else [f"{name}.csv"]
    home = find(
        f"the table {name!r}",
        "tabular",
        [(file,) for file in files],
        root=root,
        how=f"Save it as CSV with its column names, target {about.target!r}, from {about.source}",
    )
    frames = [read_csv(home / file) for file in files]
    first = len(frames[0])
    for file, one, rows in zip(files, frames, about.rows, strict=True):
        if len(one) != rows:
            raise InputError(
                f"{home / file} has {len(one):,} rows",
                f"The table {name!r} has {rows:,}",
                "Replace the file, or read another table as a file of your own, table:FILE.csv",
            )
    target, task = target or about.target, task or (None if target else about.task)
    left_out = tuple(one for one in about.drop if one != target) + drop
    frame, notes = _labelled(pd.concat(frames, ignore_index=True), target, left_out, home)
    if about.none:
        own = [column for column in about.none if column in frame]
        frame[own] = frame[own].fillna("none")
    if name == "adult" and target == about.target:  # the test file ends its labels with a full stop
        frame[target] = frame[target].str.rstrip(".")
    y = read_label_column(frame.pop(target), task, home / files[0])
    test_rows = np.flatnonzero(frame.index >= first) if about.test else None
    return Study(
        f"table:{name}",
        frame.reset_index(drop=True),
        y,
        citation=about.source,
        licence=about.licence,
        simulated=False,
        splits=Splits(test_rows=test_rows),
        notes=(*((about.note,) if about.note else ()), *notes),
    )


def _labelled(
    frame: pd.DataFrame, target: str | None, drop: tuple[str, ...], path: Path
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Without the columns to drop and rows that have no label; and what a reader should know."""
    need_columns(frame, [] if target is None else [target], path, drop)
    frame = frame.drop(columns=list(drop))
    if target is None:
        return frame, ("No target was named: y is constant.",)
    known = frame[target].notna()
    if not known.any():
        raise InputError(
            f"the target {target!r} of {path} is empty in all rows",
            "There must be something to predict",
            "Name another column as target",
        )
    if known.all():
        return frame, ()
    lost = counted(int((~known).sum()), "row")
    return frame[known], (f"{lost} without a label left out.",)


def need_inputs(frame: pd.DataFrame, path: Path) -> None:
    if frame.shape[1] == 0:
        raise InputError(
            f"{path} has no column beside the target",
            "There must be at least one column to learn from",
            "Name fewer columns to drop, or check the file's separator: it must be a comma",
        )
