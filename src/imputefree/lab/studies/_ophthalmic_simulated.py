"""A SIMULATED cohort in the shape of the paper's ophthalmic study. Not patient data.

The paper tells diabetic retinopathy from two image feature vectors of 2,048 and five columns of a
record, 1,148 subjects, 17 % of the entries missing (an image counts as one entry). Those data are
not public; these have the same shape, and no value of them was ever measured on anybody.

How values come about. A latent severity decides, with some noise, who is ill (45 %). Each image
shows it blurred, and the blur of one is not that of the other, so two images say more than one.
Features are like those that a convolutional network pools: none negative, more than half of them
zero, driven by 24 factors an image that have nothing to do with the disease; 15 % of them also
follow the severity. Age, years of diabetes, A1C and insulin follow it weakly, sex not at all.

How gaps come about: 12 % of the record completely at random (MCAR); then 59 % of the subjects lose
one image, never both, by what is seen of their record (MAR): the shorter the diabetes and the lower
A1C, the likelier; the younger, the likelier it is the OCT. Counts are exact, so 17.0 % are missing.

How hard it is. AUC, 5-fold cross-validation (stratified, shuffled by the seed); logistic regression
sees zeros for gaps, LightGBM sees the gaps:

    seed                                                       0      1      2
    mask only, the 7 entries: logistic regression            0.567  0.546  0.599
    the record alone, without gaps: logistic regression      0.711  0.667  0.744
    all, without gaps: logistic regression (C = 0.001)       0.907  0.905  0.926
                       LightGBM (100 trees of 7 leaves)      0.907  0.901  0.926
    with its gaps, 17 %: logistic regression                 0.892  0.883  0.905
                         LightGBM                            0.892  0.880  0.906
    raised to 35 % (mask seed 0): logistic regression        0.859  0.843  0.865
                                  LightGBM                   0.853  0.844  0.881

Difficulty was set looking at these seeds, for about the figures that the paper has (0.85 to 0.92).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data import Splits
from ...errors import ParameterError
from ._data_files import Root
from ._ophthalmic import EHR, VECTOR, as_study
from ._study import Study

SOURCE = "simulated by imputefree.lab.studies._ophthalmic_simulated, not patient data"
SUBJECTS = 1148
ILL = 0.45  # share of subjects
GAPS = 0.17  # share of the 7 entries of a subject: two images, five columns of the record
RECORD_GAPS = 0.12  # share of the record's entries; the other gaps are images
BLUR = 0.5  # standard deviation of what an image shows of the severity, itself of deviation 1
NUISANCE = 24  # factors of an image that have nothing to do with the disease
TELLING = 0.15  # share of an image's features that follow the severity


@dataclass(frozen=True, eq=False)
class SimulatedEyes:
    """SIMULATED. X (1148, 4101) float32 with NaN in gaps, truth the same without, y 0 or 1."""

    X: np.ndarray
    truth: np.ndarray
    y: np.ndarray
    source: str = SOURCE


def study(root: Root = None, seed: int = 0, rate: float | None = None, mask_seed: int = 0) -> Study:
    """The SIMULATED cohort as a study; 9:1 split, as many ill as well in the test part.

    Parameters
    ----------
    root : not used, there are no files
    seed : which cohort
    rate : share of missing entries to raise 0.17 to, such as 0.25 or 0.35; None leaves it
    mask_seed : which entries go for that
    """
    cohort = simulate(seed)
    return as_study(
        "ophthalmic-simulated",
        cohort.X,
        cohort.y,
        rate,
        mask_seed,
        notes=("SIMULATED: a score on it says nothing about patients.",),
        citation=f"{SOURCE}; in the shape of the study of Gao et al. 2022",
        licence="none needed: simulated",
        simulated=True,
        truth=cohort.truth,
        splits=Splits(test=0.1, validation=0.1, balanced_test=True),
    )


def simulate(random_state: int = 0) -> SimulatedEyes:
    """A new SIMULATED cohort; the same whole number gives the same one.

    >>> cohort = simulate(0)
    >>> cohort.X.shape, float(cohort.y.mean().round(3)), cohort.source
    ((1148, 4101), 0.45, 'simulated by ...')
    """
    number = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if not number or random_state < 0:
        raise ParameterError(
            f"the seed is {random_state!r}", "It must be a whole number, at least 0", "Pass 0, 1, …"
        )
    rng = np.random.default_rng(random_state)
    severity = rng.normal(size=SUBJECTS)
    liability = severity + 0.35 * rng.normal(size=SUBJECTS)
    y = (liability > np.quantile(liability, 1 - ILL)).astype(np.int64)
    record = _record(severity, rng)
    truth = np.concatenate([_image(severity, rng), _image(severity, rng), record], axis=1)
    truth = truth.astype(np.float32)
    return SimulatedEyes(_with_gaps(truth, rng), truth, y)


def _record(severity: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Age, sex, years of diabetes, A1C and insulin, (n, 5)."""
    n = len(severity)
    age = np.clip(rng.normal(60 + 2 * severity, 12), 18, 95).round()
    sex = rng.random(n) < 0.5
    years = np.clip(rng.gamma(2, 5, n) * np.exp(0.3 * severity), 0, age - 10).round()
    a1c = np.clip(rng.normal(7.3 + 0.4 * severity, 1.4), 4, 15).round()
    insulin = rng.random(n) < 1 / (1 + np.exp(0.6 - 0.5 * severity - 0.03 * years))
    return np.column_stack([age, sex, years, a1c, insulin])


def _image(severity: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Features as a convolutional network pools them, (n, 2048): none negative, many zero."""
    n = len(severity)
    shown = severity + BLUR * rng.normal(size=n)
    factors = rng.normal(size=(n, NUISANCE))
    loads = rng.normal(size=(NUISANCE, VECTOR)) / np.sqrt(NUISANCE)
    telling = (rng.random(VECTOR) < TELLING) * rng.normal(0, 0.5, VECTOR)
    base = rng.normal(-0.2, 0.5, VECTOR)
    z = base + factors @ loads + shown[:, None] * telling + 0.7 * rng.normal(size=(n, VECTOR))
    return 0.5 * np.maximum(z, 0)


def _with_gaps(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A copy with gaps: the record first, since what is seen of it decides about images."""
    X = truth.copy()
    record = X[:, 2 * VECTOR :]  # a view
    gaps = round(RECORD_GAPS * record.size)
    record[np.unravel_index(rng.permutation(record.size)[:gaps], record.shape)] = np.nan

    def seen(column: str) -> np.ndarray:
        values = record[:, EHR.index(column)]
        return np.nan_to_num((values - np.nanmean(values)) / np.nanstd(values))

    # The highest of logit + logistic noise go: a logistic model with an exact count.
    wish = -seen("years_of_diabetes") - 0.5 * seen("a1c") + rng.logistic(size=len(X))
    lost = np.argsort(-wish)[: round(GAPS * (2 + len(EHR)) * len(X)) - gaps]
    oct_lost = 0.8 * seen("age")[lost] + rng.logistic(size=len(lost)) < 0
    X[lost[oct_lost], :VECTOR] = np.nan
    X[lost[~oct_lost], VECTOR : 2 * VECTOR] = np.nan
    return X
