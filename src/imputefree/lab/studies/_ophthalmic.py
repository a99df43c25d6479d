"""The paper's ophthalmic study (Appendix D.2): diabetic retinopathy from two images and a record.

A subject is 4,101 numbers: 2,048 features of an OCT image, 2,048 of a fundus photograph (CFP), and
age, sex, years of diabetes, A1C and insulin use. An image is seen or missing as a whole, so rates
count 7 entries per subject: two vectors and five columns.

The data are not public. Those who have them from the authors put four matrices into a folder
`ophthalmic`: train_x, train_y, test_x and test_y, or under the authors' names
{normal,abnormal}_{train,test}_all_35_missing, where the name gives the label and gaps are already
at 35 %. As .txt or .csv, gzipped or not; one line per subject, columns separated by blanks or
commas, NaN for gaps, no header.

For everybody else there is `ophthalmic-simulated`, a SIMULATED cohort of the same shape: 1,148
subjects, 17 % of the entries missing. Not patient data: no value of it was ever measured.

How values are generated. A latent severity decides, with some noise, who is ill (45 %). Each image
shows it with an independent error, so two images are better than one.
Features are like those pooled by a convolutional network: none negative, more than half of them
zero, driven by 24 factors per image that have nothing to do with the disease; 15 % of them also
follow the severity. Age, years of diabetes, A1C and insulin follow it weakly, sex not at all.

How gaps are generated: 12 % of the record completely at random (MCAR); then 59 % of the subjects
lose one image, never both, depending on what is seen of their record (MAR): the shorter the
diabetes and the lower A1C, the likelier; the younger, the likelier it is the OCT. Counts are exact.

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

The difficulty was tuned on these seeds, to about the figures of the paper (0.85 to 0.92).
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..._rules import check_value, whole
from ...data import Splits
from ...errors import InputError, ParameterError
from ._data_files import ABOUT, Layout, Root, find
from ._study import Study

VECTOR = 2048
EHR = ("age", "sex", "years_of_diabetes", "a1c", "insulin")
WIDTH = 2 * VECTOR + len(EHR)
ENDINGS = (".txt", ".csv", ".txt.gz", ".csv.gz")
PARTS = ("train_x", "train_y", "test_x", "test_y")
# The authors' files: label 0, then 1, of the training part; the same of the test part.
THEIR_PARTS = tuple(
    f"{label}_{part}_all_35_missing"
    for part in ("train", "test")
    for label in ("normal", "abnormal")
)
RULE = (
    f"X is a text matrix of {WIDTH:,} columns ({VECTOR:,} OCT, {VECTOR:,} CFP, {', '.join(EHR)}), a"
    " line per subject, NaN for gaps; y is 0 or 1"
)
REPAIR = "Correct or replace the file"
NEAR = 0.005  # a rate this close to the natural one adds no gaps

# The simulated cohort
SUBJECTS = 1148
ILL = 0.45  # share of subjects
GAPS = 0.17  # share of the 7 entries per subject: two images, five columns of the record
RECORD_GAPS = 0.12  # share of the record's entries; the other gaps are images
BLUR = 0.5  # standard deviation of an image's error about the severity, whose own is 1
NUISANCE = 24  # factors of an image that have nothing to do with the disease
INFORMATIVE = 0.15  # share of an image's features that follow the severity


def study(root: Root = None, rate: float | None = None, mask_seed: int = 0) -> Study:
    """The real study, from files: X (n, 4101) float32 with NaN, y 0 or 1, the authors' test rows.

    Parameters
    ----------
    root : the folder with the four matrices, or its parent
    rate : share of missing entries (7 per subject) to raise the natural one to, such as 0.25 or
        0.35; None or the natural rate (0.17 in the paper) leaves the data as they are
    mask_seed : decides which entries are hidden; the paper uses 3 seeds
    """
    layouts = [
        [tuple(part + ending for ending in ENDINGS) for part in parts]
        for parts in (PARTS, THEIR_PARTS)
    ]
    home = find(
        "the ophthalmic study",
        ["ophthalmic"],
        *layouts,
        root=root,
        remedy="It is not public: ask its authors, or load 'ophthalmic-simulated'",
    )
    ours, theirs = (_files(home, layout) for layout in layouts)
    if ours:
        x, y, x_test, y_test = (read_matrix(path) for path in ours)
        _check(ours[0], x, ours[1], y)
        _check(ours[2], x_test, ours[3], y_test)
    else:
        (x, y), (x_test, y_test) = _by_label(theirs[:2]), _by_label(theirs[2:])
    return _as_study(
        "ophthalmic",
        np.concatenate([x, x_test]).astype(np.float32),
        np.concatenate([y.ravel(), y_test.ravel()]).astype(np.int64),
        rate,
        mask_seed,
        splits=Splits(test_rows=np.arange(len(x), len(x) + len(x_test))),
    )


def simulated_study(
    root: Root = None, seed: int = 0, rate: float | None = None, mask_seed: int = 0
) -> Study:
    """The SIMULATED cohort; 9:1 split with balanced classes in the test part.

    Parameters
    ----------
    root : not used, there are no files
    seed : decides the cohort
    rate : share of missing entries to raise 0.17 to, such as 0.25 or 0.35; None leaves it
    mask_seed : decides which entries are hidden
    """
    cohort = simulate(seed)
    return _as_study(
        "ophthalmic-simulated",
        cohort.X,
        cohort.y,
        rate,
        mask_seed,
        notes=("SIMULATED: a score on it says nothing about patients.",),
        truth=cohort.truth,
        splits=Splits(test=0.1, validation=0.1, balanced_test=True),
    )


def _as_study(
    name: str,
    X: np.ndarray,
    y: np.ndarray,
    rate: float | None,
    mask_seed: int,
    notes: tuple[str, ...] = (),
    **more: Any,
) -> Study:
    """A study with the gaps of X, and more of them up to `rate`."""
    natural = 1 - float(entries(X).mean())
    raised = raise_rate(X, rate, mask_seed)
    now = 1 - float(entries(raised).mean())
    how = f", raised from {natural:.1%} with mask seed {mask_seed}" if now > natural else ""
    note = f"{now:.1%} of the entries missing (an image counts as one of 7 per subject){how}."
    columns = (*(f"oct_{j}" for j in range(VECTOR)), *(f"cfp_{j}" for j in range(VECTOR)), *EHR)
    more = {"truth": X} | more  # the entries hidden here are known
    return Study(name, raised, y, notes=(*notes, note), columns=columns, **ABOUT[name], **more)


def entries(X: np.ndarray) -> np.ndarray:
    """Which of a subject's 7 entries are seen: OCT, CFP and the five columns; (n, 7) bool."""
    seen = ~np.isnan(X)
    images = [seen[:, at : at + VECTOR].any(axis=1) for at in (0, VECTOR)]
    return np.column_stack([*images, seen[:, 2 * VECTOR :]])


