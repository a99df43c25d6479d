"""A mixture of factor analysers fitted to observed entries alone, gaps integrated out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np
import torch

from ._product_mixture import Array, Background, check_parameters, normalise

BLOCK = 2**21  # numbers in a block of rows: bounds the memory of their moments
_Masks = dict[int, tuple[Array, Array]]  # of blocks by their first row, see `_distinct`


class _Moments(NamedTuple):
    """Sums over rows that an M-step needs, for one component; x and 0 for gaps, m the mask.

    zz : (d, T) of m E[(z, 1)(z, 1)'], its upper part, then the row of z, then 1
    xz : (d, q + 1) of x E[(z, 1)]
    xx : (d,) of x²
    """

    zz: Array
    xz: Array
    xx: Array


@dataclass(eq=False, repr=False)
class FactorMixture:
    """K Gaussians, each with q directions in which columns move together; EM on observed entries.

    Under component k a row is x = mu_k + L_k z + e with q factors z ~ N(0, I) and independent noise
    e_j ~ N(0, v_kj). Missing entries drop out: with o the observed columns,

        x_o ~ N(mu_o, L_o L_o' + diag v_o),

    whose inverse and determinant only need the (q, q) matrix A = I + L_o' diag(1/v_o) L_o. The
    entries of A are linear in the mask: those of all rows are one product of (n, d) by
    (d, q (q+1) / 2), and so are the sums of an M-step. No loop runs over rows or patterns of gaps.

    Prior: each component also sees `smoothing` pseudo-rows, x as in the background and independent
    of z. They shrink loadings, and keep columns that are hardly ever observed near the background.
    EM never decreases the log-likelihood of the rows plus the expected one of the pseudo-rows
    (`history_`). Noise variances stay above `floor` times the median variance of the columns.

    Parameters
    ----------
    n_components, n_factors : K, at most the number of rows with an entry; and q
    smoothing, floor : see above
    max_iter, tol : EM stops after this many iterations, or when one gains less than tol per entry
    dtype : of the matrix products of EM; predictions are in double precision

    Fitted: weights_ (K,), means_ (K, d), loadings_ (K, d, q), noise_ (K, d), center_ (d,),
    history_.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 1)) * [1.0, 2.0, -1.0] + 0.1 * rng.normal(size=(500, 3))
    >>> model = FactorMixture(1, 1, rng=rng).fit(x, rng.random(x.shape) < 0.7)
    >>> some = np.array([[True, False, False]])  # the row 1 ? ?
    >>> model.posterior_mean(np.array([[1.0, 0.0, 0.0]]), some).round(1).tolist()
    [[1.0, 2.0, -1.0]]
    """

    n_components: int = 1
    n_factors: int = 5
    _: KW_ONLY
    smoothing: float = 1.0
    floor: float = 0.01
    max_iter: int = 30
    tol: float = 1e-4
    dtype: Any = np.float64
    rng: Any = None
    weights_: Array = field(init=False)
    means_: Array = field(init=False)
    loadings_: Array = field(init=False)
    noise_: Array = field(init=False)
    center_: Array = field(init=False)

    def fit(
        self,
        values: Array,
        observed: Array,
        background: Background | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Self:
        """EM; values, observed (n, d). Values of gaps are ignored. `stop` ends it early."""
        base = background or Background.of(values, observed, "gaussian")
        self.center_ = base.mean
        self._start(values, observed, base)
        entries = max(int(observed.sum()), 1)
        self.history_: list[float] = []
        masks: _Masks = {}
        for step in range(self.max_iter + 1):
            objective, counts, moments = self._expect(values, observed, base, masks)
            self.history_.append(objective)
            gain = objective - self.history_[-2] if step else np.inf
            if step == self.max_iter or gain < self.tol * entries or stop():
                break
            self._maximise(counts, moments, base)
        return self

    def log_likelihood(self, values: Array, observed: Array) -> Array:
        """Log-density of each row's observed entries; (n, d) -> (n,) float64."""
        blocks = self._joint(values, observed)
        return np.concatenate([normalise(joint)[0] for *_, joint, _ in blocks])

    def posterior_mean(self, values: Array, observed: Array) -> Array:
        """Expected value of every entry given the observed ones; (n, d) -> (n, d)."""
        blocks = []
        for *_, joint, factors in self._joint(values, observed):
            share = normalise(joint)[1]  # (b, K)
            blocks.append(share @ self.means_)
            for k, (z, *_) in enumerate(factors):
                blocks[-1] += (share[:, [k]] * z) @ self.loadings_[k].T
        return np.concatenate(blocks)

    def posterior_factors(self, values: Array, observed: Array) -> Array:
        """Expected factors given the observed entries; (n, d) -> (n, q)."""
        blocks = []
        for *_, joint, factors in self._joint(values, observed):
            share = normalise(joint)[1]
            weighted = [share[:, [k]] * z for k, (z, *_) in enumerate(factors)]
            blocks.append(np.add.reduce(weighted))
        return np.concatenate(blocks)

    def conditionals(self, values: Array, observed: Array) -> tuple[Array, Array, Array]:
        """How each entry is distributed given the observed ones: a mixture of K normals.

        values, observed (n, d) -> shares (n, K), means and variances (n, K, d)
        """
        shares, means, variances = [], [], []
        for *_, joint, factors in self._joint(values, observed):
            shares.append(normalise(joint)[1])
            mean, variance = np.empty((2, len(joint), *self.means_.shape))
            for k, (z, cholesky, mask) in enumerate(factors):
                loadings = torch.from_numpy(self.loadings_[k])
                white = torch.linalg.solve_triangular(
                    cholesky, loadings.mT, upper=False
                )  # (masks, q, d)
                mean[:, k] = self.means_[k] + z @ self.loadings_[k].T
                variance[:, k] = self.noise_[k] + (white**2).sum(1).numpy()[mask]
            means.append(mean)
            variances.append(variance)
        return np.concatenate(shares), np.concatenate(means), np.concatenate(variances)

    def parameters(self) -> dict[str, Array]:
        """The fitted arrays with one row per component."""
        names = ("weights_", "means_", "loadings_", "noise_")
        return {name: getattr(self, name) for name in names}

    def restore(self, center: Array, parameters: dict[str, Array]) -> Self:
        """The inverse of `parameters`; a ValueError if these are not a density."""
        k, d = len(parameters["weights_"]), len(center)
        check_parameters(
            parameters | {"center_": center},
            weights_=(k,),
            means_=(k, d),
            noise_=(k, d),
            loadings_=(k, d, self.n_factors),
        )
        self.center_ = center
        vars(self).update(parameters)
        if (self.noise_ <= 0).any():
            raise ValueError("a density has no noise")
        return self

    # ---- EM
    def _start(self, values: Array, observed: Array, base: Background) -> None:
        """Random loadings; one of several components starts half way to a random row."""
        rng = self.rng or np.random.default_rng()
        candidates = np.flatnonzero(observed.any(1))
        k = max(min(self.n_components, len(candidates)), 1)
        self.weights_ = np.full(k, 1 / k)
        self.means_ = np.tile(base.mean, (k, 1))
        if k > 1:
            chosen = rng.permutation(candidates)[:k]
            self.means_ += np.where(observed[chosen], values[chosen] - base.mean, 0.0) / 2
        shape = (k, values.shape[1], self.n_factors)
        size = np.sqrt(base.variance / (2 * self.n_factors))
        self.loadings_ = rng.normal(size=shape) * size[:, None]
        self.noise_ = np.tile(np.maximum(base.variance / 2, self._least_noise(base)), (k, 1))

    def _least_noise(self, base: Background) -> float:
        return float(self.floor * np.median(base.variance))

    def _expect(
        self, values: Array, observed: Array, base: Background, masks: _Masks
    ) -> tuple[float, Array, list[_Moments]]:
        """The objective at these parameters, and rows and moments per component."""
        k, d, q = self.loadings_.shape
        upper = _upper(q)
        shapes = ((d, len(upper[0]) + q + 1), (d, q + 1), (d,))
        counts, moments = np.zeros(k), [_Moments(*map(np.zeros, shapes)) for _ in range(k)]
        away = base.variance + (base.mean - self.means_) ** 2 + (self.loadings_**2).sum(2)
        pseudo = np.log(2 * np.pi * self.noise_) + away / self.noise_
        objective = self.smoothing * float(np.log(self.weights_).sum() - 0.5 * pseudo.sum())
        for x, m, joint, factors in self._joint(values, observed, self.dtype, masks):
            likelihood, share = normalise(joint)
            objective += float(likelihood.sum())
            counts += share.sum(0)
            share = share.astype(self.dtype)
            for c, (z, cholesky, mask) in enumerate(factors):
                inverse = torch.cholesky_inverse(cholesky).numpy()[:, upper[0], upper[1]]
                first = np.hstack([z, np.ones((len(z), 1), z.dtype)])
                second = inverse[mask] + z[:, upper[0]] * z[:, upper[1]]
                sums = moments[c]
                sums.zz[:] += m.T @ (share[:, [c]] * np.hstack([second, first]))
                sums.xz[:] += x.T @ (share[:, [c]] * first)
                sums.xx[:] += share[:, c] @ (x * x)
        return objective, counts, moments

    def _maximise(self, counts: Array, moments: list[_Moments], base: Background) -> None:
        """The parameters that fit these moments (and the pseudo-rows) best."""
        q, prior = self.n_factors, self.smoothing
        upper = _upper(q)
        weights = counts + prior
        self.weights_ = weights / weights.sum()
        for k, sums in enumerate(moments):  # a regression on (z, 1) for each column
            gram = np.empty((len(sums.xx), q + 1, q + 1))
            gram[:, upper[0], upper[1]] = gram[:, upper[1], upper[0]] = sums.zz[:, : -q - 1]
            gram[:, q, :] = gram[:, :, q] = sums.zz[:, -q - 1 :]
            gram += prior * np.eye(q + 1)
            slope = np.linalg.solve(gram, sums.xz[:, :, None])[:, :, 0]
            left = sums.xx + prior * base.variance - (slope * sums.xz).sum(1)
            self.loadings_[k], self.means_[k] = slope[:, :q], base.mean + slope[:, q]
            self.noise_[k] = np.maximum(left / gram[:, q, q], self._least_noise(base))

    def _joint(
        self, values: Array, observed: Array, dtype: Any = np.float64, masks: _Masks | None = None
    ) -> Iterator[tuple[Array, Array, Array, list[tuple[Array, torch.Tensor, Array]]]]:
        """Blocks of rows: what an E-step needs.

        Centred values with 0 for gaps and the mask (b, d), log p(component, entries) (b, K), and
        per component the posterior mean of the factors (b, q), the Cholesky factors of their
        precision A (masks, q, q), and which is each row's (b,), as A depends on the mask alone.

        masks : the distinct masks of each block, if they are known from an earlier call
        """
        _, d, q = self.loadings_.shape
        upper, masks = _upper(q), {} if masks is None else masks
        slopes = [
            [slope.astype(dtype) for slope in self.slopes(k, upper, self.center_)]
            for k in range(len(self.weights_))
        ]
        step = max(BLOCK // max(2 * q * q, d), 1)
        for at in range(0, max(len(values), 1), step):
            seen = observed[at : at + step]
            x = np.where(seen, values[at : at + step] - self.center_, 0.0).astype(dtype)
            m = seen.astype(dtype)
            if at not in masks:
                masks[at] = _distinct(seen)
            first, mask = masks[at]
            joint, factors = np.empty((len(x), len(slopes))), []
            for k, (on_mask, on_values, on_squares) in enumerate(slopes):
                masked, valued = m[first] @ on_mask, x @ on_values
                precision = np.empty((len(masked), q, q), x.dtype)
                precision[:, upper[0], upper[1]] = masked[:, : -q - 1]
                precision[:, upper[1], upper[0]] = masked[:, : -q - 1]
                precision += np.eye(q, dtype=x.dtype)
                cholesky = torch.linalg.cholesky(torch.from_numpy(precision))
                volume = cholesky.diagonal(dim1=1, dim2=2).log().sum(1).numpy()
                rest = masked[:, -q - 1 :][mask]  # of each row
                pull = torch.from_numpy(valued[:, :q] + rest[:, :-1])[:, :, None]
                each = cholesky[torch.from_numpy(mask)]
                white = torch.linalg.solve_triangular(each, pull, upper=False)
                z = torch.linalg.solve_triangular(each.mT, white, upper=True)
                gaussian = 0.5 * (white**2).sum((1, 2)).numpy() - volume[mask]
                linear = valued[:, q] + rest[:, -1] + (x * x) @ on_squares
                joint[:, k] = np.log(self.weights_[k]) + linear + gaussian
                factors.append((z[:, :, 0].numpy(), cholesky, mask))
            yield x, m, joint, factors

    def slopes(
        self, k: int, upper: tuple[Array, Array], center: Array
    ) -> tuple[Array, Array, Array]:
        """What mask, values minus center, and their squares are multiplied by.

        Shapes: (d, T), (d, q + 1), (d,).
        """
        mean, noise, loadings = self.means_[k] - center, self.noise_[k], self.loadings_[k]
        scaled = loadings / noise[:, None]
        products = loadings[:, upper[0]] * scaled[:, upper[1]]
        alone = -0.5 * (mean**2 / noise + np.log(2 * np.pi * noise))
        on_mask = np.column_stack([products, -mean[:, None] * scaled, alone])
        return on_mask, np.column_stack([scaled, mean / noise]), -0.5 / noise


@cache
def _upper(q: int) -> tuple[Array, Array]:
    """Rows and columns of the upper part of a (q, q) matrix; EM asks for them in every step."""
    return np.triu_indices(q)


def _distinct(observed: Array) -> tuple[Array, Array]:
    """The first row of each distinct mask, (masks,), and the number of each row's, (n,)."""
    packed = np.ascontiguousarray(np.packbits(observed, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, mask = np.unique(keys, return_index=True, return_inverse=True)
    return first, mask
