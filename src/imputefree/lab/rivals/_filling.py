"""What a network reads of a table or of series whose gaps an imputer has filled.

The encoding (scales, levels, which columns have gaps) is learned on the gaps themselves, just as
the network's own encoder does, so that filling changes values and nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from ...data import Category, Columns, Panel, Table, TableEncoder
from ..imputers import Imputer, SeriesImputer, make_imputer


class Filler:
    """Fills tables of any kind with an imputer of numbers: categories take part as 0/1 columns.

    Numbers go to the imputer as they are, a category as one 0/1 column a level; where it was
    missing it becomes the level that the imputer finds most likely. A column that holds nothing
    stays empty if it is one of categories.

    Parameters
    ----------
    encoder : a fitted encoder; it knows columns and levels
    imputer : an unfitted imputer of tables or of series

    >>> import pandas as pd
    >>> from imputefree.data import read_columns
    >>> columns = read_columns(pd.DataFrame({"age": [20.0, None, 40.0], "sex": ["f", "f", None]}))
    >>> filler = Filler(TableEncoder().fit(columns), make_imputer("mean")).fit(columns)
    >>> filler.fill(columns).arrays
    [array([20., 30., 40.]), array(['f', 'f', 'f'], dtype=object)]
    """

    def __init__(self, encoder: TableEncoder, imputer: Any) -> None:
        self.encoder = encoder
        self.imputer = imputer

    def fit(self, columns: Columns, lengths: np.ndarray | None = None) -> Self:
        """Learn from training rows; lengths (n,) where they are the steps of series."""
        numbers = np.concatenate(self._blocks(self.encoder.arranged(columns)), axis=1)
        if numbers.shape[1]:
            self.imputer.fit(self._shaped(numbers, lengths))
        return self

    def fill(self, columns: Columns, lengths: np.ndarray | None = None) -> Columns:
        """The same rows without gaps; names, order and kinds as in training."""
        columns = self.encoder.arranged(columns)
        blocks = self._blocks(columns)
        numbers = np.concatenate(blocks, axis=1)
        filled = numbers
        if numbers.shape[1]:
            filled = self.imputer.transform(self._shaped(numbers, lengths))
            filled = np.concatenate(filled) if isinstance(filled, list) else filled
        ends = np.cumsum([block.shape[1] for block in blocks])[:-1]
        arrays = [
            _filled(plan, array, block, guess)
            for plan, array, block, guess in zip(
                self.encoder.plans,
                columns.arrays,
                blocks,
                np.split(filled, ends, axis=1),
                strict=True,
            )
        ]
        return replace(columns, arrays=arrays)

    def _blocks(self, columns: Columns) -> list[np.ndarray]:
        """What the imputer sees of each column, (n, 1) or (n, levels) with NaN."""
        blocks = []
        for plan, array in zip(self.encoder.plans, columns.arrays, strict=True):
            block = array[:, None]
            if isinstance(plan, Category):
                block = np.zeros((len(array), len(plan.inputs)))
                seen, _ = plan.encode(array, block, plan.name)
                block[~seen] = np.nan
            blocks.append(block)
        return blocks

    def _shaped(self, numbers: np.ndarray, lengths: np.ndarray | None) -> Any:
        if isinstance(self.imputer, SeriesImputer) and lengths is not None:
            return np.split(numbers, np.cumsum(lengths)[:-1])
        return numbers


def _filled(plan: Any, array: np.ndarray, block: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """One column without gaps, (n,)."""
    if not isinstance(plan, Category):
        return guess[:, 0]
    if not plan.inputs:
        return array
    # Any rare level stands for all of them: the network reads them as one.
    levels = np.array([*plan.levels, *plan.rare_levels[:1]], dtype=object)
    return np.where(np.isnan(block[:, 0]), levels[guess.argmax(1)], array)


class FilledEncoder:
    """A network's own encoder with an imputer before it.

    Values of gaps come from the imputer. With `indicator`, everything beside values (indicators,
    times since the last observation) still tells of the gaps; without, nothing does.

    Parameters
    ----------
    encoder : the unfitted encoder of an estimator, of tables or of panels
    imputer : unfitted; statics of series get a copy of it, or the mean if it is one of series
    indicator : whether gaps are told
    """

    def __init__(self, encoder: Any, imputer: Any, indicator: bool) -> None:
        self.encoder = encoder
        self.imputer = imputer
        self.indicator = indicator

    def __getattr__(self, name: str) -> Any:
        """Names and numbers of inputs are those of the encoder."""
        if name.startswith("__") or "encoder" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.encoder, name)

    def fit(self, data: Columns | Panel) -> Self:
        """Learn to encode, and to fill, from training rows (or series)."""
        self.encoder.fit(data)
        self.static_filler: Filler | None = None
        if not isinstance(data, Panel):
            self.filler = Filler(self.encoder, self.imputer).fit(data)
            return self
        self.filler = Filler(self.encoder.steps, self.imputer).fit(data.steps, data.lengths)
        if data.statics is not None:
            of_tables = isinstance(self.imputer, Imputer)
            own = clone(self.imputer) if of_tables else make_imputer("mean", random_state=0)
            self.static_filler = Filler(self.encoder.statics, own).fit(data.statics)
        return self

    def transform(self, data: Columns | Panel) -> Table:
        """Encode rows (or steps) with their gaps filled."""
        gappy = self.encoder.transform(data)
        full = self.encoder.transform(self.filled(data))
        if self.indicator:
            beside = slice(self.encoder.n_entries, None)
            full.values[:, beside] = gappy.values[:, beside]
        return full

    def filled(self, data: Columns | Panel) -> Columns | Panel:
        """The same rows (or series) without gaps."""
        if not isinstance(data, Panel):
            return self.filler.fill(data)
        statics = data.statics
        if self.static_filler is not None and statics is not None:
            statics = self.static_filler.fill(statics)
        return replace(data, steps=self.filler.fill(data.steps, data.lengths), statics=statics)
