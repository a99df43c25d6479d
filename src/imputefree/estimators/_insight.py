"""What a fitted estimator shows of itself, beside its predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from .. import gil
from ..errors import ParameterError
from ..gil import Loss, Policy, Predictor, TrainingData


class Insight:
    """`features` and `importance`, for estimators of tables and of series."""

    encoder_: Any
    predictor_: Predictor
    policy_: Policy

    def features(self, X: Any) -> Any:
        """ζ, what the encoding layer makes of each row once it is trained; -> (n, K·E) float64.

        The K members' E features stand side by side. Of series they are those after the last step;
        with `per_step` those of every step, arranged as `predict` does.

        X : as for `predict`
        """
        check_is_fitted(self, "predictor_")
        inputs = self._inputs(X)
        found = gil.features(self.predictor_, self._unlabelled(inputs, self._every_step))
        return self._arranged(found.cpu().double().numpy(), inputs, X)

    def importance(self, X: Any) -> Any:
        """How far the trained policy would let each entry teach, in [0, 1]; -> (n, columns).

        The mean over members and over the inputs that encode a column, without exploration: the
        actor alone for "ddpg", 0.5 for "random", 1 for "none" and "gate". Columns are in the order
        of training; one that gives the networks no input has NaN. Of series: the columns of a
        step, then the static ones; one row per row of the frame, or a list of (steps, columns), one
        a series.

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
                "Importance is what the policy gave in training; a policy of one's own is not kept"
                " in files",
                "Ask the estimator that was trained, before it is saved",
            )
        inputs = self._inputs(X)
        data = replace(
            self._unlabelled(inputs),
            entries=self.encoder_.n_entries,
            columns=torch.as_tensor(self.encoder_.input_columns).to(self._placed()),
            n_columns=self.encoder_.n_columns,
        )
        found = gil.importance(self.predictor_, self.policy_, self._loss(), data)
        return self._by_step(found.cpu().numpy(), inputs, X)

    # What subclasses provide.
    def _inputs(self, X: Any) -> Any:
        """What came in, read: columns or a panel."""
        raise NotImplementedError

    def _unlabelled(self, inputs: Any, per_step: bool = False) -> TrainingData:
        """It, encoded as for prediction."""
        raise NotImplementedError

    def _placed(self) -> torch.device:
        raise NotImplementedError

    def _loss(self) -> Loss:
        raise NotImplementedError

    @property
    def _every_step(self) -> bool:
        """Whether every step is predicted; a table has none."""
        return False

    def _arranged(self, found: np.ndarray, inputs: Any, X: Any) -> Any:
        """One row a prediction, in the form of `predict`."""
        return found

    def _by_step(self, found: np.ndarray, inputs: Any, X: Any) -> Any:
        """One row a row of the table, or a step, in the form of `predict`."""
        return found
