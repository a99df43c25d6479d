"""What rows are compared with: calibration rows, as they are or with the same gaps as well.

`GroupCalibration` compares with scores that were computed once. `MaskCalibration` gives each pair
of a row and a calibration row the gaps of both: the missing data augmentation of Zaffran,
Dieuleveut, Josse and Romano (2023; 2024, CP-MDA-Nested*).

Each calibration row is scored by the model that did not learn from it. The row it is compared with
is predicted by the same model (CV+), or by the final one that learned from everything.

The answer y belongs to the set of a row unless too many of its n calibration rows conform better to
their own answer than the row would conform to y:

    y is in the set  if and only if  #{k : s_k < s(y)} < rank,   rank = ceil(coverage * (n + 1))

s_k is the score of calibration row k, s(y) that of the row with y, both from the model that did not
learn from k (Vovk 2015, cross-conformal prediction; with one model: split conformal prediction).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ._model_rows import ModelRows, predict_rows

MOST_NUMBERS = 2**21  # of comparisons in memory at once
MOST_CELLS = 2**22  # of rows that are predicted at once
MOST_MASKS = 1000  # whose calibration scores are remembered
LEAST_GROUP = 100  # rows of a group by how much is missing
LEAST_ALIKE = 40  # rows that a row is compared with
ROUNDING = 1e-9  # 0.55 * 100 is 55.00000000000001, whose ceiling would be 56
TIE = 1e-6  # probabilities of equal rows differ by less, by rounding: in a batch, or one alone
SPARE = 5.0  # of them beyond the bound on average: more would be smoother, and of other gaps


class Comparison(NamedTuple):
    """Some rows, and their predictions, compared with n calibration rows each."""

    rows: np.ndarray  # (r,) their numbers
    scores: np.ndarray  # (r, n) of the calibration rows; infinite where there are fewer
    counts: np.ndarray  # (r,) how many there are
    predicted: np.ndarray  # (r, n) numbers or (r, n, classes) probabilities of the rows


@dataclass(frozen=True, eq=False)
class FoldModels:
    """Fitted models that answer alike: probabilities of the same classes, or numbers.

    models : those of the folds, and the final one

    classes : (C,) sorted labels; None for regression
    """

    models: list[Any]
    classes: np.ndarray | None = None

    def predict(self, fold: np.ndarray, rows: ModelRows) -> np.ndarray:
        """Predictions of model number fold[i] for row i; (n,) or (n, C)."""
        width = () if self.classes is None else (len(self.classes),)
        answers = np.zeros((len(rows), *width))
        for number in np.unique(fold):
            chosen = np.flatnonzero(fold == number)
            model = self.models[number]
            part = predict_rows(model, rows if len(chosen) == len(rows) else rows.take(chosen))
            if self.classes is None:
                answers[chosen] = part
            else:  # 0 for a class that this model has not seen
                answers[chosen[:, None], np.searchsorted(self.classes, model.classes_)] = part
        return answers

    def score(self, predicted: np.ndarray, target: np.ndarray) -> np.ndarray:
        """How badly answers conform: absolute residual, or 1 - p(class); (n,)."""
        if self.classes is None:
            return np.abs(target - predicted)
        return 1.0 - predicted[np.arange(len(target)), target]


@dataclass(frozen=True, eq=False)
class GroupCalibration:
    """Scores of n calibration rows, and how many gaps each has.

    asked : (n,) number of the model that is asked where a row is compared with each
    by_missingness : compare only rows with about as many gaps
    """

    models: FoldModels
    asked: np.ndarray
    scores: np.ndarray
    n_missing: np.ndarray
    by_missingness: bool = False

    def compare(self, rows: ModelRows, coverage: float) -> Iterator[Comparison]:
        """Compare with all calibration rows, or with those of the same group."""
        folds, place = np.unique(self.asked, return_inverse=True)
        predicted = np.stack([self.models.predict(np.full(len(rows), k), rows) for k in folds])
        starts, theirs = self._groups(coverage)
        ours = np.searchsorted(starts, (~rows.observed).sum(1), side="right") - 1
        for group in np.unique(ours):
            members, numbers = np.flatnonzero(theirs == group), np.flatnonzero(ours == group)
            size = len(members) * max(1, np.size(predicted[0, 0]))
            for part in _parts(numbers, MOST_NUMBERS // max(1, size)):
                scores = np.broadcast_to(self.scores[members], (len(part), len(members)))
                compared = predicted[place[members][None], part[:, None]]
                yield Comparison(part, scores, np.full(len(part), len(members)), compared)

    def bounds(self, coverage: float) -> tuple[np.ndarray, np.ndarray]:
        """Where groups begin, and the score that bounds the sets of each, of one model; (g,)."""
        starts, group = self._groups(coverage)
        ranks = ranks_of(coverage, np.bincount(group, minlength=len(starts)))
        bounds = np.full(len(starts), np.inf)
        for number, rank in enumerate(ranks):
            scores = np.sort(self.scores[group == number])
            if rank <= len(scores):
                bounds[number] = scores[rank - 1]
        return starts, bounds if self.models.classes is None else bounds + TIE

    def _groups(self, coverage: float) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of gaps at which groups begin, (g,), and the group of each row, (n,)."""
        starts = np.zeros(1, dtype=int)
        if self.by_missingness:
            starts = missing_groups(self.n_missing, max(LEAST_GROUP, rows_needed(coverage)))
        return starts, np.searchsorted(starts, self.n_missing, side="right") - 1


