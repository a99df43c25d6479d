"""From columns to what a network reads: scaled values and an observed mask.

A `TableEncoder` learns on training rows only (medians, spreads, category levels, which columns
have gaps) and then turns any table with the same columns into a `Table`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError, ParameterError, UnseenCategoryWarning
from .columns import Columns, read_columns
from .scaling import robust_location, scale

RARE = "(rare)"  # input that stands for all levels too rare to have one of their own


@dataclass(frozen=True)
class Table:
    """What a network reads.

    Shapes: values (n, D) float32 with 0 where missing, observed (n, D) bool, True = observed.
    D counts network inputs: a number is one, a category one per level, an indicator one.
    """

    values: np.ndarray
    observed: np.ndarray

    def filled(self, placeholder: float) -> np.ndarray:
        """The values with `placeholder` (in scaled units) where missing; shape (n, D)."""
        if placeholder == 0:
            return self.values
        return np.where(self.observed, self.values, np.float32(placeholder))


@dataclass
class ColumnPlan:
    """How one column of the table becomes inputs of the network."""

    name: str
    kind: str  # "number" or "category"
    has_gaps: bool
    center: float = 0.0
    spread: float = 1.0
    levels: list[str] = field(default_factory=list)
    rare_levels: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs this column gives."""
        if self.kind == "number":
            return [self.name]
        shown = [*self.levels, RARE] if self.rare_levels else self.levels
        return [f"{self.name}={level}" for level in shown]


