"""Explain rows of a table: changed copies of the encoded rows go through the networks in batches.

A value is changed where it is already encoded (its inputs and its indicator), so a variant costs a
copy of one encoded row; the table is not encoded again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import Plan, Table, TableEncoder
from ..errors import ParameterError, shorten
from ..estimators import average_members, predict_members, read_inputs
from ..gil import NoPolicy
from ._explanation import Explanation

CHUNK_NUMBERS = 2**22  # inputs of the variants in memory at once: 16 MB
ROWS = 4096  # rows whose variants are listed at once
REMOVED = -1


@dataclass(frozen=True)
class Variants:
    """m changes of one entry each, ordered by column; row, column and choice are (m,) int64.

    A choice is REMOVED or the number of a plausible value of the column.
    """

    row: np.ndarray
    column: np.ndarray
    choice: np.ndarray

    def __len__(self) -> int:
        return len(self.row)

    def part(self, span: slice) -> Variants:
        """Some of them."""
        return Variants(self.row[span], self.column[span], self.choice[span])

    @classmethod
    def removals(cls, observed: np.ndarray, first_row: int = 0) -> Variants:
        """Remove each observed entry; observed (n, d)."""
        column, row = np.nonzero(observed.T)
        return cls(row + first_row, column, np.full(len(row), REMOVED))

    @classmethod
    def measurements(cls, missing: np.ndarray, choices: np.ndarray, first_row: int = 0) -> Variants:
        """Give each missing entry every plausible value; choices (d,) says how many there are.

        >>> Variants.measurements(np.array([[False, True]]), np.array([3, 2])).choice
        array([0, 1])
        """
        column, row = np.nonzero(missing.T)
        each = choices[column]
        row, column = np.repeat(row, each) + first_row, np.repeat(column, each)
        return cls(row, column, np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each))


class NextValue:
    """What plausible values would do to predictions: mean change, lowest, highest; (n, d) each."""

    def __init__(self, missing: np.ndarray, prediction: np.ndarray, plans: list[Plan]) -> None:
        plausible = [plan.plausible() for plan in plans]
        self.values = [values for values, _ in plausible]
        self.choices = np.array([len(values) for values in self.values], dtype=np.int64)
        self._shares = np.concatenate([np.empty(0), *(shares for _, shares in plausible)])
        self._first = np.cumsum(self.choices) - self.choices
        self._prediction = prediction
        self.change = np.where(missing, 0.0, np.nan)
        # A column that training never saw has no plausible value: it changes nothing.
        start = np.where(self.choices > 0, np.inf, prediction[:, None]) + self.change
        self.low, self.high = start, np.where(np.isinf(start), -np.inf, start)

    def add(self, variants: Variants, predicted: np.ndarray) -> None:
        """Take in the predictions for these variants; (m,)."""
        place = variants.row, variants.column
        share = self._shares[self._first[variants.column] + variants.choice]
        np.add.at(self.change, place, share * np.abs(predicted - self._prediction[variants.row]))
        np.minimum.at(self.low, place, predicted)
        np.maximum.at(self.high, place, predicted)


@dataclass(frozen=True)
class Outcome:
    """The number that is explained: the probability of a class, or the predicted number.

    code, of : (n,) the number and the label of each row's class; None for a regression
    """

    code: np.ndarray | None
    of: np.ndarray | None

    @classmethod
    def choose(cls, model: Any, predicted: np.ndarray, of: Any) -> Outcome:
        """`of`, else the second of two classes or the most probable; predicted (n, classes)."""
        classes = getattr(model, "classes_", None)
        if classes is None:
            if of is not None:
                raise ParameterError(
                    f"of is {of!r}, but this model predicts a number",
                    "Only a classifier has a class to explain",
                    "Leave it out",
                )
            return cls(None, None)
        if of is None and len(classes) > 2:
            code = predicted.argmax(1)
        else:
            number = len(classes) - 1 if of is None else class_number(classes, of)
            code = np.full(len(predicted), number)
        return cls(code, classes[code])

    def read(self, predicted: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The explained number for variants of these rows; (m, classes) or (m,) -> (m,)."""
        return predicted if self.code is None else predicted[np.arange(len(rows)), self.code[rows]]


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
    raise ParameterError(
        f"of is {of!r}, which is not a class",
        f"The classes are {shorten(list(map(str, labels)))}",
        "Name one of them",
    )


