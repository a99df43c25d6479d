"""Base of the classifiers that PyPOTS' networks make: scale, pad, train, predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from ..._estimator_tools import private_generator
from ..._rules import Rule, check_rules
from ...data import Panel, assign_folds, is_polars, numbers, read_classes, read_panel, read_target
from ...errors import InputError, InputTypeError
from ...estimators import RULES, Examples
from ..imputers._pypots_models import (
    TRAINING,
    NetworkParameters,
    Scale,
    check_longest,
    in_batches,
    make_network,
    padded,
    plain,
    seeded,
    train_network,
)
from ._one_hot import Levels, levels_of, one_hot

ANSWER = "classification_proba"
SMALLEST = 1e-7  # or one sure error would decide everything


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkClassifier(NetworkParameters, ClassifierMixin, BaseEstimator):
    """Classifies series with gaps by a network of PyPOTS.

    Columns are scaled by the observed entries of the series learned from. Series are aligned at
    their last step; what a shorter one lacks at its beginning is missing. Static columns become
    columns of the steps that never change, since these networks have no other place for them.
    Subclasses provide

    - `model` : the name of PyPOTS' class
    - `_inputs(values)` : what the network sees of values (B, T, D) with NaN for gaps
    - `_sizes()` : its settings
    - `own_rules` : rules of parameters of their own
    """

    model: ClassVar[str]
    own_rules: ClassVar[dict[str, Rule]] = {}
    fewest_steps: ClassVar[int] = 1
    ignores: ClassVar[tuple[str, ...]] = ("times",)
    _inputs = staticmethod(plain)

    learning_rate_init: float = 1e-3
    batch_size: int = 128
    max_iter: int = 100
    n_iter_no_change: int = 5
    weight_decay: float = 0.0

    def _sizes(self) -> dict[str, Any]:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, *, held_out: Any = None) -> Self:
        """Train on series with gaps.

        Parameters
        ----------
        X : a `Panel`, an (N, T, D) array without padding, or a list of (T_i, D) arrays or frames;
            NaN is missing, static categories become one column a level, times are not looked at
        y : (N,) labels of any kind
        held_out : (N,) True for series to choose the epoch by, instead of a random share
        """
        check_rules(self, {**TRAINING, "weight_decay": RULES["weight_decay"], **self.own_rules})
        panel, steps, fixed, levels = self._read(X)
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
        static_scale = None if fixed is None else Scale.of(fixed[~held])
        n_steps = max(int(counts.max()), self.fewest_steps)
        values = _values(scale(steps), counts, static_scale and static_scale(fixed), n_steps)
        labels = torch.from_numpy(codes)
        learned, judged_by = values[~held], values[held]
        known = labels[~held]

        def judge(network: nn.Module) -> float:
            return self._error(network, judged_by, codes[held])

        with seeded(seed):
            shape = {"n_steps": n_steps, "n_features": values.shape[2]}
            network = make_network(
                "classification", self.model, n_classes=len(classes), **shape, **self._sizes()
            )

            def loss(rows: Tensor) -> Tensor:
                inputs = {**self._inputs(learned[rows]), "y": known[rows]}
                return network(inputs, calc_criterion=True)["loss"]

            outcome = train_network(
                *(network, loss, judge if held.any() else None, len(learned), self, rng),
                weight_decay=self.weight_decay,
            )
        self.scale_, self.static_scale_, self.n_steps_ = scale, static_scale, n_steps
        self.static_levels_ = levels
        self.n_features_in_ = np.shape(steps)[1]
        self.classes_, self.network_, self.history_ = classes, outcome.module, outcome.history
        self.validation_error_ = outcome.error if held.any() else float("nan")
        return self

    def _error(self, network: nn.Module, values: Tensor, codes: np.ndarray) -> float:
        """Log-loss of series not learned from: unlike ranks, it tells equally good epochs apart."""
        probability = in_batches(network, self._inputs, values, self.batch_size, ANSWER).numpy()
        return float(-np.log(probability[np.arange(len(codes)), codes].clip(SMALLEST)).mean())

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class; (N, T, D) -> (N, classes)."""
        check_is_fitted(self, "network_")
        panel, steps, fixed, _ = self._read(X, self.static_levels_)
        check_longest(panel.lengths, self.n_steps_, type(self).__name__)
        if (fixed is None) != (self.static_scale_ is None):
            raise InputError(
                f"static is {'not ' if fixed is None else ''}given",
                f"It was {'not ' if fixed is not None else ''}given in training",
                "Pass static= as in training",
            )
        fixed = self.static_scale_ and self.static_scale_(fixed)
        values = _values(self.scale_(steps), panel.lengths, fixed, self.n_steps_)
        found = in_batches(self.network_, self._inputs, values, self.batch_size, ANSWER)
        probability = found.double().numpy()
        return probability / probability.sum(1, keepdims=True)  # float32 sums to 1 nearly

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class; (N, T, D) -> (N,)."""
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(1)]

    def _read(self, X: Any, levels: Levels | None = None) -> tuple[Panel, Any, Any, Levels]:
        """The series, their steps (S, D), their static columns in numbers (N, C) or None, and the
        levels of those that are categories."""
        if isinstance(X, pd.DataFrame) or is_polars(X):
            raise InputTypeError(
                f"X is a {type(X).__name__}",
                "Series come as an array (series, steps, columns) or a list of (steps, columns)",
                "Pass Panel.from_long(X, id=…)",
            )
        panel = X if isinstance(X, Panel) else read_panel(X)
        steps = _table(panel.steps)
        if panel.statics is None:
            return panel, steps, None, {}
        levels = levels_of(panel.statics) if levels is None else levels
        return panel, steps, _table(one_hot(panel.statics, levels)), levels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        return tags


def _table(columns: Any) -> Any:
    """Numbers, with their names where they have some: so a change of columns is found."""
    values = numbers(columns, "this classifier")
    return pd.DataFrame(values, columns=columns.names) if columns.named else values


def _values(steps: np.ndarray, counts: np.ndarray, static: Any, n_steps: int) -> Tensor:
    """What the network gets to see, (N, T, D + C) float32, NaN for gaps; aligned at the end."""
    values = padded(steps, np.arange(n_steps) >= n_steps - counts[:, None])
    if static is None:
        return values
    constant = torch.from_numpy(static.astype(np.float32))
    return torch.cat([values, constant[:, None].expand(-1, n_steps, -1)], 2)