class TableEncoder:
    """Learns how to scale and encode a table, and does it.

    Parameters
    ----------
    categorical_features : "auto" (text and category columns), or a list of names or positions
    indicator : add one input a column that had gaps in training: 1 where missing
    owner : who asks, for error messages
    max_levels, min_level_rows : a category keeps at most that many levels as inputs of their own,
        each seen in at least that many training rows; the others share one "rare" input

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [20.0, None, 40.0], "sex": ["f", "m", None]})
    >>> encoder = TableEncoder(min_level_rows=1).fit(read_columns(frame))
    >>> encoder.input_names
    ['age', 'sex=f', 'sex=m', 'age is missing', 'sex is missing']
    >>> encoder.transform(read_columns(frame)).observed.astype(int)
    array([[1, 1, 1, 1, 1],
           [0, 1, 1, 1, 1],
           [1, 0, 0, 1, 1]])
    """

    def __init__(
        self,
        categorical_features: str | Sequence[Any] = "auto",
        indicator: bool = True,
        max_levels: int = 64,
        min_level_rows: int = 2,
        owner: str = "TableEncoder",
    ) -> None:
        self.categorical_features = categorical_features
        self.indicator = indicator
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows
        self.owner = owner

    def fit(self, columns: Columns) -> TableEncoder:
        """Learn scales, levels and gaps from training rows."""
        chosen = self._chosen_categories(columns)
        self.named = columns.named
        self.plans = [
            self._plan(columns.names[j], columns.arrays[j], chosen[j])
            for j in range(len(columns.names))
        ]
        return self

    @property
    def input_names(self) -> list[str]:
        """One name per network input, in order."""
        names = [name for plan in self.plans for name in plan.inputs]
        return names + [f"{plan.name} is missing" for plan in self._with_indicator()]

    def transform(self, columns: Columns) -> Table:
        """Encode a table with the same columns; (n, columns) -> Table of (n, D)."""
        arrays = self._match(columns)
        n, width = columns.n_rows, len(self.input_names)
        values = np.zeros((n, width), dtype=np.float32)
        observed = np.ones((n, width), dtype=bool)
        unseen: dict[str, list[str]] = {}
        at, indicator_at = 0, width - len(self._with_indicator())
        for plan, array in zip(self.plans, arrays, strict=True):
            span = slice(at, at + len(plan.inputs))
            if plan.kind == "number":
                seen = self._encode_number(plan, array, values[:, at])
            else:
                seen = self._encode_category(plan, array, values[:, span], unseen)
            observed[:, span] = seen[:, None]
            at = span.stop
            if self.indicator and plan.has_gaps:
                values[:, indicator_at] = ~seen
                indicator_at += 1
        if unseen:
            _warn_unseen(unseen)
        return Table(values, observed)

    def _with_indicator(self) -> list[ColumnPlan]:
        return [plan for plan in self.plans if plan.has_gaps] if self.indicator else []

    def _chosen_categories(self, columns: Columns) -> list[bool]:
        chosen = self.categorical_features
        n = len(columns.names)
        if isinstance(chosen, str):
            if chosen != "auto":
                raise ParameterError(
                    f"categorical_features is {chosen!r}",
                    'It must be "auto" or a list of column names or positions',
                    f"Write categorical_features=[{chosen!r}] for one column",
                )
            return [
                columns.declared[j] or columns.arrays[j].dtype == object for j in range(n)
            ]
        flags = [array.dtype == object for array in columns.arrays]  # text can be nothing else
        for one in chosen:
            position = columns.names.index(one) if one in columns.names else one
            if not isinstance(position, int | np.integer) or not -n <= position < n:
                raise ParameterError(
                    f"categorical_features names {one!r}, which is no column",
                    "It must list column names or positions of the training table",
                    f"The columns are: {_shorten(columns.names)}",
                )
            flags[int(position)] = True
        return flags

    def _plan(self, name: str, array: np.ndarray, category: bool) -> ColumnPlan:
        if not category:
            center, spread = robust_location(array)
            return ColumnPlan(name, "number", bool(np.isnan(array).any()), center, spread)
        texts = _texts(array)
        counts = pd.Series(texts).value_counts()  # most frequent first, ties by appearance
        keep = counts[counts >= self.min_level_rows].index[: self.max_levels]
        if len(counts) <= 2:  # a rare level of two is the whole information of the column
            keep = counts.index
        return ColumnPlan(
            name,
            "category",
            bool(pd.isna(texts).any()),
            levels=sorted(keep),
            rare_levels=sorted(set(counts.index) - set(keep)),
        )

    def _match(self, columns: Columns) -> list[np.ndarray]:
        """The columns in training order; by name where both tables have names."""
        expected = [plan.name for plan in self.plans]
        if self.named and columns.named:
            missing = [name for name in expected if name not in set(columns.names)]
            extra = [name for name in columns.names if name not in set(expected)]
            if missing or extra:
                raise InputError(
                    "The feature names should match those that were passed during fit: "
                    + "; ".join(
                        f"{what} {_shorten(names)}"
                        for what, names in (("missing now", missing), ("not in training", extra))
                        if names
                    ),
                    "Columns must be the same as in training (their order does not matter)",
                    "Rename, add (all NaN is allowed) or drop the columns named above",
                )
            order = {name: j for j, name in enumerate(columns.names)}
            return [columns.arrays[order[name]] for name in expected]
        if len(columns.names) != len(expected):
            raise InputError(
                f"X has {len(columns.names)} features, but {self.owner} is expecting"
                f" {len(expected)} features as input",
                "A table must have the columns of the training table",
                f"The training columns were: {_shorten(expected)}",
            )
        return columns.arrays

    def _encode_number(self, plan: ColumnPlan, array: np.ndarray, out: np.ndarray) -> np.ndarray:
        if array.dtype == object:
            rows = np.flatnonzero(~pd.isna(array))
            raise InputError(
                f"column {plan.name!r} holds text such as {array[rows[0]]!r} in {len(rows)} rows"
                f" (first: row {rows[0]}), but numbers in training",
                "A column must keep its kind",
                "Convert it with pd.to_numeric(column, errors='coerce'), or train again with it in"
                " categorical_features",
            )
        seen = ~np.isnan(array)
        out[seen] = scale(array[seen], plan.center, plan.spread)
        return seen

    def _encode_category(
        self, plan: ColumnPlan, array: np.ndarray, out: np.ndarray, unseen: dict[str, list[str]]
    ) -> np.ndarray:
        texts = _texts(array)
        known = {level: i for i, level in enumerate(plan.levels)}
        known |= dict.fromkeys(plan.rare_levels, len(plan.levels))
        codes, levels = pd.factorize(texts)
        target = np.array([*(known.get(level, -1) for level in levels), -1], dtype=int)
        position = target[codes]
        new = [str(level) for level in levels if level not in known]
        if new:
            unseen[plan.name] = new
        seen = position >= 0
        out[np.flatnonzero(seen), position[seen]] = 1.0
        return seen

    def state(self) -> dict[str, Any]:
        """Everything learned, as plain JSON types."""
        return {
            "owner": self.owner,
            "indicator": self.indicator,
            "named": self.named,
            "plans": [asdict(plan) for plan in self.plans],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> TableEncoder:
        """The reverse of `state`."""
        encoder = cls(indicator=bool(state["indicator"]), owner=str(state["owner"]))
        encoder.named = bool(state["named"])
        encoder.plans = [ColumnPlan(**plan) for plan in state["plans"]]
        return encoder


def _texts(array: np.ndarray) -> np.ndarray:
    """A categorical column as texts; numbers by the text of their shortest form."""
    if array.dtype == object:
        return array
    texts = np.full(len(array), None, dtype=object)
    seen = ~np.isnan(array)
    levels, codes = np.unique(array[seen], return_inverse=True)
    names = [str(int(v)) if v.is_integer() else str(float(v)) for v in levels]
    texts[seen] = np.array(names, dtype=object)[codes]
    return texts


def _warn_unseen(unseen: dict[str, list[str]]) -> None:
    parts = [f"{name!r}: {_shorten(levels)}" for name, levels in unseen.items()]
    warnings.warn(
        "Categories that training never saw are treated as missing. " + "; ".join(parts),
        UnseenCategoryWarning,
        stacklevel=2,
    )


def _shorten(names: Sequence[Any], limit: int = 6) -> str:
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")


__all__ = ["ColumnPlan", "Columns", "Table", "TableEncoder", "read_columns"]
