"""Mixtures fitted to observed entries alone: a missing entry drops out of every sum.

`MixtureImputer` fills gaps with the model; `imputefree.lab.rivals` classifies with one per class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np

from ..._progress import EpochReport, training_progress
from ..._rules import Rule, check_rules, choice, number, or_the_word, whole
from ...errors import InputError
from ...estimators import RULES
from ._imputer import FARTHEST, Array, Imputer

EDGE = 1e-6  # distance of a Bernoulli mean from 0 and 1: its logarithms stay finite
FLOOR = 1e-3  # smallest Gaussian variance, relative to that of its column
CHUNK = 2**22  # numbers in a block of rows: bounds the memory of a product
# What "auto" means; on validation rows of MNIST, at 50 to 90 % missing, fewer did no better.
ENTRIES_PER_PARAMETER = 10  # observed entries that a mean is estimated from, roughly
MAX_COMPONENTS = 60
MIXTURE_RULES: dict[str, Rule] = {
    **RULES,
    "n_components": or_the_word("auto", whole(1)),
    "kind": choice("auto", "bernoulli", "gaussian"),
    "smoothing": number(0, 1e6, open_low=True),
}


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
        kind: str,
        smoothing: float = 1.0,
        toward: Background | None = None,
    ) -> Background:
        """Means and variances of observed entries, as if `smoothing` more came from `toward`.

        values, observed (n, d). Without `toward`, a Bernoulli column gets one more entry 1/2; a
        Gaussian column without entries (or a constant one) gets variance 1.
        """
        d = values.shape[1]
        count, total = np.zeros(d), np.zeros(d)
        for rows in _blocks(len(values), d):
            count += observed[rows].sum(0)
            total += np.where(observed[rows], values[rows], 0.0).sum(0, dtype=np.float64)
        if toward is not None:
            prior, weight = toward, np.full(d, float(smoothing))
        elif kind == "bernoulli":
            prior, weight = cls(np.full(d, 0.5), np.full(d, 0.25)), np.ones(d)
        else:
            prior, weight = cls(np.zeros(d), np.ones(d)), (count == 0) * 1.0
        mean = (total + weight * prior.mean) / (count + weight)
        if kind == "bernoulli":
            return cls(mean, mean * (1.0 - mean))
        squares = weight * (prior.variance + (prior.mean - mean) ** 2)
        for rows in _blocks(len(values), d):
            squares += (np.where(observed[rows], values[rows] - mean, 0.0) ** 2).sum(0)
        variance = squares / (count + weight)
        constant = variance <= (1e-9 * np.maximum(np.abs(mean), 1e-290)) ** 2
        return cls(mean, np.where(constant, 1.0, variance))


@dataclass(eq=False, repr=False)
class Mixture:
    """A mixture of K products of independent Bernoullis or Gaussians, by EM on observed entries.

    Under component k a row x with observed entries m has the log-density

        Bernoulli   sum_j m_j [x_j log mu_kj + (1 - x_j) log(1 - mu_kj)]         x in [0, 1]
        Gaussian    sum_j m_j log N(x_j; mu_kj, v_kj)

    Missing entries integrate to 1: marginalising them means leaving them out. Both are linear in
    the features f = (m x, m) or (m x, m, m x^2), so an E-step is one product of (n, d) by (d, K)
    per feature, and an M-step its transpose. A grey value x in (0, 1) counts as x of a one and
    1 - x of a zero.

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
    kind, smoothing, max_iter, tol : see `MixtureImputer`
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
    kind: str = "bernoulli"
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
        self.dtype = np.dtype(self.dtype or (np.float32 if self.kind == "bernoulli" else float))

    def fit(
        self,
        values: Array,
        observed: Array,
        background: Background | None = None,
        progress: EpochReport | None = None,
    ) -> Self:
        """EM for each member; values, observed (n, d). Values of gaps are ignored."""
        base = background or Background.of(values, observed, self.kind)
        gaussian = self.kind == "gaussian"
        # Gaussian features are centred at the column's mean, or their squares would cancel.
        self.center_ = base.mean if gaussian else np.zeros_like(base.mean)
        self._floor = FLOOR * base.variance
        self._pseudo = [base.mean - self.center_, np.ones_like(base.mean)]
        if gaussian:
            self._pseudo.append(base.variance)
        filled = self._filled(values, observed)
        self.history_: list[list[float]] = []
        parts = []
        for member in range(self.n_members):
            self.history_.append(self._run(filled, observed, member, progress))
            parts.append((self.weights_ / self.n_members, self.means_, self.variances_))
        weights, means, variances = zip(*parts, strict=True)
        self.weights_ = np.concatenate(weights)
        self.means_, self.variances_ = np.concatenate(means), np.concatenate(variances)
        return self

    def log_likelihood(self, values: Array, observed: Array) -> Array:
        """Log-density of each row's observed entries; (n, d) -> (n,) float64."""
        blocks = self._joint(self._filled(values, observed), observed)
        return np.concatenate([_normalise(joint)[0] for _, joint in blocks])

    def responsibilities(self, values: Array, observed: Array) -> Array:
        """Probability of each component given a row's observed entries; (n, d) -> (n, K)."""
        blocks = self._joint(self._filled(values, observed), observed)
        return np.concatenate([_normalise(joint)[1] for _, joint in blocks])

    def posterior_mean(self, values: Array, observed: Array) -> Array:
        """Expected value of every entry given the observed ones; (n, d) -> (n, d)."""
        return self.responsibilities(values, observed) @ self.means_

    def _run(
        self, filled: Array, observed: Array, member: int, progress: EpochReport | None
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
            if step == self.max_iter or (step and objective - history[-2] < self.tol * entries):
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
        k = len(self.weights_)
        sums = [np.zeros((k, filled.shape[1])) for _ in self._pseudo]
        counts = np.zeros(k)
        # The expected log-density of a pseudo-row is linear in its expected features.
        objective = float(np.log(self.weights_).sum())
        objective += sum(
            float((slope @ part).sum())
            for slope, part in zip(self._slopes(), self._pseudo, strict=True)
        )
        objective *= self.smoothing
        for features, joint in self._joint(filled, observed):
            likelihood, share = _normalise(joint)
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
        if self.kind == "bernoulli":
            self.means_ = mean.clip(EDGE, 1.0 - EDGE)
            self.variances_ = self.means_ * (1.0 - self.means_)
        else:
            self.means_ = mean + self.center_
            self.variances_ = np.maximum(total[2] / total[1] - mean**2, self._floor)

    def _slopes(self) -> list[Array]:
        """The log-density as a linear function: a (K, d) slope per feature."""
        if self.kind == "bernoulli":
            off = np.log1p(-self.means_)
            return [np.log(self.means_) - off, off]
        mean, precision = self.means_ - self.center_, 1.0 / self.variances_
        off = -0.5 * (mean**2 * precision + np.log(2.0 * np.pi * self.variances_))
        return [mean * precision, off, -0.5 * precision]

    def _filled(self, values: Array, observed: Array) -> Array:
        """Centred values with 0 for gaps, in the dtype of products; (n, d)."""
        filled = np.empty(values.shape, dtype=self.dtype)
        for rows in _blocks(*values.shape):
            filled[rows] = np.where(observed[rows], values[rows] - self.center_, 0.0)
        return filled

    def _joint(self, filled: Array, observed: Array) -> Iterator[tuple[list[Array], Array]]:
        """Blocks of rows: their features, and log p(component, observed entries), (b, K)."""
        slopes = [slope.astype(self.dtype).T for slope in self._slopes()]
        for rows in _blocks(len(filled), max(filled.shape[1], len(self.weights_))):
            features = _features(filled[rows], observed[rows], len(slopes))
            products = [part @ slope for part, slope in zip(features, slopes, strict=True)]
            yield features, np.add.reduce(products) + np.log(self.weights_)


def _blocks(n: int, width: int) -> list[slice]:
    step = max(CHUNK // width, 1)
    return [slice(at, at + step) for at in range(0, n, step)]


def _features(filled: Array, observed: Array, count: int) -> list[Array]:
    """The features that the log-density is linear in; filled holds 0 where missing."""
    features = [filled, observed.astype(filled.dtype)]
    return features if count == 2 else [*features, filled**2]


def _normalise(joint: Array) -> tuple[Array, Array]:
    """log p(row) and p(component | row) from log p(component, row); (b, K) -> (b,), (b, K)."""
    top = joint.max(1, keepdims=True)  # factored out: densities are far below any float
    share = np.exp(joint - top)
    total = share.sum(1, keepdims=True)
    return (top + np.log(total))[:, 0], share / total


@dataclass(kw_only=True, eq=False, repr=False)
class MixtureParameters:
    """Parameters shared by the estimators that use mixtures, which document them."""

    n_components: int | str = "auto"
    kind: str = "auto"
    smoothing: float = 1.0
    max_iter: int = 100
    tol: float = 1e-5
    n_members: int = 4
    random_state: Any = None
    verbose: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class MixtureImputer(MixtureParameters, Imputer):
    """Impute with the posterior mean of a mixture of independent Bernoullis or Gaussians.

        E[x_j | observed] = sum_k p(k | observed) mu_kj

    The model is fitted by EM over observed entries only (see `Mixture` for the mathematics), so no
    entry is imputed to fit it, and unseen rows are filled one by one.

    Parameters
    ----------
    n_components : components, or "auto": one for every 10 observed entries of a column, at most 60
    kind : "bernoulli" for numbers in [0, 1], "gaussian" for any; "auto" is "bernoulli" if all
        training entries lie in [0, 1]. Gaussians see columns scaled to mean 0 and spread 1.
        For a Bernoulli model, entries of unseen rows outside [0, 1] count as 0 or 1
    smoothing : pseudo-rows per component, with independent columns
    max_iter, tol : EM stops after this many iterations, or when one gains less than tol of
        log-likelihood per observed entry
    n_members : mixtures from different random starts, averaged
    random_state : int, RandomState or None; same seed and threads, same model, bit for bit
    verbose : show a progress bar on a terminal

    Fitted: kind_, mixture_ (a `Mixture`).

    >>> X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]] * 10)
    >>> X[0, 1] = X[2, 1] = np.nan
    >>> MixtureImputer(n_components=2, random_state=0).fit_transform(X)[[0, 2]].round(1).tolist()
    [[0.0, 0.1], [1.0, 0.9]]
    """

    scales = False  # only Gaussians need it: done here, once the kind is known

    def _learn(self, values: Array, observed: Array, rng: np.random.Generator) -> None:
        check_rules(self, MIXTURE_RULES)
        names = getattr(self, "feature_names_in_", range(values.shape[1]))
        self.kind_ = choose_kind(self.kind, values, observed, names)
        self._known = observed.any(0)
        model = new_mixture(self, observed, self.kind_, rng)
        total = self.max_iter * self.n_members
        with training_progress(self.verbose, total, type(self).__name__) as report:
            self.mixture_ = model.fit(self._prepared(values), observed, progress=report)

    def _fill(self, values: Array, observed: Array, rng: np.random.Generator) -> Array:
        guess = self.mixture_.posterior_mean(self._prepared(values), observed)
        if self.kind_ == "gaussian":
            guess = guess * self.spread_ + self.mean_
        return np.where(self._known, guess, 0.0)  # columns without a training entry

    def _prepared(self, values: Array) -> Array:
        return prepare(values, self.kind_, self.mean_, self.spread_)


def new_mixture(estimator: Any, observed: Array, kind: str, rng: np.random.Generator) -> Mixture:
    """An unfitted mixture with the parameters of an estimator."""
    names = ("smoothing", "max_iter", "tol", "n_members")
    options = {name: getattr(estimator, name) for name in names}
    n_components = choose_components(estimator.n_components, observed)
    return Mixture(n_components, kind=kind, rng=rng, **options)


def choose_kind(kind: str, values: Array, observed: Array, names: Any = None) -> str:
    """Resolve "auto" for these entries (n, d), and refuse "bernoulli" if they do not fit."""
    if kind == "gaussian":
        return kind
    outside = observed & ((values < 0.0) | (values > 1.0))
    if kind == "auto":
        return "gaussian" if outside.any() else "bernoulli"
    if outside.any():
        row, column = np.argwhere(outside)[0]
        name = column if names is None else f"{names[column]!r}"
        raise InputError(
            f"kind is 'bernoulli' and column {name} holds {values[row, column]:g} (row {row})",
            "A Bernoulli model takes numbers in [0, 1]",
            "Divide by the largest value, or use kind='gaussian'",
        )
    return kind


def choose_components(n_components: int | str, observed: Array) -> int:
    """Resolve "auto" for these entries (n, d)."""
    if not isinstance(n_components, str):
        return int(n_components)
    per_column = observed.sum() / observed.shape[1]
    return int(np.clip(per_column / ENTRIES_PER_PARAMETER, 1, MAX_COMPONENTS))


def prepare(values: Array, kind: str, mean: Array | float, spread: Array | float) -> Array:
    """Entries in the units and within the range of a model of this kind; (n, d) -> (n, d)."""
    if kind == "bernoulli":
        return values.clip(0.0, 1.0)
    with np.errstate(over="ignore"):
        return ((values - mean) / spread).clip(-FARTHEST, FARTHEST)