def explain_table(model: Any, X: Any, of: Any) -> Explanation:
    """See `explain_rows`; for d columns, all results are (n, d)."""
    encoder: TableEncoder = model.encoder_
    table = encoder.transform(read_inputs(model, X))
    n = len(table.values)
    predicted = _predict(model, table)
    outcome = Outcome.choose(model, predicted, of)
    prediction = outcome.read(predicted, np.arange(n))
    spans = _input_spans(encoder)
    observed = np.zeros((n, encoder.n_columns), dtype=bool)
    for j, (inputs, _) in enumerate(spans):
        if inputs.start < inputs.stop:
            observed[:, j] = table.observed[:, inputs.start]
    size = max(CHUNK_NUMBERS // max(table.values.shape[1], 1), 1)

    def predict(variants: Variants) -> np.ndarray:
        parts = [np.empty(0)]
        for at in range(0, len(variants), size):
            some = variants.part(slice(at, at + size))
            changed = _changed(table, some, spans, codes)
            parts.append(outcome.read(_predict(model, changed), some.row))
        return np.concatenate(parts)

    coming = NextValue(~observed, prediction, encoder.plans)
    codes = [
        _encoded(plan, values) for plan, values in zip(encoder.plans, coming.values, strict=True)
    ]
    removal = np.full(observed.shape, np.nan)
    for at in range(0, n, ROWS):
        some = observed[at : at + ROWS]
        variants = Variants.removals(some, at)
        effect = prediction[variants.row] - predict(variants)
        removal[variants.row, variants.column] = effect
        variants = Variants.measurements(~some, coming.choices, at)
        coming.add(variants, predict(variants))
    return Explanation(
        columns=encoder.names,
        of=outcome.of,
        prediction=prediction,
        observed=observed,
        importance=importance_of(model, X),
        removal=removal,
        next_value=coming.change,
        next_low=coming.low,
        next_high=coming.high,
    )


def _predict(model: Any, table: Table) -> np.ndarray:
    """Predictions for encoded rows; (n, classes) or (n,)."""
    return average_members(model, predict_members(model, table))


def importance_of(model: Any, X: Any) -> Any:
    """What the policy gave; None if there is no policy, or the file has none."""
    if isinstance(getattr(model, "policy_", None), NoPolicy):
        return None
    try:
        return model.importance(X)
    except ParameterError:
        return None


def _input_spans(encoder: TableEncoder) -> list[tuple[slice, int | None]]:
    """Per column, its inputs and the position of its indicator, if it has one."""
    columns = encoder.input_columns[: encoder.n_entries]
    numbers = range(encoder.n_columns)
    starts, stops = (np.searchsorted(columns, numbers, side) for side in ("left", "right"))
    indicators = encoder.input_columns[encoder.n_entries :].tolist()
    place = {j: encoder.n_entries + i for i, j in enumerate(indicators)}
    return [(slice(int(starts[j]), int(stops[j])), place.get(j)) for j in numbers]


def _encoded(plan: Plan, values: np.ndarray) -> np.ndarray:
    """The inputs for each value, and zeros for REMOVED at the end; (v + 1, inputs) float32."""
    codes = np.zeros((len(values) + 1, len(plan.inputs)), dtype=np.float32)
    plan.encode(values, codes[:-1], f"column {plan.name!r}")
    return codes


def _changed(
    table: Table,
    variants: Variants,
    spans: list[tuple[slice, int | None]],
    codes: list[np.ndarray],
) -> Table:
    """Copies of encoded rows, each with one column changed; variants are ordered by column."""
    values, observed = table.values[variants.row], table.observed[variants.row]
    columns, starts = np.unique(variants.column, return_index=True)
    for j, start, stop in zip(columns, starts, [*starts[1:], len(variants)], strict=True):
        inputs, indicator = spans[j]
        choice = variants.choice[start:stop]
        values[start:stop, inputs] = codes[j][choice]
        observed[start:stop, inputs] = (choice != REMOVED)[:, None]
        if indicator is not None:
            values[start:stop, indicator] = choice == REMOVED
    return Table(values, observed)
