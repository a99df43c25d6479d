"""What belongs to the rows: targets, weights and groups, checked; and which rows are held out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from .._rules import check_rules, whole
from ..errors import InputError, InputTypeError
from ._columns import is_polars, refuse_rows
from ._panel_frames import first_steps

MOST_CLASSES = 20  # a number with more distinct values is not a class
LARGEST_TARGET = 1e150  # its square still fits a float64


def read_target(y: Any, n_rows: int, estimator: str) -> np.ndarray:
    """y as a one-dimensional array without missing values; shape (n_rows,)."""
    if y is None:
        raise InputError(
            f"This {estimator} estimator requires y to be passed, but the target y is None",
            "A supervised estimator learns from targets",
            "Call fit(X, y)",
        )
    target = as_labels(y, "y")
    if target.ndim == 2 and target.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape"
            " of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        target = target[:, 0]
    if target.ndim != 1:
        raise InputError(
            f"y has shape {target.shape}",
            "y must be one-dimensional: one target per row",
            "Fit one estimator per target, for example with sklearn.multioutput",
        )
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


def read_classes(target: np.ndarray) -> np.ndarray:
    """The sorted classes of a target, or an error when it holds measurements."""
    try:
        check_classification_targets(target)
        if target.dtype.kind in "mM":  # scikit-learn lets dates pass
            raise ValueError(f"Unknown label type: {target.dtype}")
        return np.unique(target)
    except (TypeError, ValueError) as error:
        kinds = sorted({type(value).__name__ for value in target.ravel()})
        mixed = f"y mixes values of the types {', '.join(kinds)}"
        raise InputTypeError(
            mixed if len(kinds) > 1 else str(error).strip().rstrip("."),
            "Class labels must be of one kind: strings, whole numbers or booleans",
            "Use a regressor for measurements, or convert y, for example with y.astype(str)",
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
        raise InputTypeError(
            f"y holds {type(odd).__name__} values such as {odd!r}",
            "A regression target must be numbers",
            "Use a classifier for classes, or convert y to numbers",
        )
    if np.abs(numbers).max() > LARGEST_TARGET:
        raise InputError(
            f"y holds values up to {np.abs(numbers).max():.3g} in size",
            f"Targets must be below {LARGEST_TARGET:.0e} in size, or squared errors overflow",
            "Divide y by a constant, or take logarithms",
        )
    return numbers


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


def _check_shape(array: np.ndarray, name: str, n_rows: int) -> None:
    if array.shape != (n_rows,):
        raise InputError(
            f"{name} has shape {array.shape}",
            f"It must be one value per row: ({n_rows},)",
            "Check how rows were selected",
        )


def as_labels(y: Any, name: str) -> np.ndarray:
    """Labels from a frame, a column or anything NumPy reads; of any shape."""
    if isinstance(y, pd.Series | pd.DataFrame) or is_polars(y):
        y = y.to_numpy()
    return as_array(y, name)


def as_array(values: Any, name: str, dtype: Any = None) -> np.ndarray:
    """Targets, weights or groups as a NumPy array, of any shape."""
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise InputTypeError(
            f"{name} cannot be read as an array ({error})",
            f"It must hold one {'value' if dtype is None else 'number'} per row",
            f"Check the values of {name}",
        ) from None


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, complex) and not np.isnan(float(value))
    except (TypeError, ValueError):
        return False


@dataclass(frozen=True)
class Examples:
    """Rows of a table (or series) with everything that belongs to each."""

    inputs: Any  # `Columns` or a `Panel` of n rows
    target: np.ndarray  # (n,) or, with `per_step`, one label per step
    weight: np.ndarray  # (n,)
    groups: np.ndarray | None = None  # (n,) strings
    held_out: np.ndarray | None = None  # (n,) bool
    per_step: bool = False

    @classmethod
    def read(
        cls,
        inputs: Any,
        target: np.ndarray,
        sample_weight: Any,
        groups: Any = None,
        held_out: Any = None,
        per_step: bool = False,
    ) -> Examples:
        """Check weights, groups and held_out, and leave out rows of weight 0."""
        n_rows = inputs.n_rows
        weight = read_weights(sample_weight, n_rows)
        weight = weight / weight.max()  # only proportions count: no sum of them overflows
        groups, held_out = _read_groups(groups, n_rows), _read_held_out(held_out, n_rows)
        if groups is not None and held_out is not None:
            both = np.intersect1d(groups[held_out], groups[~held_out])
            if len(both):
                more = f" and {len(both) - 1} more" * (len(both) > 1)
                raise InputError(
                    f"held_out splits group {str(both[0])!r}{more}",
                    "Rows of one group are never split between training and validation",
                    "Hold out whole groups, or leave held_out or groups out",
                )
        examples = cls(inputs, target, weight, groups, held_out, per_step)
        return examples._rows(np.flatnonzero(weight))

    def _rows(self, kept: np.ndarray) -> Examples:
        """These rows only."""
        if len(kept) == self.inputs.n_rows:
            return self
        held_out = None if self.held_out is None else self.held_out[kept]
        if held_out is not None:
            _check_both_parts(held_out, "Give such rows a weight above 0")
        groups = None if self.groups is None else self.groups[kept]
        inputs, target, weight = self.inputs.rows(kept), self._target(kept), self.weight[kept]
        return Examples(inputs, target, weight, groups, held_out, self.per_step)

    def _target(self, kept: np.ndarray) -> np.ndarray:
        """The labels of these rows; with `per_step`, those of their steps."""
        return self.target[self.inputs.places(kept) if self.per_step else kept]

    def training_inputs(self) -> Any:
        """The inputs without held-out rows, from which scales must not be learned."""
        if self.held_out is None:
            return self.inputs
        return self.inputs.rows(np.flatnonzero(~self.held_out))

    def training_target(self) -> np.ndarray:
        """The labels without those of held-out rows."""
        if self.held_out is None:
            return self.target
        return self._target(np.flatnonzero(~self.held_out))

    def with_weighted_steps(self, factor: np.ndarray) -> tuple[Examples, np.ndarray]:
        """Without series whose steps all weigh 0 (one factor per step); and the factors left."""
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
    array = as_array(groups, "groups")
    _check_shape(array, "groups", n_rows)
    rule = "Every row belongs to a group"
    remedy = "Give rows without one a group of their own, such as their row number"
    refuse_rows(pd.isna(array), "groups is missing", rule, remedy)
    return array.astype(str)


def _read_held_out(held_out: Any, n_rows: int) -> np.ndarray | None:
    if held_out is None:
        return None
    array = as_array(held_out, "held_out")
    _check_shape(array, "held_out", n_rows)
    if pd.isna(array).any() or not np.isin(array, (True, False)).all():
        raise InputError(
            f"held_out holds values such as {array[:3].tolist()}",
            "It must be True or False for each row",
            "Write held_out=np.isin(np.arange(n), rows_to_validate_on)",
        )
    array = array.astype(bool)
    _check_both_parts(array, "Leave held_out out to have folds drawn")
    return array


def _check_both_parts(held_out: np.ndarray, remedy: str) -> None:
    if held_out.all() or not held_out.any():
        raise InputError(
            f"held_out marks {held_out.sum()} of {len(held_out)} rows that count",
            "Some rows must be learned from, and some be held out",
            remedy,
        )


# ---- folds and parts
def assign_folds(
    n_folds: int,
    rng: np.random.Generator,
    strata: np.ndarray,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """Give each row a fold number in [0, n_folds), or -1 for "always train on it".

    Rows of one class are dealt out like cards, so each fold holds its share of every class. The
    only row of a class is never held out, so that it is learned. Groups stay whole and go, largest
    first, to the fold that has the fewest rows of the group's most common class.

    Shapes: strata (n,), groups (n,) -> (n,).

    >>> assign_folds(2, np.random.default_rng(0), np.array([0, 0, 0, 0, 1, 1, 2]))
    array([ 1,  0,  0,  1,  1,  0, -1])
    """
    if groups is not None:
        return _assign_groups(n_folds, rng, strata, groups)
    folds = np.full(len(strata), -1)
    dealt = 0  # carried over from class to class, so that no fold collects all the remainders
    for stratum in np.unique(strata):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        if len(rows) > 1:
            folds[rows] = (dealt + np.arange(len(rows))) % n_folds
            dealt += len(rows)
    return folds


Fold = tuple[np.ndarray, np.ndarray]  # rows to learn from, rows to validate on


def draw_folds(
    n_folds: int,
    rng: np.random.Generator,
    strata: np.ndarray,
    groups: np.ndarray | None = None,
    held_out: np.ndarray | None = None,
) -> list[Fold]:
    """Training and validation rows fold by fold, or the one pair that `held_out` (n,) bool marks.

    Empty if there are too few rows or groups to hold any out.

    >>> draw_folds(2, np.random.default_rng(0), np.array([0, 0, 1, 1]))
    [(array([0, 2]), array([1, 3])), (array([1, 3]), array([0, 2]))]
    """
    if held_out is not None:
        return [(np.flatnonzero(~held_out), np.flatnonzero(held_out))]
    n_folds = min(n_folds, len(strata) // 2)
    if n_folds < 2:
        return []
    folds = assign_folds(n_folds, rng, strata, groups)
    drawn = np.unique(folds[folds >= 0])
    if len(drawn) < 2:
        return []
    return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in drawn]


def _assign_groups(
    n_folds: int, rng: np.random.Generator, strata: np.ndarray, groups: np.ndarray
) -> np.ndarray:
    _, stratum_of_row = np.unique(strata, return_inverse=True)
    names, group_of_row = np.unique(groups, return_inverse=True)
    counts = _count(group_of_row, stratum_of_row)
    filled = np.zeros((n_folds, counts.shape[1]), dtype=int)
    fold_of_group = np.zeros(len(names), dtype=int)
    order = rng.permutation(len(names))
    for group in order[np.argsort(-counts[order].sum(1), kind="stable")]:
        main = counts[group].argmax()
        fold = np.lexsort((filled.sum(1), filled[:, main]))[0]
        fold_of_group[group] = fold
        filled[fold] += counts[group]
    return fold_of_group[group_of_row]


def _count(group_of_row: np.ndarray, stratum_of_row: np.ndarray) -> np.ndarray:
    """How many rows of each stratum a group has; (groups, strata)."""
    counts = np.zeros((group_of_row.max() + 1, stratum_of_row.max() + 1), dtype=int)
    np.add.at(counts, (group_of_row, stratum_of_row), 1)
    return counts


def tenths(y: np.ndarray) -> np.ndarray:
    """Which tenth of all numbers each belongs to; (n,)."""
    return np.asarray(pd.qcut(y, 10, labels=False, duplicates="drop"))


class Split(NamedTuple):
    """Sorted row numbers of three disjoint parts."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class Splits:
    """How a study is split; the seed decides which rows, this class how many and which kind.

    test, validation : shares of all rows (of all groups, if there are groups)
    test_rows : rows of a fixed test part, the same for every seed
    balanced_test : the test part has equally many rows of each class; otherwise classes keep their
        shares in every part (numbers: their tenths)

    Rows of one group (for example a patient) are never in two parts.

    >>> y = np.repeat([0, 1], [80, 20])
    >>> split = Splits(test=0.2, validation=0.1, balanced_test=True).of(y, seed=0)
    >>> [len(part) for part in split], int(y[split.test].sum())
    ([70, 10, 20], 10)
    """

    test: float = 0.1
    validation: float = 0.1
    balanced_test: bool = False
    test_rows: np.ndarray | None = None

    def of(self, y: Any, groups: Any = None, seed: int = 0) -> Split:
        """Split rows with these labels (n,) and, if rows belong together, groups (n,)."""
        check_rules(SimpleNamespace(seed=seed), {"seed": whole(0)})
        rng = np.random.default_rng(seed)
        unit, strata = _units(np.asarray(y), groups)
        n = len(strata)
        if self.test_rows is not None:
            fixed = np.isin(np.arange(n), unit[self.test_rows])
        else:
            fixed = np.zeros(n, dtype=bool)
            fixed[_draw(strata, np.arange(n), self.test * n, self.balanced_test, rng)] = True
        rest = np.flatnonzero(~fixed)
        chosen = np.zeros(n, dtype=bool)
        chosen[_draw(strata, rest, self.validation * n, False, rng)] = True
        parts = (~fixed & ~chosen, chosen, fixed)
        return Split(*(np.flatnonzero(part[unit]) for part in parts))


