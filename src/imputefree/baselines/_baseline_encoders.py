"""How a table becomes numbers for trees and for linear models; learned on training rows only."""

from __future__ import annotations

from typing import Self

import numpy as np

from ..data import Category, Columns, Number, RowStore, TableEncoder

LARGEST = 1e38  # XGBoost computes in float32; to trees only the order of values matters
FARTHEST = 5.0  # standard deviations: a single outlier must not tilt the line


class PlainEncoder(TableEncoder):
    """Knows the columns, scales and categories of training.

    Categories that appear once, or beyond the 64 most frequent, count as one; those that training
    never saw count as missing, with a warning.
    """

    indicator = False

    def __init__(self, owner: str = "a baseline") -> None:
        super().__init__(numeric_encoding="plain", indicator=self.indicator, owner=owner)

    def fit(self, inputs: Columns | RowStore) -> Self:
        """Learn names, kinds, scales and categories from training rows."""
        super().fit(inputs)
        return self

    def as_numbers(self, columns: Columns) -> np.ndarray:
        """The inputs of a baseline; (n, columns) -> (n, inputs) float64."""
        raise NotImplementedError

    @property
    def categories(self) -> list[int]:
        """Positions of the inputs that hold categories as 0, 1, 2, …"""
        return []


class TreeEncoder(PlainEncoder):
    """Numbers as they are, categories as 0, 1, 2, …, NaN where missing.

    >>> import pandas as pd
    >>> from imputefree.data import read_columns
    >>> frame = pd.DataFrame({"age": [20.0, None, 40.0], "sex": ["m", "f", None]})
    >>> table = TreeEncoder().fit(read_columns(frame))
    >>> table.as_numbers(read_columns(frame)), table.categories
    (array([[20.,  1.],
           [nan,  0.],
           [40., nan]]), [1])
    """

    @property
    def categories(self) -> list[int]:
        """Positions of the columns that hold categories."""
        return [j for j, plan in enumerate(self.plans) if isinstance(plan, Category)]

    def as_numbers(self, columns: Columns) -> np.ndarray:
        """(n, columns) -> (n, columns)."""
        return np.clip(self.codes(columns), -LARGEST, LARGEST)


class LinearEncoder(PlainEncoder):
    """Numbers in standard deviations from their mean (outliers clipped first), 0 where missing;
    one 0/1 input per category, and one per column with gaps that says "missing here".

    >>> import pandas as pd
    >>> from imputefree.data import read_columns
    >>> frame = pd.DataFrame({"age": [20.0, None, 40.0], "sex": ["m", "f", None]})
    >>> table = LinearEncoder().fit(read_columns(frame))
    >>> table.input_names
    ['age', 'sex=f', 'sex=m', 'age is missing', 'sex is missing']
    >>> table.as_numbers(read_columns(frame))
    array([[-1.,  0.,  1.,  0.,  0.],
           [ 0.,  1.,  0.,  1.,  0.],
           [ 1.,  0.,  0.,  0.,  1.]])
    """

    indicator = True

    def as_numbers(self, columns: Columns) -> np.ndarray:
        """(n, columns) -> (n, inputs)."""
        codes = self.codes(columns)
        values = self.expansion.inputs(self.expansion.parts(codes)).double().numpy()
        numbers = {j: plan for j, plan in enumerate(self.plans) if isinstance(plan, Number)}
        center, spread = (
            np.array([getattr(plan, name) for plan in numbers.values()], dtype=np.float64)
            for name in ("center", "spread")
        )
        with np.errstate(over="ignore"):
            z = (codes[:, list(numbers)] - center) / spread
        # Straight, unlike what networks read.
        values[:, : len(numbers)] = np.nan_to_num(z).clip(-FARTHEST, FARTHEST)
        return values