def raise_rate(X: np.ndarray, rate: float | None, seed: int) -> np.ndarray:
    """A copy with entries hidden completely at random until that share of all is missing.

    >>> X = np.ones((10, WIDTH), np.float32)
    >>> int((~entries(raise_rate(X, 0.3, seed=0))).sum())  # of 70
    21
    """
    check_value("mask_seed", seed, whole(0))
    seen = entries(X)
    natural = 1 - float(seen.mean())
    if rate is None:
        return X
    if not isinstance(rate, int | float) or not natural - NEAR <= rate < 1:
        raise ParameterError(
            f"rate is {rate!r}",
            f"It must be a number from the natural rate, {natural:.3f}, to below 1",
            "Pass 0.25 or 0.35 as in the paper, or None for the natural gaps",
        )
    wanted = round(rate * seen.size) - int((~seen).sum())
    if rate - natural < NEAR or wanted <= 0:
        return X
    rng = np.random.default_rng([seed, round(1e6 * rate)])
    row, entry = np.unravel_index(rng.choice(np.flatnonzero(seen), wanted, False), seen.shape)
    hidden = X.copy()
    for image in (0, 1):
        hidden[row[entry == image], image * VECTOR : (image + 1) * VECTOR] = np.nan
    record = entry > 1
    hidden[row[record], 2 * VECTOR + entry[record] - 2] = np.nan
    return hidden


