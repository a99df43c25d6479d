"""Inputs of densities: every entry on a scale that suits its distribution."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np

from ..data import Category, Columns, Lines, TableEncoder, normal_score_knots

KINDS = ("gaussian", "bernoulli", "level")
SWITCH = 0.5  # share of the largest variance within its range beyond which a number is a switch


class DensityInputs:
    """Learns a monotone map per entry, and what kind of column it then is for a `Mixture`.

    A level of a category stays 0 or 1. A number that is mostly near the ends of its range, like a
    pixel of a drawing, is mapped to [0, 1] (Bernoulli). Any other number becomes its normal score
    (Gaussian); with `switches=False`, all numbers do. There are no indicators: as entries of a
    density they were harmful (mixtures then cluster rows by where their gaps are).

    Fitted: encoder; sizes (d,), knots and scores (sum of sizes,): the maps of the d entries, one
    after the other; kinds (d,).

    >>> import pandas as pd
    >>> from imputefree.data import read_columns
    >>> ages, sexes = [20.0, 30.0, None, 40.0, 29.0, 31.0], ["f", "m", "m", "m", "f", "m"]
    >>> frame = pd.DataFrame({"age": ages, "sex": sexes})
    >>> inputs = DensityInputs().fit(read_columns(frame))
    >>> inputs.kinds.tolist()
    ['gaussian', 'level', 'level']
    >>> values, observed = inputs.transform(read_columns(frame))
    >>> values.round(1).tolist()[1], observed[2].tolist()
    ([0.0, 0.0, 1.0], [False, True, True])
    """

    encoder: TableEncoder
    sizes: np.ndarray
    knots: np.ndarray
    scores: np.ndarray
    kinds: np.ndarray

    def __init__(self, categorical_features: Any = "auto", switches: bool = True) -> None:
        self.categorical_features = categorical_features
        self.switches = switches

    def fit(self, columns: Columns) -> Self:
        """Learn from training rows."""
        self.encoder = TableEncoder(self.categorical_features, False, "plain", owner="densities")
        self.encoder.fit(columns)
        plans = self.encoder.plans
        level = [isinstance(plans[j], Category) for j in self.encoder.input_columns]
        entries = self.encoder.numbers(columns).T
        learned = [
            LEVEL if is_level else _learn(x, self.switches)
            for x, is_level in zip(entries, level, strict=True)
        ]
        kinds, knots, scores = zip(*learned, strict=True)
        self.sizes = np.array([len(points) for points in knots], dtype=np.int32)
        self.knots, self.scores = np.concatenate(knots), np.concatenate(scores)
        self.kinds = np.array(kinds)
        return self

    def transform(self, columns: Columns) -> tuple[np.ndarray, np.ndarray]:
        """Values float32, 0 where missing, and which are observed; (n, d) each."""
        numbers = self.encoder.numbers(columns)
        observed = ~np.isnan(numbers)
        scored, lines = self._lines  # levels are 0 or 1 already
        numbers[:, scored] = lines(numbers[:, scored])
        return np.where(observed, numbers, 0.0).astype(np.float32), observed

    @cached_property
    def _lines(self) -> tuple[np.ndarray, Lines]:
        """The entries that are not levels, and their maps."""
        scored, maps = np.flatnonzero(self.kinds != "level"), self.maps()
        return scored, Lines([maps[j][0] for j in scored], [maps[j][1] for j in scored])

    def maps(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Knots and scores of each entry."""
        ends = np.cumsum(self.sizes)[:-1]
        return list(zip(np.split(self.knots, ends), np.split(self.scores, ends), strict=True))

    # ---- files
    def parts(self, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        """What a model file holds: arrays by name, and the rest as plain JSON types."""
        codes = np.array([KINDS.index(kind) for kind in self.kinds], dtype=np.int32)
        arrays |= {"sizes": self.sizes, "knots": self.knots, "scores": self.scores, "kinds": codes}
        return {"encoder": self.encoder.state()}

    def restore(self, parts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """The inverse of `parts`; a ValueError if they do not fit together."""
        self.encoder = TableEncoder.from_state(parts["encoder"])
        self.sizes, codes = arrays["sizes"], arrays["kinds"]
        self.knots, self.scores = arrays["knots"], arrays["scores"]
        if self.sizes.shape != codes.shape or codes.shape != (self.encoder.n_entries,):
            raise ValueError("the maps do not belong to the columns")
        if (self.sizes < 1).any() or not np.isin(codes, range(len(KINDS))).all():
            raise ValueError("the maps are not of a known kind")
        total = (int(self.sizes.sum(dtype=np.int64)),)
        if not self.knots.shape == self.scores.shape == total:
            raise ValueError("the maps do not add up to their knots")
        if not (np.isfinite(self.knots).all() and np.isfinite(self.scores).all()):
            raise ValueError("a knot is not a number")
        inside = np.delete(np.diff(self.knots), np.cumsum(self.sizes)[:-1] - 1)
        if (inside <= 0).any():
            raise ValueError("the knots are not in order")
        self.kinds = np.array(KINDS)[codes]


LEVEL = "level", np.array([0.0, 1.0]), np.array([0.0, 1.0])


def _learn(entry: np.ndarray, switches: bool) -> tuple[str, np.ndarray, np.ndarray]:
    """Kind, knots and scores of a number; (n,) with NaN for gaps."""
    seen = entry[~np.isnan(entry)]
    low, high = (seen.min(), seen.max()) if len(seen) else (0.0, 0.0)
    if not low < high:  # constant columns carry no information: all values become 0
        return "bernoulli", np.array([low]), np.zeros(1)
    # Halves cannot overflow, but those of the least numbers are all 0.
    unit = (seen / 2 - low / 2) / (high / 2 - low / 2 or 1.0)
    mean = unit.mean()
    if switches and unit.var() > SWITCH * mean * (1 - mean):
        return "bernoulli", np.array([low, high]), np.array([0.0, 1.0])
    return "gaussian", *normal_score_knots(seen)
