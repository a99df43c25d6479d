"""From columns to what a network reads: scaled values and an observed mask.

A `TableEncoder` learns from training rows only (scales, category levels, which columns have gaps)
and then turns any table with the same columns into a `Table`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError, ParameterError, UnseenCategoryWarning, listed, shorten
from ._columns import Columns
from ._encoding import Category, Number, Plan, from_state, to_state

RICH_COLUMNS = 100  # "auto": wider tables are not worth several inputs per number


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
    """Learns how to scale and encode tables, and encodes them.

    Parameters
    ----------
    categorical_features : "auto" (string and category columns), or a list of names or positions
    indicator : add one input per column that had gaps in training: 1 where missing
    numeric_encoding : "plain" (one input per number), "unscaled" (the same, not scaled), "rich"
        (see `Number`) or "auto" (rich up to 100 columns)
    owner : the estimator's name, for error messages

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
        entries = [j for j, plan in enumerate(self.plans) for _ in plan.inputs]
        return np.array(entries + self._with_indicator(), dtype=np.int64)

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
        indicators = self._with_indicator()
        indicator_of = dict(
            zip(indicators, range(shape[1] - len(indicators), shape[1]), strict=True)
        )
        start = 0
        for j, (plan, array) in enumerate(zip(self.plans, arrays, strict=True)):
            span = slice(start, start + len(plan.inputs))
            seen, new_levels = plan.encode(array, values[:, span], self._label(plan))
            observed[:, span] = seen[:, None]
            if j in indicator_of:
                values[:, indicator_of[j]] = ~seen
            if new_levels:
                unseen[plan.name] = new_levels
            start = span.stop
        if unseen:
            parts = [f"{name!r}: {shorten(levels)}" for name, levels in unseen.items()]
            warnings.warn(
                "Categories that training never saw are treated as missing. " + "; ".join(parts),
                UnseenCategoryWarning,
                stacklevel=2,
            )
        return Table(values, observed)

    def numbers(self, columns: Columns) -> np.ndarray:
        """The table as trees read it; (n, columns) -> (n, n_entries) float64.

        Numbers as they are, 0 or 1 for each level of a category, NaN where missing.
        """
        out = np.full((columns.n_rows, self.n_entries), np.nan)
        start = 0
        for plan, array in zip(self.plans, self._match(columns), strict=True):
            block = out[:, start : start + len(plan.inputs)]
            start += block.shape[1]
            if isinstance(plan, Category):
                block[:] = 0.0
                seen, _ = plan.encode(array, block, self._label(plan))
                block[~seen] = np.nan
            else:
                block[:, 0] = plan.check(array, self._label(plan))
        return out

    def arranged(self, columns: Columns) -> Columns:
        """The same table as training would have read it: names, order and kinds."""
        pairs = zip(self.plans, self._match(columns), strict=True)
        return replace(
            columns,
            names=self.names,
            named=self.named,
            arrays=[plan.check(array, self._label(plan)) for plan, array in pairs],
            declared=[isinstance(plan, Category) for plan in self.plans],
        )

    def _label(self, plan: Plan) -> str:
        return f"column {plan.name!r}" if self.named else f"column {plan.name}"

    def _with_indicator(self) -> list[int]:
        """Columns that have an indicator."""
        return [j for j, plan in enumerate(self.plans) if self.indicator and plan.has_gaps]

    def _chosen_categories(self, columns: Columns) -> list[bool]:
        """Which columns are categories; strings always are."""
        chosen, names = self.categorical_features, columns.names
        strings = [array.dtype == object for array in columns.arrays]
        if isinstance(chosen, str) and chosen == "auto":
            return [a or b for a, b in zip(columns.declared, strings, strict=True)]
        if isinstance(chosen, str) or not isinstance(chosen, Iterable):
            raise ParameterError(
                f"categorical_features is {chosen!r}",
                'It must be "auto" or a list of column names or positions',
                f"Write categorical_features={[chosen] if isinstance(chosen, str) else []!r}",
            )
        for item in chosen:
            position = names.index(item) if item in names else item
            if (
                isinstance(position, bool)  # an int to Python: a mask would name columns 1 and 0
                or not isinstance(position, int | np.integer)
                or not -len(names) <= position < len(names)
            ):
                raise ParameterError(
                    f"categorical_features names {item!r}, which is not a column",
                    "It must list column names or positions of the training table",
                    f"The columns are: {shorten(names)}",
                )
            strings[int(position)] = True
        return strings

    def _match(self, columns: Columns) -> list[np.ndarray]:
        """The columns in training order; by name where both tables have names."""
        expected = self.names
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
