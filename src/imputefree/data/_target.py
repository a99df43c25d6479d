"""What belongs to the rows: targets, weights and groups, checked; and which rows are held out.

Labels of series or of steps come by id, by (id, time), by column, or by a position that is certain:
where there is only one order. A long frame whose ids are not sorted has no such order, and guessing
would silently train on shuffled labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from ..errors import InputError, InputTypeError, listed, shorten
from ._columns import is_polars, refuse_rows
from ._judges import read_judges
from ._panel_frames import (
    first_steps,
    hours,
    is_nested,
    match_ids,
    one_known,
    read_stamps,
    stack,
    stamp_text,
)
from ._row_store import SAMPLE_ROWS

if TYPE_CHECKING:
    from ._panel import Panel

MOST_CLASSES = 20  # a number with more distinct values is not a class
LARGEST_TARGET = 1e150  # its square still fits a float64
BY_TIME = "a Series indexed by (id, time)"


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
        fact = f"y has shape {target.shape}"
        remedy = "Fit one estimator per target, for example with sklearn.multioutput"
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
        fact = f"y holds {type(odd).__name__} values such as {odd!r}"
        remedy = "Use a classifier for classes, or convert y to numbers"
        raise InputTypeError(fact, "A regression target must be numbers", remedy)
    if np.abs(numbers).max() > LARGEST_TARGET:
        fact = f"y holds values up to {np.abs(numbers).max():.3g} in size"
        rule = f"Targets must be below {LARGEST_TARGET:.0e} in size, or squared errors overflow"
        raise InputError(fact, rule, "Divide y by a constant, or take logarithms")
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
        rule = f"It must be one value per row: ({n_rows},)"
        raise InputError(f"{name} has shape {array.shape}", rule, "Check how rows were selected")


def as_array(values: Any, name: str, dtype: Any = None) -> np.ndarray:
    """Targets, weights or groups from whatever holds them; of any shape."""
    if isinstance(values, pd.Series | pd.DataFrame) or is_polars(values):
        values = values.to_numpy()
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        fact = f"{name} cannot be read as an array ({error})"
        rule = f"It must hold one {'value' if dtype is None else 'number'} per row"
        raise InputTypeError(fact, rule, f"Check the values of {name}") from None


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, complex) and not np.isnan(float(value))
    except (TypeError, ValueError):
        return False


# ---- labels of series and of steps
def series_labels(y: Any, panel: Panel, name: str = "y") -> np.ndarray:
    """One label per series, in the order of the panel; shape (n,). Missing labels stay missing.

    y : a column of labels of the panel, constant within each series; a dict or pandas Series
        keyed by id; or an array of n labels, for series without ids or with ids that were sorted

    >>> from imputefree import Panel
    >>> frame = pd.DataFrame({"who": ["b", "b", "a"], "pulse": [70, 80, 75], "died": [1, None, 0]})
    >>> panel = Panel.from_long(frame, id="who", labels="died")
    >>> series_labels("died", panel)
    array([1., 0.])
    >>> series_labels({"a": "alive", "b": "dead"}, panel)
    array(['dead', 'alive'], dtype='<U5')
    """
    if isinstance(y, str):
        values, series = _apart(y, panel, name), panel.series
        rule = f"{name} is one label per series (missing in some rows is fine)"

        def owner(step: int) -> str:
            return _series_text(panel, series[step])

        known = one_known(values, series, len(panel), f"column {y!r}", owner, rule)
        return _native(values[known])
    if isinstance(y, dict):
        keys: Any = pd.Index(np.fromiter(y, dtype=object, count=len(y)), tupleize_cols=False)
        return _match_series(as_array(list(y.values()), name), keys, panel, name)
    if isinstance(y, pd.Series) and panel.keyed and not _is_unlabelled(y.index, panel):
        return _match_series(y.to_numpy(), y.index, panel, name)
    labels = as_array(y, name)
    if labels.shape != (len(panel),):
        fact = f"{name} has {_size(labels)} for {len(panel)} series"
        rule = "There must be one label per series"
        raise InputError(fact, rule, "Check how the series were selected")
    _check_order(panel, name, f"pd.Series({name}, index=ids)")
    return labels


def step_labels(y: Any, panel: Panel, name: str = "y") -> np.ndarray:
    """One label per step, in the order of the panel; shape (S,). Missing labels stay missing.

    y : a column of labels of the panel; a pandas Series indexed by (id, time); a list of (T_i,)
        arrays; a 2D array (N, T), its padding ignored; or a flat array (S,); all of them, for long
        frames, in the order of their rows

    >>> from imputefree import Panel
    >>> frame = pd.DataFrame({"who": [1, 1, 2], "hour": [9, 4, 0], "pulse": [80, 70, 75]})
    >>> step_labels(["late", "early", "other"], Panel.from_long(frame, "who", "hour"))
    array(['early', 'late', 'other'], dtype='<U5')
    """
    if isinstance(y, str):
        return _native(_apart(y, panel, name))
    if isinstance(y, pd.Series) and isinstance(y.index, pd.MultiIndex):
        return _match_steps(y, panel, name)
    if not panel.by_row:
        fact = f"{name} is given by position, but the steps of X come from (variable, value) pairs"
        rule = "Such steps have no position: labels are matched by id and time"
        raise InputError(fact, rule, f"Pass {name} as {BY_TIME}, or name a column of X")
    n, n_steps, width = len(panel), len(panel.times), panel.width
    if is_nested(y):
        return _match_members(list(y), panel, name)
    labels = as_array(y, name)
    if labels.ndim == 2 and labels.shape == (n, width):
        return _by_time(labels[np.arange(width) < panel.lengths[:, None]], panel, name)
    if labels.shape != (n_steps,):
        fact = f"{name} has {_size(labels)} for {n_steps} steps of {n} series"
        remedy = f"Pass ({n_steps},) labels, one array per series, or an array of ({n}, {width})"
        raise InputError(fact, "There must be one label per step", remedy)
    if panel.source.max() >= n_steps:
        fact = f"{name} has {n_steps} labels by position, but some series of X were left out"
        rule = "Positions count the rows of the whole input"
        raise InputError(fact, rule, "Match the labels to the whole panel before selecting series")
    return labels[panel.source]


def fill_labels(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Steps without a label get that of another step; and which steps have one, if not all do.

    Nothing is learned from such steps, but later steps remember what was measured there.

    >>> fill_labels(np.array([np.nan, 1.0, 0.0]))
    (array([1., 1., 0.]), array([False,  True,  True]))
    """
    known = ~pd.isna(labels)
    if known.all() or not known.any():
        return labels, None
    return _native(np.where(known, labels, labels[known.argmax()])), known


