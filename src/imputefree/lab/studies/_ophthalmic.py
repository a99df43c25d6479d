"""The paper's ophthalmic study (Appendix D.2): diabetic retinopathy from two images and a record.

A subject is 4,101 numbers: 2,048 features of an OCT image, 2,048 of a fundus photograph (CFP), and
age, sex, years of diabetes, A1C and insulin use. An image is there as a whole or missing as a
whole, so rates are counted over 7 entries a subject: two vectors and five columns.

The data are not public. Who has them from their authors puts four matrices of numbers into a folder
`ophthalmic`: train_x, train_y, test_x and test_y, as .txt or .csv, gzipped or not; a line a
subject, columns parted by blanks or commas, NaN for gaps, no line of names. For everybody else
there is `ophthalmic-simulated`.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ...data import Splits
from ...errors import InputError, ParameterError
from ._data_files import Root, find
from ._study import Study

VECTOR = 2048
EHR = ("age", "sex", "years_of_diabetes", "a1c", "insulin")
WIDTH = 2 * VECTOR + len(EHR)
ENDINGS = (".txt", ".csv", ".txt.gz", ".csv.gz")
PARTS = ("train_x", "train_y", "test_x", "test_y")
NEAR = 0.005  # a rate this close to the natural one asks for no more gaps


def study(root: Root = None, rate: float | None = None, mask_seed: int = 0) -> Study:
    """The real study, from files: X (n, 4101) float32 with NaN, y 0 or 1, the authors' test rows.

    Parameters
    ----------
    root : the folder with the four matrices, or the one above
    rate : share of missing entries (7 a subject) to raise the natural one to, such as 0.25 or 0.35;
        None or the natural rate (0.17 in the paper) leaves the data as they are
    mask_seed : which entries go; the paper uses 3
    """
    names = [tuple(part + ending for ending in ENDINGS) for part in PARTS]
    home = find(
        "the ophthalmic study",
        "ophthalmic",
        names,
        root=root,
        how="It is not public: ask its authors, or load 'ophthalmic-simulated'",
    )
    paths = [next(home / one for one in each if (home / one).exists()) for each in names]
    x, y, x_test, y_test = (read_matrix(path) for path in paths)
    X, labels = [], []
    for at, values, target in ((0, x, y), (2, x_test, y_test)):
        _check(paths[at], values, paths[at + 1], target)
        X.append(values)
        labels.append(target.ravel())
    return as_study(
        "ophthalmic",
        np.concatenate(X).astype(np.float32),
        np.concatenate(labels).astype(np.int64),
        rate,
        mask_seed,
        citation="Gao et al. 2022, Gradient Importance Learning for Incomplete Observations;"
        " data of Duke Eye Center",
        licence="not public: by agreement with its authors",
        simulated=False,
        splits=Splits(test_rows=np.arange(len(x), len(x) + len(x_test))),
    )


def as_study(
    name: str,
    X: np.ndarray,
    y: np.ndarray,
    rate: float | None,
    mask_seed: int,
    notes: tuple[str, ...] = (),
    **about: Any,
) -> Study:
    """A study with the gaps that X has, and more of them up to `rate`."""
    natural = 1 - float(entries(X).mean())
    raised = raise_rate(X, rate, mask_seed)
    now = 1 - float(entries(raised).mean())
    more = f", raised from {natural:.1%} with mask seed {mask_seed}" if now > natural else ""
    counted = f"{now:.1%} of the entries missing (an image counts as one of 7 a subject){more}."
    columns = (*(f"oct_{j}" for j in range(VECTOR)), *(f"cfp_{j}" for j in range(VECTOR)), *EHR)
    about.setdefault("truth", X)  # what the raise hides is known
    return Study(name, raised, y, notes=(*notes, counted), columns=columns, **about)


def entries(X: np.ndarray) -> np.ndarray:
    """Which of a subject's 7 entries are there: OCT, CFP and the five columns; (n, 7) bool."""
    seen = ~np.isnan(X)
    images = [seen[:, at : at + VECTOR].any(axis=1) for at in (0, VECTOR)]
    return np.column_stack([*images, seen[:, 2 * VECTOR :]])


def raise_rate(X: np.ndarray, rate: float | None, seed: int) -> np.ndarray:
    """A copy with entries hidden completely at random until that share of all is missing.

    >>> X = np.ones((10, WIDTH), np.float32)
    >>> int((~entries(raise_rate(X, 0.3, seed=0))).sum())  # of 70
    21
    """
    number = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not number or seed < 0:
        raise ParameterError(
            f"mask_seed is {seed!r}", "It must be a whole number, at least 0", "Pass 0, 1 or 2"
        )
    seen = entries(X)
    natural = 1 - float(seen.mean())
    if rate is None:
        return X
    if not isinstance(rate, int | float) or not natural - NEAR <= rate < 1:
        raise ParameterError(
            f"rate is {rate!r}",
            f"It must be a number from the natural rate, {natural:.3f}, to below 1",
            "Pass 0.25 or 0.35 as the paper, or None for the natural gaps",
        )
    wanted = round(rate * seen.size) - int((~seen).sum())
    if rate - natural < NEAR or wanted <= 0:
        return X
    rng = np.random.default_rng([seed, round(1e6 * rate)])
    row, entry = np.unravel_index(rng.choice(np.flatnonzero(seen), wanted, False), seen.shape)
    hidden = X.copy()
    for image in (0, 1):
        hidden[row[entry == image], image * VECTOR : (image + 1) * VECTOR] = np.nan
    other = entry > 1
    hidden[row[other], 2 * VECTOR + entry[other] - 2] = np.nan
    return hidden


def read_matrix(path: Path) -> np.ndarray:
    """Numbers in lines, parted by blanks or commas; NaN for gaps; always two dimensions."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt") as file:
            lines = file.read().replace(",", " ").splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise _unreadable(path, f"is truncated or no text ({error})") from None
    rows = [line.split() for line in lines if line.strip()]
    if not rows:
        raise _unreadable(path, "is empty")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise _unreadable(
                path, f"has {len(row):,} numbers in line {number}, {len(rows[0]):,} in the first"
            )
    try:
        return np.array(rows, dtype=np.float64)
    except ValueError as error:
        raise _unreadable(path, f"holds something else than numbers ({error})") from None


def _unreadable(path: Path, what: str) -> InputError:
    return InputError(
        f"{path} {what}",
        f"It must be a text matrix: a line a subject, {WIDTH:,} numbers (y: one), NaN for gaps",
        "Correct or replace the file",
    )


def _check(path: Path, X: np.ndarray, path_y: Path, y: np.ndarray) -> None:
    rule = (
        f"X has {WIDTH:,} columns ({VECTOR:,} OCT, {VECTOR:,} CFP, {', '.join(EHR)}), y is 0 or 1"
    )
    fact = ""
    if X.shape[1] != WIDTH:
        fact = f"{path} has {X.shape[1]:,} columns"
    elif np.isinf(X).any():
        fact = f"{path} holds infinite values"
    elif y.size != len(X):
        fact = f"{path} has {len(X):,} subjects but {path_y.name} has {y.size:,} labels"
    elif not np.isin(y, [0, 1]).all():
        fact = f"{path_y} holds other labels than 0 and 1"
    if fact:
        raise InputError(fact, rule, "Correct or replace the file")
