"""`Examples`: rows with their targets, weights, groups, held-out marks and judges, of one size.

Judges are the rows by which `policy="meta"` judges what other rows teach: trusted rows, or those
of another group.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError
from ._columns import refuse_rows
from ._series_rows import first_steps
from ._target import as_array, check_shape, read_weights


@dataclass(frozen=True)
class Examples:
    """Rows of a table (or series) with everything that belongs to each."""

    inputs: Any  # `Columns` or a `Panel` of n rows
    target: np.ndarray  # (n,) or, with `per_step`, one label per step
    weight: np.ndarray  # (n,)
    groups: np.ndarray | None = None  # (n,) strings
    held_out: np.ndarray | None = None  # (n,) bool
    per_step: bool = False
    donors: np.ndarray | None = None  # (n,) rows whose gaps each row also has where it is judged
    judges: np.ndarray | None = None  # (n,) int, see `read_judges`
    labelled: np.ndarray | None = None  # (S,) bool, which steps have a label, if not all do

    @classmethod
    def read(
        cls,
        inputs: Any,
        target: np.ndarray,
        sample_weight: Any,
        groups: Any = None,
        held_out: Any = None,
        per_step: bool = False,
        trusted: Any = None,
        labelled: np.ndarray | None = None,
    ) -> Examples:
        """Check weights, groups, held_out and trusted, and leave out rows of weight 0."""
        n_rows = inputs.n_rows
        weight = read_weights(sample_weight, n_rows)
        weight = weight / weight.max()  # only proportions count: no sum of them overflows
        groups, held_out = _read_groups(groups, n_rows), _read_held_out(held_out, n_rows)
        if groups is not None and held_out is not None:
            both = np.intersect1d(groups[held_out], groups[~held_out])
            if len(both):
                more = f" and {len(both) - 1} more" * (len(both) > 1)
                rule = "Rows of one group are never split between training and validation"
                remedy = "Hold out whole groups, or leave held_out or groups out"
                raise InputError(f"held_out splits group {str(both[0])!r}{more}", rule, remedy)
        judges = None
        if trusted is not None:
            chosen = trusted if isinstance(trusted, str) else as_array(trusted, "trusted")
            judges = read_judges(chosen, groups, weight)
        examples = cls(
            inputs, target, weight, groups, held_out, per_step, judges=judges, labelled=labelled
        )
        return examples._rows(np.flatnonzero(weight))

    def _rows(self, kept: np.ndarray) -> Examples:
        """These rows only."""
        if len(kept) == self.inputs.n_rows:
            return self
        held_out = None if self.held_out is None else self.held_out[kept]
        if held_out is not None:
            _check_both_parts(held_out, "Give such rows a weight above 0")
        groups = None if self.groups is None else self.groups[kept]
        judges = None if self.judges is None else self.judges[kept]
        inputs, target, weight = self.inputs.rows(kept), self._target(kept), self.weight[kept]
        labelled = None if self.labelled is None else self.labelled[self.inputs.places(kept)]
        return Examples(
            inputs, target, weight, groups, held_out, self.per_step, None, judges, labelled
        )

    def _target(self, kept: np.ndarray) -> np.ndarray:
        """The labels of these rows; with `per_step`, those of their steps."""
        return self.target[self.inputs.places(kept) if self.per_step else kept]

    def training_inputs(self) -> Any:
        """The inputs without held-out rows, from which scales must not be learned."""
        return self.inputs if self.held_out is None else self.inputs.rows(self._learned_rows())

    def judged_inputs(self) -> Any:
        """The inputs as held-out rows are predicted: with the gaps of donors, if there are any."""
        return self.inputs if self.donors is None else self.inputs.with_gaps_of(self.donors)

    def training_target(self) -> np.ndarray:
        """The labels without those of held-out rows."""
        if self.held_out is None:
            return self.known_target
        rows = self._learned_rows()
        target = self._target(rows)
        return target if self.labelled is None else target[self.labelled[self.inputs.places(rows)]]

    @property
    def known_target(self) -> np.ndarray:
        """The labels; of steps, without those that were filled in."""
        return self.target if self.labelled is None else self.target[self.labelled]

    def _learned_rows(self) -> np.ndarray:
        return np.flatnonzero(~np.asarray(self.held_out))

    def with_weighted_steps(self, factor: np.ndarray) -> tuple[Examples, np.ndarray]:
        """Without series whose steps all weigh 0 (one factor per label); and a factor per step."""
        if self.labelled is not None:
            known, factor = factor, np.zeros(len(self.target))
            factor[self.labelled] = known
        kept = np.flatnonzero(np.add.reduceat(factor, first_steps(self.inputs.lengths)) > 0)
        if not len(kept):
            raise _weightless("step")
        return self._rows(kept), factor[self.inputs.places(kept)]

    def reweighted(self, factor: np.ndarray) -> Examples:
        """With weights multiplied (one factor per row), without the rows that then weigh 0."""
        weight = self.weight * factor
        if not weight.any():
            raise _weightless("row")
        return replace(self, weight=weight)._rows(np.flatnonzero(weight))

    def label_weights(self, factor: np.ndarray) -> np.ndarray | None:
        """The weight of each label, 1 on average; None where all are the same.

        Steps of a series share its weight, times `factor` (one per step): a series counts by its
        number of steps.
        """
        weight = self.weight
        if self.per_step:
            weight = np.repeat(weight, self.inputs.lengths) * factor
            # The loss divides by rows, so a step counts 1 / (mean length) of a row.
            return weight / weight.mean() * (self.inputs.n_rows / len(weight))
        share = weight / weight.mean()
        return share if np.ptp(share) else None


def _weightless(unit: str) -> InputError:
    fact = f"class_weight gives every {unit} the weight zero"
    return InputError(fact, f"At least one {unit} must have a weight above zero")


def _read_groups(groups: Any, n_rows: int) -> np.ndarray | None:
    if groups is None:
        return None
    if isinstance(groups, pd.Categorical):  # of files: numbers, as strings would be large
        return np.asarray(groups.codes)
    array = as_array(groups, "groups")
    check_shape(array, "groups", n_rows)
    rule = "Every row belongs to a group"
    remedy = "Give rows without one a group of their own, such as their row number"
    refuse_rows(pd.isna(array), "groups is missing", rule, remedy)
    return as_array(array, "groups", str)


def _read_held_out(held_out: Any, n_rows: int) -> np.ndarray | None:
    if held_out is None:
        return None
    array = as_array(held_out, "held_out")
    check_shape(array, "held_out", n_rows)
    if pd.isna(array).any() or not np.isin(array, (True, False)).all():
        fact = f"held_out holds values such as {array[:3].tolist()}"
        remedy = "Write held_out=np.isin(np.arange(n), rows_to_validate_on)"
        raise InputError(fact, "It must be True or False for each row", remedy)
    array = array.astype(bool)
    _check_both_parts(array, "Leave held_out out to have folds drawn")
    return array


def _check_both_parts(held_out: np.ndarray, remedy: str) -> None:
    if held_out.all() or not held_out.any():
        fact = f"held_out marks {held_out.sum()} of {len(held_out)} rows that count"
        raise InputError(fact, "Some rows must be learned from, and some be held out", remedy)


OTHER_GROUP, NOT_A_JUDGE = "other_group", -1


def read_judges(
    trusted: np.ndarray | str, groups: np.ndarray | None, weight: np.ndarray
) -> np.ndarray:
    """A number per row: rows of one number judge together, those of `NOT_A_JUDGE` never do.

    Trusted rows have the number 0. With trusted="other_group", every group has a number.

    trusted : (n,) bool, row numbers, or "other_group"

    Shapes: groups (n,) or None, weight (n,) -> (n,).

    >>> read_judges(np.array([0, 2]), None, np.ones(4))
    array([ 0, -1,  0, -1])
    >>> read_judges("other_group", np.array(["a", "b", "a"]), np.ones(3))
    array([0, 1, 0])
    """
    if isinstance(trusted, str):
        return _judging_groups(trusted, groups, weight)
    n_rows = len(weight)
    rule = "Trusted rows are marked by True in a boolean per row, or listed by their row numbers"
    remedy = "Write trusted=mask or trusted=np.flatnonzero(mask)"
    is_mask = trusted.dtype.kind == "b"
    if trusted.ndim != 1 or not len(trusted) or trusted.dtype.kind not in "bui":
        fact = f"trusted has shape {trusted.shape} and type {trusted.dtype}"
        raise InputError(fact, rule, remedy)
    if is_mask and len(trusted) != n_rows:
        raise InputError(f"trusted has {len(trusted)} booleans for {n_rows} rows", rule, remedy)
    chosen = trusted
    if not is_mask:
        outside = trusted[(trusted < 0) | (trusted >= n_rows)]
        if len(outside):
            fact = f"trusted names row {outside[0]} of {n_rows} rows"
            raise InputError(fact, "Row numbers count from 0", remedy)
        if len(np.unique(trusted)) < len(trusted):
            raise InputError("trusted names a row twice", rule, remedy)
        chosen = np.isin(np.arange(n_rows), trusted)
    n_trusted, n_counting = int((chosen & (weight > 0)).sum()), int((weight > 0).sum())
    if n_trusted in (0, n_counting):
        fact = f"trusted marks {n_trusted} of {n_counting} rows that count"
        rule = "Trusted rows judge what the other rows teach, so there must be both"
        raise InputError(fact, rule, "Mark some rows, or leave trusted out")
    return np.where(chosen, 0, NOT_A_JUDGE)


def _judging_groups(word: str, groups: np.ndarray | None, weight: np.ndarray) -> np.ndarray:
    if word != OTHER_GROUP:
        rule = f"It is a boolean per row, row numbers, or {OTHER_GROUP!r}"
        raise InputError(f"trusted is {word!r}", rule, "Choose one of them")
    n_groups = 0 if groups is None else len(np.unique(groups[weight > 0]))
    if groups is None or n_groups < 2:
        fact = f"trusted is {OTHER_GROUP!r}, and the number of groups is {n_groups}"
        rule = "Rows of one group judge what rows of other groups teach"
        raise InputError(
            fact, rule, "Pass groups= with at least two groups, or the trusted rows themselves"
        )
    return np.unique(groups, return_inverse=True)[1]
