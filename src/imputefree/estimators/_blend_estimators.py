"""The four `ImputeFree…` estimators: the default for data with gaps."""

from __future__ import annotations

from dataclasses import dataclass

from ._blend import BlendEstimator
from ._inputs import ClassTarget, NumberTarget, TableInputs
from ._table_estimators import GILClassifier, GILRegressor


@dataclass(kw_only=True, eq=False, repr=False)
class ImputeFreeClassifier(ClassTarget, TableInputs, BlendEstimator):
    """Classify rows of a table with gaps by a blend of models that need no imputation.

    Trees split on what is there, networks see a placeholder and an indicator, and densities
    integrate gaps out: p(observed entries | class). All learn from the same folds. Their
    out-of-fold predictions decide the weights of the blend: those of least log-loss, pulled towards
    equal ones on small tables. A family that gets no weight is dropped.

    Parameters
    ----------
    families : list of {"density", "trees", "network"} or None, default=None
        Which families to blend; None leaves it to `quality`.
    quality : {"fast", "balanced", "best"}, default="balanced"
        "fast" grows trees only, of one kind and on three folds; "best" trains more networks.
    time_limit : float or None, default=None
        Seconds that a fit may take.
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
class ImputeFreeRegressor(NumberTarget, TableInputs, BlendEstimator):
    """Predict a number for rows of a table with gaps by a blend; see `ImputeFreeClassifier`.

    The weights of the blend are those of least squared error. Densities are not in the default:
    E[y | observed entries] under a joint density did not help trees and networks.
    """

    network_class = GILRegressor
