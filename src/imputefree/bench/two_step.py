"""Impute, then predict: any imputer, and the very network that GIL trains."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..data.columns import Columns, read_columns
from ..data.panel import Panel, series_labels
from ..errors import ParameterError
from ..estimators import GILClassifier, TableEstimator
from ..examples import Examples
from ..imputers import Imputer, SeriesImputer, make_imputer
from ..rules import FLAG, check_rules
from ..sequence_estimators import SequenceEstimator
from ..series_input import read_series
from .filling import Filler
from .panels import read_like_training


def _has_probabilities(self: Any) -> bool:
    return hasattr(self._network(), "predict_proba")


class ImputeThenPredict(BaseEstimator):
    """Fill the gaps with an imputer, then train one of our networks on what is then complete.

    The network, its budget and the rows it is validated on are those of the estimator, so a
    comparison with that estimator on the gaps themselves differs in nothing but the imputation.
    Its policy must be "none": nothing is missing any more. The imputer learns from rows that are
    not held out, and from no label. Without `held_out` it learns from all rows given, also from
    those that a member of the ensemble keeps for its validation.

    Tables: every imputer of tables. Series: imputers of series, and imputers of tables step by
    step, as the paper applies them (a step is a row; steps before and after do not count). Statics
    are filled by an imputer of tables: the same one, or else the mean.

    Parameters
    ----------
    imputer : a name, see `imputefree.imputers.IMPUTERS`, or an unfitted imputer. By name it gets
        the estimator's random_state
    estimator : GILClassifier, GILRegressor, GILSequenceClassifier or GILSequenceRegressor; default
        GILClassifier()
    indicator : show the network where gaps were, one 0/1 column more for each column with gaps

    Attributes
    ----------
    filler_, static_filler_ : the fitted imputers and what they need for categories
    estimator_ : the trained estimator
    classes_ : the class labels, of classifiers

    Examples
    --------
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
        **how: Any,
    ) -> Self:
        """Learn to impute, impute and train; X, y and the rest as for the estimator's `fit`."""
        network, imputer = self._checked()
        beside = {"sample_weight": sample_weight, "groups": groups, "held_out": held_out}
        data, layout = self._read(network, X, how, {"y": y, **beside})
        if isinstance(data, Panel):
            y = series_labels(y, data) if y is not None else None
            beside = {
                name: None if one is None else series_labels(one, data, name)
                for name, one in beside.items()
            }
        counted = Examples.read(
            data, np.zeros(data.n_rows), beside["sample_weight"], None, beside["held_out"]
        )
        learned = counted.learned_from()
        steps, lengths, statics = _parts(learned)
        options = {
            "indicator": self.indicator,
            "owner": type(self).__name__,
            "categorical_features": network.categorical_features,
        }
        filler = Filler(imputer, **options).fit(steps, lengths)
        static_filler = None
        if statics is not None:
            fits = isinstance(imputer, Imputer)
            options["categorical_features"] = "auto"
            static_filler = Filler(clone(imputer) if fits else make_imputer("mean"), **options).fit(
                statics
            )
        frame, named = _filled(data, filler, static_filler)
        network.fit(frame, y, **beside, **named)
        self.layout_, self.filler_, self.static_filler_ = layout, filler, static_filler
        self.estimator_ = network
        return self

    def predict(self, X: Any, **how: Any) -> np.ndarray:
        """A class, or a number, for each row (or series); -> (n,)."""
        frame, named = self._fill(X, how)
        return self.estimator_.predict(frame, **named)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, **how: Any) -> np.ndarray:
        """Probability of each class; -> (n, classes)."""
        frame, named = self._fill(X, how)
        return self.estimator_.predict_proba(frame, **named)

    def score(self, X: Any, y: Any, sample_weight: Any = None, **how: Any) -> float:
        """Accuracy, or R²; X and the rest as for `fit`."""
        check_is_fitted(self, "estimator_")
        beside = {"y": y, "sample_weight": sample_weight}
        data = self._read_again(X, how, beside)
        if isinstance(data, Panel):
            y = series_labels(y, data)
            if sample_weight is not None:
                sample_weight = series_labels(sample_weight, data, "sample_weight")
        frame, named = _filled(data, self.filler_, self.static_filler_)
        return self.estimator_.score(frame, y, sample_weight, **named)

    @property
    def classes_(self) -> np.ndarray:
        """The class labels, sorted."""
        return self.estimator_.classes_

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
        if getattr(network, "per_step", False):
            raise ParameterError(
                "the estimator's per_step is True",
                "Here a series has one label",
                "Pass per_step=False",
            )
        imputer = self.imputer
        if isinstance(imputer, str):
            imputer = make_imputer(imputer, random_state=network.random_state)
        if not isinstance(imputer, Imputer | SeriesImputer):
            raise ParameterError(
                f"imputer is {imputer!r}",
                "It must be an imputer of imputefree.imputers",
                'Pass a name, for example "em", or what make_imputer returns',
            )
        if isinstance(imputer, SeriesImputer) and isinstance(network, TableEstimator):
            raise ParameterError(
                f"{type(imputer).__name__} fills series, and {type(network).__name__} takes tables",
                "Both must be for the same kind of data",
                "Pass an imputer of tables, or GILSequenceClassifier() as the estimator",
            )
        return clone(network), clone(imputer)

    def _read(
        self, network: Any, X: Any, how: Any, beside: dict[str, Any]
    ) -> tuple[Columns | Panel, Any]:
        if isinstance(network, SequenceEstimator):
            return read_series(X, how, beside, None)
        if how:
            raise ParameterError(
                f"there is no option {next(iter(how))!r} for tables",
                "Options such as id= and static= are for series",
                "Leave it out, or pass GILSequenceClassifier() as the estimator",
            )
        return read_columns(X), None

    def _fill(self, X: Any, how: dict[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
        check_is_fitted(self, "estimator_")
        return _filled(self._read_again(X, how, {}), self.filler_, self.static_filler_)

    def _read_again(self, X: Any, how: Any, beside: dict[str, Any]) -> Columns | Panel:
        """Data with the columns of training."""
        if self.layout_ is None:
            return self._read(self.estimator_, X, how, beside)[0]
        statics = None if self.static_filler_ is None else self.static_filler_.encoder
        return read_like_training(X, how, beside, self.layout_, self.filler_.encoder, statics)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self._network())
        tags.estimator_type, tags.input_tags = own.estimator_type, own.input_tags
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        tags.target_tags = own.target_tags
        return tags


def _parts(data: Columns | Panel) -> tuple[Columns, np.ndarray | None, Columns | None]:
    """Rows to fill, which of them are one series, and statics."""
    if isinstance(data, Panel):
        return data.steps, data.lengths, data.statics
    return data, None, None


def _filled(
    data: Columns | Panel, filler: Filler, static_filler: Filler | None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Data without gaps as a frame, and what the estimator has to be told of it."""
    steps, lengths, statics = _parts(data)
    frame = filler.fill(steps, lengths)
    if not isinstance(data, Panel):
        return frame, {}
    of, when = _free("series", frame), _free("time", frame)
    frame[of] = np.repeat(np.arange(data.n_rows), data.lengths)
    frame[when] = data.times
    named: dict[str, Any] = {"id": of, "time": when}
    if static_filler is not None and statics is not None:
        named["static"] = static_filler.fill(statics)
    return frame, named


def _free(name: str, frame: pd.DataFrame) -> str:
    """A name that no column has."""
    while name in frame:
        name += "'"
    return name