@dataclass(frozen=True, eq=False)
class MaskCalibration:
    """Calibration rows and their answers; a row is compared with those that fit its gaps best.

    fold : (n,) number of the model that did not learn from each
    asked, asked_if_new : (n,) as for `GroupCalibration`: for a row whose gaps some calibration row
        has too, and for one with gaps that none has
    target : (n,) class codes, or numbers
    most : calibration rows that a row is compared with at most, unless its coverage needs more
    """

    models: FoldModels
    fold: np.ndarray
    asked: np.ndarray
    asked_if_new: np.ndarray
    rows: ModelRows
    target: np.ndarray
    most: int
    remembered: dict[Any, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def compare(self, rows: ModelRows, coverage: float) -> Iterator[Comparison]:
        """Compare each row with calibration rows, both with the gaps of both."""
        least = min(max(LEAST_ALIKE, int(np.ceil(SPARE / (1 - coverage)))), len(self.rows))
        most = min(max(self.most, least), len(self.rows))
        masks, mask_of = np.unique(rows.observed, axis=0, return_inverse=True)
        at_once = int(MOST_CELLS // (most * rows.cells_per_row))
        for part in _parts(np.argsort(mask_of, kind="stable"), at_once):
            distinct, place = np.unique(mask_of[part], return_inverse=True)
            alike, scores = self._calibrated(masks[distinct], least, most)
            predicted = self._predict(rows.take(part), masks[distinct], place, alike)
            counts = np.isfinite(scores).sum(1)
            yield Comparison(part, scores[place], counts[place], predicted)

    def _calibrated(
        self, masks: np.ndarray, least: int, most: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Calibration rows for each mask, and their scores with its gaps; (u, most) each."""
        keys = [(least, most, mask.tobytes()) for mask in masks]
        known = dict(self.remembered)
        new = [i for i, key in enumerate(keys) if key not in known]
        if new:
            alike, used = best_fitting(masks[new], self.rows.observed, least, most)
            kept = (masks[new][:, None] & self.rows.observed[alike]).reshape(alike.size, -1)
            first, inverse = _distinct(kept, alike.ravel())
            asked = alike.ravel()[first]
            hidden = self.rows.take(asked).hidden(kept[first])
            predicted = self.models.predict(self.fold[asked], hidden)
            scores = self.models.score(predicted, self.target[asked])[inverse].reshape(alike.shape)
            pairs = zip(alike, np.where(used, scores, np.inf), strict=True)
            fresh = dict(zip([keys[i] for i in new], pairs, strict=True))
            if len(self.remembered) + len(fresh) > MOST_MASKS:
                self.remembered.clear()
            self.remembered.update(fresh)
            known |= fresh
        answers = [known[key] for key in keys]
        return np.stack([alike for alike, _ in answers]), np.stack([score for _, score in answers])

    def _predict(
        self, rows: ModelRows, masks: np.ndarray, place: np.ndarray, alike: np.ndarray
    ) -> np.ndarray:
        """Predictions for each row with the gaps of each of its calibration rows; (r, n[, C]).

        masks (u, d) and alike (u, n) are of distinct masks, `place` (r,) says which is a row's.
        Each row is predicted once for each distinct pair of a model and a mask.
        """
        kept = (masks[:, None] & self.rows.observed[alike]).reshape(alike.size, -1)
        is_new = ~(self.rows.observed[alike[:, 0]] == masks).all(1)  # the first fits best
        asked = np.where(is_new[:, None], self.asked_if_new[alike], self.asked[alike]).ravel()
        owner = np.repeat(np.arange(len(masks)), alike.shape[1])
        first, inverse = _distinct(kept, asked, owner)  # sorted by owner
        counts = np.bincount(owner[first], minlength=len(masks))
        begin = np.cumsum(counts) - counts  # of the distinct pairs of a mask
        each = counts[place]  # predictions of each row
        at = np.cumsum(each) - each
        row = np.repeat(np.arange(len(rows)), each)
        pair = first[np.arange(each.sum()) + (begin[place] - at)[row]]
        predicted = self.models.predict(asked[pair], rows.take(row).hidden(kept[pair]))
        return predicted[inverse.reshape(alike.shape)[place] + (at - begin[place])[:, None]]


def best_fitting(
    masks: np.ndarray, observed: np.ndarray, least: int, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Calibration rows that fit the gaps of each mask, (u, most), and which of them are used.

    Those that give the row no further gaps are used, up to `most`; if there are fewer than `least`,
    so are those that give it the fewest. Among equals, those come first that get the fewest gaps
    themselves, and then in their order. Rows are chosen by gaps alone, never by values, which keeps
    the comparison fair. Places that are not used repeat the first row.

    masks : (u, d), observed : (N, d)

    >>> observed = np.array([[False, True], [True, True], [True, False]])
    >>> rows, used = best_fitting(np.array([[True, False]]), observed, 1, 3)
    >>> rows[used]
    array([2, 1])
    """
    left, right = masks.astype(np.float32), observed.astype(np.float32)
    both = left @ right.T
    lost, hidden = left.sum(1)[:, None] - both, right.sum(1) - both
    order = (lost * (masks.shape[1] + 1) + hidden).astype(np.int32)
    rows = np.argsort(order, axis=1, kind="stable")[:, :most]
    used = np.arange(most) < np.maximum((lost == 0).sum(1), least)[:, None]
    return np.where(used, rows, rows[:, :1]), used


def _distinct(kept: np.ndarray, *numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First places and inverse of distinct rows of a mask (P, d) and numbers (P,) beside it.

    Distinct rows are sorted by the last numbers first.
    """
    packed = np.packbits(kept, axis=1)
    parts = [number.astype(">u4")[:, None].view(np.uint8) for number in numbers[::-1]]
    joined = np.ascontiguousarray(np.hstack([*parts, packed]))
    keys = joined.view(np.dtype((np.void, joined.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first, inverse.ravel()


def _parts(numbers: np.ndarray, size: int) -> list[np.ndarray]:
    """Pieces of at most this many numbers, at least one each."""
    return np.split(numbers, np.arange(max(1, size), len(numbers), max(1, size)))


def ranks_of(coverage: float, counts: np.ndarray) -> np.ndarray:
    """Which of n sorted scores bounds a set, for each count n; n + 1 means that there is no bound.

    >>> ranks_of(0.9, np.array([99, 9, 8]))
    array([90,  9,  9])
    """
    return np.ceil(coverage * (counts + 1) - ROUNDING).astype(int)


def rows_needed(coverage: float) -> int:
    """The fewest calibration rows that give a bound.

    >>> rows_needed(0.9), rows_needed(0.99)
    (9, 99)
    """
    return int(np.ceil(coverage / (1 - coverage) - ROUNDING))


def interval_ends(predicted: np.ndarray, scores: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Intervals (r, 2) from predictions and absolute residuals, (r, n) each, and ranks (r,).

    The ends are those of CV+ (Barber, Candès, Ramdas and Tibshirani 2021): the rank-th largest of
    predicted - score and the rank-th smallest of predicted + score. Every number that the
    definition above lets in lies between them.

    >>> scores = np.array([[1.0, 2.0, 4.0], [1.0, 2.0, 4.0]])
    >>> interval_ends(np.full((2, 3), 10.0), scores, np.array([2, 4]))
    array([[  8.,  12.],
           [-inf,  inf]])
    """
    return np.column_stack(
        [-_ranked(scores - predicted, ranks), _ranked(scores + predicted, ranks)]
    )


def _ranked(values: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """The rank-th smallest of each row, infinite if there are fewer; (r, n), (r,) -> (r,)."""
    last = values.shape[1] - 1
    places = np.minimum(ranks - 1, last)
    ordered = np.partition(values, np.unique(places), axis=1)
    chosen = np.take_along_axis(ordered, places[:, None], axis=1)[:, 0]
    return np.where(ranks - 1 > last, np.inf, chosen)


def set_members(trial_scores: np.ndarray, scores: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Which classes belong to the set; scores with each class (r, n, C), and (r, n) -> (r, C).

    Scores that differ by no more than rounding are equal: rows without any value all have the same
    prediction, and none of them conforms better than another.
    """
    return (scores[:, :, None] < trial_scores - TIE).sum(1) < ranks[:, None]


def missing_groups(n_missing: np.ndarray, least: int) -> np.ndarray:
    """Where groups by how much is missing begin: sorted counts, the first of them 0; (groups,).

    Rows with equally many gaps are in one group. Every group has at least `least` rows, unless
    there is only one.

    n_missing : (n,) gaps of each calibration row

    >>> missing_groups(np.repeat([0, 1, 2, 7], [50, 60, 5, 40]), least=40)
    array([0, 1, 2])
    >>> missing_groups(np.repeat([0, 1, 2], [50, 60, 30]), least=40)
    array([0, 1])
    """
    counts = np.bincount(n_missing)
    starts, size = [0], 0
    for count in np.flatnonzero(counts):
        if size >= least:
            starts.append(int(count))
            size = 0
        size += counts[count]
    if size < least and len(starts) > 1:
        starts.pop()
    return np.array(starts)
