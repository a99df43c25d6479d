"""Imputation by mixtures that integrate gaps out (`imputefree.families.Mixture`).

`MixtureImputer` fills gaps with the model; `imputefree.lab.rivals` classifies with one per class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._progress import training_progress
from ..._rules import Rule, check_rules, choice, number, or_the_word, whole
from ...errors import InputError
from ...estimators import RULES
from ...families import Mixture
from ._imputer import FARTHEST, Array, Imputer

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
