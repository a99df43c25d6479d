"""Explain predictions: copies of a row or series, each with one change, are predicted as well.

Changes are made before encoding, because the time since the last observation changes with a removed
value. The columns of a table are treated like static columns of series of one step.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data import Category, Columns, Panel, first_steps
from ..errors import ParameterError, shorten
from ..estimators import predict_inputs, predicts_steps, read_inputs
from ..gil import NoPolicy
from ._explanation import Explanation, SeriesExplanation

CHUNK_NUMBERS = 2**22  # inputs of changed copies of rows in memory at once: 16 MB
CHUNK_STEPS = 2**14  # steps of changed copies of series that are encoded at once
ROWS = 4096  # rows whose changes are listed at once
MOST_STEPS = 5_000_000  # about a minute of one core with the default networks
REMOVED = -1  # a choice that is not a plausible value of the column


def explain_rows(
    model: Any,
    X: Any,
    of: Any = None,
    *,
    single: bool = True,
    most_steps: int = MOST_STEPS,
) -> Explanation | SeriesExplanation:
    """Explain the predictions of a fitted estimator for a table or for series.

    Parameters
    ----------
    model : any estimator of this package, fitted or loaded
    X : as for `predict`
    of : the class whose probability is explained, as it is or as a string; default: the second of
        two classes, or of more classes the one predicted for each row
    single : for series: remove values one by one; False removes whole columns only, which is fast
    most_steps : for series: a limit on the work (removed values times steps, over all series)

    Examples
    --------
    >>> import pandas as pd
    >>> from imputefree import GILClassifier
    >>> X = pd.DataFrame({"dose": [1.0, None, 3.0, 4.0] * 10, "sex": ["f", "m", None, "m"] * 10})
    >>> clf = GILClassifier(random_state=0, max_iter=30, batch_size=8)
    >>> clf = clf.fit(X, ["well", "ill", "ill", "well"] * 10)
    >>> why = explain_rows(clf, X.head(3))
    >>> why.columns, why.removal.shape, why.of.tolist()
    (['dose', 'sex'], (3, 2), ['well', 'well', 'well'])
    >>> np.isnan(why.removal) == X.head(3).isna().to_numpy()
    array([[ True,  True],
           [ True,  True],
           [ True,  True]])
    >>> [best and best["column"] for best in why.best_next()]
    [None, 'dose', 'sex']
    """
    raw = read_inputs(model, X)
    predicted = _predict(model, raw)  # refuses bad input, and warns of unseen categories
    copies = Copies(model, raw, _explained_class(model, predicted, of))
    lengths, prediction = copies.lengths, copies.explained(predicted)
    begin, end = first_steps(lengths), np.cumsum(lengths)
    # Which columns have a value at the last step, and which at any step; (n, d).
    last = np.hstack([copies.step_seen[end - 1], copies.fixed_seen])
    ever = np.hstack([np.logical_or.reduceat(copies.step_seen, begin), copies.fixed_seen])
    if isinstance(raw, Panel) and single:
        _check_work(copies.step_seen, lengths, most_steps)
    removed = _removals(copies, prediction, ever)
    change, low, high = _next_values(copies, prediction, last)
    answers = {
        "columns": model.encoder_.names,
        "of": None if copies.code is None else model.classes_[copies.code],
        "prediction": prediction,
        "observed": last,
        "next_value": change,
        "next_low": low,
        "next_high": high,
    }
    importance = _importance(model, X)
    if not isinstance(raw, Panel):
        return Explanation(importance=importance, removal=removed, **answers)
    if importance is not None and not isinstance(importance, list):  # one row per row of a frame
        importance = np.split(importance[raw.source], end[:-1])
    removal = _single_removals(copies, prediction, raw, removed) if single else None
    return SeriesExplanation(
        importance=importance,
        removal=None if removal is None else np.split(removal, end[:-1]),
        column_removal=removed,
        ids=raw.ids,
        times=np.split(raw.times, end[:-1]),
        n_static=copies.fixed_seen.shape[1],
        **answers,
    )


def _removals(copies: Copies, prediction: np.ndarray, ever: np.ndarray) -> np.ndarray:
    """The prediction minus that without a column, NaN for columns without a value; (n, d)."""
    removed = np.full(ever.shape, np.nan)
    for at in range(0, len(ever), ROWS):
        place = row, column = _cells(ever[at : at + ROWS], at)
        without = copies.predict(row, column, REMOVED, 0, copies.lengths[row])
        removed[place] = prediction[row] - without
    return removed


def _next_values(
    copies: Copies, prediction: np.ndarray, last: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean change, lowest and highest prediction over plausible values at the last step.

    NaN where it has a value; (n, d) each. A column that training never saw has no plausible value,
    and changes nothing.
    """
    change = np.where(last, np.nan, 0.0)
    low = np.where(copies.choices > 0, np.inf, prediction[:, None]) + change
    high = np.where(np.isinf(low), -np.inf, low)
    for at in range(0, len(last), ROWS):
        row, column = _cells(~last[at : at + ROWS], at)
        each = copies.choices[column]
        place = row, column = np.repeat(row, each), np.repeat(column, each)
        choice = np.arange(len(row)) - np.repeat(first_steps(each), each)
        stop = copies.lengths[row]
        then = copies.predict(row, column, choice, stop - 1, stop)
        share = copies.shares[first_steps(copies.choices)[column] + choice]
        np.add.at(change, place, share * np.abs(then - prediction[row]))
        np.minimum.at(low, place, then)
        np.maximum.at(high, place, then)
    return change, low, high


