"""A wide table as a few factors of its density, gaps integrated out; and families on these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ..data import Columns
from ._density_inputs import DensityInputs
from ._factor_mixture import FactorMixture
from ._family import FamilyTask

MOST_FACTORS = 50
ENTRIES_PER_FACTOR = 4
MOST_PRODUCTS = 1.2e11  # rows x entries x factors²: of a larger table, some rows are drawn
NOISE = 0.3  # least noise of the factor analyser, see there


class FactorInputs:
    """Learns one factor analyser from all training rows, without using the target.

    A row becomes E[z | observed entries]: q numbers without gaps, which combine hundreds of
    correlated entries. A gap costs precision, and shrinks z, but is not filled.

    Fitted: inputs (`DensityInputs`), analyser (`FactorMixture` of one component).

    >>> from imputefree.data import read_columns
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1)) + 0.5 * rng.normal(size=(200, 8))
    >>> X[rng.random(X.shape) < 0.5] = np.nan
    >>> factors = FactorInputs().fit(read_columns(X), rng)
    >>> factors.transform(read_columns(X)).names
    ['factor 1', 'factor 2']
    """

    inputs: DensityInputs
    analyser: FactorMixture

    def __init__(self, categorical_features: Any = "auto") -> None:
        self.categorical_features = categorical_features

    def fit(
        self,
        columns: Columns,
        rng: np.random.Generator,
        stop: Callable[[], bool] = lambda: False,
    ) -> Self:
        """Learn from training rows; `stop` ends EM early."""
        self.inputs = DensityInputs(self.categorical_features).fit(columns)
        d = len(self.inputs.kinds)
        q = min(max(d // ENTRIES_PER_FACTOR, 1), MOST_FACTORS)
        rows = rng.permutation(columns.n_rows)[: max(int(MOST_PRODUCTS / (d * q * q)), 100)]
        self.analyser = self._analyser(q, rng)
        self.analyser.fit(*self.inputs.transform(columns.rows(np.sort(rows))), stop=stop)
        return self

    def transform(self, columns: Columns) -> Columns:
        """The factors of each row, as a table of numbers."""
        factors = self.analyser.posterior_factors(*self.inputs.transform(columns))
        names = [f"factor {number}" for number in range(1, factors.shape[1] + 1)]
        return Columns(names, True, list(factors.T), [False] * len(names), columns.n_rows)

    def _analyser(self, q: int, rng: Any = None) -> FactorMixture:
        return FactorMixture(1, q, floor=NOISE, max_iter=15, dtype=np.float32, rng=rng)

    def parts(self, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        """What a model file holds: arrays by name, and the rest as plain JSON types."""
        arrays |= self.analyser.parameters() | {"center": self.analyser.center_}
        return self.inputs.parts(arrays)

    def restore(self, parts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """The inverse of `parts`; a ValueError if they do not fit together."""
        self.inputs = DensityInputs()
        self.inputs.restore(parts, arrays)
        names = ("weights_", "means_", "loadings_", "noise_")
        parameters = {name: arrays[name] for name in names}
        if arrays["center"].shape != self.inputs.kinds.shape or arrays["loadings_"].ndim != 3:
            raise ValueError("the density does not belong to the columns")
        analyser = self._analyser(arrays["loadings_"].shape[2])
        self.analyser = analyser.restore(arrays["center"], parameters)


class OnFactors:
    """Another family that learns from the factors of a table instead of its columns.

    family : unfitted, for tables of numbers
    categorical_features : as for `TableEncoder`
    """

    def __init__(self, family: Any, categorical_features: Any = "auto") -> None:
        self.family = family
        self.factors = FactorInputs(categorical_features)

    def fit(self, task: FamilyTask) -> np.ndarray:
        """Learn factors from inputs alone, then fit the family; returns what that returns."""
        early = task.with_share(0.5)
        rng = np.random.default_rng(task.seed)
        self.factors.fit(task.examples.training_inputs(), rng, early.is_late)
        inputs = self.factors.transform(task.examples.inputs)
        return self.family.fit(replace(task, examples=replace(task.examples, inputs=inputs)))

    def predict(self, columns: Columns) -> np.ndarray:
        """Probabilities (n, classes), or scaled numbers (n, 1)."""
        return self.family.predict(self.factors.transform(columns))

    def parts(self, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        """What a model file holds: arrays by name, and the rest as plain JSON types."""
        parts = {}
        for name in ("factors", "family"):
            named: dict[str, np.ndarray] = {}
            parts[name] = getattr(self, name).parts(named)
            arrays |= {f"{name}.{key}": array for key, array in named.items()}
        return parts

    def restore(self, parts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """The inverse of `parts`; a ValueError if they do not fit together."""
        for name in ("factors", "family"):
            start = f"{name}."
            named = {k.removeprefix(start): a for k, a in arrays.items() if k.startswith(start)}
            getattr(self, name).restore(parts[name], named)
