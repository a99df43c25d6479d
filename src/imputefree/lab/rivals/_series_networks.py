"""Deep classifiers for series with gaps, from PyPOTS: GRU-D, BRITS and SAITS, end to end.

The rivals of GILSequenceClassifier: networks that take gaps as they are, trained to classify.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from ..._rules import Rule, number, private_generator
from ...data import Columns, Examples, Panel, assign_folds, read_classes, read_target
from ...errors import InputError
from ...metrics import SMALLEST
from ..imputers._imputer import named_numbers, read_series, series_tags
from ..imputers._pypots_models import (
    AttentionNetwork,
    PyPOTSNetwork,
    Scale,
    check_longest,
    last_seen,
    padded,
    two_ways,
)

Categories = dict[str, list[str]]  # of each categorical column, sorted


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkClassifier(PyPOTSNetwork, ClassifierMixin, BaseEstimator):
    """Classifies series with gaps by a network of PyPOTS.

    Columns are scaled by the observed entries of the training series. Series are aligned at their
    last step, and a shorter one begins with missing steps; none may be longer than the longest in
    training. Static columns are repeated at every step, since these networks have no other place
    for them. Needs PyPOTS: pip install 'imputefree[bench]'.
    """

    task: ClassVar = "classification"
    ignores: ClassVar[tuple[str, ...]] = ("times",)

    learning_rate_init: float = 1e-3
    batch_size: int = 128
    max_iter: int = 100
    n_iter_no_change: int = 5
    weight_decay: float = 0.0

    def fit(self, X: Any, y: Any, *, held_out: Any = None) -> Self:
        """Train on series with gaps.

        Parameters
        ----------
        X : a `Panel`, an (N, T, D) array without padding, or a list of (T_i, D) arrays or frames;
            NaN is missing, static categories become one column per category, times are ignored
        y : (N,) labels of any kind
        held_out : (N,) True for series to choose the epoch by, instead of a random share
        """
        self._check()
        panel, steps, static, categories = self._read(X)
        counts = panel.lengths
        target = read_target(y, panel.n_rows, type(self).__name__)
        classes = read_classes(target)
        codes = np.searchsorted(classes, target)
        rng = private_generator(self.random_state)
        seed = int(rng.integers(2**62))
        held = Examples.read(panel, target, None, None, held_out).held_out
        if held is None:
            held = assign_folds(round(1 / self.validation_fraction), rng, codes) == 0
        scale = Scale.of(steps[np.repeat(~held, counts)])
        static_scale = None if static is None else Scale.of(static[~held])
        n_steps = max(int(counts.max()), self.fewest_steps)
        values = _values(scale(steps), counts, static_scale and static_scale(static), n_steps)
        train, validation = values[~held], values[held]
        train_codes = torch.from_numpy(codes)[~held]

        def judge(network: nn.Module) -> float:
            """Log-loss: unlike ranks, it distinguishes equally good epochs."""
            right = self._probabilities(network, validation).numpy()
            right = right[np.arange(len(right)), codes[held]]
            return float(-np.log(right.clip(SMALLEST)).mean())

        def inputs(rows: Tensor) -> dict[str, Any]:
            return {**self._inputs(train[rows]), "y": train_codes[rows]}

        options: dict[str, Any] = {"weight_decay": self.weight_decay, "n_classes": len(classes)}
        self._train(train, inputs, judge if held.any() else None, seed, rng, **options)
        self.scale_, self.static_scale_, self.n_steps_ = scale, static_scale, n_steps
        self.static_categories_ = categories
        self.n_features_in_ = np.shape(steps)[1]
        self.classes_ = classes
        return self

    def _probabilities(self, network: nn.Module, values: Tensor) -> Tensor:
        return self._outputs(network, values, "classification_proba")

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class; (N, T, D) -> (N, classes)."""
        check_is_fitted(self, "network_")
        panel, steps, static, _ = self._read(X, self.static_categories_)
        check_longest(panel.lengths, self.n_steps_, type(self).__name__)
        if (static is None) != (self.static_scale_ is None):
            raise InputError(
                f"the series have {'no' if static is None else 'some'} static columns",
                f"In training they had {'none' if static is not None else 'some'}",
                "Pass static= as in training",
            )
        static = self.static_scale_ and self.static_scale_(static)
        values = _values(self.scale_(steps), panel.lengths, static, self.n_steps_)
        probability = self._probabilities(self.network_, values).double().numpy()
        return probability / probability.sum(1, keepdims=True)  # float32 sums only nearly to 1

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class; (N, T, D) -> (N,)."""
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(1)]

    def _read(
        self, X: Any, categories: Categories | None = None
    ) -> tuple[Panel, Any, Any, Categories]:
        """The series, their steps (S, D), their static columns as numbers (N, C) or None, and the
        categories of the static columns."""
        panel = X if isinstance(X, Panel) else read_series(X)
        steps = named_numbers(panel.steps, "this classifier")
        if panel.statics is None:
            return panel, steps, None, {}
        if categories is None:
            categories = {
                name: sorted(set(array[~pd.isna(array)]))
                for name, array in zip(panel.statics.names, panel.statics.arrays, strict=True)
                if array.dtype == object
            }
        static = named_numbers(one_hot(panel.statics, categories), "this classifier")
        return panel, steps, static, categories

    def __sklearn_tags__(self) -> Any:
        return series_tags(super().__sklearn_tags__())


def one_hot(columns: Columns, categories: Categories) -> Columns:
    """The same table as numbers; a gap or an unknown category is a gap in all its columns.

    >>> from imputefree.data import read_columns
    >>> ward = read_columns(pd.DataFrame({"ward": ["B", None, "C"]}))
    >>> encoded = one_hot(ward, {"ward": ["A", "B"]})
    >>> encoded.names, encoded.arrays
    (['ward=A', 'ward=B'], [array([ 0., nan, nan]), array([ 1., nan, nan])])
    """
    encoded = {}
    for name, array in zip(columns.names, columns.arrays, strict=True):
        if name in categories:
            known = np.isin(array.astype(str), categories[name]) & ~pd.isna(array)
            for category in categories[name]:
                encoded[f"{name}={category}"] = np.where(known, array == category, np.nan)
        else:
            encoded[name] = array
    names, arrays = list(encoded), list(encoded.values())
    return replace(columns, names=names, arrays=arrays, declared=[False] * len(names))


def _values(steps: np.ndarray, counts: np.ndarray, static: Any, n_steps: int) -> Tensor:
    """What the network sees, (N, T, D + C) float32, NaN for gaps; aligned at the last step."""
    values = padded(steps, np.arange(n_steps) >= n_steps - counts[:, None])
    if static is None:
        return values
    constant = torch.from_numpy(static.astype(np.float32))
    return torch.cat([values, constant[:, None].expand(-1, n_steps, -1)], 2)


@dataclass(kw_only=True, eq=False, repr=False)
class GRUDClassifier(NetworkClassifier):
    """GRU-D (Che et al., Scientific Reports 2018), from PyPOTS: a recurrent network with decay.

    A gap holds the last value of its column, which decays towards the training mean with the time
    since; so does the hidden state. The mask is an input too. The state after the last step gives
    the prediction. See `NetworkClassifier` for lengths and static columns.

    Parameters
    ----------
    weight_decay : weight of Adam's L2 penalty
    n_iter_no_change : epochs without a better log-loss on the held-out series before training
        stops; the best weights are kept
    validation_fraction : share of series held out to choose the epoch by, unless `fit` gets them
    others : see BRITSImputer

    Fitted: classes_, validation_error_ (log-loss on the held-out series), history_ (lists of one
    figure per epoch), network_, n_steps_ (of the longest training series).

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 5, 2))
    >>> y = np.where(X[:, -1, 0] > 0, "up", "down")
    >>> X[:, 0, 1] = np.nan
    >>> clf = GRUDClassifier(
    ...     hidden_size=8, learning_rate_init=0.02, batch_size=16, max_iter=20, random_state=0
    ... )
    >>> clf.fit(X, y).score(X, y) > 0.9
    True
    """

    model = "GRUD"
    _inputs = staticmethod(last_seen)


@dataclass(kw_only=True, eq=False, repr=False)
class BRITSClassifier(NetworkClassifier):
    """BRITS (Cao et al., NeurIPS 2018), from PyPOTS: imputes and classifies with one network.

    The two recurrent networks of BRITSImputer, and a classifier on the last state of each, whose
    probabilities are averaged. The loss is their cross-entropy plus `reconstruction_weight` times
    the error of imputation. See `NetworkClassifier` for lengths and static columns.

    Parameters
    ----------
    reconstruction_weight : weight of the imputation error against the cross-entropy
    others, and attributes : see GRUDClassifier
    """

    model = "BRITS"
    rules: ClassVar[dict[str, Rule]] = {"reconstruction_weight": number(0, 1e3)}
    _inputs = staticmethod(two_ways)

    reconstruction_weight: float = 0.3
    learning_rate_init: float = 3e-3

    def _sizes(self) -> dict[str, Any]:
        return super()._sizes() | {"reconstruction_weight": self.reconstruction_weight}


@dataclass(kw_only=True, eq=False, repr=False)
class SAITSClassifier(AttentionNetwork, NetworkClassifier):
    """SAITS as a classifier, from PyPOTS: attention over steps, and one layer on its imputation.

    The network of SAITSImputer; a linear layer on its reconstruction of all entries gives the
    prediction, and the loss is the cross-entropy alone. See `NetworkClassifier` for lengths and
    static columns.

    Parameters
    ----------
    hidden_size : width of a step inside the network, a multiple of 4, the number of attention heads
    n_layers : layers of each of the two blocks
    dropout : in [0, 1)
    others, and attributes : see GRUDClassifier
    """
