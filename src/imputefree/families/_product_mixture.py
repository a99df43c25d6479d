"""Mixtures of independent columns, fitted to observed entries alone: a gap drops out of sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np

from .._progress import EpochReport

Array = np.ndarray
EDGE = 1e-6  # distance of a Bernoulli mean from 0 and 1: its logarithms stay finite
FLOOR = 1e-3  # smallest Gaussian variance, relative to that of its column
CHUNK = 2**22  # numbers in a block of rows: bounds the memory of a product


@dataclass(frozen=True)
class Background:
    """Mean and variance of each column: what a component falls back on; (d,) each."""

    mean: Array
    variance: Array

    @classmethod
    def of(
        cls,
        values: Array,
        observed: Array,
        kind: str | Array,
        smoothing: float = 1.0,
        toward: Background | None = None,
    ) -> Background:
        """Means and variances of observed entries, as if `smoothing` more came from `toward`.

        values, observed (n, d); kind of all columns or of each, as for `Mixture`. Without
        `toward`, a Bernoulli column gets one more entry 1/2; a Gaussian column without entries (or
        a constant one) gets variance 1.
        """
        d = values.shape[1]
        kinds = np.broadcast_to(np.asarray(kind), d)
        gaussian = kinds == "gaussian"
        count, total = np.zeros(d), np.zeros(d)
        for rows in _blocks(len(values), d):
            count += observed[rows].sum(0)
            total += np.where(observed[rows], values[rows], 0.0).sum(0, dtype=np.float64)
        if toward is not None:
            prior, weight = toward, np.full(d, float(smoothing))
        else:
            prior = cls(np.where(gaussian, 0.0, 0.5), np.where(gaussian, 1.0, 0.25))
            weight = np.where(kinds == "bernoulli", 1.0, count == 0)
        mean = (total + weight * prior.mean) / (count + weight)
        if not gaussian.any():
            return cls(mean, mean * (1.0 - mean))
        squares = weight * (prior.variance + (prior.mean - mean) ** 2)
        for rows in _blocks(len(values), d):
            squares += (np.where(observed[rows], values[rows] - mean, 0.0) ** 2).sum(0)
        variance = squares / (count + weight)
        constant = variance <= (1e-9 * np.maximum(np.abs(mean), 1e-290)) ** 2
        variance = np.where(constant, 1.0, variance)
        return cls(mean, np.where(gaussian, variance, mean * (1.0 - mean)))


@dataclass(eq=False, repr=False)
class Mixture:
    """A mixture of K products of independent columns, fitted by EM on observed entries.

    Under component k a row x with observed entries m has the log-density

        bernoulli   sum_j m_j [x_j log mu_kj + (1 - x_j) log(1 - mu_kj)]         x in [0, 1]
        gaussian    sum_j m_j log N(x_j; mu_kj, v_kj)
        level       sum_j m_j x_j log mu_kj       x is 1 for the level of a category, else 0

    Missing entries integrate to 1: marginalising them means leaving them out. All are linear in
    the features f = (m x, m) or (m x, m, m x^2), so an E-step is one product of (n, d) by (d, K)
    per feature, and an M-step its transpose. A grey value x in (0, 1) counts as x of a one and
    1 - x of a zero. The levels of a category are columns next to each other, observed together.

    Prior: each component also sees `smoothing` pseudo-rows whose columns are independent and
    distributed as in the background (all training rows). For Bernoulli means that is a Beta prior,
    for the weights a Dirichlet. EM never decreases the log-likelihood of the rows plus the
    expected one of the pseudo-rows (`history_`, one list per member). The bounds EDGE and FLOOR do
    not break this: the M-step is the maximum within them.

    Under the hood: components start as random rows mixed with the background. Bernoulli products
    are in float32, sums over blocks and parameters in float64; Gaussians work in float64, as their
    squares cancel.

    Parameters
    ----------
    n_components : K, at most the number of rows with an entry
    kind : of all columns, or (d,) of each
    smoothing : pseudo-rows per component
    max_iter, tol : EM stops after this many iterations, or when one gains less than tol of
        log-likelihood per observed entry
    n_members : mixtures fitted from different starts and averaged: again a mixture, of all their
        components. On MNIST this gains far more than keeping the most likely of them
    dtype : of the matrix products

    Fitted: weights_ (M K,), means_ and variances_ (M K, d) for M members, history_ (M lists).

    >>> x = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0]] * 5)
    >>> model = Mixture(2, rng=np.random.default_rng(0)).fit(x, np.ones_like(x, dtype=bool))
    >>> some = np.array([[True, False, False]])  # the row 1 ? ?
    >>> model.posterior_mean(np.array([[1.0, 0.0, 0.0]]), some).round(1).tolist()
    [[0.9, 0.9, 0.1]]
    """

    n_components: int = 20
    _: KW_ONLY
    kind: str | Array = "bernoulli"
    smoothing: float = 1.0
    max_iter: int = 100
    tol: float = 1e-5
    n_members: int = 1
    dtype: Any = None
    rng: Any = None
    weights_: Array = field(init=False)
    means_: Array = field(init=False)
    variances_: Array = field(init=False)

    def __post_init__(self) -> None:
        self.rng = self.rng or np.random.default_rng()
        exact = (np.asarray(self.kind) != "bernoulli").any()
        self.dtype = np.dtype(self.dtype or (float if exact else np.float32))

    def fit(
        self,
        values: Array,
        observed: Array,
        background: Background | None = None,
        progress: EpochReport | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Self:
        """EM for each member; values, observed (n, d). Values of gaps are ignored.

        stop : ends EM early where it is true
        """
        base = background or Background.of(values, observed, self.kind)
        gaussian = np.asarray(self.kind) == "gaussian"
        # Gaussian features are centred at the column's mean, or their squares would cancel.
        self.center_ = np.where(gaussian, base.mean, 0.0)
        self._floor = FLOOR * base.variance
        self._pseudo = [base.mean - self.center_, np.ones_like(base.mean)]
        if gaussian.any():
            self._pseudo.append(base.variance)
        filled = self._filled(values, observed)
        self.history_: list[list[float]] = []
        parts = []
        for member in range(self.n_members):
            self.history_.append(self._run(filled, observed, member, progress, stop))
            parts.append((self.weights_ / self.n_members, self.means_, self.variances_))
        weights, means, variances = zip(*parts, strict=True)
        self.weights_ = np.concatenate(weights)
        self.means_, self.variances_ = np.concatenate(means), np.concatenate(variances)
        return self

    def log_likelihood(self, values: Array, observed: Array) -> Array:
        """Log-density of each row's observed entries; (n, d) -> (n,) float64."""
        blocks = self._joint(self._filled(values, observed), observed, self.slopes())
        return np.concatenate([normalise(joint)[0] for _, joint in blocks])

    def responsibilities(self, values: Array, observed: Array) -> Array:
        """Probability of each component given a row's observed entries; (n, d) -> (n, K)."""
        blocks = self._joint(self._filled(values, observed), observed, self.slopes())
        return np.concatenate([normalise(joint)[1] for _, joint in blocks])

    def posterior_mean(self, values: Array, observed: Array) -> Array:
        """Expected value of every entry given the observed ones; (n, d) -> (n, d)."""
        return self.responsibilities(values, observed) @ self.means_

    def parameters(self) -> dict[str, Array]:
        """The fitted arrays with one row per component."""
        return {name: getattr(self, name) for name in ("weights_", "means_", "variances_")}

    def restore(self, center: Array, parameters: dict[str, Array]) -> Self:
        """The inverse of `parameters`; a ValueError if these are not a density."""
        k, d = len(parameters["weights_"]), len(center)
        every = parameters | {"center_": center}
        check_parameters(every, weights_=(k,), means_=(k, d), variances_=(k, d))
        vars(self).update(every)
        shares = self.means_[:, np.broadcast_to(np.asarray(self.kind) != "gaussian", d)]
        if (self.variances_ <= 0).any() or (shares <= 0).any() or (shares >= 1).any():
            raise ValueError("a density has means or variances outside their range")
        return self

    def _run(
        self,
        filled: Array,
        observed: Array,
        member: int,
        progress: EpochReport | None,
        stop: Callable[[], bool],
    ) -> list[float]:
        """EM from one start until the gain is small; returns the objective of all iterations."""
        entries = max(int(observed.sum()), 1)
        self._start(filled, observed)
        history: list[float] = []
        for step in range(self.max_iter + 1):
            objective, sums, counts = self._expect(filled, observed)
            history.append(objective)
            if progress is not None:
                figures = {"log-likelihood per entry": objective / entries}
                progress(member * self.max_iter + step - 1, figures)
            small = step > 0 and objective - history[-2] < self.tol * entries
            if step == self.max_iter or small or stop():
                break
            self._maximise(sums, counts)
        return history

    def _start(self, filled: Array, observed: Array) -> None:
        """Each component starts from one random row and one pseudo-row.

        Independent of the smoothing: components that start equal would stay equal.
        """
        candidates = np.flatnonzero(observed.any(1))
        k = max(min(self.n_components, len(candidates)), 1)
        chosen = self.rng.permutation(candidates)[:k]
        sums = [np.zeros((k, filled.shape[1])) for _ in self._pseudo]
        for place, part in enumerate(_features(filled[chosen], observed[chosen], len(sums))):
            sums[place][: len(chosen)] = part
        self._maximise(sums, np.ones(k), pseudo_rows=1.0)

    def _expect(self, filled: Array, observed: Array) -> tuple[float, list[Array], Array]:
        """The objective at these parameters, and the feature sums and counts per component."""
        k, slopes = len(self.weights_), self.slopes()
        sums = [np.zeros((k, filled.shape[1])) for _ in self._pseudo]
        counts = np.zeros(k)
        # The expected log-density of a pseudo-row is linear in its expected features.
        objective = float(np.log(self.weights_).sum())
        objective += sum(
            float((slope @ part).sum()) for slope, part in zip(slopes, self._pseudo, strict=True)
        )
        objective *= self.smoothing
        for features, joint in self._joint(filled, observed, slopes):
            likelihood, share = normalise(joint)
            objective += float(likelihood.sum())
            counts += share.sum(0)
            share = share.astype(self.dtype).T
            for total, part in zip(sums, features, strict=True):
                total += share @ part
        return objective, sums, counts

    def _maximise(self, sums: list[Array], counts: Array, pseudo_rows: float | None = None) -> None:
        """The parameters that fit these sums (and the pseudo-rows) best."""
        prior = self.smoothing if pseudo_rows is None else pseudo_rows
        total = [rows + prior * pseudo for rows, pseudo in zip(sums, self._pseudo, strict=True)]
        weights = counts + prior
        self.weights_ = weights / weights.sum()
        mean = total[0] / total[1]
        share = mean.clip(EDGE, 1.0 - EDGE)
        self.means_, self.variances_ = share, share * (1.0 - share)
        if len(total) == 3:
            gaussian = np.asarray(self.kind) == "gaussian"
            spread = np.maximum(total[2] / total[1] - mean**2, self._floor)
            self.means_ = np.where(gaussian, mean + self.center_, share)
            self.variances_ = np.where(gaussian, spread, self.variances_)

    def slopes(self) -> list[Array]:
        """The log-density as a linear function: a (K, d) slope per feature."""
        kinds = np.asarray(self.kind)
        gaussian = kinds == "gaussian"
        share = np.where(gaussian, 0.5, self.means_)
        off = np.where(kinds == "bernoulli", np.log1p(-share), 0.0)
        slopes = [np.log(share) - off, off]
        if not gaussian.any():
            return slopes
        mean, precision = self.means_ - self.center_, 1.0 / self.variances_
        off = -0.5 * (mean**2 * precision + np.log(2.0 * np.pi * self.variances_))
        bell = [mean * precision, off, -0.5 * precision]
        return [
            np.where(gaussian, mine, other)
            for mine, other in zip(bell, [*slopes, np.zeros_like(off)], strict=True)
        ]

    def _filled(self, values: Array, observed: Array) -> Array:
        """Centred values with 0 for gaps, in the dtype of products; (n, d)."""
        filled = np.empty(values.shape, dtype=self.dtype)
        for rows in _blocks(*values.shape):
            filled[rows] = np.where(observed[rows], values[rows] - self.center_, 0.0)
        return filled

    def _joint(
        self, filled: Array, observed: Array, slopes: list[Array]
    ) -> Iterator[tuple[list[Array], Array]]:
        """Blocks of rows: their features, and log p(component, observed entries), (b, K)."""
        slopes = [slope.astype(self.dtype).T for slope in slopes]
        for rows in _blocks(len(filled), max(filled.shape[1], len(self.weights_))):
            features = _features(filled[rows], observed[rows], len(slopes))
            joint, *others = (part @ slope for part, slope in zip(features, slopes, strict=True))
            for product in others:  # in place: `add.reduce` would copy all of them first
                joint += product
            yield features, joint + np.log(self.weights_)