def _size(labels: np.ndarray) -> str:
    return f"{len(labels)} labels" if labels.ndim == 1 else f"shape {labels.shape}"


def _is_unlabelled(index: pd.Index, panel: Panel) -> bool:
    """A default index that does not hold the ids is just a count of rows."""
    counts = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
    return counts and not bool(pd.Index(panel.ids, tupleize_cols=False).isin(index).all())


def _apart(column: str, panel: Panel, name: str) -> np.ndarray:
    if column in panel.apart:
        return panel.apart[column]
    fact = f"{name} names {column!r}, which is not a label column of the panel"
    remedy = "Pass the labels themselves, or name the column in labels= of the Panel"
    raise InputError(fact, f"The label columns are: {shorten(list(panel.apart)) or 'none'}", remedy)


def _native(values: np.ndarray) -> np.ndarray:
    """Objects that are all numbers or booleans as an array of that kind."""
    return pd.Series(values, dtype=object).infer_objects().to_numpy()


def _match_series(labels: np.ndarray, keys: Any, panel: Panel, name: str) -> np.ndarray:
    """Labels with one id each."""
    rows, extra = match_ids(panel.ids, keys, name)
    missing = panel.ids[rows < 0]
    if len(missing) or len(extra):
        differ = listed(("ids without labels:", missing), ("labels without series:", extra))
        fact = f"{name} does not match the series; {differ}"
        remedy = f"Select the same ids in both, for example {name}.loc[ids]"
        raise InputError(fact, "Labels are matched by id, and every series needs one", remedy)
    return labels[rows]


