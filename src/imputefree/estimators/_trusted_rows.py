"""Fits with trusted rows: columns that contradict the trusted rows teach little or nothing."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from ..data import NOT_A_JUDGE, Examples
from ..errors import InputError, ParameterError
from ..gil import FixedImportance, Predictor, TrainingData, TrustedPolicy


class TrustedRows:
    """Two passes: learn importance on a copy of the networks, then train with it as it is.

    Fitted: column_importance_.
    """

    policy: Any
    warm_start: bool
    encoder_: Any
    predictor_: Predictor
    column_importance_: np.ndarray
    _new_trainer: Any

    def _check_trusted(self, trusted: Any) -> None:
        """Refuse trusted rows without the policy that uses them, and networks already trained."""
        if trusted is None:
            return
        learns = isinstance(self.policy, TrustedPolicy)
        if not learns and not (isinstance(self.policy, str) and self.policy == "meta"):
            raise ParameterError(
                f"trusted rows are given, and policy is {self.policy!r}",
                "Only the policy 'meta' learns from trusted rows",
                "Set policy='meta', or weight them with sample_weight instead",
            )
        if self.warm_start:
            raise ParameterError(
                "trusted rows are given, and warm_start is True",
                "Networks that are already trained may have learned what trusted rows contradict",
                "Set warm_start=False",
            )

    def _learn_importance(
        self, data: TrainingData, examples: Examples, train_rows: Sequence[Tensor]
    ) -> FixedImportance | None:
        """The first pass. Rows that always judge do not train the networks in it."""
        if examples.judges is None:
            return None
        trusted = examples.judges != NOT_A_JUDGE
        if is_classifier(self):
            _check_classes(examples.target[trusted])
        policy = self.policy if isinstance(self.policy, TrustedPolicy) else TrustedPolicy()
        policy = copy.deepcopy(policy)
        policy.judges = torch.as_tensor(examples.judges).to(data.values.device)
        with torch.no_grad():
            self.predictor_.encoder.weight *= policy.encoder_scale
        teach = [rows if trusted.all() else rows[~trusted[rows]] for rows in train_rows]
        if not all(map(len, teach)):
            raise InputError(
                "all rows that a network would learn from are trusted",
                "Trusted rows judge what the other rows teach, so there must be enough of both",
                "Trust fewer rows, or leave trusted out",
            )
        trainer = self._new_trainer(None, policy, copy.deepcopy(self.predictor_))
        batches = math.ceil(max(map(len, teach)) / trainer.settings.batch_size)
        trainer.run(data, teach, epochs=math.ceil(policy.steps / batches))
        if trainer.interrupted:
            raise KeyboardInterrupt
        self.column_importance_ = policy.by_column()
        return policy.frozen()

    def distrusted_columns(self, below: float = 0.5) -> pd.DataFrame:
        """The columns that contradict the trusted rows, the least trusted first.

        A column is listed twice if both its values and its missingness have a low importance.

        below : the importance under which it is listed

        >>> from imputefree import GILClassifier
        >>> rng = np.random.default_rng(0)
        >>> y, trusted = rng.integers(0, 2, 300), np.arange(300) < 60
        >>> label = np.where(trusted, rng.permutation(y), y)  # a shortcut, but for trusted rows
        >>> X = pd.DataFrame({"honest": y + rng.normal(size=300), "shortcut": label})
        >>> clf = GILClassifier(policy="meta", n_members=2, random_state=0)
        >>> clf.fit(X, y, trusted=trusted).distrusted_columns().column.tolist()
        ['shortcut']
        """
        check_is_fitted(self, "predictor_")
        if not hasattr(self, "column_importance_"):
            raise ParameterError(
                "this model was trained without trusted rows",
                "Importance by column is learned from them",
                "Set policy='meta' and pass trusted= to fit",
            )
        names, parts = self.encoder_.names, ("values", "missing")
        rows = [
            (name, part, importance)
            for name, both in zip(names, self.column_importance_.tolist(), strict=True)
            for part, importance in zip(parts, both, strict=True)
            if importance < below
        ]
        frame = pd.DataFrame(rows, columns=["column", "part", "importance"])
        return frame.sort_values("importance", kind="stable", ignore_index=True)


def _check_classes(target: np.ndarray) -> None:
    n_classes = len(np.unique(target))
    if n_classes < 2:
        raise InputError(
            f"the number of classes among the trusted rows is {n_classes}",
            "They must show what distinguishes classes",
            "Trust rows of each class",
        )
