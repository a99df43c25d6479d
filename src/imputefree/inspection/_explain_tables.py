"""Rows of a table explained: variants of the encoded rows, through the networks in large batches.

A value is changed where it is already encoded (its inputs and its indicator): a variant costs a
copy of a row and its share of a matrix product, no second look at the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..data import Table, TableEncoder
from ..errors import ParameterError
from ..gil import NoPolicy, TrainingData, predict_raw
from ._explanation import Explanation
from ._outcome import Outcome
from ._variants import REMOVED, NextValue, Variants, in_parts, measured, removals

CHUNK_NUMBERS = 2**22  # inputs of the variants that are in memory at once: 16 MB
ROWS = 4096  # whose variants are listed at once


def explain_table(model: Any, X: Any, of: Any) -> Explanation:
    """See `explain_rows`; d columns, all results (n, d)."""
    encoder: TableEncoder = model.encoder_
    table = encoder.transform(model._inputs(X))
    n, d = len(table.values), encoder.n_columns
    members = _members(model, table)
    outcome = Outcome.choose(model, members, of)
    prediction = outcome.read(members, np.arange(n))
    spans = _spans(encoder)
    observed = np.zeros((n, d), dtype=bool)
    for j, (own, _) in enumerate(spans):
        if own.start < own.stop:
            observed[:, j] = table.observed[:, own.start]
    coming = NextValue(observed, prediction, encoder.plans)
    codes = [_encoded(encoder, j, values) for j, values in enumerate(coming.values)]
    removal = np.full((n, d), np.nan)
    size = max(CHUNK_NUMBERS // max(table.values.shape[1], 1), 1)

    def predict(which: Variants) -> np.ndarray:
        return outcome.read(_members(model, _changed(table, which, spans, codes)), which.row)

    for at in range(0, n, ROWS):
        some = observed[at : at + ROWS]
        which = removals(some, at)
        without = in_parts(which, size, predict)
        removal[which.row, which.column] = prediction[which.row] - without
        which = measured(some, coming.choices, at)
        coming.add(which, in_parts(which, size, predict))
    return Explanation(
        columns=encoder.names,
        of=outcome.of,
        prediction=prediction,
        observed=observed,
        importance=importance(model, X),
        removal=removal,
        next_value=coming.change,
        next_low=coming.low,
        next_high=coming.high,
    )


def importance(model: Any, X: Any) -> Any:
    """What the policy gave; None where nothing was decided, or the file has no policy."""
    if isinstance(getattr(model, "policy_", None), NoPolicy):
        return None
    try:
        return model.importance(X)
    except ParameterError:
        return None


def _spans(encoder: TableEncoder) -> list[tuple[slice, int | None]]:
    """Per column its inputs, and the place of its indicator if it has one."""
    own, other = np.split(encoder.input_columns, [encoder.n_entries])
    numbers = range(encoder.n_columns)
    starts, stops = (np.searchsorted(own, numbers, side) for side in ("left", "right"))
    gaps = {int(j): encoder.n_entries + i for i, j in enumerate(other)}
    return [(slice(int(starts[j]), int(stops[j])), gaps.get(j)) for j in numbers]


def _encoded(encoder: TableEncoder, column: int, values: np.ndarray) -> np.ndarray:
    """The inputs for each value, and for none of them as the last; (v + 1, inputs) float32."""
    plan = encoder.plans[column]
    out = np.zeros((len(values) + 1, len(plan.inputs)), dtype=np.float32)
    plan.encode(values, out[:-1], f"column {plan.name!r}")
    return out


def _changed(
    table: Table,
    which: Variants,
    spans: list[tuple[slice, int | None]],
    codes: list[np.ndarray],
) -> Table:
    """The encoded rows with one column changed in each; variants come in the order of columns."""
    values, observed = table.values[which.row], table.observed[which.row]
    columns, starts = np.unique(which.column, return_index=True)
    for j, start, stop in zip(columns, starts, [*starts[1:], len(which)], strict=True):
        own, gap = spans[j]
        choice = which.choice[start:stop]
        values[start:stop, own] = codes[j][choice]
        observed[start:stop, own] = (choice != REMOVED)[:, None]
        if gap is not None:
            values[start:stop, gap] = choice == REMOVED
    return Table(values, observed)


def _members(model: Any, table: Table) -> Tensor:
    """ŷ of every member for encoded rows; (K, n, O) float64."""
    data = TrainingData(
        values=torch.from_numpy(table.filled(model.placeholder_)),
        observed=torch.from_numpy(table.observed),
        target=torch.empty(0),
    ).to(model._placed())
    return model._loss().predict(predict_raw(model.predictor_, data).cpu().double())
