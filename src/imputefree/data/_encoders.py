"""From columns to what a network reads: scaled values and an observed mask.

A `TableEncoder` learns a plan per column, from training rows only, and then turns any table with
the same columns into numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..errors import InputError, ParameterError, UnseenCategoryWarning, listed, shorten
from ._column_plans import (
    BINS,
    FEWEST_BINS,
    Category,
    Number,
    Plan,
    columns_by_kind,
    plan_of,
    plan_state,
)
from ._columns import FEW_ROWS, Columns, feature_count_error
from ._few_rows import FewRows
from ._outside import Outside, Ranges
from ._row_store import BLOCK, Coder, RowStore, lookup

if TYPE_CHECKING:
    from torch import Tensor

    from ._expansion import Expansion, RowParts

MOST_BINS, ROWS_PER_BIN = 24, 500  # of a piecewise encoding, above 12 bins
MOST_INPUTS = 5000  # of all bins
PIECEWISE_COLUMNS, PIECEWISE_ROWS = 100, 2000  # "auto": larger tables are encoded piecewise


@dataclass(frozen=True)
class Table:
    """What a network reads.

    Shapes: values (n, D) float32 with 0 where missing, observed (n, D) bool, True = observed.
    D counts network inputs: first those of the columns, then the indicators (always observed).
    Series have one row per step, and may have summaries (series, S) float32.
    """

    values: np.ndarray
    observed: np.ndarray
    summaries: np.ndarray | None = None

    @classmethod
    def of(cls, expansion: Expansion, parts: Tensor, summaries: Any = None) -> Table:
        """All inputs of these parts."""
        values, observed = expansion.inputs(parts), expansion.observed(parts)
        return cls(values.numpy(), observed.numpy(), summaries)

    def filled(self, placeholder: float) -> np.ndarray:
        """The values with `placeholder` (in scaled units) where missing; shape (n, D)."""
        if placeholder == 0:
            return self.values
        return np.where(self.observed, self.values, np.float32(placeholder))


class Encoder:
    """What is known of network inputs once each column has its plan.

    Inputs come kind by kind (see `columns_by_kind`), then indicators.
    """

    plans: list[Plan]
    named: bool
    indicator: bool

    @property
    def input_names(self) -> list[str]:
        """One name per network input, in order."""
        columns = columns_by_kind(self.plans).items()
        names = [name for kind, of in columns for j in of for name in self.plans[j].inputs[kind]]
        return names + [f"{self.names[j]} is missing" for j in self._with_indicator()]

    @cached_property
    def expansion(self) -> Expansion:
        """How columns become inputs."""
        from ._expansion import Expansion  # imports torch

        return Expansion(self.plans, self._with_indicator())

    @property
    def input_columns(self) -> np.ndarray:
        """For each input (but times) the number of the column it comes from; shape (D,)."""
        return self.expansion.columns.numpy()

    @property
    def n_entries(self) -> int:
        """How many inputs hold entries; the rest are indicators (and times)."""
        return self.expansion.n_entries

    @property
    def names(self) -> list[str]:
        """The columns of training; for series, those of the steps, then the static ones."""
        return [plan.name for plan in self.plans]

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.plans)

    def parts(self, data: Any) -> Tensor | RowParts:
        """What networks keep of a table, or of series; see `Expansion`."""
        raise NotImplementedError

    def _label(self, plan: Plan) -> str:
        return f"column {plan.name!r}" if self.named else f"column {plan.name}"

    def _with_indicator(self) -> list[int]:
        """Columns that have an indicator."""
        return [j for j, plan in enumerate(self.plans) if self.indicator and plan.has_gaps]


def n_bins(rows: int, columns: int) -> int:
    """How many bins a number gets in a piecewise encoding: more rows, finer bins.

    >>> n_bins(500, 20), n_bins(30_000, 20), n_bins(1_000_000, 200), n_bins(1_000_000, 5000)
    (12, 24, 24, 1)
    """
    return min(max(BINS, min(rows // ROWS_PER_BIN, MOST_BINS)), MOST_INPUTS // max(columns, 1))


def _warn_of_unseen(levels: dict[str, list[str]]) -> None:
    """Always from here, so that Python says once what several families notice."""
    unseen = [f"{name!r}: {shorten(new)}" for name, new in levels.items() if new]
    if unseen:
        warnings.warn(
            "Categories that training never saw are treated as missing. " + "; ".join(unseen),
            UnseenCategoryWarning,
            stacklevel=1,
        )


def _level_numbers(plan: Category, numbers: np.ndarray) -> np.ndarray:
    """The level of each number of a column that is a category."""
    return plan.code(numbers, "")[0]


class TableEncoder(Encoder):
    """Learns how to scale and encode tables, and encodes them.

    categorical_features : "auto" (string and category columns), or a list of names or positions
    indicator : add one input per column that had gaps in training: 1 where missing
    numeric_encoding : "plain" (one input per number), "unscaled" (the same, not scaled), "rich",
        "piecewise" (see `Number` and `n_bins`; no inputs for common values in tables of more than
        100 columns) or "auto": rich for less than 2,000 rows of up to 100 columns, else piecewise,
        but plain for more than 1,250 columns
    owner : the estimator's name, for error messages
    fine : names of columns whose numbers get a fine encoding; "bins" and "fine" are for summaries

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
        fine: Sequence[str] = (),
    ) -> None:
        self.categorical_features = categorical_features
        self.fine = fine
        self.indicator = indicator
        self.numeric_encoding = numeric_encoding
        self.owner = owner

    def fit(self, inputs: Columns | RowStore) -> TableEncoder:
        """Learn scales, levels and gaps from training rows, or from a sample of a large table.

        Which levels and gaps there are is learned from all rows.
        """
        cached = ("expansion", "few_rows", "_entries", "_coding", "_only_numbers", "_ranges")
        for name in cached:
            self.__dict__.pop(name, None)  # of an earlier fit
        columns = inputs.sample()
        chosen = self._chosen_categories(columns)
        encoding, rows, width = self.numeric_encoding, inputs.n_rows, len(columns.names)
        bins = n_bins(rows, width)
        if encoding == "auto":
            small = rows < PIECEWISE_ROWS and width <= PIECEWISE_COLUMNS
            encoding = "rich" if small else "piecewise" if bins >= FEWEST_BINS else "plain"
        # Inputs for common values would be most inputs of a wide table, and did not help there.
        counted = width <= PIECEWISE_COLUMNS
        self.named = columns.named
        self.plans = [
            Category.learn(name, array)
            if category
            else Number.learn(name, array, "fine" if name in self.fine else encoding, bins, counted)
            for name, array, category in zip(columns.names, columns.arrays, chosen, strict=True)
        ]
        if columns.n_rows < rows:
            self._know_all(inputs)
        return self

    def _know_all(self, inputs: Columns | RowStore) -> None:
        """Add what a sample may lack: rare levels, and the only gaps of a column."""
        for j, plan in enumerate(self.plans):
            counts = inputs.level_counts(j)
            if isinstance(plan, Category) and counts is not None:
                self.plans[j] = Category.of_counts(plan.name, counts, inputs.has_gaps(j))
            else:
                plan.has_gaps = inputs.has_gaps(j)

    def recoded(self, store: RowStore) -> RowStore:
        """A large table that is read as `codes`."""
        order = list(self._order(store.columns))
        coders: dict[int, Coder] = {}
        for place, (j, plan) in enumerate(zip(order, self.plans, strict=True)):
            if j in store.levels:
                strings = np.array(store.levels[j], dtype=object)
                coders[place] = lookup([*plan.code(strings, self._label(plan))[0], np.nan])
            elif isinstance(plan, Category):  # a column of numbers
                coders[place] = partial(_level_numbers, plan)
        return replace(store, order=order, coders=coders)

    def _coded(self, columns: Columns) -> list[np.ndarray]:
        """The columns as numbers, in the order of training; (n,) float64 each."""
        key, codes = vars(columns).get("_codes", (None, []))
        if key == self._coding:
            return codes
        matched = self._match(columns)
        if self._only_numbers and object not in [array.dtype for array in matched]:
            return matched
        arrays, unseen = [], {}
        for plan, array in zip(self.plans, matched, strict=True):
            code, unseen[plan.name] = plan.code(array, self._label(plan))
            arrays.append(code)
        _warn_of_unseen(unseen)
        return arrays

    def count_outside(self, columns: Columns, outside: Outside) -> None:
        """Count the values that are outside the range of training, in columns that have some."""
        arrays = self._match(columns) if self.named and columns.named else columns.arrays
        self._ranges.count(arrays, outside)

    @cached_property
    def _ranges(self) -> Ranges:
        return Ranges(self.plans)

    @cached_property
    def _only_numbers(self) -> bool:
        return all(isinstance(plan, Number) for plan in self.plans)

    @cached_property
    def _coding(self) -> int:
        """Equal for encoders that code tables alike."""
        plans: list[Any] = self.plans
        levels = [getattr(plan, "all_levels", None) for plan in plans]
        rare = [len(getattr(plan, "rare_levels", ())) for plan in plans]
        return hash(repr((self.named, self.names, levels, rare)))

    def coded(self, columns: Columns) -> Columns:
        """The same table, with codes for all encoders that code alike, unless it is large."""
        if columns.n_rows > BLOCK:
            return columns
        codes = self._coded(columns)
        columns = replace(columns)
        vars(columns)["_codes"] = self._coding, codes  # lost by `replace`, as it must be
        return columns

    def codes(self, columns: Columns | RowStore) -> np.ndarray:
        """A table with the same columns as numbers; (n, columns) -> (n, C) float64.

        Categories are the numbers of their levels; NaN where missing or never seen in training.
        """
        if isinstance(columns, RowStore):
            return self.recoded(columns).read(slice(None))
        arrays = self._coded(columns)
        return np.array(arrays).T if columns.n_rows <= FEW_ROWS else np.column_stack(arrays)

    @cached_property
    def few_rows(self) -> FewRows:
        """How up to `FEW_ROWS` rows become inputs."""
        return FewRows(self.plans, self._with_indicator())

    def parts(self, columns: Columns | RowStore) -> Tensor | RowParts:
        """What networks keep of a table; (n, columns) -> (n, M) float32, see `Expansion`.

        Those of a large table are made when they are asked for.
        """
        import torch

        from ._expansion import RowParts

        if isinstance(columns, RowStore):
            return RowParts(self.expansion, self.recoded(columns))
        arrays, n = self._coded(columns), columns.n_rows
        parts = torch.empty(n, len(self.expansion.part_columns))
        for begin in range(0, n, BLOCK):  # no second copy of a large table
            rows = slice(begin, begin + BLOCK)
            parts[rows] = self.expansion.parts(np.array([array[rows] for array in arrays]).T)
        return parts

    def transform(self, columns: Columns) -> Table:
        """Encode a table with the same columns; (n, columns) -> Table of (n, D)."""
        return Table.of(self.expansion, self.parts(columns)[:])

    def numbers(self, columns: Columns | RowStore) -> np.ndarray:
        """The table as trees read it; (n, columns) -> (n, n_entries) float64.

        Numbers as they are, then 0 or 1 for each level of each category; NaN where missing.
        """
        return self.switched(self.codes(columns))

    def switched(self, codes: np.ndarray) -> np.ndarray:
        """From `codes` to `numbers`; (n, C) -> (n, n_entries)."""
        column, level = self._entries
        numbers = codes.take(column, 1)
        switches = numbers[:, len(column) - len(level) :]
        np.copyto(switches, switches == level, where=~np.isnan(switches))
        return numbers

    @cached_property
    def _entries(self) -> tuple[np.ndarray, np.ndarray]:
        """The column of each entry that trees read; those of categories, last, with the level."""
        columns, plans = columns_by_kind(self.plans), list[Any](self.plans)
        counts = [len(plans[j].shown_levels) for j in columns["level"]]
        level = np.concatenate([np.arange(0.0), *(np.arange(float(count)) for count in counts)])
        return np.array([*columns["value"], *np.repeat(columns["level"], counts)], int), level

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

    def known(self, columns: Columns) -> Columns:
        """As `arranged`, with levels that training never saw as gaps."""
        columns = self.arranged(columns)
        gap: Any = None
        arrays = [
            np.where(pd.Series(array, dtype=object).isin(plan.all_levels), array, gap)
            if isinstance(plan, Category)
            else array
            for plan, array in zip(self.plans, columns.arrays, strict=True)
        ]
        return replace(columns, arrays=arrays)

    def _chosen_categories(self, columns: Columns) -> list[bool]:
        """Which columns are categories; strings always are."""
        chosen, names = self.categorical_features, columns.names
        strings = [array.dtype == object for array in columns.arrays]
        if isinstance(chosen, str) and chosen == "auto":
            return [a or b for a, b in zip(columns.declared, strings, strict=True)]
        if isinstance(chosen, str) or not isinstance(chosen, Iterable):
            fact = f"categorical_features is {chosen!r}"
            rule = 'It must be "auto" or a list of column names or positions'
            raise ParameterError(fact, rule, "Write categorical_features=[…]")
        for item in chosen:
            position = names.index(item) if item in names else item
            if (
                isinstance(position, bool)  # an int to Python: a mask would name columns 1 and 0
                or not isinstance(position, int | np.integer)
                or not -len(names) <= position < len(names)
            ):
                fact = f"categorical_features names {item!r}, which is not a column"
                rule = "It must list column names or positions of the training table"
                raise ParameterError(fact, rule, f"The columns are: {shorten(names)}")
            strings[int(position)] = True
        return strings

    def _match(self, columns: Columns) -> list[np.ndarray]:
        """The columns in training order."""
        order = self._order(columns)
        if isinstance(order, range):
            return columns.arrays
        return [columns.arrays[j] for j in order]

    def _order(self, columns: Columns) -> range | list[int]:
        """Where each column of training is; by name where both tables have names."""
        expected, in_order = self.names, range(len(columns.names))
        if columns.named == self.named and columns.names == expected:
            return in_order
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
            place = {name: j for j, name in enumerate(columns.names)}
            return [place[name] for name in expected]
        if len(columns.names) != len(expected):
            remedy = f"The training columns were: {shorten(expected)}"
            raise feature_count_error(columns, self.owner, len(expected), remedy)
        if self.named:
            warnings.warn(
                f"X does not have valid feature names, but {self.owner} was fitted with feature"
                " names; columns are taken in the order of training.",
                UserWarning,
                stacklevel=3,
            )
        return in_order

    def nothing(self) -> Columns:
        """A row of which nothing is known."""
        gaps = {True: np.array([None], dtype=object), False: np.array([np.nan])}
        arrays = [gaps[isinstance(plan, Category)] for plan in self.plans]
        return Columns(self.names, self.named, arrays, [False] * len(arrays), n_rows=1)

    def state(self) -> dict[str, Any]:
        """Everything learned, as plain JSON types."""
        return {
            "owner": self.owner,
            "indicator": self.indicator,
            "named": self.named,
            "plans": [plan_state(plan) for plan in self.plans],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> TableEncoder:
        """The reverse of `state`."""
        encoder = cls(indicator=bool(state["indicator"]), owner=str(state["owner"]))
        encoder.named = bool(state["named"])
        encoder.plans = [plan_of(plan) for plan in state["plans"]]
        return encoder
