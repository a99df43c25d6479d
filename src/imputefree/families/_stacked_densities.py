"""Log-densities of rows under many densities at once: one product instead of one per density."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from ._factor_mixture import FactorMixture
from ._product_mixture import Array, Mixture

MOST_NUMBERS = 2**21  # in what the masks of rows are multiplied by: 16 MB
BLOCK = 2**21  # numbers in a block of rows


class StackedMixtures:
    """Mixtures of products of the same columns; see `Mixture` for their features.

    A density is linear in features of a row that is centred by its own means. Here all share one
    center c: with u = x - c and a density's center c - t, its slopes (a, b, s) on (m (u + t), m,
    m (u + t)²) are (a + 2 s t, b + a t + s t², s) on (m u, m, m u²).
    """

    def __init__(self, models: Sequence[Mixture]) -> None:
        self._center = np.mean([model.center_ for model in models], axis=0)
        slopes = [self._moved(model) for model in models]
        self._slopes = np.concatenate(slopes).T.copy()  # (3 d, components of all)
        self._log_weights = np.log(np.concatenate([model.weights_ for model in models]))
        self._sizes = np.array([len(model.weights_) for model in models])
        self._starts = np.cumsum(self._sizes) - self._sizes

    def _moved(self, model: Mixture) -> Array:
        """Slopes on (m u, m, m u²); (K, 3 d)."""
        on_values, on_mask, *rest = model.slopes()
        on_squares = rest[0] if rest else np.zeros_like(on_mask)
        shift = self._center - model.center_
        moved = on_mask + on_values * shift + on_squares * shift**2
        return np.hstack([on_values + 2 * on_squares * shift, moved, on_squares])

    def log_likelihoods(self, values: Array, observed: Array) -> Array:
        """Log-density of each row's observed entries under each model; (n, d) -> (n, models)."""
        step = max(BLOCK // max(self._slopes.shape), 1)
        blocks = [slice(at, at + step) for at in range(0, len(values), step)]
        return np.concatenate([self._block(values[rows], observed[rows]) for rows in blocks])

    def _block(self, values: Array, observed: Array) -> Array:
        centred = np.where(observed, values - self._center, 0.0)
        joint = np.hstack([centred, observed, centred**2]) @ self._slopes + self._log_weights
        top = np.maximum.reduceat(joint, self._starts, axis=1)  # densities are far below any float
        shares = np.exp(joint - top.repeat(self._sizes, 1))
        return top + np.log(np.add.reduceat(shares, self._starts, axis=1))


class StackedAnalysers:
    """Factor analysers of one component with equally many factors; see `FactorMixture`."""

    def __init__(self, models: Sequence[FactorMixture]) -> None:
        count, (_, d, q) = len(models), models[0].loadings_.shape
        upper = np.triu_indices(q)
        self._center = np.mean([model.center_ for model in models], axis=0)
        slopes = [model.slopes(0, upper, self._center) for model in models]
        on_mask, on_values, on_squares = (np.stack(part, 1) for part in zip(*slopes, strict=True))
        self._on_mask, self._on_values = on_mask.reshape(d, -1), on_values.reshape(d, -1)
        self._on_squares, self._shape = on_squares, (count, q)
        self._places = np.empty((q, q), dtype=int)  # of A's entries in its upper part
        self._places[upper] = self._places.T[upper] = np.arange(len(upper[0]))

    def log_likelihoods(self, values: Array, observed: Array) -> Array:
        """Log-density of each row's observed entries under each model; (n, d) -> (n, models)."""
        count, q = self._shape
        step = max(BLOCK // max(2 * count * q * q, len(self._center)), 1)
        blocks = [slice(at, at + step) for at in range(0, len(values), step)]
        return np.concatenate([self._block(values[rows], observed[rows]) for rows in blocks])

    def _block(self, values: Array, observed: Array) -> Array:
        count, q = self._shape
        x, m = np.where(observed, values - self._center, 0.0), observed.astype(np.float64)
        masked = (m @ self._on_mask).reshape(len(x), count, -1)
        masked[..., -q - 1 :] += (x @ self._on_values).reshape(len(x), count, -1)
        precision = masked.take(self._places, 2) + np.eye(q)  # A, see `FactorMixture`
        cholesky = torch.linalg.cholesky(torch.from_numpy(precision))
        pull = torch.from_numpy(masked[..., -q - 1 : -1, None])
        white = torch.linalg.solve_triangular(cholesky, pull, upper=False).numpy()
        volume = np.log(cholesky.numpy().diagonal(axis1=2, axis2=3)).sum(2)
        linear = masked[..., -1] + (x * x) @ self._on_squares
        return linear + 0.5 * (white**2).sum((2, 3)) - volume


Stack = StackedMixtures | StackedAnalysers


def stacks(models: Sequence[Any]) -> Iterator[Stack]:
    """Densities of one shape in stacks of bounded size, in their order."""
    if isinstance(models[0], Mixture):
        sizes = [model.means_.size for model in models]
    else:
        sizes = [model.loadings_.size * model.n_factors // 2 for model in models]
    groups = np.cumsum(sizes) // MOST_NUMBERS
    for number in np.unique(groups):
        group = [model for model, of in zip(models, groups, strict=True) if of == number]
        yield StackedMixtures(group) if isinstance(group[0], Mixture) else StackedAnalysers(group)
