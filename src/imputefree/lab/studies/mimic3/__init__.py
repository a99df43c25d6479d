"""MIMIC-III: does septic shock follow within 4 hours? The paper's study, from files of your own.

Real patients' data under an access agreement: this package brings none, and sends none anywhere.
The open demo of 100 patients has the same files. cohort.py says who is in, onset.py when shock
began, items.py what is measured.
"""

from __future__ import annotations

import os

import numpy as np

from ...._progress import step_progress
from ....data import Splits
from ....errors import InputError, ParameterError
from .._fixed_length import FORMS, fixed_length
from .._mimic3_files import home
from .._study import Study
from ._mimic3_cohort import Cohort, build, check
from ._mimic3_folder import Folder
from ._mimic3_items import ATTRIBUTES, NAMES
from ._mimic3_postgres import Postgres
from ._mimic3_source import Source

__all__ = ["ATTRIBUTES", "Cohort", "Folder", "Postgres", "build", "load", "open_source"]

STEPS = 5
CITATION = (
    "Johnson et al., MIMIC-III, a freely accessible critical care database, Scientific Data 2016;"
    " cohort after Gao et al., Gradient Importance Learning for Incomplete Observations, ICLR 2022,"
    " Appendix D.1"
)
LICENCE = (
    "PhysioNet Credentialed Health Data License 1.5.0 (the demo: ODbL 1.0); no data in this package"
)
DEFINITION = (
    "Onset: vasopressor running, latest lactate (at most 12 h old) above 2 mmol/L, MAP below 65"
    " mmHg in the last 6 h; the paper names Sepsis-3 and leaves these distances open."
)


def load(
    root: str | os.PathLike[str] | None = None,
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

    root : folder of MIMIC-III's csv or csv.gz files, or the one above it. If None: `mimic3`, or
        else `mimic3_demo`, in the folder named by IMPUTEFREE_DATA or in the user's cache
    dsn, schema : a PostgreSQL database instead
    form : "variable": a list of n frames (T_i, 14), as long as they are; "fixed": an array
        (n, 8, 14): a shorter series is padded by its last row again and again, a longer one ends
        after 8 rows, as in the paper; no times
    seed : decides which controls are drawn, and their windows
    controls_per_case : the paper has 1; the study's notes say where there are fewer
    memory_limit : what DuckDB may hold in memory when it reads files
    verbose : show the steps on a terminal

    >>> load("nowhere")
    Traceback (most recent call last):
    imputefree.errors.InputError: the folder nowhere does not exist. MIMIC-III is looked ...
    """
    if form not in FORMS:
        raise ParameterError(
            f"form is {form!r}", 'It must be "variable" or "fixed"', 'Pass form="variable"'
        )
    check(seed=seed, controls_per_case=controls_per_case)  # before files are looked for
    with (
        open_source(root, dsn=dsn, schema=schema, memory_limit=memory_limit) as source,
        step_progress(verbose, STEPS, "MIMIC-III") as report,
    ):
        cohort = build(source, seed, controls_per_case, report=report)
    return study(cohort, form)


def open_source(
    root: str | os.PathLike[str] | None = None,
    *,
    dsn: str | None = None,
    schema: str = "mimiciii",
    memory_limit: str = "2GB",
) -> Source:
    """A folder of files, or a database."""
    if dsn is None:
        return Folder(home(root), memory_limit)
    if root is not None:
        raise ParameterError(
            "root and dsn are both given",
            "MIMIC-III is read from a folder or from a database",
            "Leave one of them out",
        )
    return Postgres(dsn, schema)


def study(cohort: Cohort, form: str = "variable") -> Study:
    """A cohort as a study; see `load`."""
    y = cohort.patients["shock"].to_numpy()
    if len(np.unique(y)) < 2:
        raise InputError(
            f"the cohort has {y.sum()} cases and {len(y) - y.sum()} controls;"
            f" patients left by step: {_steps(cohort)}",
            "A study needs both",
            "Check that the tables are complete",
        )
    fixed = form == "fixed"
    return Study(
        "mimic3",
        fixed_length(cohort.frames) if fixed else cohort.frames,
        y,
        citation=CITATION,
        licence=LICENCE,
        simulated=False,
        times=None if fixed else cohort.times,  # a row repeated has no time of its own
        groups=cohort.patients["subject_id"].to_numpy(),
        splits=Splits(test=0.2, validation=0.1, balanced_test=True),
        notes=(f"Patients left by step: {_steps(cohort)}.", *cohort.notes, DEFINITION),
        columns=tuple(NAMES) if fixed else None,
    )


def _steps(cohort: Cohort) -> str:
    steps = zip(cohort.counts["step"], cohort.counts["patients"], strict=True)
    return "; ".join(f"{step}, {patients:,}" for step, patients in steps)
