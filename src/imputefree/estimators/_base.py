"""`GILEstimator`: how networks are trained, the same for tables and for series."""

from __future__ import annotations

import copy
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import is_classifier
from torch import Tensor

from .._progress import training_progress
from .._ranks import current_ranks
from .._rules import all_or_nothing, private_generator
from ..data import Examples, Fold, draw_folds, refuse_empty, remember_columns
from ..errors import InterruptedWarning, ParameterError
from ..families import FamilyTask, column_relevance
from ..gil import (
    Donors,
    HeldOut,
    Policy,
    Predictor,
    Settings,
    Trainer,
    TrainingData,
    make_policy,
    make_reward,
)
from ..io import pack_network, unpack_network
from ._network_prediction import NetworkPrediction
from ._parameters import Parameters, resolve
from ._resuming import training_checkpoint

FEWEST_ROWS = 50  # with fewer, trees cannot estimate the relevance of columns


class GILEstimator(NetworkPrediction, Parameters):
    """Base class of the four estimators.

    Other classes read inputs (`TableInputs`, `SeriesInputs`) and handle the target (`ClassTarget`,
    `NumberTarget`). Fitted: encoder_, settings_, predictor_, policy_, placeholder_,
    history_, n_iter_, n_features_in_, feature_names_in_.
    """

    encoder_class: Any  # columns or panels -> network inputs
    network_class: type[Predictor]
    settings_: dict[str, Any]
    _trainer: Trainer | None
    _blended = False  # whether other families learn beside the networks

    def _fit(self, examples: Examples, checkpoint: str | os.PathLike[str] | None) -> Self:
        """Train from scratch (or continue, with warm_start) until early stopping."""
        self._train(examples, checkpoint)
        return self

    def _fit_folds(
        self,
        examples: Examples,
        checkpoint: str | os.PathLike[str] | None,
        folds: Sequence[Fold],
        deadline: float | None,
        classes: np.ndarray,
    ) -> np.ndarray:
        """Train members on these folds in turn, to end at about `deadline`.

        classes : all that a prediction is about, of which rows that count may lack some

        Returns predictions for the rows that some member did not train on, NaN for others; (n, O).
        """
        data, held_out = self._train(examples, checkpoint, folds, deadline, classes)
        if held_out is None:  # too few rows to hold any out
            return np.full((data.n_rows, 1), np.nan)
        return HeldOut(self._loss(), data, held_out).predictions(self.predictor_).numpy()

    def _train(
        self,
        examples: Examples,
        checkpoint: str | os.PathLike[str] | None,
        folds: Sequence[Fold] = (),
        deadline: float | None = None,
        classes: np.ndarray | None = None,
    ) -> tuple[TrainingData, list[Tensor] | None]:
        """Train, and return the data and the rows that each member held out."""
        continuing = self.warm_start and hasattr(self, "predictor_")
        self._start(examples, continuing, classes)
        data, strata, examples = self._training_data(examples)
        train_rows, held_out = self._split(strata, examples.groups, examples.held_out, folds)
        pace = self._pace(examples, data, train_rows, deadline)
        if pace is not None and not continuing:
            self.predictor_.paced.data *= pace
        trainer = self._new_trainer(pace, self._learn_importance(data, examples, train_rows))
        resumed = None
        if checkpoint is not None:
            resumed = training_checkpoint(checkpoint, self, trainer, data, train_rows, held_out)
        if deadline is not None and held_out is not None:
            begun = time.monotonic()
            HeldOut(self._loss(), data, held_out).predictions(self.predictor_)
            deadline -= 2 * (time.monotonic() - begun)  # it is done twice after the last step
        shown = self.verbose and current_ranks().rank == 0
        with training_progress(shown, self._value("max_iter"), type(self).__name__) as report:
            trainer.run(
                data,
                train_rows,
                held_out,
                progress=report,
                checkpoint=resumed,
                deadline=deadline,
            )
        self._finish(trainer)
        self._trainer = None
        return data, held_out

    def _fit_one_epoch(self, examples: Examples, classes: Any) -> Self:
        """One epoch over these rows, without a validation part; starts or continues."""
        self._start(examples, hasattr(self, "predictor_"), classes)
        data, _, _ = self._training_data(examples)
        trainer = getattr(self, "_trainer", None) or self._new_trainer()
        trainer.settings = self._settings()
        every_row = torch.arange(data.n_rows)
        trainer.run(data, [every_row] * self.predictor_.members, epochs=1)
        self._finish(trainer)
        self._trainer = trainer  # keeps Adam's moments for the next call
        return self

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
            with torch.no_grad():  # continued training has changed them in place
                for weight, before in zip(fitted, weights, strict=True):
                    weight.data = before  # members may have left
            if fitted:
                self.predictor_.members = len(weights[0])
                self._trainer = None  # Adam's moments are those of the failed attempt
            if policy is not None:
                self.policy_ = policy
            raise

    def _start(self, examples: Examples, continuing: bool, classes: Any = None) -> None:
        """Learn the encoding and build the networks, unless training continues."""
        self._rng = private_generator(self.random_state)
        if continuing:  # encoding checks that the columns are the same
            _check_same_network(self.predictor_.shape, self._network_shape())
            return
        # Classes are known beforehand; a scale is learned from the training rows alone.
        target = examples.known_target if is_classifier(self) else examples.training_target()
        self._learn_target(target, classes)
        self._trainer = None
        for name in ("policy_", "column_importance_"):  # learned for other networks
            self.__dict__.pop(name, None)
        encoder = self._new_encoder()
        if self.encoder is not None:
            encoder = self.encoder(encoder)
        self.encoder_ = encoder.fit(examples.training_inputs())
        refuse_empty(examples.inputs)
        remember_columns(self, examples.inputs.columns)
        self.placeholder_ = self._placeholder(examples.training_inputs())
        shape = len(self.encoder_.input_names), self._loss().outputs
        asked, rows = self.get_params(deep=False), examples.inputs.n_rows
        self.settings_ = resolve(asked, rows, *shape, blended=self._blended)
        self.predictor_ = self.network_class(generator=self._generator(), **self._network_shape())
        self.predictor_.to(_find_device(self.device))

    def _placeholder(self, inputs: Any) -> float:
        """The value that fills gaps; the network fills in learned values itself."""
        if not isinstance(self.placeholder, str):
            return float(self.placeholder)
        self.placeholder_ = 0.0
        if self.placeholder == "learned":
            return 0.0
        data = TrainingData(target=torch.empty(0), **self._tensors(inputs))
        values, _ = data.inputs(torch.arange(len(data.values)), with_observed=False)
        return 3 * max(0.0, values[:, : self.encoder_.n_entries].max().item())

    def _value(self, parameter: str) -> Any:
        """The value of a parameter, or what it became if it is "auto"."""
        value = getattr(self, parameter)
        return self.settings_[parameter] if isinstance(value, str) and value == "auto" else value

    def _new_encoder(self) -> Any:
        return self.encoder_class(
            self.categorical_features,
            self.indicator and self._uses_gaps,
            self.numeric_encoding,
            owner=type(self).__name__,
        )

    @property
    def _uses_gaps(self) -> bool:
        """Whether the networks may learn from which values are missing."""
        return self.missingness == "use"

    def _network_shape(self) -> dict[str, Any]:
        """Arguments of the networks that the parameters ask for."""
        gate_sizes = make_policy(self.policy).gate_sizes
        return {
            "members": int(self._value("n_members")),
            "inputs": len(self.encoder_.input_names),
            "outputs": self._loss().outputs,
            "hidden": [int(size) for size in np.atleast_1d(self._value("hidden_layer_sizes"))],
            "activation": self.activation,
            "dropout": float(self._value("dropout")),
            "linear_path": False,
            "learned_placeholder": self.placeholder == "learned",
            "gate_sizes": None if gate_sizes is None else list(gate_sizes),
        }

    def _training_data(self, examples: Examples) -> tuple[TrainingData, np.ndarray, Examples]:
        """Tensors of the rows that count, their strata, and the rows themselves."""
        factor = self._class_weights(examples.known_target)  # one per label
        if examples.per_step:
            examples, factor = examples.with_weighted_steps(factor)
        else:
            examples = examples.reweighted(factor)
        codes, strata = self._encode_target(examples.target)
        weight = examples.label_weights(factor)
        data = TrainingData(
            target=torch.as_tensor(codes),
            weight=None if weight is None else torch.as_tensor(weight, dtype=torch.float32),
            entries=self.encoder_.n_entries,
            columns=torch.as_tensor(self.encoder_.input_columns),
            n_columns=self.encoder_.n_columns,
            per_step=examples.per_step,
            **self._tensors(examples.inputs),
        )
        if examples.per_step:
            strata = np.zeros(examples.inputs.n_rows, dtype=int)
        data = data.to(self._device())
        if not self._uses_gaps:
            data, examples = self._without_mask(data, examples)
        return data, strata, examples

    def _without_mask(
        self, data: TrainingData, examples: Examples
    ) -> tuple[TrainingData, Examples]:
        """The same rows with gaps of others, so that gaps carry no information about the target."""
        n, per_row = data.n_rows, not examples.per_step
        target = data.target if per_row else torch.zeros(n, dtype=torch.long)
        donors = Donors.of(target.to(data.values.device), is_classifier(self) or not per_row)
        if examples.donors is None:  # a blend draws them for all families
            uniform = torch.rand(n, generator=self._generator()).to(data.values.device)
            drawn = donors.draw(torch.arange(n), uniform).cpu().numpy()
            examples = replace(examples, donors=drawn)
        fixed = torch.from_numpy(examples.donors).to(data.values.device)
        return data.ignoring_gaps(donors, fixed), examples

    def _split(
        self,
        strata: np.ndarray,
        groups: np.ndarray | None,
        chosen: np.ndarray | None,
        folds: Sequence[Fold] = (),
    ) -> tuple[list[Tensor], list[Tensor] | None]:
        """Per member, the rows to learn from and the rows to validate on."""
        if chosen is not None and not self.early_stopping:
            raise ParameterError(
                "held_out is given and early_stopping is False",
                "Held-out rows are for early stopping",
                "Leave held_out out, or set early_stopping=True",
            )
        n_members, every_row = int(self._value("n_members")), torch.arange(len(strata))
        n_folds = round(1 / max(self.validation_fraction, 1e-9)) if self.early_stopping else 0
        pairs = list(folds[:n_members])
        while len(pairs) < n_members:  # a new shuffle once every fold has its member
            drawn = draw_folds(n_folds, self._rng, strata, groups, chosen)
            if not drawn:  # nothing can be held out and still be learned from
                return [every_row] * n_members, None
            pairs += drawn[: n_members - len(pairs)]
        pairs = pairs[:1] * n_members if self.validation == "shared" else pairs[:n_members]
        train, held_out = zip(*pairs, strict=True)
        return [*map(torch.from_numpy, train)], [*map(torch.from_numpy, held_out)]

    def _settings(self) -> Settings:
        return Settings(
            learning_rate=self._value("learning_rate_init"),
            decay_rate=self._value("learning_rate_decay"),
            decay_steps=self._value("learning_rate_decay_steps"),
            weight_decay=self._value("weight_decay"),
            batch_size=self._value("batch_size"),
            max_epochs=self._value("max_iter"),
            patience=self.n_iter_no_change,
            tol=self.tol,
            hide=self._value("hide"),
            averaging=self.weight_averaging,
        )

    def _learn_importance(
        self, data: TrainingData, examples: Examples, train_rows: Sequence[Tensor]
    ) -> Policy | None:
        """The policy to train with, if it is learned beforehand (see `TrustedRows`)."""
        return None

    def _pace(
        self,
        examples: Examples,
        data: TrainingData,
        train_rows: Sequence[Tensor],
        deadline: float | None,
    ) -> Tensor | None:
        """Relative learning rate of each input of a table or a summary, per member; (K, 1, D).

        The root of a column's relevance, relative to that of an average column. Not with trusted
        rows: to trees that learn from all rows, a shortcut is most relevant.
        """
        classes = self._loss().classes
        nothing_to_find = examples.inputs.n_rows < FEWEST_ROWS or classes == 1
        if not self.relevance or nothing_to_find or examples.judges is not None:
            return None
        table = self._paced_table(examples)
        if table is None:
            return None
        examples, input_columns, categories = table
        target = data.target.cpu().numpy()
        task = FamilyTask(examples, target, classes, [], seed=0, deadline=deadline)
        rows = [rows.numpy() for rows in train_rows]
        shares = column_relevance(task.with_share(0.1), rows, categories)
        paces = np.sqrt(shares * shares.shape[1])[:, None, input_columns]
        return torch.from_numpy(paces).to(self._device(), torch.float32)

    def _paced_table(self, examples: Examples) -> tuple[Examples, np.ndarray, Any] | None:
        """Input of `_pace`: a table, the column of each input, and which columns are categories."""
        raise NotImplementedError

    def _new_trainer(
        self,
        pace: Tensor | None = None,
        policy: Policy | None = None,
        predictor: Predictor | None = None,
    ) -> Trainer:
        """A trainer for the networks; a policy that has learned for them continues."""
        continuing = hasattr(self, "policy_") and vars(self).get("_fitted_policy") == self.policy
        return Trainer(
            predictor or self.predictor_,
            policy or (self.policy_ if continuing else make_policy(self.policy)),
            make_reward(self.reward),
            self._loss(),
            self._settings(),
            self._generator(),
            self._generator(),
            pace,
        )

    def _finish(self, trainer: Trainer) -> None:
        self.policy_ = trainer.policy
        self._fitted_policy = self.policy
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

    _parts, _restore = pack_network, unpack_network  # of a model file


def _check_same_network(fitted: dict[str, Any], wanted: dict[str, Any]) -> None:
    different = [name for name in fitted if fitted[name] != wanted[name]]
    if different:
        raise ParameterError(
            "; ".join(f"{name} is {wanted[name]!r}, was {fitted[name]!r}" for name in different),
            "Training continues with the same networks, so their shape cannot change",
            "Set the parameters back, or fit from scratch with warm_start=False",
        )


def _find_device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)
