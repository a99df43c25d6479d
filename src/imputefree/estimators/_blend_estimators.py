"""The four `ImputeFree…` estimators: the default for data with gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import ParameterError
from ..families import FamilyTask, Growth
from ._base import GILEstimator
from ._blend import BlendEstimator
from ._fit_files import FilesInputs
from ._inputs import ClassTarget, NumberTarget, SeriesInputs, TableInputs
from ._parameters import SeriesParameters
from ._sequence_estimators import GILSequenceClassifier, GILSequenceRegressor
from ._table_estimators import GILClassifier, GILRegressor


@dataclass(kw_only=True, eq=False, repr=False)
class ImputeFreeClassifier(ClassTarget, TableInputs, FilesInputs, BlendEstimator):
    """Classify rows of a table with gaps by a blend of models that need no imputation.

    Trees, boosted or in a forest, learn at each split where missing values go; networks see a
    placeholder and an indicator; densities integrate gaps out: p(observed entries | class). All
    learn from the same folds. The weights of the blend minimise the log-loss of the out-of-fold
    predictions, shrunk towards equal weights on small tables. A family that gets no weight is
    dropped.

    Parameters
    ----------
    families : list of {"trees", "forest", "density", "linear", "factors", "network"} or None
        Which families to blend; None, the default, leaves it to `quality`. "linear" models are in
        the default for series only. "factors" are networks on the factors of a density of all
        columns: for hundreds of columns with many gaps, such as images.
    quality : {"fast", "balanced", "best"}, default="balanced"
        "fast" grows trees only, of one kind and on three folds; "best" trains more networks.
    time_limit : float or None, default=None
        Maximum duration of a fit in seconds.
    missingness : {"use", "ignore"}, default="use"
        Whether the model may use which values are missing; as for `GILClassifier`. With "ignore"
        trees learn from up to four copies of the rows, each with gaps of other rows, networks as
        described there, and all are weighted on rows with such gaps. Densities never use gaps.
    categorical_features : "auto" or list of names or positions, default="auto"
        As for `GILClassifier`.
    random_state : int, RandomState or None, default=None
        Same seed and number of threads, same model, bit for bit.
    verbose : bool, default=False
        Show a progress bar on a terminal.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; "balanced" makes all classes count the same.

    Attributes
    ----------
    classes_ : ndarray
        Class labels, sorted.
    weights_ : dict
        Weight of each family in the blend.
    settings_ : dict
        The networks' parameters that follow the size of the table.
    families_ : dict
        The fitted families with a weight above 0.
    losses_ : dict
        Log-loss of each family (of a regressor: root mean squared error) on rows that it did not
        learn from.
    out_of_fold_ : dict
        Scores of the blend on such rows: AUC, log-loss, calibration error and others. Slightly too
        good: weights and the length of training were chosen on the same rows.
    seconds_ : dict
        How long each family took to fit. Files do not keep it: same model, same file.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of the training data.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 2))
    >>> y = np.where(X[:, 0] > 0, "high", "low")
    >>> X[rng.random(X.shape) < 0.2] = np.nan
    >>> clf = ImputeFreeClassifier(quality="fast", random_state=0).fit(X, y)
    >>> clf.predict([[1.0, np.nan], [-1.0, 0.0]])
    array(['high', 'low'], dtype='<U4')
    """

    network_class = GILClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class ImputeFreeRegressor(NumberTarget, TableInputs, FilesInputs, BlendEstimator):
    """Predict a number for rows of a table with gaps by a blend; see `ImputeFreeClassifier`.

    The weights of the blend are those of least squared error. Forests and densities are not in the
    default: they did not improve predictions of numbers.
    """

    network_class = GILRegressor


MEMBERS = 4
USUAL = ("trees", "linear", "network")
LINEAR_ENTRIES = 1_000_000  # series (with copies) times columns, at most; more were not tried


def _summary_growths(n_columns: int) -> tuple[Growth, Growth]:
    """Larger trees, and small ones that are nearly a sum of functions of one summary each.

    They are equally good, and their mean is better than either. There are about ten summaries of
    each column, and a tree sees 20 of them, or a tenth.
    """
    share = min(max(2 / n_columns, 0.1), 1.0)
    few = Growth(
        min_data_in_leaf=20, lambda_l2=5.0, feature_fraction=share, feature_fraction_bynode=1.0
    )
    return replace(few, learning_rate=0.04), replace(few, learning_rate=0.1, num_leaves=4)


@dataclass(kw_only=True, eq=False, repr=False)
class SeriesBlend(SeriesParameters, SeriesInputs, BlendEstimator):
    """What both blends for series share: all but networks read summaries."""

    per_step = False  # trees have no steps

    def _names(self, task: FamilyTask) -> list[str]:
        for name in ("density", "factors"):
            if name in (self.families or ()):
                raise ParameterError(
                    f"families names {name!r}, and X are series",
                    "Series have some ten summaries per column, which follow from each other",
                    "Choose among 'trees', 'forest', 'linear' and 'network'",
                )
        names = super()._names(task)
        if self.families or len(names) == 1:
            return names
        rows = self._n_copies(len(task.target)) * len(task.target)
        large = rows * self.encoder_.n_columns > LINEAR_ENTRIES
        return [name for name in USUAL if not (large and name == "linear")]

    def _views(self, panel: Any, families: Sequence[str]) -> dict[str, Any]:
        """Summaries of the series for all but the networks."""
        views = {"network": panel}
        if set(families) - set(views):
            views |= dict.fromkeys(set(families) - set(views), self.encoder_.summarised(panel))
        return views

    def _known_columns(self) -> tuple[list[str] | None, Sequence[str]]:
        return self.encoder_.known_columns()

    def _table_categories(self) -> str:
        return "auto"  # categories of the steps are strings in their summaries

    def _growths(self) -> Sequence[Growth]:
        growths = _summary_growths(self.encoder_.n_columns)
        return growths[:1] if self.quality == "fast" else growths

    def _network(self, seed: int | None = None) -> GILEstimator:
        members = MEMBERS if self.quality != "best" else 2 * MEMBERS
        return super()._network(seed).set_params(n_members=members)


@dataclass(kw_only=True, eq=False, repr=False)
class ImputeFreeSequenceClassifier(ClassTarget, SeriesBlend):
    """Classify series with gaps, of any length, by a blend of models that need no imputation.

    Trees split on summaries of a series: for each column its mean, extremes, spread, first and last
    value, and how often, when first and how long ago it was observed; how observations spread over
    the steps; and the length of the series. Linear models add up what these summaries say.
    Recurrent networks read the series step by step, and the summaries as well. Families are
    weighted as in `ImputeFreeClassifier`. There is one label per series; for a label per step use
    `GILSequenceClassifier(per_step=True)`.

    Parameters
    ----------
    id, time, static, variable, value, axes
        Which columns of a frame, or axes of an array, mean what; as for `GILSequenceClassifier`.
    families, quality, time_limit, missingness, categorical_features, random_state, verbose,
    class_weight
        As for `ImputeFreeClassifier`; `categorical_features` may name static columns too.

    Attributes
    ----------
    classes_ : ndarray
        Class labels, sorted.
    layout_ : dict
        Which columns of the training data meant what; `predict` reads frames accordingly.
    weights_, families_, n_features_in_, feature_names_in_
        As for `ImputeFreeClassifier`; columns are those of a step.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> series = [rng.normal(size=(steps, 2)) for steps in rng.integers(2, 7, 120)]
    >>> y = ["up" if values[-1, 0] > 0 else "down" for values in series]
    >>> for values in series: values[0, 1] = np.nan
    >>> clf = ImputeFreeSequenceClassifier(quality="fast", random_state=0).fit(series, y)
    >>> clf.score(series, y) > 0.9
    True
    """

    network_class = GILSequenceClassifier
    score = SeriesInputs.score  # not that of scikit-learn's mixin, which expects arrays


@dataclass(kw_only=True, eq=False, repr=False)
class ImputeFreeSequenceRegressor(NumberTarget, SeriesBlend):
    """Predict a number for series with gaps by a blend; see `ImputeFreeSequenceClassifier`.

    The weights of the blend are those of least squared error.
    """

    network_class = GILSequenceRegressor
    score = SeriesInputs.score  # not that of scikit-learn's mixin, which expects arrays
