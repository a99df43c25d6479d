"""The simulated cohort of `icu` as a study."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import icu
from .files import Root
from .splits import Splits
from .study import Study


def study(root: Root = None, seed: Any = 0, n_series: int = 2166) -> Study:
    """A SIMULATED septic-shock cohort: a list of n_series frames (T_i, 14), age as static.

    seed decides the cohort. root is not used: there are no files.

    >>> cohort = study(n_series=100)
    >>> cohort.simulated, cohort.kind, len(cohort.X), cohort.static.columns.tolist()
    (True, 'series', 100, ['age'])
    """
    cohort = icu.simulate(n_series, seed)
    patient = cohort.frame["patient"].to_numpy()
    begins = np.flatnonzero(np.diff(patient, prepend=-1))
    ends = np.append(begins[1:], len(patient))
    values = cohort.frame[list(icu.ATTRIBUTES)]
    hours = cohort.frame["hour"].to_numpy()
    truth = cohort.truth[list(icu.ATTRIBUTES)]
    return Study(
        "icu",
        [values.iloc[a:b].reset_index(drop=True) for a, b in zip(begins, ends, strict=True)],
        cohort.y.to_numpy(),
        citation=f"{icu.SOURCE}; in the shape of the septic-shock study on MIMIC-III",
        licence="none needed: simulated",
        simulated=True,
        static=cohort.frame[["age"]].iloc[begins].reset_index(drop=True),
        times=[hours[a:b] for a, b in zip(begins, ends, strict=True)],
        truth=[truth.iloc[a:b].reset_index(drop=True) for a, b in zip(begins, ends, strict=True)],
        splits=Splits(test=0.2, validation=0.1, balanced_test=True),
        notes=("SIMULATED: a score on it says nothing about patients.",),
    )
