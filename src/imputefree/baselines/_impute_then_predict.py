"""Impute, then predict: any imputer in front of the same network that GIL trains.

The encoding (scales, categories, which columns have gaps) is learned from the rows with their
gaps, as without an imputer. So imputing changes the values in gaps, and nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._rules import FLAG, check_rules
from ..data import Category, Columns, Panel, Table, TableEncoder
from ..errors import ParameterError
from ..estimators import GILClassifier, SequenceEstimator, TableEstimator, read_inputs


class ColumnMeans(TransformerMixin, BaseEstimator):
    """Fills gaps with the mean of the column's training entries; 0 if it has none.

    >>> ColumnMeans().fit_transform(np.array([[1.0, np.nan], [3.0, 4.0]]))
    array([[1., 4.],
           [3., 4.]])
    """

    def fit(self, X: np.ndarray, y: Any = None) -> Self:
        """Learn the means; (n, d) numbers with NaN."""
        observed = ~np.isnan(X)
        known = np.where(observed, X, 0.0)
        # Divided by a power of two, which is exact, so that sums of huge values stay finite.
        unit = np.ldexp(1.0, np.clip(np.frexp(np.abs(known).max(0, initial=0.0))[1], -1000, 1000))
        self.mean_ = (known / unit).sum(0) / np.maximum(observed.sum(0), 1) * unit
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """The same rows without gaps; (n, d) -> (n, d)."""
        return np.where(np.isnan(X), self.mean_, X)


class Filler:
    """Fills tables of any kind with an imputer of numbers: categories become 0/1 columns.

    Numbers go to the imputer as they are, a category as one 0/1 column per level. Where a category
    was missing, it becomes the level that the imputer finds most likely. A category column without
    a single entry stays empty.

    Parameters
    ----------
    encoder : a fitted encoder; it knows columns and levels
    imputer : an unfitted imputer for tables or for series

    >>> import pandas as pd
    >>> from imputefree.data import read_columns
    >>> columns = read_columns(pd.DataFrame({"age": [20.0, None, 40.0], "sex": ["f", "f", None]}))
    >>> filler = Filler(TableEncoder().fit(columns), ColumnMeans()).fit(columns)
    >>> filler.fill(columns).arrays
    [array([20., 30., 40.]), array(['f', 'f', 'f'], dtype=object)]
    """

    def __init__(self, encoder: TableEncoder, imputer: Any) -> None:
        self.encoder = encoder
        self.imputer = imputer

    def fit(self, columns: Columns, lengths: np.ndarray | None = None) -> Self:
        """Learn from training rows; lengths (n,) if they are the steps of series."""
        numbers = np.concatenate(self._blocks(self.encoder.arranged(columns)), axis=1)
        if numbers.shape[1]:
            self.imputer.fit(self._shaped(numbers, lengths))
        return self

    def fill(self, columns: Columns, lengths: np.ndarray | None = None) -> Columns:
        """The same rows without gaps; names, order and kinds as in training."""
        columns = self.encoder.arranged(columns)
        blocks = self._blocks(columns)
        numbers = np.concatenate(blocks, axis=1)
        filled = numbers
        if numbers.shape[1]:
            filled = self.imputer.transform(self._shaped(numbers, lengths))
            filled = np.concatenate(filled) if isinstance(filled, list) else np.asarray(filled)
        if filled.shape != numbers.shape:
            raise ParameterError(
                f"{type(self.imputer).__name__} turned {numbers.shape[1]} columns into"
                f" {filled.shape[1]}",
                "An imputer must keep all columns, including those without an entry in training",
                "With scikit-learn's imputers, pass keep_empty_features=True",
            )
        ends = np.cumsum([block.shape[1] for block in blocks])[:-1]
        guesses = np.split(filled, ends, axis=1)
        arrays = [
            _filled(plan, array, block, guess)
            for plan, array, block, guess in zip(
                self.encoder.plans, columns.arrays, blocks, guesses, strict=True
            )
        ]
        return replace(columns, arrays=arrays)

    def _blocks(self, columns: Columns) -> list[np.ndarray]:
        """What the imputer sees of each column, (n, 1) or (n, levels) with NaN."""
        blocks = []
        for plan, array in zip(self.encoder.plans, columns.arrays, strict=True):
            block = array[:, None]
            if isinstance(plan, Category):
                block = plan.switches(plan.code(array, plan.name)[0])
            blocks.append(block)
        return blocks

    def _shaped(self, numbers: np.ndarray, lengths: np.ndarray | None) -> Any:
        if lengths is not None and fills_series(self.imputer):
            return np.split(numbers, np.cumsum(lengths)[:-1])
        return numbers


def _filled(plan: Any, array: np.ndarray, block: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """One column without gaps, (n,)."""
    if not isinstance(plan, Category):
        return guess[:, 0]
    if not plan.shown_levels:
        return array
    # Any rare level represents all of them: the network reads them as one.
    levels = np.array([*plan.levels, *plan.rare_levels[:1]], dtype=object)
    return np.where(np.isnan(block[:, 0]), levels[guess.argmax(1)], array)


def fills_series(imputer: Any) -> bool:
    """Whether an imputer takes series, by scikit-learn's tags; if not, it takes tables."""
    return hasattr(imputer, "__sklearn_tags__") and get_tags(imputer).input_tags.three_d_array


