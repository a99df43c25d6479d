"""MIMIC-III: does septic shock follow within 4 hours? The paper's study, on your copy of the data.

Real patients' data under an access agreement: this package contains none, and sends none anywhere.
The open demo of 100 patients has the same files. `_mimic3_cohort.py` says who is in, when shock
began and what is measured, `_mimic3_source.py` reads files and databases. The study's notes say how
many patients are left after each step; `imputefree data describe mimic3` prints them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..._progress import step_progress
from ..._rules import check_value, choice
from ...data import Splits
from ...errors import InputError, ParameterError
from ._data_files import ABOUT, SOURCES, Root, find
from ._mimic3_cohort import NAMES, Cohort, build
from ._mimic3_source import Folder, Postgres, Source
from ._study import FORMS, Study, fixed_length

__all__ = ["Cohort", "Folder", "Postgres", "build", "load", "study"]

STEPS = 5
DEFINITION = (
    "Onset: vasopressor running, latest lactate (at most 12 h old) above 2 mmol/L, MAP below 65"
    " mmHg in the last 6 h; the paper names Sepsis-3 and leaves these distances open."
)


def load(
    root: Root = None,
    *,
    dsn: str | None = None,
    schema: str = "mimiciii",
    form: str = "variable",
    seed: int = 0,
    controls_per_case: float = 1.0,
    memory_limit: str = "2GB",
    verbose: bool = False,
) -> Study:
    """The septic-shock study.

    root : folder of MIMIC-III's csv or csv.gz files, or its parent. If None: `mimic3`, or
        else `mimic3_demo`, in the folder named by IMPUTEFREE_DATA or in the user's cache
    dsn, schema : a PostgreSQL database instead
    form : "variable": a list of n frames (T_i, 14); "fixed": an array (n, 8, 14), as in the paper:
        a shorter series repeats its last row, a longer one ends after 8 rows; no times
    seed : decides which controls are drawn, and their windows
    controls_per_case : the paper has 1; the study's notes say if there are fewer
    memory_limit : how much DuckDB may hold in memory while it reads files
    verbose : show progress on a terminal

    >>> load("nowhere")
    Traceback (most recent call last):
    imputefree.errors.InputError: the folder nowhere does not exist. MIMIC-III is looked ...
    """
    check_value("form", form, choice(*FORMS))
    if dsn is not None and root is not None:
        raise ParameterError(
            "root and dsn are both set",
            "MIMIC-III is read from a folder or from a database",
            "Leave one of them out",
        )
    source: Source = Folder(_home(root), memory_limit) if dsn is None else Postgres(dsn, schema)
    with source, step_progress(verbose, STEPS, "MIMIC-III") as report:
        cohort = build(source, seed, controls_per_case, report=report)
    return study(cohort, form)


def _home(root: Root) -> Path:
    """The folder of its files: the whole data before the demo."""
    tables = [file.name for file in SOURCES["mimic3"].files]
    return find(
        "MIMIC-III",
        ["mimic3", "mimic3_demo"],
        [(name, f"{name}.gz", name.lower(), f"{name.lower()}.gz") for name in tables],
        root=root,
        remedy="Get access at physionet.org,"
        " or run `imputefree data get mimic3` for the public demo",
    )


def study(cohort: Cohort, form: str = "variable") -> Study:
    """A cohort as a study; see `load`."""
    y = cohort.patients["shock"].to_numpy()
    counts = zip(cohort.counts["step"], cohort.counts["patients"], strict=True)
    steps = "; ".join(f"{step}, {patients:,}" for step, patients in counts)
    if len(np.unique(y)) < 2:
        raise InputError(
            f"the cohort has {y.sum()} cases and {len(y) - y.sum()} controls;"
            f" patients left by step: {steps}",
            "A study needs both",
            "Check that the tables are complete",
        )
    fixed = form == "fixed"
    return Study(
        "mimic3",
        fixed_length(cohort.frames) if fixed else cohort.frames,
        y,
        **ABOUT["mimic3"],
        times=None if fixed else cohort.times,  # repeated rows have no time
        groups=cohort.patients["subject_id"].to_numpy(),
        splits=Splits(test=0.2, validation=0.1, balanced_test=True),
        notes=(f"Patients left by step: {steps}.", *cohort.notes, DEFINITION),
        columns=tuple(NAMES) if fixed else None,
    )
