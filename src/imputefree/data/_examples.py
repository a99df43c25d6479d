"""Rows with all that belongs to them: targets, weights, groups, held-out marks and judges.

They are read from any container and checked. Judges are the rows by which `policy="meta"` judges
what other rows teach: trusted rows, or those of another group.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from ..errors import InputError, InputTypeError
from ._columns import is_polars, refuse_rows
from ._series_rows import first_steps

MOST_CLASSES = 20  # a number with more distinct values is not a class
LARGEST_TARGET = 1e150  # its square still fits a float64
OTHER_GROUP, NOT_A_JUDGE = "other_group", -1


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

        def of_kept(values: np.ndarray | None) -> np.ndarray | None:
            return None if values is None else values[kept]

        held_out = of_kept(self.held_out)
        if held_out is not None:
            _check_both_parts(held_out, "Give such rows a weight above 0")
        labelled = self.labelled
        return replace(
            self,
            inputs=self.inputs.rows(kept),
            target=self._target(kept),
            weight=self.weight[kept],
            groups=of_kept(self.groups),
            held_out=held_out,
            donors=None,
            judges=of_kept(self.judges),
            labelled=None if labelled is None else labelled[self.inputs.places(kept)],
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


# ---- targets
@dataclass(frozen=True)
class ClassCodes:
    """Labels as the numbers of their classes, for tables too large for an array of strings.

    codes : (n,) int
    classes : the sorted classes, all of which occur
    """

    codes: np.ndarray
    classes: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> ClassCodes:
        return replace(self, codes=self.codes[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.codes, dtype)


def read_target(y: Any, n_rows: int, estimator: str) -> Any:
    """y as a one-dimensional array without missing values, (n_rows,); `ClassCodes` as they are."""
    if isinstance(y, ClassCodes):
        return y
    if y is None:
        fact = f"This {estimator} estimator requires y to be passed, but the target y is None"
        raise InputError(fact, "A supervised estimator learns from targets", "Call fit(X, y)")
    target = as_array(y, "y")
    if target.ndim == 2 and target.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape"
            " of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        target = target[:, 0]
    if target.ndim != 1:
        fact = f"y has shape {target.shape}" if target.ndim else f"y is a {type(y).__name__}"
        several = "Fit one estimator per target, for example with sklearn.multioutput"
        remedy = several if target.ndim else "Pass a list, an array or a Series of targets"
        raise InputError(fact, "y must be one-dimensional: one target per row", remedy)
    if len(target) != n_rows:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y"
            f" has {len(target)}",
            "There must be one target per row",
            "Check how rows were selected",
        )
    unusable = {"NaN or None": pd.isna(target)}
    if target.dtype.kind == "f":
        unusable["infinity"] = np.isinf(target)
    for kind, flags in unusable.items():
        remedy = "Drop these rows from X and y before fitting"
        refuse_rows(flags, f"Input y contains {kind}", "Targets must be known and finite", remedy)
    return target


def read_classes(target: np.ndarray, listed: bool = False) -> np.ndarray:
    """The sorted classes of a target, or an error when it holds measurements.

    listed : it names each class once; scikit-learn would warn of a target that hardly repeats
    """
    target = np.repeat(target, 2) if listed else target
    try:
        with np.errstate(invalid="ignore"):  # of numbers beyond int64
            check_classification_targets(target)
        if target.dtype.kind in "mMS":  # scikit-learn lets dates, and before 1.7 bytes, pass
            raise ValueError(f"Unknown label type: {target.dtype}")
        return np.unique(target)
    except (TypeError, ValueError) as error:
        kinds = sorted({type(value).__name__ for value in target.ravel()})
        fact = str(error).strip().rstrip(".")
        if target.dtype == object:
            fact = f"Unknown label type: y has dtype object and holds {kinds[0]}"
        if len(kinds) > 1:
            fact = f"y mixes values of the types {', '.join(kinds)}"
        raise InputTypeError(
            fact,
            "Class labels must be of one kind: strings, whole numbers or booleans",
            "Use a regressor for measurements, or convert y with y.astype(int) or y.astype(str)",
        ) from None


def read_numbers(target: np.ndarray) -> np.ndarray:
    """A regression target as float64."""
    try:
        # NumPy would take dates for counts and drop imaginary parts.
        numbers = None if target.dtype.kind in "mMc" else np.asarray(target, dtype=np.float64)
    except OverflowError:
        numbers = np.array([np.inf])  # a whole number beyond any float
    except (TypeError, ValueError):
        numbers = None
    if numbers is None or np.isnan(numbers).any():  # NumPy reads the string "nan" as a number
        odd = next((value for value in target.tolist() if not _is_number(value)), target[0])
        fact = f"y holds {type(odd).__name__} values such as {odd!r}"
        remedy = "Use a classifier for classes, or convert y to numbers"
        raise InputTypeError(fact, "A regression target must be numbers", remedy)
    if np.abs(numbers).max() > LARGEST_TARGET:
        fact = f"y holds values up to {np.abs(numbers).max():.3g} in size"
        rule = f"Targets must be below {LARGEST_TARGET:.0e} in size, or squared errors overflow"
        raise InputError(fact, rule, "Divide y by a constant, or take logarithms")
    return numbers


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, complex) and not np.isnan(float(value))
    except (TypeError, ValueError):
        return False


def as_array(values: Any, name: str, dtype: Any = None) -> np.ndarray:
    """Targets, weights or groups from any container; of any shape."""
    try:
        if isinstance(values, pd.Series | pd.DataFrame) or is_polars(values):
            values = values.to_numpy()  # which a lazy frame does not have
        with np.errstate(over="ignore"):  # long doubles may become infinite, and are refused
            array = np.asarray(values, dtype=dtype)
        if array.dtype.kind in "US" and dtype is None and not isinstance(values, np.ndarray):
            objects = np.asarray(values, dtype=object)  # else a NaN in a list is the string "nan"
            if not all(isinstance(value, str | bytes) for value in objects.flat):
                return objects
        return array
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        fact = f"{name} cannot be read as an array ({error})"
        rule = f"It must hold one {'number' if dtype is np.float64 else 'value'} per row"
        raise InputTypeError(fact, rule, f"Check the values of {name}") from None


# ---- weights, groups and held-out rows
def read_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Sample weights as float64; None means 1 each."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = as_array(sample_weight, "sample_weight", np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    _check_shape(weight, "sample_weight", n_rows)
    bad = ~np.isfinite(weight) | (weight < 0)
    rule = "Weights must be finite and not negative"
    fact = f"sample_weight holds {weight[np.argmax(bad)]}"
    refuse_rows(bad, fact, rule, "Set unusable rows to weight 0")
    if not weight.any():
        rule = "Sample weights must contain at least one non-zero number"
        raise InputError("all sample weights are zero", rule, "Check the weights")
    return weight


def _read_groups(groups: Any, n_rows: int) -> np.ndarray | None:
    if groups is None:
        return None
    if isinstance(groups, pd.Categorical):  # of files: numbers, as strings would be large
        return np.asarray(groups.codes)
    array = as_array(groups, "groups")
    _check_shape(array, "groups", n_rows)
    rule = "Every row belongs to a group"
    remedy = "Give rows without one a group of their own, such as their row number"
    refuse_rows(pd.isna(array), "groups is missing", rule, remedy)
    return as_array(array, "groups", str)


def _read_held_out(held_out: Any, n_rows: int) -> np.ndarray | None:
    if held_out is None:
        return None
    array = as_array(held_out, "held_out")
    _check_shape(array, "held_out", n_rows)
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


def _check_shape(array: np.ndarray, name: str, n_rows: int) -> None:
    """Refuse anything but one value per row."""
    if array.shape != (n_rows,):
        rule = f"It must be one value per row: ({n_rows},)"
        raise InputError(f"{name} has shape {array.shape}", rule, "Check how rows were selected")


# ---- judges
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