def read_matrix(path: Path) -> np.ndarray:
    """Numbers in lines, separated by blanks or commas; NaN for gaps; always two dimensions."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt") as file:
            text = file.read().replace(",", " ")
        if text.strip():
            return np.loadtxt(io.StringIO(text), ndmin=2)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise InputError(f"{path} cannot be read ({error})", RULE, REPAIR) from None
    raise InputError(f"{path} is empty", RULE, REPAIR)


def _files(home: Path, layout: Layout) -> list[Path]:
    """The files of a layout; none if one is lacking."""
    existing = [[home / name for name in names if (home / name).exists()] for names in layout]
    return [paths[0] for paths in existing] if all(existing) else []


def _by_label(paths: Sequence[Path]) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of two files: 0 for those of the first, 1 for those of the second."""
    parts = [read_matrix(path) for path in paths]
    y = np.repeat([0, 1], [len(part) for part in parts])
    for path, part in zip(paths, parts, strict=True):
        _check(path, part, path, y[: len(part)])
    return np.concatenate(parts), y


def _check(path: Path, X: np.ndarray, path_y: Path, y: np.ndarray) -> None:
    fact = ""
    if X.shape[1] != WIDTH:
        fact = f"{path} has {X.shape[1]:,} columns"
    elif np.isinf(X).any():
        fact = f"{path} holds infinite values"
    elif y.size != len(X):
        fact = f"{path} has {len(X):,} subjects but {path_y.name} has {y.size:,} labels"
    elif not np.isin(y, [0, 1]).all():
        fact = f"{path_y} holds labels other than 0 and 1"
    if fact:
        raise InputError(fact, RULE, REPAIR)


class SimulatedEyes(NamedTuple):
    """SIMULATED. X (1148, 4101) float32 with NaN in gaps, truth the same without, y 0 or 1."""

    X: np.ndarray
    truth: np.ndarray
    y: np.ndarray


def simulate(random_state: int = 0) -> SimulatedEyes:
    """A new SIMULATED cohort; the same integer gives the same one.

    >>> cohort = simulate(0)
    >>> cohort.X.shape, float(cohort.y.mean().round(3))
    ((1148, 4101), 0.45)
    """
    check_value("seed", random_state, whole(0))
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
    effect = (rng.random(VECTOR) < INFORMATIVE) * rng.normal(0, 0.5, VECTOR)
    base = rng.normal(-0.2, 0.5, VECTOR)
    z = base + factors @ loads + shown[:, None] * effect + 0.7 * rng.normal(size=(n, VECTOR))
    return 0.5 * np.maximum(z, 0)


def _with_gaps(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A copy with gaps: the record first, because what it shows decides which images are lost."""
    X = truth.copy()
    record = X[:, 2 * VECTOR :]  # a view
    gaps = round(RECORD_GAPS * record.size)
    record[np.unravel_index(rng.permutation(record.size)[:gaps], record.shape)] = np.nan

    def seen(column: str) -> np.ndarray:
        values = record[:, EHR.index(column)]
        return np.nan_to_num((values - np.nanmean(values)) / np.nanstd(values))

    # The highest of logit + logistic noise are lost: a logistic model with an exact count.
    score = -seen("years_of_diabetes") - 0.5 * seen("a1c") + rng.logistic(size=len(X))
    lost = np.argsort(-score)[: round(GAPS * (2 + len(EHR)) * len(X)) - gaps]
    oct_lost = 0.8 * seen("age")[lost] + rng.logistic(size=len(lost)) < 0
    X[lost[oct_lost], :VECTOR] = np.nan
    X[lost[~oct_lost], VECTOR : 2 * VECTOR] = np.nan
    return X