def _blocks(n: int, width: int) -> list[slice]:
    step = max(CHUNK // width, 1)
    return [slice(at, at + step) for at in range(0, n, step)]


def _features(filled: Array, observed: Array, count: int) -> list[Array]:
    """The features that the log-density is linear in; filled holds 0 where missing."""
    features = [filled, observed.astype(filled.dtype)]
    return features if count == 2 else [*features, filled**2]


def normalise(joint: Array) -> tuple[Array, Array]:
    """log p(row) and p(component | row) from log p(component, row); (b, K) -> (b,), (b, K)."""
    top = joint.max(1, keepdims=True)  # factored out: densities are far below any float
    share = joint - top
    np.exp(share, out=share)
    total = share.sum(1, keepdims=True)
    share /= total
    return (top + np.log(total))[:, 0], share


def check_parameters(parameters: dict[str, Array], **shapes: tuple[int, ...]) -> None:
    """Raise a ValueError unless the arrays have these shapes and the weights are shares."""
    if any(parameters[name].shape != shape for name, shape in shapes.items()):
        raise ValueError("the arrays of a density do not fit together")
    weights = parameters["weights_"]
    if not all(np.isfinite(array).all() for array in parameters.values()):
        raise ValueError("a density holds something that is not a number")
    if (weights <= 0).any() or not np.isclose(weights.sum(), 1):
        raise ValueError("the weights of a density are not shares")
