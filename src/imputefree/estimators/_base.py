"""What the estimators share: from what came in to trained networks and back to predictions."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from .._all_or_nothing import all_or_nothing
from .._manners import private_generator, remember_columns
from .._progress import training_progress
from ..data import assign_folds
from ..errors import InputError, InterruptedWarning, ParameterError
from ..gil import Predictor, Settings, Trainer, TrainingData, make_policy, make_reward, predict_raw
from ..io import _model_file as persist
from ._examples import Examples
from ._insight import Insight
from ._parameters import Parameters
from ._resuming import checkpoint_for


class GILEstimator(Insight, Parameters):
    """Fitting, prediction and files; subclasses say what comes in and what a target is."""

    layout_: dict[str, Any]  # of series: which columns mean what
    _trainer: Trainer | None
    # What subclasses for tables and for series provide.
    _encoder_class: Any  # columns or panels -> network inputs
    _network_class: type[Predictor]

    def _new_encoder(self) -> Any:
        return self._encoder_class(
            self.categorical_features,
            self.indicator,
            self.numeric_encoding,
            owner=type(self).__name__,
        )

    def _tensors(self, inputs: Any) -> dict[str, Any]:
        """Filled values and observed mask, (n, D) each; series add their lengths."""
        table = self.encoder_.transform(inputs)
        values = torch.from_numpy(table.filled(self.placeholder_))
        return {"values": values, "observed": torch.from_numpy(table.observed)}

    # What targets.py provides.
    def _learn_target(self, target: np.ndarray, classes: Any) -> None:
        """Fix classes or scale, from the first target seen; (n,)."""
        raise NotImplementedError

    def _encode_target(self, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the network learns, float32 or int64, and strata for the folds; (n,) each."""
        raise NotImplementedError

    def _class_weights(self, target: np.ndarray) -> np.ndarray:
        """How much each label counts for its class; (n,)."""
        raise NotImplementedError

    def _fit(self, given: Examples, checkpoint: str | os.PathLike[str] | None = None) -> None:
        """Train from the start (or go on, with warm_start) until validation says stop."""
        self._start(given, going_on=self.warm_start and hasattr(self, "predictor_"))
        data, strata, given = self._training_data(given)
        train_rows, held_out = self._split(strata, given.groups, given.held_out)
        trainer = self._new_trainer()
        kept = None
        if checkpoint is not None:
            kept = checkpoint_for(self, checkpoint, trainer, data, train_rows, held_out)
        with training_progress(self.verbose, self.max_iter, type(self).__name__) as report:
            trainer.run(data, train_rows, held_out, progress=report, checkpoint=kept)
        self._finish(trainer)
        self._trainer = None

    def _fit_one_epoch(self, given: Examples, classes: Any = None) -> None:
        """One epoch over the rows given, without a validation part; starts or goes on."""
        self._start(given, hasattr(self, "predictor_"), classes)
        data, _, _ = self._training_data(given)
        trainer = getattr(self, "_trainer", None) or self._new_trainer()
        trainer.settings = self._settings()
        every_row = torch.arange(data.n_rows)
        trainer.run(data, [every_row] * self.predictor_.members, epochs=1)
        self._finish(trainer)
        self._trainer = trainer  # keeps Adam's moments for the next call

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """A fit that fails leaves the estimator as it was, not half fitted."""
        policy = copy.deepcopy(self.__dict__.get("policy_"))  # it learns in place
        fitted = list(self.predictor_.parameters()) if "predictor_" in self.__dict__ else []
        weights = [weight.detach().clone() for weight in fitted]
        try:
            with all_or_nothing(self):
                yield
        except BaseException:
            with torch.no_grad():  # training that went on has changed them in place
                for weight, kept in zip(fitted, weights, strict=True):
                    weight.copy_(kept)
            if fitted:
                self._trainer = None  # Adam's moments are of the failed attempt
            if policy is not None:
                self.policy_ = policy
            raise

    def _start(self, given: Examples, going_on: bool, classes: Any = None) -> None:
        """Learn the encoding and build the networks, unless training goes on."""
        self._rng = private_generator(self.random_state)
        if going_on:  # that the columns are those of before shows when they are encoded
            _check_same_network(self.predictor_.shape, self._network())
            return
        # Classes are known beforehand, a scale is learned: from the rows to learn from alone.
        target = given.target if is_classifier(self) else given.learned_target()
        self._learn_target(target, classes)
        self._trainer = None
        self.__dict__.pop("policy_", None)  # it learned for other networks
        self.encoder_ = self._new_encoder().fit(given.learned_from())
        if all(pd.isna(array).all() for array in given.inputs.columns.arrays):
            raise InputError(
                "no column holds a single entry",
                "There must be something to learn from",
                "Check how the table was read",
            )
        remember_columns(self, given.inputs.columns)
        # What is filled in before the network sees a row; learned values it puts in itself.
        self.placeholder_ = 0.0 if self.placeholder == "learned" else float(self.placeholder)
        self.predictor_ = self._network_class(generator=self._generator(), **self._network())
        self.predictor_.to(_device(self.device))

    def _network(self) -> dict[str, Any]:
        """The shape of the networks that the parameters ask for."""
        gate_sizes = make_policy(self.policy).gate_sizes
        return {
            "members": int(self.n_members),
            "inputs": len(self.encoder_.input_names),
            "outputs": self._loss().outputs,
            "hidden": [int(size) for size in np.atleast_1d(self.hidden_layer_sizes)],
            "activation": self.activation,
            "dropout": float(self.dropout),
            "linear_path": False,
            "learned_placeholder": self.placeholder == "learned",
            "gate_sizes": None if gate_sizes is None else list(gate_sizes),
        }

    def _training_data(self, given: Examples) -> tuple[TrainingData, np.ndarray, Examples]:
        """Tensors of the rows that count, their strata, and the rows themselves."""
        own = self._class_weights(given.target)  # one a label
        if given.per_step:
            given, own = given.with_weighty_steps(own)
        else:
            given = given.reweighted(own)
        codes, strata = self._encode_target(given.target)
        weight = given.label_weights(own)
        tensors = self._tensors(given.inputs)
        blank = torch.full((len(self.encoder_.input_columns),), self.placeholder_)
        blank[self.encoder_.n_entries :] = 1.0  # an indicator says "missing"
        data = TrainingData(
            target=torch.as_tensor(codes),
            weight=None if weight is None else torch.as_tensor(weight, dtype=torch.float32),
            entries=self.encoder_.n_entries,
            columns=torch.as_tensor(self.encoder_.input_columns),
            n_columns=self.encoder_.n_columns,
            blank=blank,
            per_step=given.per_step,
            **tensors,
        )
        if given.per_step:
            strata = np.zeros(given.inputs.n_rows, dtype=int)
        return data.to(self._placed()), strata, given

    def _split(
        self, strata: np.ndarray, groups: np.ndarray | None, chosen: np.ndarray | None = None
    ) -> tuple[list[Tensor], list[Tensor] | None]:
        """Per member the rows to learn from and the rows to be judged on."""
        everything = torch.arange(len(strata))
        if chosen is not None:
            if not self.early_stopping:
                raise ParameterError(
                    "held_out is given and early_stopping is False",
                    "Held-out rows are for early stopping",
                    "Leave held_out out, or set early_stopping=True",
                )
            out = [chosen] * int(self.n_members)
        else:
            n_folds = min(round(1 / max(self.validation_fraction, 1e-9)), len(strata) // 2)
            if not self.early_stopping or n_folds < 2:
                return [everything] * int(self.n_members), None
            out = []  # per member True for the rows it holds out
            while len(out) < self.n_members:  # a new shuffle once every fold had its member
                folds = assign_folds(n_folds, self._rng, strata, groups)
                present = np.unique(folds[folds >= 0])
                if len(present) < 2:  # nothing can be held out and still be learned from
                    return [everything] * int(self.n_members), None
                out += [folds == fold for fold in present]
            if self.validation == "shared":
                out = out[:1] * self.n_members
            del out[self.n_members :]
        return [everything[torch.from_numpy(~rows)] for rows in out], [
            everything[torch.from_numpy(rows)] for rows in out
        ]

    def _settings(self) -> Settings:
        return Settings(
            learning_rate=self.learning_rate_init,
            decay_rate=self.learning_rate_decay,
            decay_steps=self.learning_rate_decay_steps,
            weight_decay=self.weight_decay,
            batch_size=self.batch_size,
            max_epochs=self.max_iter,
            patience=self.n_iter_no_change,
            tol=self.tol,
            hide=self.hide,
            averaging=self.weight_averaging,
        )

    def _new_trainer(self) -> Trainer:
        """A trainer for the networks; a policy that has learned for them goes on."""
        going_on = hasattr(self, "policy_") and vars(self).get("_policy_given") == self.policy
        return Trainer(
            self.predictor_,
            self.policy_ if going_on else make_policy(self.policy),
            make_reward(self.reward),
            self._loss(),
            self._settings(),
            self._generator(),
            self._generator(),
        )

    def _finish(self, trainer: Trainer) -> None:
        self.policy_ = trainer.policy
        self._policy_given = self.policy
        self.history_ = dict(trainer.history)
        self.n_iter_ = len(self.history_.get("loss", [])) or 1
        del self._rng
        if trainer.interrupted:
            warnings.warn(
                f"Training was interrupted after {trainer.steps} steps; the best weights so far"
                " are kept.",
                InterruptedWarning,
                stacklevel=4,
            )

    def _generator(self) -> torch.Generator:
        return torch.Generator().manual_seed(int(self._rng.integers(2**62)))

    def _placed(self) -> torch.device:
        """Where the networks are."""
        return next(self.predictor_.parameters()).device

    def _predict_members(self, inputs: Any, per_step: bool = False) -> Tensor:
        """ŷ of every member; (K, n, O) float64 on the CPU."""
        raw = predict_raw(self.predictor_, self._unlabelled(inputs, per_step))
        return self._loss().predict(raw.cpu().double())  # so that probabilities sum to 1

    def _unlabelled(self, inputs: Any, per_step: bool = False) -> TrainingData:
        unknown = torch.empty(0)  # the target
        data = TrainingData(target=unknown, per_step=per_step, **self._tensors(inputs))
        return data.to(self._placed())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file that holds no code."""
        check_is_fitted(self, "predictor_")
        persist.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model written by `save`; nothing in the file is ever executed."""
        return persist.load(path, cls)


def _check_same_network(fitted: dict[str, Any], asked: dict[str, Any]) -> None:
    different = [name for name in fitted if fitted[name] != asked[name]]
    if different:
        raise ParameterError(
            "; ".join(f"{name} is {asked[name]!r}, was {fitted[name]!r}" for name in different),
            "Training goes on with the networks it had: their shape cannot change",
            "Set the parameters back, or fit anew with warm_start=False",
        )


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)