def _single_removals(
    copies: Copies, prediction: np.ndarray, panel: Panel, removed: np.ndarray
) -> np.ndarray:
    """The prediction minus that without a single value; static ones at the first step; (S, d)."""
    n_columns, begin = copies.step_seen.shape[1], first_steps(copies.lengths)
    effects = np.full((len(panel.times), removed.shape[1]), np.nan)
    effects[begin, n_columns:] = removed[:, n_columns:]
    step, column = _cells(copies.step_seen)
    row = panel.series[step]
    at = step - begin[row]
    effects[step, column] = prediction[row] - copies.predict(row, column, REMOVED, at, at + 1)
    return effects


class Copies:
    """Predicts copies of rows or series that each have one column changed.

    code : (n,) the number of the class that is explained; None for a regression
    lengths : (n,) steps of each series; 1 for rows of a table
    step_seen : (S, columns of a step) and fixed_seen : (n, other columns), what is observed
    choices : (d,) how many plausible values a column has; shares : of all of them in training
    """

    def __init__(self, model: Any, raw: Columns | Panel, code: np.ndarray | None) -> None:
        encoder = model.encoder_
        self.model, self.code = model, code
        self.inputs, self.step_seen = raw, np.empty((raw.n_rows, 0), dtype=bool)
        if isinstance(raw, Panel):
            self.limit, self.lengths = CHUNK_STEPS, raw.lengths
            steps = encoder.steps.known(raw.steps)
            fixed = raw.statics and encoder.statics.known(raw.statics)
            self.inputs = replace(raw, steps=steps, statics=fixed, apart={})
            self.step_seen = steps.observed
        else:
            self.limit = max(CHUNK_NUMBERS // max(len(encoder.input_columns), 1), 1)
            self.lengths = np.ones(raw.n_rows, dtype=np.int64)
            self.inputs = fixed = encoder.known(raw)
        self.fixed_seen = fixed.observed if fixed else np.empty((raw.n_rows, 0), dtype=bool)
        plausible = [plan.plausible() for plan in encoder.plans]
        self.choices = np.array([len(values) for values, _ in plausible], dtype=np.int64)
        self.shares = np.concatenate([np.empty(0), *(shares for _, shares in plausible)])
        # With a gap as the last value, which REMOVED picks.
        self.values = [
            np.append(values, [None if isinstance(plan, Category) else np.nan])
            for plan, (values, _) in zip(encoder.plans, plausible, strict=True)
        ]

    def explained(self, predicted: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
        """The explained number for copies of these rows; (m, classes) or (m,) -> (m,)."""
        if self.code is None:
            return predicted
        return predicted[np.arange(len(predicted)), self.code[rows]]

    def predict(self, *changes: Any) -> np.ndarray:
        """Predict one copy per change.

        changes : row, column, choice (of the column's values), and the steps first … stop - 1 that
            change; (m,) or numbers
        """
        row, *others = np.broadcast_arrays(*changes)
        predicted = np.empty(len(row))
        for part in _parts(self.lengths[row], self.limit):
            changed = self._changed(row[part], *(array[part] for array in others))
            predicted[part] = self.explained(_predict(self.model, changed), row[part])
        return predicted

    def _changed(
        self,
        row: np.ndarray,
        column: np.ndarray,
        choice: np.ndarray,
        first: np.ndarray,
        stop: np.ndarray,
    ) -> Columns | Panel:
        copies: Any = self.inputs.rows(row)
        steps, fixed = [], copies
        if isinstance(copies, Panel):
            steps, fixed = copies.steps.arrays, copies.statics
            step = np.arange(len(copies.times)) - first_steps(copies.lengths)[copies.series]
            within = (step >= first[copies.series]) & (step < stop[copies.series])
        for j in np.unique(column):
            if j < len(steps):
                chosen = (column == j)[copies.series] & within
                steps[j][chosen] = self.values[j][choice[copies.series][chosen]]
            else:
                chosen = column == j
                fixed.arrays[j - len(steps)][chosen] = self.values[j][choice[chosen]]
        return copies


def _predict(model: Any, inputs: Any) -> np.ndarray:
    """Predictions for each row, or for each series at its last step; (n, classes) or (n,)."""
    predicted = predict_inputs(model, inputs)
    return predicted[np.cumsum(inputs.lengths) - 1] if predicts_steps(model) else predicted


def _explained_class(model: Any, predicted: np.ndarray, of: Any) -> np.ndarray | None:
    """For each row the number of the class that is explained; predicted (n, classes) -> (n,)."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        if of is not None:
            fact = f"of is {of!r}, but this model predicts a number"
            raise ParameterError(fact, "Only a classifier has a class to explain", "Leave it out")
        return None
    if of is None and len(classes) > 2:
        return predicted.argmax(1)
    number = len(classes) - 1 if of is None else class_number(classes, of)
    return np.full(len(predicted), number)


def class_number(classes: np.ndarray, of: Any) -> int:
    """Position of a class; a string finds classes of any type, as on a command line.

    >>> class_number(np.array([0.0, 1.0]), "1"), class_number(np.array(["no", "yes"]), "yes")
    (1, 1)
    """
    labels = classes.tolist()
    for i, label in enumerate(labels):
        if label == of and isinstance(label, str | type(of)):
            return i
    for i, label in enumerate(labels):
        whole = isinstance(label, float) and label.is_integer()
        if str(of) in {str(label), str(int(label)) if whole else str(label)}:
            return i
    known = shorten(list(map(str, labels)))
    raise ParameterError(
        f"of is {of!r}, which is not a class", f"The classes are {known}", "Name one of them"
    )


def _importance(model: Any, X: Any) -> Any:
    """What the policy gave; None if there is no policy, or the file has none."""
    if not hasattr(model, "importance") or isinstance(getattr(model, "policy_", None), NoPolicy):
        return None
    try:
        return model.importance(X)
    except ParameterError:
        return None


def _cells(flags: np.ndarray, first_row: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of each True, column by column; (n, d) -> (m,) each."""
    column, row = np.nonzero(flags.T)
    return row + first_row, column


def _parts(lengths: np.ndarray, limit: int) -> list[slice]:
    """Copies in parts of at most `limit` steps, or of a single series."""
    parts, start, steps = [], 0, 0
    for i, length in enumerate(lengths):
        if steps + length > limit and i > start:
            parts.append(slice(start, i))
            start, steps = i, 0
        steps += length
    return [*parts, slice(start, len(lengths))] if len(lengths) else parts


def _check_work(seen: np.ndarray, lengths: np.ndarray, most_steps: int) -> None:
    values = np.add.reduceat(seen.sum(axis=1), first_steps(lengths))  # per series
    steps = int((values * lengths).sum())
    if steps > most_steps:
        raise ParameterError(
            f"removing {int(values.sum()):,} values one by one means {steps:,} steps to predict",
            f"The limit is {most_steps:,}",
            "Explain fewer series, or whole columns only (single=False, --no-steps), or raise"
            " most_steps",
        )
