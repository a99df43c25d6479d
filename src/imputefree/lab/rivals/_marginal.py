"""Classifiers that integrate missing entries out, exactly, instead of imputing them.

A generative model per class gives p(observed entries | class); Bayes' rule does the rest. They are
the simple rivals that any claim about missing entries has to beat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..._progress import training_progress
from ..._rules import check_rules, private_generator
from ...data import (
    Examples,
    NumericTables,
    location,
    read_classes,
    read_target,
    remember_columns,
)
from ...errors import InputError
from ...families import Background, Mixture
from ..imputers._mixture import (
    MIXTURE_RULES,
    MixtureParameters,
    choose_kind,
    new_mixture,
    prepare,
)


class _Marginal(NumericTables, ClassifierMixin, BaseEstimator):
    """A classifier with one mixture per class; subclasses define the parameters."""

    # What the components of a class shrink towards: the columns of the class, which shrink towards
    # those of all rows. A column that is empty in a class is no evidence about it.
    classes_shrink: ClassVar = True
    n_components: Any = 1
    kind: str
    smoothing: float
    max_iter: int = 1
    tol: float = 0.0
    n_members: int = 1
    random_state: Any = 0
    verbose: bool = False

    def fit(self, X: Any, y: Any, *, held_out: Any = None) -> Self:
        """Learn a mixture per class; X (n, d) frame or array of numbers with gaps, y (n,) labels.

        held_out (n,) marks validation rows, as for other rivals. They are not needed here, but
        left out all the same, so that no rival is trained on more rows than the others.
        """
        check_rules(self, MIXTURE_RULES)
        values, columns = self._read_training(X)
        target = read_target(y, len(values), type(self).__name__)
        examples = Examples.read(columns, target, None, None, held_out)
        if examples.held_out is not None:
            values, target = values[~examples.held_out], target[~examples.held_out]
        classes = read_classes(target)
        observed = ~np.isnan(values)
        if not observed.any():
            raise InputError(
                "no column holds an entry",
                "There must be something to learn from",
                "Check how the table was read",
            )
        kind = choose_kind(self.kind, values, observed)
        center, spread = np.zeros(values.shape[1]), np.ones(values.shape[1])
        if kind == "gaussian":
            center, spread = np.array([location(column) for column in values.T]).T
        values = prepare(values, kind, center, spread)
        everyone = Background.of(values, observed, kind)
        sources = private_generator(self.random_state).spawn(len(classes))
        mixtures: list[Mixture] = []
        with training_progress(self.verbose, len(classes), type(self).__name__) as report:
            for number, (label, rng) in enumerate(zip(classes, sources, strict=True)):
                rows = target == label
                in_class, seen = values[rows], observed[rows]
                model = new_mixture(self, seen, kind, rng)
                background = everyone
                if self.classes_shrink:
                    background = Background.of(in_class, seen, kind, self.smoothing, everyone)
                mixtures.append(model.fit(in_class, seen, background))
                report(number, {"iterations": len(model.history_[0]) - 1})
        self.kind_, self.classes_, self.mixtures_ = kind, classes, mixtures
        self.center_, self.spread_ = center, spread
        self.n_iter_ = max(len(member) - 1 for model in mixtures for member in model.history_)
        remember_columns(self, columns)
        self.class_prior_ = np.array([(target == label).mean() for label in classes])
        return self

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log-probability of each class given the observed entries; (n, d) -> (n, classes)."""
        check_is_fitted(self, "mixtures_")
        values = self._read(X)
        observed = ~np.isnan(values)
        values = prepare(values, self.kind_, self.center_, self.spread_)
        joint = np.column_stack([m.log_likelihood(values, observed) for m in self.mixtures_])
        return log_softmax(joint + np.log(self.class_prior_), axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class given the observed entries; (n, d) -> (n, classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row; (n, d) -> (n,)."""
        probability = self.predict_log_proba(X)
        return self.classes_[probability.argmax(1)]


@dataclass(kw_only=True, eq=False, repr=False)
class ObservedNaiveBayes(_Marginal):
    """Naive Bayes over observed entries: a missing one drops out of the product.

        p(class | observed) ~ p(class) * product over observed j of p(x_j | class)

    Parameters
    ----------
    kind : "bernoulli" for numbers in [0, 1], "gaussian" for any; "auto" is "bernoulli" if all
        training entries lie in [0, 1]
    smoothing : pseudo-entries of each column of a class, taken from the column of all rows

    Fitted: classes_, class_prior_ (C,), kind_, mixtures_ (of one component), n_features_in_.

    >>> X = np.array([[1.0, 0.1], [1.2, np.nan], [3.0, 0.2], [np.nan, 5.0], [3.1, 5.2]])
    >>> model = ObservedNaiveBayes().fit(X, ["low", "low", "high", "high", "high"])
    >>> model.predict([[1.1, np.nan], [np.nan, 5.1], [np.nan, np.nan]])
    array(['low', 'high', 'high'], dtype='<U4')
    """

    classes_shrink = False  # the single component is the class
    kind: str = "auto"
    smoothing: float = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class ClasswiseMixture(MixtureParameters, _Marginal):
    """A mixture of independent Bernoullis or Gaussians per class, missing entries integrated out.

        p(class | observed) ~ p(class) * sum over k of w_k * product over observed j of p(x_j | k)

    Parameters
    ----------
    n_components : components per class, or "auto": one for every 10 observed entries that a column
        has in the class, at most 60
    smoothing : pseudo-rows per component, drawn from the columns of its class
    n_members : mixtures per class, from different random starts, their densities averaged
    kind, max_iter, tol, random_state, verbose : see `MixtureImputer`

    Fitted: classes_, class_prior_ (C,), kind_, mixtures_ (a `Mixture` per class), n_features_in_.

    >>> rng = np.random.default_rng(0)
    >>> corner = rng.integers(0, 2, (200, 2))  # exclusive or: no column alone reveals the class
    >>> X = np.where(rng.random((200, 2)) < 0.1, np.nan, corner)
    >>> model = ClasswiseMixture(n_components=4, random_state=0).fit(X, corner[:, 0] ^ corner[:, 1])
    >>> model.predict([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    array([0, 1, 1, 0])
    """