def _units(y: np.ndarray, groups: Any) -> tuple[np.ndarray, np.ndarray]:
    """What is drawn, groups or rows: the unit of each row (n,), and the stratum of each unit.

    The stratum of a group is that of most of its rows.
    """
    if y.dtype.kind == "f" and len(np.unique(y)) > MOST_CLASSES:
        strata = tenths(y)
    else:
        strata = np.unique(y, return_inverse=True)[1]
    if groups is None:
        return np.arange(len(y)), strata
    unit = pd.factorize(np.asarray(groups))[0]
    return unit, _count(unit, strata).argmax(1)


def _draw(
    strata: np.ndarray, among: np.ndarray, size: float, balanced: bool, rng: np.random.Generator
) -> np.ndarray:
    """Units drawn from each stratum: equally many if balanced, else in proportion."""
    shuffled = rng.permutation(among)
    kinds = np.unique(strata)
    drawn = []
    for kind in kinds:
        members = shuffled[strata[shuffled] == kind]
        share = 1 / len(kinds) if balanced else len(members) / max(len(among), 1)
        count = round(share * size)
        if balanced and count >= len(members):
            raise InputError(
                f"a balanced test part needs {count} rows of each class; one has {len(members)}",
                "Every class must also be left to learn from",
                "Make the test part smaller",
            )
        drawn.append(members[:count])
    return np.concatenate(drawn)
