"""Tables of any kind filled by an imputer of numbers: a category takes part as 0/1 columns."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd

from ..data.columns import Columns
from ..data.encoding import Category
from ..imputers import SeriesImputer
from .plain_tables import PlainTable


class Filler:
    """Learns to fill the gaps of a table, or of the steps of series, and fills them.

    Numbers go to the imputer as they are, a category as one 0/1 column a level; where it was
    missing it becomes the level that the imputer finds most likely. A column that holds nothing
    stays empty.

    Parameters
    ----------
    imputer : an unfitted imputer of tables or of series
    indicator : add a 0/1 column "… is missing" for each column that had gaps in training
    categorical_features : as for `GILClassifier`
    owner : who asks, for errors

    >>> from imputefree.data import read_columns
    >>> from imputefree.imputers import make_imputer
    >>> frame = pd.DataFrame({"age": [20.0, None, 40.0], "sex": ["f", "f", None]})
    >>> Filler(make_imputer("mean"), indicator=True).fit(read_columns(frame)).fill(
    ...     read_columns(frame)
    ... ).to_dict("list")
    {'age': [20.0, 30.0, 40.0], 'sex': ['f', 'f', 'f'], 'age is missing': [0.0, 1.0, 0.0], \
'sex is missing': [0.0, 0.0, 1.0]}
    """

    def __init__(
        self,
        imputer: Any,
        *,
        indicator: bool = False,
        categorical_features: Any = "auto",
        owner: str = "Filler",
    ) -> None:
        self.imputer = imputer
        self.indicator = indicator
        self.encoder = PlainTable(owner=owner)
        self.encoder.categorical_features = categorical_features

    def fit(self, columns: Columns, lengths: np.ndarray | None = None) -> Self:
        """Learn from training rows; lengths (n,) where they are the steps of series."""
        self.encoder.fit(columns)
        numbers = self._numbers(columns)
        if numbers.shape[1]:
            self.imputer.fit(self._shaped(numbers, lengths))
        return self

    def fill(self, columns: Columns, lengths: np.ndarray | None = None) -> pd.DataFrame:
        """The same rows without gaps, columns in the order of training."""
        numbers = self._numbers(columns)
        filled = numbers
        if numbers.shape[1]:
            filled = self.imputer.transform(self._shaped(numbers, lengths))
            filled = np.concatenate(filled) if isinstance(filled, list) else filled
        out: dict[str, np.ndarray] = {}
        own = self.encoder.input_columns
        arranged = self.encoder.arranged(columns)
        for j, (plan, array) in enumerate(zip(self.encoder.plans, arranged.arrays, strict=True)):
            inputs = np.flatnonzero(own == j)
            if not isinstance(plan, Category):
                out[plan.name] = filled[:, inputs[0]]
            elif len(inputs):
                # Any rare level stands for all of them: the network reads them as one.
                levels = np.array([*plan.levels, *plan.rare_levels[:1]], dtype=object)
                likely = levels[filled[:, inputs].argmax(1)]
                out[plan.name] = np.where(np.isnan(numbers[:, inputs[0]]), likely, array)
            else:
                out[plan.name] = array
        frame = pd.DataFrame(out)
        return frame.assign(**self._indicators(arranged, out)) if self.indicator else frame

    def _numbers(self, columns: Columns) -> np.ndarray:
        """What the imputer sees, (n, inputs) float64 with NaN."""
        table = self.encoder.transform(columns)
        numbers = np.where(table.observed, table.values.astype(np.float64), np.nan)
        arrays, own = self.encoder.arranged(columns).arrays, self.encoder.input_columns
        for j, plan in enumerate(self.encoder.plans):
            if not isinstance(plan, Category):
                numbers[:, own.searchsorted(j)] = arrays[j]
        return numbers

    def _shaped(self, numbers: np.ndarray, lengths: np.ndarray | None) -> Any:
        if isinstance(self.imputer, SeriesImputer) and lengths is not None:
            return np.split(numbers, np.cumsum(lengths)[:-1])
        return numbers

    def _indicators(self, columns: Columns, taken: dict[str, Any]) -> dict[str, np.ndarray]:
        """0/1 columns of those that had gaps in training, under names that nobody has."""
        found = {}
        for plan, array in zip(self.encoder.plans, columns.arrays, strict=True):
            if plan.has_gaps:
                name = f"{plan.name} is missing"
                while name in taken or name in found:
                    name += "'"
                found[name] = pd.isna(array).astype(np.float64)
        return found
