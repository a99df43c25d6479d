"""Impute, then predict: any imputer, and the very network that GIL trains."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..._rules import FLAG, check_rules
from ...data import read_columns
from ...errors import ParameterError
from ...estimators import GILClassifier, SequenceEstimator, TableEstimator
from ..imputers import Imputer, SeriesImputer, make_imputer
from ._filling import FilledEncoder


def _has_probabilities(self: Any) -> bool:
    return hasattr(self._network(), "predict_proba")


class ImputeThenPredict(BaseEstimator):
    """One of our estimators with an imputer in it: its networks see values where gaps were.

    Everything else is the estimator's own: network, encoding (learned on the rows with their
    gaps), budget, folds, validation rows. So a comparison with that estimator differs in what
    stands in a gap, and in nothing else. Its policy must be "none": nothing is missing any more.

    The imputer learns from the rows that scales are learned from: those that are not held out;
    without `held_out` from all rows, also from those that a member keeps for its validation. It
    never sees a label. Categories take part in it as 0/1 columns.

    Tables: every imputer of tables. Series: imputers of series, and imputers of tables step by
    step, as the paper applies them (a step is a row; steps before and after do not count). Statics
    are filled by an imputer of tables: the same one, or else the mean. The summary path of series
    summarises filled values.

    Parameters
    ----------
    imputer : a name in `imputefree.lab.imputers.IMPUTERS`, or an unfitted imputer. By name it
        gets the estimator's random_state
    estimator : GILClassifier, GILRegressor, GILSequenceClassifier or GILSequenceRegressor; default
        GILClassifier()
    indicator : tell the networks where gaps were, as the estimator itself does. This decides in
        place of the estimator's own `indicator`

    Attributes
    ----------
    estimator_ : the trained estimator; `estimator_.encoder_.filler.imputer` is the fitted imputer
    classes_ : the class labels, of classifiers

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"dose": [1.0, None, 3.0, 4.0] * 10, "sex": ["f", "m", None, "m"] * 10})
    >>> y = ["well", "ill", "ill", "well"] * 10
    >>> network = GILClassifier(random_state=0, max_iter=30, batch_size=8)
    >>> ImputeThenPredict("mean", network, indicator=True).fit(X, y).predict(X.head(4))
    array(['well', 'ill', 'ill', 'well'], dtype='<U4')
    """

    def __init__(
        self, imputer: Any = "mean", estimator: Any = None, *, indicator: bool = False
    ) -> None:
        self.imputer = imputer
        self.estimator = estimator
        self.indicator = indicator

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        held_out: Any = None,
    ) -> Self:
        """Learn to impute, impute and train; X, y and the rest as for the estimator's `fit`."""
        network, imputer = self._checked()
        network.set_params(indicator=bool(self.indicator))
        network._new_encoder = partial(
            FilledEncoder, network._new_encoder(), imputer, bool(self.indicator)
        )
        network.fit(X, y, sample_weight, groups, held_out)
        self.estimator_ = network
        return self

    def predict(self, X: Any) -> np.ndarray:
        """A class, or a number, for each row (or series); -> (n,)."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class; -> (n, classes)."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    def features(self, X: Any) -> np.ndarray:
        """ζ of the rows with their gaps filled; see the estimator's `features`."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.features(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R²; X and the rest as for `fit`."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.score(X, y, sample_weight)

    def impute(self, X: Any) -> np.ndarray:
        """What stands in the place of X, without gaps: (rows, columns) objects or numbers.

        Rows are those of the table, or all steps of all series, one series after the other.
        """
        check_is_fitted(self, "estimator_")
        network = self.estimator_
        series = isinstance(network, SequenceEstimator)
        filled = network.encoder_.filled(network._inputs(X) if series else read_columns(X))
        return np.column_stack((filled.steps if series else filled).arrays)

    def __getattr__(self, name: str) -> Any:
        """What a fit finds out is the estimator's: classes_, n_features_in_, n_iter_, …"""
        if name.endswith("_") and not name.startswith("_") and "estimator_" in self.__dict__:
            return getattr(self.estimator_, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def _network(self) -> Any:
        return GILClassifier() if self.estimator is None else self.estimator

    def _checked(self) -> tuple[Any, Any]:
        """The unfitted estimator and imputer, or what is wrong with them."""
        check_rules(self, {"indicator": FLAG})
        network = self._network()
        if not isinstance(network, TableEstimator | SequenceEstimator):
            raise ParameterError(
                f"estimator is {network!r}",
                "It must be one of GIL's: GILClassifier, GILRegressor, GILSequenceClassifier or"
                " GILSequenceRegressor",
                "Put another estimator behind the imputer with sklearn.pipeline.make_pipeline",
            )
        if network.policy != "none":
            raise ParameterError(
                f"the estimator's policy is {network.policy!r}",
                'It must be "none": after imputation nothing is missing',
                'Pass policy="none"',
            )
        imputer = self.imputer
        if isinstance(imputer, str):
            imputer = make_imputer(imputer, random_state=network.random_state)
        if not isinstance(imputer, Imputer | SeriesImputer):
            raise ParameterError(
                f"imputer is {imputer!r}",
                "It must be an imputer of imputefree.lab.imputers",
                'Pass a name, for example "em", or what make_imputer returns',
            )
        if isinstance(imputer, SeriesImputer) and isinstance(network, TableEstimator):
            raise ParameterError(
                f"{type(imputer).__name__} fills series, and {type(network).__name__} takes tables",
                "Both must be for the same kind of data",
                "Pass an imputer of tables, or GILSequenceClassifier() as the estimator",
            )
        return clone(network), clone(imputer)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self._network())
        tags.estimator_type, tags.input_tags = own.estimator_type, own.input_tags
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        tags.target_tags = own.target_tags
        return tags