def _match_steps(y: pd.Series, panel: Panel, name: str) -> np.ndarray:
    """Labels with an (id, time) index."""
    rule = "Labels are matched by id and time, and every step needs one"
    if y.index.nlevels != 2:
        fact = f"the index of {name} has {y.index.nlevels} levels"
        rule = "Labels of steps are indexed by (id, time)"
        raise InputError(fact, rule, f"Drop the other levels with {name}.droplevel")
    ids, index = y.index.get_level_values(0).astype(object), y.index.get_level_values(1)
    series = pd.Index(panel.ids, dtype=object, tupleize_cols=False).get_indexer(ids)
    label = f"level 1 of the index of {name}"
    stamps = read_stamps(index, label, lambda row: f"row {row}, id {ids[row]!r}")
    if (stamps.dtype.kind == "M") != (panel.starts is not None):
        theirs, ours = ("numbers", "dates") if panel.starts is not None else ("dates", "numbers")
        fact = f"{name} has {theirs} as times while X has {ours}"
        raise InputTypeError(fact, rule, f"Index {name} by the times of X")
    times = stamps if panel.starts is None else stamps - panel.starts[series]
    times = hours(times) if times.dtype.kind == "m" else times
    labelled = pd.MultiIndex.from_arrays([series, times])
    steps = pd.MultiIndex.from_arrays([panel.series, panel.times])

    def key(row: int) -> str:
        return f"({ids[row]!r}, {stamp_text(stamps[row])})"

    repeated = np.flatnonzero(labelled.duplicated() & (series >= 0))
    if len(repeated):
        fact = f"{name} holds two labels of {key(repeated[0])}"
        raise InputError(fact, rule, "Drop the repeated rows")
    extra, missing = np.flatnonzero(~labelled.isin(steps)), np.flatnonzero(~steps.isin(labelled))
    parts = []
    if len(missing):
        shown = shorten(missing, 3, lambda step: _step_text(panel, step))
        parts.append(f"steps without labels: {shown}")
    if len(extra):
        parts.append(f"labels without steps: {shorten(extra, 3, key)}")
    if parts:
        fact = f"{name} does not match the steps of X; {'; '.join(parts)}"
        raise InputError(fact, rule, "Select the same ids and times in both")
    return y.to_numpy()[labelled.get_indexer(steps)]


def _match_members(members: list[Any], panel: Panel, name: str) -> np.ndarray:
    """A list of (T_i,) arrays."""
    rule, remedy = "A list of labels has one (T_i,) array per series", "Pass one label per step"
    if len(members) != len(panel):
        fact = f"{name} has {len(members)} members for {len(panel)} series"
        raise InputError(fact, rule, remedy)
    arrays = [as_array(member, f"{name} of series {i}") for i, member in enumerate(members)]
    for i, (array, length) in enumerate(zip(arrays, panel.lengths, strict=True)):
        if array.shape != (length,):
            owner = _series_text(panel, i)
            fact = f"{name} of {owner} has shape {array.shape} for {length} steps"
            raise InputError(fact, rule, remedy)
    return _by_time(stack(arrays), panel, name)


def _by_time(labels: np.ndarray, panel: Panel, name: str) -> np.ndarray:
    """Labels that come series by series, each in the order of its rows in X -> by time; (S,)."""
    _check_order(panel, name, BY_TIME)
    by_time = np.empty_like(labels)
    by_time[np.lexsort((panel.source, panel.series))] = labels
    return by_time


def _check_order(panel: Panel, name: str, remedy: str) -> None:
    """Labels by position belong to series with ids only if there is only one order of the ids."""
    if not panel.sorted_ids:
        first = shorten(panel.ids.tolist(), 3)
        fact = f"{name} has no ids, and the ids of X are not in sorted order (first: {first})"
        rule = "Such labels could follow the rows of X or the sorted ids"
        raise InputError(fact, rule, f"Pass {remedy}, or name a column of X")


