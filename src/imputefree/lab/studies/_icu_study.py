"""The simulated cohort of `icu` as a study."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data import Splits
from ...errors import ParameterError
from . import _icu as icu
from ._data_files import Root
from ._fixed_length import FORMS, fixed_length
from ._study import Study


def study(root: Root = None, seed: Any = 0, n_series: int = 2166, form: str = "variable") -> Study:
    """A SIMULATED septic-shock cohort: a list of n_series frames (T_i, 14), age as static.

    seed decides the cohort. root is not used: there are no files. form "fixed" gives an array
    (n_series, 8, 14) instead; see `fixed_length`.

    >>> cohort = study(n_series=100)
    >>> cohort.simulated, cohort.kind, len(cohort.X), cohort.static.columns.tolist()
    (True, 'series', 100, ['age'])
    """
    if form not in FORMS:
        raise ParameterError(
            f"form is {form!r}", 'It must be "variable" or "fixed"', 'Pass form="variable"'
        )
    fixed = form == "fixed"
    cohort = icu.simulate(n_series, seed)
    patient = cohort.frame["patient"].to_numpy()
    begins = np.flatnonzero(np.diff(patient, prepend=-1))
    ends = np.append(begins[1:], len(patient))
    values = cohort.frame[list(icu.ATTRIBUTES)]
    hours = cohort.frame["hour"].to_numpy()
    truth = cohort.truth[list(icu.ATTRIBUTES)]
    frames, complete = (
        [of.iloc[a:b].reset_index(drop=True) for a, b in zip(begins, ends, strict=True)]
        for of in (values, truth)
    )
    return Study(
        "icu",
        fixed_length(frames) if fixed else frames,
        cohort.y.to_numpy(),
        citation=f"{icu.SOURCE}; in the shape of the septic-shock study on MIMIC-III",
        licence="none needed: simulated",
        simulated=True,
        static=cohort.frame[["age"]].iloc[begins].reset_index(drop=True),
        # A row repeated has no time of its own.
        times=None if fixed else [hours[a:b] for a, b in zip(begins, ends, strict=True)],
        truth=fixed_length(complete) if fixed else complete,
        splits=Splits(test=0.2, validation=0.1, balanced_test=True),
        notes=("SIMULATED: a score on it says nothing about patients.",),
        columns=tuple(icu.ATTRIBUTES) if fixed else None,
    )
