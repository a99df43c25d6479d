"""Mixture imputation: a gap becomes what rows with the same observed entries have there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._progress import training_progress
from ..._rules import FLAG, Rule, check_rules, choice, number, or_the_word, whole
from ...errors import InputError
from ...estimators import RULES
from ._imputer import Imputer
from ._mixture_model import Background, Mixture

__all__ = ["Background", "Mixture", "MixtureImputer"]

# What "auto" takes; on validation rows of MNIST, at 50 to 90 % missing, no fewer did better.
ENTRIES_A_PARAMETER = 10  # observed entries a mean is estimated from, roughly
MOST_COMPONENTS = 60
FARTHEST = 1e6  # spreads from the mean; squares of what is farther off would drown the rest
MIXTURE_RULES: dict[str, Rule] = {
    "n_components": or_the_word("auto", whole(1)),
    "kind": choice("auto", "bernoulli", "gaussian"),
    "smoothing": number(0, 1e6, open_low=True),
    "max_iter": RULES["max_iter"],
    "tol": RULES["tol"],
    "n_members": RULES["n_members"],
    "random_state": RULES["random_state"],
    "verbose": FLAG,
}


@dataclass(kw_only=True, eq=False, repr=False)
class MixtureParameters:
    """Parameters of everything made of mixtures; docstrings explain."""

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
    kind : "bernoulli" for numbers in [0, 1], "gaussian" for any; "auto" is "bernoulli" where all
        training entries lie in [0, 1]. Gaussians see columns scaled to mean 0 and spread 1.
        For a Bernoulli model, entries of unseen rows beyond [0, 1] count as 0 or 1
    smoothing : pseudo-rows that each component sees, drawn from the columns on their own
    max_iter, tol : EM stops after so many iterations, or when one gains less than tol of
        log-likelihood an observed entry
    n_members : mixtures from different random starts, averaged
    verbose : show a progress bar on a terminal

    Fitted: kind_, mixture_ (a `Mixture`).

    >>> X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]] * 10)
    >>> X[0, 1] = X[2, 1] = np.nan
    >>> MixtureImputer(n_components=2, random_state=0).fit_transform(X)[[0, 2]].round(1).tolist()
    [[0.0, 0.1], [1.0, 0.9]]
    """

    scales = False  # only Gaussians want it: done here, once the kind is known

    def _learn(self, values: np.ndarray, observed: np.ndarray, rng: np.random.Generator) -> None:
        check_rules(self, MIXTURE_RULES)
        names = getattr(self, "feature_names_in_", range(values.shape[1]))
        self.kind_ = choose_kind(self.kind, values, observed, names)
        self._known = observed.any(0)
        model = Mixture(
            choose_components(self.n_components, observed),
            kind=self.kind_,
            smoothing=self.smoothing,
            max_iter=self.max_iter,
            tol=self.tol,
            n_members=self.n_members,
            rng=rng,
        )
        total = self.max_iter * self.n_members
        with training_progress(self.verbose, total, type(self).__name__) as report:
            self.mixture_ = model.fit(self._prepared(values), observed, progress=report)

    def _fill(
        self, values: np.ndarray, observed: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        guess = self.mixture_.posterior_mean(self._prepared(values), observed)
        if self.kind_ == "gaussian":
            guess = guess * self.spread_ + self.mean_
        return np.where(self._known, guess, 0.0)  # like every imputer on a column without entries

    def _prepared(self, values: np.ndarray) -> np.ndarray:
        return prepare(values, self.kind_, self.mean_, self.spread_)


def choose_kind(kind: str, values: np.ndarray, observed: np.ndarray, names: Any = None) -> str:
    """What "auto" means for these entries, and whether "bernoulli" can be; (n, d) -> name.

    >>> choose_kind("auto", np.array([[0.0, 7.0]]), np.array([[True, False]]))
    'bernoulli'
    """
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


def choose_components(n_components: int | str, observed: np.ndarray) -> int:
    """What "auto" means for so many entries; (n, d) -> number.

    >>> choose_components("auto", np.ones((100, 7), dtype=bool))
    10
    """
    if not isinstance(n_components, str):
        return int(n_components)
    a_column = observed.sum() / observed.shape[1]
    return int(np.clip(a_column / ENTRIES_A_PARAMETER, 1, MOST_COMPONENTS))


def prepare(
    values: np.ndarray, kind: str, mean: np.ndarray | float, spread: np.ndarray | float
) -> np.ndarray:
    """Entries in the units and within the range that a model of this kind takes; (n, d) each.

    >>> prepare(np.array([[2.0, 0.5]]), "bernoulli", 0.0, 1.0)
    array([[1. , 0.5]])
    """
    if kind == "bernoulli":
        return values.clip(0.0, 1.0)
    with np.errstate(over="ignore"):
        return ((values - mean) / spread).clip(-FARTHEST, FARTHEST)
