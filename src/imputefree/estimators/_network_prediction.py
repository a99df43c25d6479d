"""Output of trained networks for rows or series: predictions, features, importance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from .. import gil
from .._rules import finite
from ..data import FEW_ROWS, Encoder, TableEncoder
from ..errors import ParameterError
from ..gil import CrossEntropy, Loss, Policy, Predictor, SquaredError, TrainingData, predict_raw
from ._inputs import ClassTarget, Engine


class NetworkPrediction(Engine):
    """An engine of networks: inputs are encoded and go through all members.

    `GILEstimator` trains the networks.
    """

    encoder_: Any
    predictor_: Predictor
    policy_: Policy
    placeholder_: float
    _fitted_by = "predictor_"
    _kept = ("settings_", "placeholder_", "n_features_in_", "history_", "n_iter_")

    def _tensors(self, inputs: Any) -> dict[str, Any]:
        """What networks read of each row, in parts (see `Expansion`); series add more.

        A custom encoder gives the inputs themselves, as a `Table`.
        """
        encoder = self.encoder_
        if isinstance(encoder, Encoder):
            rows = {"values": encoder.parts(inputs), "observed": None}
            return rows | {"expansion": encoder.expansion, "placeholder": self.placeholder_}
        table = encoder.transform(inputs)
        return {
            "values": torch.from_numpy(table.filled(self.placeholder_)),
            "observed": torch.from_numpy(table.observed),
            "summaries": None if table.summaries is None else torch.from_numpy(table.summaries),
            "placeholder": self.placeholder_,
        }

    def _unlabelled(self, inputs: Any, per_step: bool = False) -> TrainingData:
        unknown = torch.empty(0)  # the target
        data = TrainingData(target=unknown, per_step=per_step, **self._tensors(inputs))
        return data.to(self._device())

    def _predict_members(self, inputs: Any) -> Tensor:
        """ŷ of every member per row, series or step; (K, n, O) float64 on the CPU."""
        raw = predict_raw(self.predictor_, self._unlabelled(inputs, self._predicts_steps))
        return self._loss().predict(raw.cpu().double())  # so that probabilities sum to 1

    def _is_few(self, inputs: Any) -> bool:
        """Whether these are few rows of a table, and the networks simple: NumPy is faster then."""
        table = isinstance(self.encoder_, TableEncoder) and inputs.n_rows <= FEW_ROWS
        return table and self.predictor_.is_plain

    def _raw_of_few(self, inputs: Any) -> np.ndarray:
        codes, few = self.encoder_.codes(inputs), self.encoder_.few_rows
        if inputs.n_rows == 1 and few.fans_out and self.placeholder_ == 0:
            return self.predictor_.raw_of_lone(codes, few)
        return self.predictor_.raw_of_few(few.inputs(codes, self.placeholder_))

    @property
    def _predicts_steps(self) -> bool:
        """Whether the networks predict every step, even if `per_step` has been changed since."""
        return bool(self.predictor_.shape.get("per_step", False))

    def _predict_inputs(self, inputs: Any) -> np.ndarray:
        """The mean over members: probabilities (n, classes), or numbers in the target's units."""
        if self._is_few(inputs):
            raw = self._raw_of_few(inputs).astype(np.float64)
            return self._in_units(self._loss().predict_few(raw).mean(0))
        return self._in_units(self._predict_members(inputs).mean(0).numpy())

    def features(self, X: Any) -> Any:
        """ζ, what the trained encoding layer makes of each row; -> (n, K·E) float64.

        The E features of the K members are side by side. For series they are those after the
        last step; with `per_step` those of every step, arranged as by `predict`.

        X : as for `predict`
        """
        check_is_fitted(self, "predictor_")
        inputs = self._read(X)
        values = gil.features(self.predictor_, self._unlabelled(inputs, self._predicts_steps))
        checked = finite(values.cpu().double().numpy(), "features")
        return self._arrange(checked, inputs, X, self._predicts_steps)

    def importance(self, X: Any) -> Any:
        """How far the trained policy would let each entry teach, in [0, 1]; -> (n, columns).

        The mean over members and over the inputs that encode a column, without exploration: the
        actor alone for "ddpg", 0.5 for "random", 1 for "none" and "gate". Columns are in the order
        of training; a column that gives the networks no input has NaN. For series: the columns of
        a step, then the static ones; one row per row of the frame, or a list of (steps, columns)
        arrays, one per series.

        X : as for `predict`

        >>> from imputefree import GILClassifier
        >>> X = np.array([[1.0, np.nan], [2.0, 5.0]] * 10)
        >>> clf = GILClassifier(policy="observed", max_iter=1).fit(X, [0, 1] * 10)
        >>> clf.importance(X[:2])
        array([[1., 0.],
               [1., 1.]])
        """
        check_is_fitted(self, "predictor_")
        if not hasattr(self, "policy_"):
            raise ParameterError(
                "this model comes from a file without its policy",
                "Importance is what the policy gave in training; files do not keep a custom policy",
                "Ask the estimator that was trained, before it is saved",
            )
        inputs = self._read(X)
        data = replace(
            self._unlabelled(inputs),
            entries=self.encoder_.n_entries,
            columns=torch.as_tensor(self.encoder_.input_columns).to(self._device()),
            n_columns=self.encoder_.n_columns,
        )
        values = gil.importance(self.predictor_, self.policy_, self._loss(), data)
        return self._arrange(values.cpu().numpy(), inputs, X, by_step=True)

    def _device(self) -> torch.device:
        """Where the networks are."""
        return next(self.predictor_.parameters()).device

    def _loss(self) -> Loss:
        classes = isinstance(self, ClassTarget)
        return CrossEntropy(len(self.classes_)) if classes else SquaredError()
