"""What a model file keeps for sets and intervals: out-of-fold scores, or rows left out of training.

Scores reveal nothing about a row except how many gaps it has. Calibration with the gaps of each row
needs the rows themselves: then data are in the model file. Both become a conformal estimator around
the one model of the file.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..data import Columns, Panel
from ..errors import ModelFileError
from ._calibration import (
    LEAST_GROUP,
    FoldModels,
    GroupCalibration,
    MaskCalibration,
    missing_groups,
    ranks_of,
)
from ._conformal import MaskConformalClassifier, MaskConformalRegressor
from ._model_rows import ModelRows, as_objects, read_rows

USUAL_COVERAGE = 0.9  # of cards and pages
MOST_SCORES, MOST_ROWS = 5000, 1000  # kept; more are thinned at random
MOST_CHECKED = 300  # rows that are predicted for a card
BY_MISSINGNESS, MASK = "by_missingness", "mask"
Kept = dict[str, Any]  # plain JSON types


def keep_scores(model: Any, rows: ModelRows, predicted: np.ndarray, target: np.ndarray) -> Kept:
    """Scores of rows that their models had not seen, and how many gaps each has.

    rows : n rows or series as the model reads them
    predicted : (n, classes) or (n,) out-of-fold predictions
    target : (n,) class codes or numbers
    """
    chosen = _some(len(rows), MOST_SCORES)
    predicted, target = predicted[chosen], target[chosen]
    scores = FoldModels([], getattr(model, "classes_", None)).score(predicted, target)
    gaps = (~rows.observed).sum(1)[chosen]
    return {
        "method": BY_MISSINGNESS,
        "names": rows.names,
        "scores": scores.tolist(),
        "gaps": gaps.tolist(),
        "checked": _check_scores(predicted, scores, gaps),
    }


def keep_rows(model: Any, rows: ModelRows, target: np.ndarray) -> Kept:
    """Rows that the model has not seen, and their answers; arguments as for `keep_scores`."""
    chosen = _some(len(rows), MOST_ROWS)
    rows, target = rows.take(chosen), target[chosen]
    kept: Kept = {
        "method": MASK,
        "names": rows.names,
        "rows": _pack(rows.X),
        "target": target.tolist(),
    }
    return {**kept, "checked": _check_rows(_restore(model, kept), rows, target)}


def restore_conformal(model: Any) -> MaskConformalClassifier | MaskConformalRegressor | None:
    """Sets or intervals around a model, from what its file keeps (`conformal_`), if it does."""
    kept = getattr(model, "conformal_", None)
    if not kept:
        return None
    try:
        return _restore(model, kept)
    except (LookupError, TypeError, ValueError) as error:
        fact = f"what the model file keeps for intervals is damaged ({error})"
        raise ModelFileError(fact, "`imputefree fit` writes it", "Fit the model again") from None


def gap_bounds(model: Any, coverage: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the scores by how many gaps a row has: what sets and intervals need, as constants.

    Returns the numbers of gaps at which groups begin, the first of them 0, and the bound of each
    group; (g,) each. An answer belongs to the set of a row if its score, 1 - p(class) or the
    absolute residual, is at most the bound; an infinite bound lets every answer in.
    """
    conformal = restore_conformal(model)
    calibration = None if conformal is None else conformal.calibration_
    if not isinstance(calibration, GroupCalibration):
        compared = "the gaps of each row (`--intervals mask`)" if conformal else "nothing"
        raise ModelFileError(
            f"the model keeps {compared} for sets and intervals",
            "Constant bounds come from scores by number of gaps",
            "Fit the model by `imputefree fit` with --intervals by_missingness",
        )
    return calibration.bounds(coverage)


def _restore(model: Any, kept: Kept) -> Any:
    kind = MaskConformalClassifier if is_classifier(model) else MaskConformalRegressor
    wrapper: Any = kind(model, method=kept["method"], cv="prefit")
    wrapper.estimator_, wrapper._names = model, list(kept["names"])
    models = FoldModels([model], getattr(model, "classes_", None))
    if models.classes is not None:
        wrapper.classes_ = models.classes
    if kept["method"] == MASK:
        rows = _unpack(kept["rows"])
        target = np.array(kept["target"], dtype=np.int64 if models.classes is not None else float)
        only = np.zeros(len(target), dtype=int)
        most = wrapper.max_calibration
        wrapper.calibration_ = MaskCalibration(models, only, only, only, rows, target, most)
    else:
        scores, gaps = np.array(kept["scores"], dtype=float), np.array(kept["gaps"], dtype=int)
        only = np.zeros(len(scores), dtype=int)
        wrapper.calibration_ = GroupCalibration(models, only, scores, gaps, by_missingness=True)
    wrapper.n_calibration_ = len(only)
    return wrapper