class ImputingEncoder:
    """A network's encoder with an imputer before it.

    Values of gaps come from the imputer. With `indicator`, all other inputs (indicators, times
    since the last observation, summaries) still show the gaps; without it, nothing does.

    Parameters
    ----------
    encoder : the unfitted encoder of an estimator, for tables or for series
    imputer : unfitted; static columns of series get a copy of it, or their mean if it is for series
    indicator : whether gaps are shown
    """

    def __init__(self, encoder: Any, imputer: Any, indicator: bool) -> None:
        self.encoder = encoder
        self.imputer = imputer
        self.indicator = indicator

    def __getattr__(self, name: str) -> Any:
        """Names and numbers of inputs are those of the encoder."""
        if name.startswith("__") or "encoder" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.encoder, name)

    def fit(self, data: Columns | Panel) -> Self:
        """Learn to encode, and to fill, from training rows (or series)."""
        self.encoder.fit(data)
        self.static_filler: Filler | None = None
        if not isinstance(data, Panel):
            self.filler = Filler(self.encoder, self.imputer).fit(data)
            return self
        self.filler = Filler(self.encoder.steps, self.imputer).fit(data.steps, data.lengths)
        if data.statics is not None:
            imputer = ColumnMeans() if fills_series(self.imputer) else clone(self.imputer)
            self.static_filler = Filler(self.encoder.statics, imputer).fit(data.statics)
        return self

    def transform(self, data: Columns | Panel) -> Table:
        """Encode rows (or steps) with their gaps filled."""
        gappy = self.encoder.transform(data)
        full = self.encoder.transform(self.filled(data))
        if self.indicator:
            others = slice(self.encoder.n_entries, None)
            full.values[:, others] = gappy.values[:, others]
            return replace(full, summaries=gappy.summaries)
        return full

    def filled(self, data: Columns | Panel) -> Columns | Panel:
        """The same rows (or series) without gaps."""
        if not isinstance(data, Panel):
            return self.filler.fill(data)
        statics = data.statics
        if self.static_filler is not None and statics is not None:
            statics = self.static_filler.fill(statics)
        return replace(data, steps=self.filler.fill(data.steps, data.lengths), statics=statics)


def _has_probabilities(self: Any) -> bool:
    return hasattr(self._network(), "predict_proba")


class ImputeThenPredict(BaseEstimator):
    """One of GIL's estimators with an imputer in it: its networks see values where gaps were.

    Everything else stays as in the estimator: network, encoding (learned from the rows with their
    gaps), budget, folds, validation rows. So a comparison with that estimator differs in the
    values in gaps, and in nothing else. Its policy must be "none": nothing is missing any more.

    The imputer learns from the rows that scales are learned from: those that are not held out, or
    all rows if `held_out` is not given. It never sees a label. Categories are 0/1 columns to it.

    Tables need an imputer for tables. Series take imputers for series, and imputers for tables
    applied step by step, as in the paper (a step is a row; steps before and after do not count).
    Static columns are filled by an imputer for tables: a copy of the same one, or else the mean.

    Parameters
    ----------
    imputer : an unfitted imputer for numbers, such as those of `imputefree.lab.imputers` and
        scikit-learn; default: the mean of each column
    estimator : GILClassifier, GILRegressor, GILSequenceClassifier or GILSequenceRegressor; default
        GILClassifier()
    indicator : show the networks where gaps were; replaces the estimator's own `indicator`

    Attributes
    ----------
    estimator_ : the trained estimator; `estimator_.encoder_.filler.imputer` is the fitted imputer
    classes_ : the class labels (classifiers only)

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"dose": [1.0, None, 3.0, 4.0] * 10, "sex": ["f", "m", None, "m"] * 10})
    >>> y = ["well", "ill", "ill", "well"] * 10
    >>> network = GILClassifier(random_state=0, n_members=4, max_iter=30, batch_size=8)
    >>> ImputeThenPredict(estimator=network, indicator=True).fit(X, y).predict(X.head(4))
    array(['well', 'ill', 'ill', 'well'], dtype='<U4')
    """

    def __init__(
        self, imputer: Any = None, estimator: Any = None, *, indicator: bool = False
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
        network.encoder = partial(ImputingEncoder, imputer=imputer, indicator=bool(self.indicator))
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
        """X without gaps, as the networks see it: (rows, columns) objects or numbers.

        Rows are those of the table, or all steps of all series, one series after the other.
        """
        check_is_fitted(self, "estimator_")
        network = self.estimator_
        series = isinstance(network, SequenceEstimator)
        filled = network.encoder_.filled(read_inputs(network, X))
        return np.column_stack((filled.steps if series else filled).arrays)

    def __getattr__(self, name: str) -> Any:
        """Fitted attributes are those of the estimator: classes_, n_features_in_, n_iter_, …"""
        if name.endswith("_") and not name.startswith("_") and "estimator_" in self.__dict__:
            return getattr(self.estimator_, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def _network(self) -> Any:
        return GILClassifier() if self.estimator is None else self.estimator

    def _checked(self) -> tuple[Any, Any]:
        """Unfitted copies of estimator and imputer, or an error if they do not fit together."""
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
        imputer = ColumnMeans() if self.imputer is None else self.imputer
        if not (hasattr(imputer, "fit") and hasattr(imputer, "transform")):
            raise ParameterError(
                f"imputer is {imputer!r}",
                "It must be an imputer: an estimator with fit and transform",
                "Make one, for example with imputefree.lab.imputers.make_imputer('em')",
            )
        if fills_series(imputer) and isinstance(network, TableEstimator):
            raise ParameterError(
                f"{type(imputer).__name__} fills series, and {type(network).__name__} takes tables",
                "Both must be for the same kind of data",
                "Pass an imputer for tables, or GILSequenceClassifier() as the estimator",
            )
        return clone(network), clone(imputer)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self._network())
        tags.estimator_type, tags.input_tags = inner.estimator_type, inner.input_tags
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags = inner.target_tags
        return tags
