"""From columns to what a network reads: scaled values and an observed mask.

A `TableEncoder` learns on training rows only (scales, category levels, which columns have gaps)
and then turns any table with the same columns into a `Table`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError, ParameterError, UnseenCategoryWarning
from ._columns import Columns
from ._encoding import Category, Number, Plan, as_texts, from_state, to_state
from ._wording import listed, shorten

RICH_COLUMNS = 100  # "auto": wider tables are not worth several inputs a number


@dataclass(frozen=True)
class Table:
    """What a network reads.

    Shapes: values (n, D) float32 with 0 where missing, observed (n, D) bool, True = observed.
    D counts network inputs: first those of the columns, then the indicators (always observed).
    """

    values: np.ndarray
    observed: np.ndarray

    def filled(self, placeholder: float) -> np.ndarray:
        """The values with `placeholder` (in scaled units) where missing; shape (n, D)."""
        if placeholder == 0:
            return self.values
        return np.where(self.observed, self.values, np.float32(placeholder))


class TableEncoder:
    """Learns how to scale and encode a table, and does it.

    Parameters
    ----------
    categorical_features : "auto" (text and category columns), or a list of names or positions
    indicator : add one input a column that had gaps in training: 1 where missing
    numeric_encoding : "plain" (one input a number), "unscaled" (the same, as it is), "rich" (see
        `encoding.Number`) or "auto" (rich up to 100 columns)
    owner : who asks, for error messages

    Examples
    --------
    >>> import pandas as pd
    >>> from imputefree.data import read_columns
    >>> frame = pd.DataFrame({"age": [20.0, None, 40.0], "sex": ["f", "m", None]})
    >>> encoder = TableEncoder().fit(read_columns(frame))
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
        numeric_encoding: str = "auto",
        owner: str = "TableEncoder",
    ) -> None:
        self.categorical_features = categorical_features
        self.indicator = indicator
        self.numeric_encoding = numeric_encoding
        self.owner = owner

    def fit(self, columns: Columns) -> TableEncoder:
        """Learn scales, levels and gaps from training rows."""
        chosen = self._chosen_categories(columns)
        rich = self.numeric_encoding == "rich" or (
            self.numeric_encoding == "auto" and len(columns.names) <= RICH_COLUMNS
        )
        scaled = self.numeric_encoding != "unscaled"
        self.named = columns.named
        self.plans: list[Plan] = [
            Category.learn(name, array) if category else Number.learn(name, array, rich, scaled)
            for name, array, category in zip(columns.names, columns.arrays, chosen, strict=True)
        ]
        return self

    @property
    def input_names(self) -> list[str]:
        """One name per network input, in order."""
        names = [name for plan in self.plans for name in plan.inputs]
        return names + [f"{self.plans[j].name} is missing" for j in self._with_indicator()]

    @property
    def input_columns(self) -> np.ndarray:
        """For each input the number of the column it comes from; shape (D,)."""
        own = [j for j, plan in enumerate(self.plans) for _ in plan.inputs]
        return np.array(own + self._with_indicator(), dtype=np.int64)

    @property
    def n_entries(self) -> int:
        """How many inputs hold entries of the table; the rest are indicators."""
        return sum(len(plan.inputs) for plan in self.plans)

    @property
    def names(self) -> list[str]:
        """The columns of the training table."""
        return [plan.name for plan in self.plans]

    @property
    def n_columns(self) -> int:
        """How many columns the table has."""
        return len(self.plans)

    def transform(self, columns: Columns) -> Table:
        """Encode a table with the same columns; (n, columns) -> Table of (n, D)."""
        arrays = self._match(columns)
        shape = (columns.n_rows, len(self.input_columns))
        values, observed = np.zeros(shape, dtype=np.float32), np.ones(shape, dtype=bool)
        unseen: dict[str, list[str]] = {}
        # Counted once: names of all inputs are written to count them, which one row would feel.
        indicator_of = dict(
            zip(self._with_indicator(), range(self.n_entries, shape[1]), strict=True)
        )
        at = 0
        for j, (plan, array) in enumerate(zip(self.plans, arrays, strict=True)):
            span = slice(at, at + len(plan.inputs))
            label = f"column {plan.name!r}" if self.named else f"column {plan.name}"
            seen, new = plan.encode(array, values[:, span], label)
            observed[:, span] = seen[:, None]
            if j in indicator_of:
                values[:, indicator_of[j]] = ~seen
            if new:
                unseen[plan.name] = new
            at = span.stop
        if unseen:
            _warn_unseen(unseen)
        return Table(values, observed)

    def arranged(self, columns: Columns) -> Columns:
        """A table with the same columns, as training had them: names, order and kinds."""
        arrays = []
        for plan, array in zip(self.plans, self._match(columns), strict=True):
            if isinstance(plan, Category):
                array = as_texts(array)
            elif array.dtype == object:
                plan.encode(array, np.empty((len(array), 1)), f"column {plan.name!r}")
                array = np.full(len(array), np.nan)  # text is refused: it holds nothing
            arrays.append(array)
        declared = [isinstance(plan, Category) for plan in self.plans]
        return replace(
            columns, names=self.names, named=self.named, arrays=arrays, declared=declared
        )

    def _with_indicator(self) -> list[int]:
        """Columns that have an indicator."""
        return [j for j, plan in enumerate(self.plans) if self.indicator and plan.has_gaps]

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
            return [columns.declared[j] or columns.arrays[j].dtype == object for j in range(n)]
        flags = [array.dtype == object for array in columns.arrays]  # text can be nothing else
        if not isinstance(chosen, Iterable):
            raise ParameterError(
                f"categorical_features is {chosen!r}",
                'It must be "auto" or a list of column names or positions',
                "Write categorical_features=[] for none beyond text columns",
            )
        for one in chosen:
            position = columns.names.index(one) if one in columns.names else one
            if (
                isinstance(position, bool)  # an int to Python: a mask would name columns 1 and 0
                or not isinstance(position, int | np.integer)
                or not -n <= position < n
            ):
                raise ParameterError(
                    f"categorical_features names {one!r}, which is no column",
                    "It must list column names or positions of the training table",
                    f"The columns are: {shorten(columns.names)}",
                )
            flags[int(position)] = True
        return flags

    def _match(self, columns: Columns) -> list[np.ndarray]:
        """The columns in training order; by name where both tables have names."""
        expected = [plan.name for plan in self.plans]
        numbered = columns.named and set(columns.names) == set(expected)  # a frame in new order
        if (self.named and columns.named) or numbered:
            missing = [name for name in expected if name not in set(columns.names)]
            extra = [name for name in columns.names if name not in set(expected)]
            if missing or extra:
                raise InputError(
                    "The feature names should match those that were passed during fit: "
                    + listed(("missing now", missing), ("not in training", extra)),
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
                f"The training columns were: {shorten(expected)}",
            )
        if self.named:
            warnings.warn(
                f"X does not have valid feature names, but {self.owner} was fitted with feature"
                " names; columns are taken in the order of training.",
                UserWarning,
                stacklevel=2,
            )
        return columns.arrays

    def state(self) -> dict[str, Any]:
        """Everything learned, as plain JSON types."""
        return {
            "owner": self.owner,
            "indicator": self.indicator,
            "named": self.named,
            "plans": [to_state(plan) for plan in self.plans],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> TableEncoder:
        """The reverse of `state`."""
        encoder = cls(indicator=bool(state["indicator"]), owner=str(state["owner"]))
        encoder.named = bool(state["named"])
        encoder.plans = [from_state(plan) for plan in state["plans"]]
        return encoder


def _warn_unseen(unseen: dict[str, list[str]]) -> None:
    parts = [f"{name!r}: {shorten(levels)}" for name, levels in unseen.items()]
    warnings.warn(
        "Categories that training never saw are treated as missing. " + "; ".join(parts),
        UnseenCategoryWarning,
        stacklevel=2,
    )
