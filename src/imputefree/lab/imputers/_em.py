"""EM: the expected value of a gap, given the rest of its row, under a density of observed entries.

`EMImputer` fits one multivariate Gaussian, `MixtureImputer` a mixture of independent columns that
integrates gaps out (`imputefree.families.Mixture`); `imputefree.lab.rivals` classifies with one
such mixture per class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from ..._progress import training_progress
from ..._rules import FLAG, Rule, check_rules, choice, number, or_the_word, whole
from ...errors import InputError, ParameterError
from ...estimators import RULES
from ...families import Mixture
from ._classic import refuse_slow
from ._imputer import FARTHEST, Array, Imputer

LOG_2PI = float(np.log(2 * np.pi))
ENTRIES = 2**21  # of a chunk's largest array: 16 MiB of float64
# Seconds per iteration for a pattern with o observed entries: Cholesky and inverse, then copying.
CUBIC, SQUARE, EACH = 1.2e-10, 4e-8, 4e-6
# What "auto" means; on validation rows of MNIST, at 50 to 90 % missing, fewer did no better.
ENTRIES_PER_PARAMETER = 10  # observed entries that a mean is estimated from, roughly
MAX_COMPONENTS = 60
MIXTURE_RULES: dict[str, Rule] = {
    **RULES,
    "n_components": or_the_word("auto", whole(1)),
    "kind": choice("auto", "bernoulli", "gaussian"),
    "smoothing": number(0, 1e6, open_low=True),
}


@dataclass(kw_only=True, eq=False, repr=False)
class EMImputer(Imputer):
    """The exact conditional mean under a Gaussian learned by EM from the observed entries alone.

    With o the observed and m the missing columns of a row, a gap is filled with

        E[x_m | x_o] = mu_m + Sigma_mo Sigma_oo^-1 (x_o - mu_o).

    Columns are first scaled to spread 1. The covariance is the maximum a posteriori under `ridge`
    complete pseudo-rows whose covariance is the identity,

        Sigma = (S + ridge I) / (n + ridge),        S: expected scatter of the n rows,

    so it is positive definite even with more columns than rows, and columns that were hardly ever
    observed together count as hardly related. EM climbs the observed-data log-likelihood minus
    ridge/2 (log |Sigma| + tr Sigma^-1), and stops when the relative rise is below `tol`.

    Under the hood: let r = x_o - mu_o, z = Sigma_oo^-1 r and W the sum of all Sigma_oo^-1, both
    placed in d columns with 0 elsewhere, Z all z as rows. Then the expected rows are mu + Z Sigma,
    and S = Sigma (Z'Z - W) Sigma + n Sigma about mu. So an iteration costs one Cholesky factor and
    one inverse per pattern of gaps, many patterns at a time, and its memory does not grow with the
    number of patterns.

    Parameters
    ----------
    ridge : float, pseudo-rows; 0 is maximum likelihood (needs many more rows than columns)
    max_iter : int, maximum number of iterations
    tol : float, relative rise of the objective at which EM stops
    allow_slow : bool, start even if estimated to take over half an hour
    verbose : bool, show a progress bar on a terminal
    random_state : not used; EM has no randomness

    Attributes
    ----------
    location_, covariance_ : (d,), (d, d) of the Gaussian, in the units of the data
    log_likelihood_ : list, of the observed entries (scaled) before each iteration, and at the end
    objective_ : list, the same with the prior added; never falls
    n_iter_ : int, iterations run
    converged_ : bool

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(500, 1)) * [1.0, 2.0] + [0.0, 5.0]
    >>> gappy = x.copy()
    >>> gappy[0] = [1.0, np.nan]
    >>> EMImputer().fit_transform(gappy)[0].round(1)
    array([1., 7.])
    """

    ridge: float = 1.0
    max_iter: int = 100
    tol: float = 1e-5
    allow_slow: bool = False
    verbose: bool = False
    random_state: Any = None

    def _learn(self, values: Array, observed: Array, rng: np.random.Generator) -> None:
        check_rules(self, {**RULES, "ridge": number(0, 1e6), "allow_slow": FLAG})
        patterns = Patterns(observed)
        self._refuse(patterns, self.max_iter, "learning")
        n, d = values.shape
        mu, sigma = np.zeros(d), np.eye(d)
        self.log_likelihood_: list[float] = []
        self.objective_: list[float] = []
        self.converged_ = False
        with training_progress(bool(self.verbose), self.max_iter, "EM") as report:
            for done in range(self.max_iter + 1):
                z, weight, likelihood = _expect(values, patterns, mu, sigma)
                self.log_likelihood_.append(likelihood)
                self.objective_.append(likelihood + _prior(sigma, self.ridge))
                report(done - 1, {"objective": self.objective_[-1]})
                self.n_iter_ = done
                rise = self.objective_[-1] - self.objective_[-2] if done else np.inf
                self.converged_ = bool(rise <= self.tol * max(abs(self.objective_[-1]), 1.0))
                if self.converged_ or done == self.max_iter:
                    break
                mu, sigma = _maximise(z, weight, mu, sigma, n, self.ridge)
        self._mu, self._sigma = mu, sigma
        self.location_ = self.mean_ + self.spread_ * mu
        with np.errstate(over="ignore"):  # infinite for columns in huge units
            self.covariance_ = sigma * np.outer(self.spread_, self.spread_)

    def _fill(self, values: Array, observed: Array, rng: np.random.Generator) -> Array:
        patterns = Patterns(observed)
        self._refuse(patterns, 1, "filling")
        z, _, _ = _expect(values, patterns, self._mu, self._sigma, learning=False)
        return self._mu + z @ self._sigma

    def _refuse(self, patterns: Patterns, rounds: int, task: str) -> None:
        sizes = patterns.sizes.astype(np.float64)
        refuse_slow(
            f"EM: {task} with {patterns.n_rows:,} x {patterns.n_columns:,}"
            f" ({len(sizes):,} different patterns of gaps)",
            seconds=rounds * float((CUBIC * sizes**3 + SQUARE * sizes**2 + EACH).sum()),
            remedy="Fit on fewer rows, lower max_iter, or use the imputer 'mixture' or 'mean'",
            allowed=self.allow_slow,
        )


def _expect(
    values: Array, patterns: Patterns, mu: Array, sigma: Array, learning: bool = True
) -> tuple[Array, Array, float]:
    """Z (n, d), W (d, d) and the log-likelihood of the observed entries; only Z if not learning."""
    n, d = values.shape
    # Shorter patterns of a chunk are padded with a row and a column of zeros beyond the last.
    centred, z = np.zeros((n + 1, d + 1)), np.zeros((n + 1, d + 1))
    centred[:n, :d] = values - mu
    cov = np.zeros((d + 1, d + 1))
    cov[:d, :d] = sigma
    weight, likelihood = np.zeros((d + 1) ** 2), 0.0
    for chunk in patterns.chunks():
        at = chunk.columns[:, :, None] * (d + 1) + chunk.columns[:, None, :]
        block = torch.from_numpy(cov.ravel()[at])
        padding = torch.from_numpy((chunk.columns == d).astype(np.float64))
        block.diagonal(dim1=1, dim2=2).add_(padding)
        factor = _cholesky(block)
        places = (chunk.rows[:, :, None], chunk.columns[:, None, :])
        r = torch.from_numpy(centred[places])
        if not learning:
            z[places] = torch.cholesky_solve(r.mT, factor).mT.numpy()
            continue
        inverse = torch.cholesky_inverse(factor)
        solved = torch.bmm(r, inverse)
        z[places] = solved.numpy()
        inverse *= torch.from_numpy(chunk.counts)[:, None, None]
        weight += np.bincount(at.ravel(), inverse.mT.numpy().ravel(), minlength=(d + 1) ** 2)
        logdet = 2 * factor.diagonal(dim1=1, dim2=2).log().sum(1).numpy()
        n_entries = int(chunk.counts @ chunk.sizes)
        likelihood -= 0.5 * float(chunk.counts @ logdet + n_entries * LOG_2PI + (r * solved).sum())
    return z[:n, :d], weight.reshape(d + 1, d + 1)[:d, :d], likelihood


def _maximise(
    z: Array, weight: Array, mu: Array, sigma: Array, n: int, ridge: float
) -> tuple[Array, Array]:
    """The location and covariance that maximise the expected log-likelihood."""
    shift = z.mean(0) @ sigma
    scatter = sigma @ (z.T @ z - weight) @ sigma + n * (sigma - np.outer(shift, shift))
    scatter = (scatter + scatter.T) / 2
    return mu + shift, (scatter + ridge * np.eye(len(mu))) / (n + ridge)


def _prior(sigma: Array, ridge: float) -> float:
    """-ridge/2 (log |Sigma| + tr Sigma^-1): what the pseudo-rows add to the objective."""
    if ridge == 0:
        return 0.0
    factor = _cholesky(torch.from_numpy(sigma))
    logdet = 2 * float(factor.diagonal().log().sum())
    return -0.5 * ridge * (logdet + float(torch.cholesky_inverse(factor).trace()))


def _cholesky(block: torch.Tensor) -> torch.Tensor:
    factor, failed = torch.linalg.cholesky_ex(block)
    if bool(failed.any()):
        raise ParameterError(
            "the covariance of EM has become singular",
            "Without a ridge there must be more rows than columns, and no redundant column",
            "Pass a larger ridge, for example ridge=1.0",
        )
    return factor


class Chunk(NamedTuple):
    """B patterns of gaps, each with up to k observed columns and up to R rows."""

    columns: Array  # (B, k) int64, the observed columns of each pattern, padded with d
    rows: Array  # (B, R) int64, the rows of each pattern, padded with n
    sizes: Array  # (B,) int64, the number of columns without padding
    counts: Array  # (B,) int64, the number of rows without padding


class Patterns:
    """The distinct rows of `observed` (n, d), in chunks of bounded memory.

    sizes : (P,) number of observed columns of each pattern that has any
    """

    def __init__(self, observed: Array) -> None:
        self.n_rows, self.n_columns = observed.shape
        packed = np.packbits(observed, axis=1)
        keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1])))[:, 0]
        _, first, inverse, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        sizes = observed[first].sum(1)
        # Similar numbers of rows (to a factor of 2), then of columns: little padding.
        doublings = np.ceil(np.log2(counts)).astype(np.int64)
        order = np.lexsort((sizes, doublings))
        order = order[sizes[order] > 0]  # rows without an entry carry no information
        self.sizes, self._counts, self._doublings = sizes[order], counts[order], doublings[order]
        self._masks, self._start = observed[first[order]], (np.cumsum(counts) - counts)[order]
        self._by_pattern = np.argsort(inverse, kind="stable")

    def chunks(self) -> Iterator[Chunk]:
        """All patterns with at least one observed column."""
        begin = 0
        while begin < len(self.sizes):
            part = slice(begin, begin + self._alike(begin))
            sizes, counts = self.sizes[part], self._counts[part]
            k, most = int(sizes.max()), int(counts.max())
            columns = np.argsort(~self._masks[part], axis=1, kind="stable")[:, :k]
            columns[np.arange(k) >= sizes[:, None]] = self.n_columns
            real = np.arange(most) < counts[:, None]
            place = self._start[part][:, None] + np.where(real, np.arange(most), 0)
            rows = np.where(real, self._by_pattern[place], self.n_rows)
            yield Chunk(columns, rows, sizes, counts)
            begin = part.stop

    def _alike(self, begin: int) -> int:
        """How many patterns from this one on fit into a chunk that is small and even."""
        left = slice(begin, begin + ENTRIES // int(self.sizes[begin]) ** 2 + 1)
        k, double = self.sizes[left], self._doublings[left]
        # Sizes ascend within one doubling, so the last of a chunk is its largest.
        cost = np.arange(1, len(k) + 1) * np.maximum(k, 2.0**double) * k
        alike = (double == double[0]) & (k <= 1.25 * k[0] + 2) & (cost <= ENTRIES)
        return max(int(np.argmin([*alike, False])), 1)


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