def _check_scores(predicted: np.ndarray, scores: np.ndarray, gaps: np.ndarray) -> Kept:
    """Coverage and size for rows that calibrate, each compared with all others of its group."""
    starts = missing_groups(gaps, LEAST_GROUP)
    group = np.searchsorted(starts, gaps, side="right")
    covered, sizes = [], []
    for number in np.unique(group):
        in_group = group == number
        rank, ordered = ranks_of(USUAL_COVERAGE, in_group.sum() - 1), np.sort(scores[in_group])
        # A row's own score is never below itself, so only others are counted.
        covered.append(np.searchsorted(ordered, scores[in_group]) < rank)
        if predicted.ndim == 2:
            sizes.append((np.searchsorted(ordered, 1.0 - predicted[in_group]) < rank).sum(1))
        else:
            width = 2 * ordered[rank - 1] if rank <= len(ordered) else np.inf
            sizes.append(np.full(in_group.sum(), width))
    return _figures(np.concatenate(covered), np.concatenate(sizes))


def _check_rows(wrapper: Any, rows: ModelRows, target: np.ndarray) -> Kept:
    """Coverage and size for one half of the rows, calibrated with the other."""
    whole, half = wrapper.calibration_, len(rows) // 2
    first, second = np.arange(half), np.arange(half, len(rows))[:MOST_CHECKED]
    part = {
        name: getattr(whole, name)[first] for name in ("fold", "asked", "asked_if_new", "target")
    }
    wrapper.calibration_ = replace(whole, rows=whole.rows.take(first), **part)
    tested, truth = rows.take(second), target[second]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows: everything is covered, as the figures show
        if isinstance(wrapper, MaskConformalClassifier):
            sets = wrapper.predict_set(tested.X, USUAL_COVERAGE)
            return _figures(sets[np.arange(len(truth)), truth], sets.sum(1))
        low, high = wrapper.predict_interval(tested.X, USUAL_COVERAGE).T
    return _figures((low <= truth) & (truth <= high), high - low)


def _figures(covered: np.ndarray, sizes: np.ndarray) -> Kept:
    size = float(np.mean(sizes))
    return {
        "coverage": USUAL_COVERAGE,
        "rows": len(covered),
        "covered": float(np.mean(covered)),
        "size": size if np.isfinite(size) else None,
    }


def _some(count: int, most: int) -> np.ndarray:
    """Numbers of at most so many rows, in random order."""
    return np.random.default_rng(0).permutation(count)[:most]


def _pack(X: Columns | Panel) -> dict[str, Any]:
    if isinstance(X, Columns):
        return {"names": X.names, "arrays": [as_objects(array).tolist() for array in X.arrays]}
    return {
        "steps": _pack(X.steps),
        "statics": None if X.statics is None else _pack(X.statics),
        "lengths": X.lengths.tolist(),
        "times": X.times.tolist(),
    }


def _unpack(packed: dict[str, Any]) -> ModelRows:
    if "steps" not in packed:
        return read_rows(_columns(packed))
    lengths = np.array(packed["lengths"], dtype=np.int64)
    statics = packed["statics"]
    panel = Panel(
        steps=_columns(packed["steps"]),
        lengths=lengths,
        times=np.array(packed["times"], dtype=float),
        statics=None if statics is None else _columns(statics),
        ids=np.arange(len(lengths)).astype(object),
        keyed=False,
        source=np.arange(lengths.sum()),
        apart={},
        timed=True,
    )
    return read_rows(panel)


def _columns(packed: dict[str, Any]) -> Columns:
    arrays = [
        np.array(values, dtype=object if any(isinstance(v, str) for v in values) else float)
        for values in packed["arrays"]
    ]
    n_rows = len(arrays[0])
    return Columns(list(packed["names"]), True, arrays, [False] * len(arrays), n_rows)