def _step_text(panel: Panel, step: int) -> str:
    i, time = panel.series[step], panel.times[step]
    if panel.starts is None:
        return f"({panel.ids[i]!r}, {stamp_text(time)})"
    return f"({panel.ids[i]!r}, {pd.Timestamp(panel.starts[i]) + pd.Timedelta(time, unit='h')})"


def _series_text(panel: Panel, i: int) -> str:
    return f"id {panel.ids[i]!r}" if panel.keyed else f"series {i}"


# ---- examples
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


class Folds(Sequence[Fold]):
    """Training and validation rows, fold by fold, found when they are asked for.

    The rows of one fold take as much memory as a column of a table.

    fold_of_row : (n,) the fold that holds each row out; of any other number, none does
    numbers : of the folds

    >>> folds = Folds(np.array([1, 0, 1]), [0, 1])
    >>> folds[0], len(folds[1:])
    ((array([0, 2]), array([1])), 1)
    """

    def __init__(self, fold_of_row: np.ndarray, numbers: Sequence[int]) -> None:
        self.fold_of_row, self.numbers = fold_of_row.astype(np.int16), list(numbers)
        self._dtype = np.int32 if len(fold_of_row) > SAMPLE_ROWS else np.int64

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, which: Any) -> Any:
        """A fold, or the folds of a slice."""
        if isinstance(which, slice):
            return Folds(self.fold_of_row, self.numbers[which])
        held_out = self.fold_of_row == self.numbers[which]
        return tuple(np.flatnonzero(rows).astype(self._dtype) for rows in (~held_out, held_out))


def draw_folds(
    n_folds: int,
    rng: np.random.Generator,
    strata: np.ndarray,
    groups: np.ndarray | None = None,
    held_out: np.ndarray | None = None,
) -> Folds:
    """Training and validation rows fold by fold, or the one pair that `held_out` (n,) bool marks.

    Empty if there are too few rows or groups to hold any out.

    >>> list(draw_folds(2, np.random.default_rng(0), np.array([0, 0, 1, 1])))
    [(array([1, 3]), array([0, 2])), (array([0, 2]), array([1, 3]))]
    """
    if held_out is not None:
        return Folds(held_out, [True])
    n_folds = min(n_folds, len(strata) // 2)
    if n_folds < 2:
        return Folds(np.empty(0), [])
    folds = assign_folds(n_folds, rng, strata, groups)
    drawn = np.unique(folds[folds >= 0])
    return Folds(folds, drawn.tolist() if len(drawn) > 1 else [])


def _assign_groups(
    n_folds: int, rng: np.random.Generator, strata: np.ndarray, groups: np.ndarray
) -> np.ndarray:
    _, stratum_of_row = np.unique(strata, return_inverse=True)
    names, group_of_row = np.unique(groups, return_inverse=True)
    counts = count_strata(group_of_row, stratum_of_row)
    filled = np.zeros((n_folds, counts.shape[1]), dtype=int)
    fold_of_group = np.zeros(len(names), dtype=int)
    order = rng.permutation(len(names))
    for group in order[np.argsort(-counts[order].sum(1), kind="stable")]:
        main = counts[group].argmax()
        fold = np.lexsort((filled.sum(1), filled[:, main]))[0]
        fold_of_group[group] = fold
        filled[fold] += counts[group]
    return fold_of_group[group_of_row]


def count_strata(group_of_row: np.ndarray, stratum_of_row: np.ndarray) -> np.ndarray:
    """How many rows of each stratum a group has; (groups, strata)."""
    counts = np.zeros((group_of_row.max() + 1, stratum_of_row.max() + 1), dtype=int)
    np.add.at(counts, (group_of_row, stratum_of_row), 1)
    return counts


def tenths(y: np.ndarray) -> np.ndarray:
    """Which tenth of all numbers each belongs to; (n,)."""
    return np.asarray(pd.qcut(y, 10, labels=False, duplicates="drop"))
