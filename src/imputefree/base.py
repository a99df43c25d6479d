"""What the estimators share: from a table to trained networks and back to predictions."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import torch
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from . import persist
from .data import Columns, TableEncoder, assign_folds, read_columns
from .data.target import as_array, read_target, read_weights
from .errors import InputError, InterruptedWarning, ParameterError
from .gil import make_policy, make_reward
from .gil.losses import Loss
from .gil.policies import Policy
from .gil.predictors import Predictor
from .gil.train import Settings, Trainer
from .gil.validation import TrainingData
from .parameters import Parameters, check_parameters
from .progress import training_progress

CHUNK_ENTRIES = 2**23  # entries of a (K, rows, D) block at prediction: 32 MB in float32


class GILEstimator(Parameters):
    """Fitting, prediction and files; subclasses say what a target is."""

    encoder_: TableEncoder
    predictor_: Predictor
    policy_: Policy
    _trainer: Trainer | None

    # Subclasses provide these three.
    def _learn_target(self, target: np.ndarray, classes: Any) -> None:
        """Fix classes or scale, from the first target seen; (n,)."""
        raise NotImplementedError

    def _encode_target(self, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the network learns, float32 or int64, and strata for the folds; (n,) each."""
        raise NotImplementedError

    def _loss(self) -> Loss:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Train on a table with gaps.

        Parameters
        ----------
        X : (n, columns) DataFrame (pandas or polars), array or list of rows; NaN, None and pd.NA
            are missing; texts and categories are welcome
        y : (n,) targets without gaps
        sample_weight : (n,) how much each row counts; a row of weight 0 is as good as absent
        groups : (n,) rows of one group are never split between training and validation
        """
        with self._all_or_nothing():
            columns, target, weight, groups = self._read(X, y, sample_weight, groups)
            self._start(columns, target, going_on=self.warm_start and hasattr(self, "predictor_"))
            data, strata, kept = self._training_data(columns, target, weight)
            train_rows, held_out = self._split(strata, None if groups is None else groups[kept])
            trainer = self._new_trainer()
            with training_progress(self.verbose, self.max_iter, type(self).__name__) as report:
                trainer.run(data, train_rows, held_out, progress=report)
            self._finish(trainer)
            self._trainer = None
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """One epoch over the rows given, without a validation part; starts or goes on."""
        with self._all_or_nothing():
            columns, target, weight, _ = self._read(X, y, sample_weight, None)
            self._start(columns, target, hasattr(self, "predictor_"), classes)
            data, _, _ = self._training_data(columns, target, weight)
            trainer = getattr(self, "_trainer", None) or self._new_trainer()
            trainer.settings = self._settings()
            every_row = torch.arange(len(data.values))
            trainer.run(data, [every_row] * self.predictor_.members, epochs=1)
            self._finish(trainer)
            self._trainer = trainer  # keeps Adam's moments for the next call
        return self

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """A fit that fails leaves the estimator as it was, not half fitted."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _read(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> tuple[Columns, np.ndarray, np.ndarray, np.ndarray | None]:
        """Everything that came in, checked, without the rows of weight 0."""
        check_parameters(self)
        columns = read_columns(X)
        target = read_target(y, columns.n_rows, type(self).__name__)
        weight = read_weights(sample_weight, columns.n_rows)
        groups = _read_groups(groups, columns.n_rows)
        kept = np.flatnonzero(weight)
        if len(kept) < columns.n_rows:
            columns, target, weight = columns.rows(kept), target[kept], weight[kept]
            groups = None if groups is None else groups[kept]
        return columns, target, weight, groups

    def _start(
        self, columns: Columns, target: np.ndarray, going_on: bool, classes: Any = None
    ) -> None:
        """Learn the encoding and build the networks, unless training goes on."""
        self._rng = np.random.default_rng(
            check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        )
        if going_on:  # that the columns are those of before shows when they are encoded
            _check_same_network(self.predictor_.shape, self._network())
            return
        self._learn_target(target, classes)
        self._trainer = None
        self.__dict__.pop("policy_", None)  # it learned for other networks
        self.encoder_ = TableEncoder(
            self.categorical_features,
            self.indicator,
            self.numeric_encoding,
            owner=type(self).__name__,
        ).fit(columns)
        if not self.encoder_.n_entries:
            raise InputError(
                "no column holds a single entry",
                "There must be something to learn from",
                "Check how the table was read",
            )
        self.n_features_in_ = len(columns.names)
        if columns.named:
            self.feature_names_in_ = np.array(columns.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        # What is filled in before the network sees a row; learned values it puts in itself.
        self.placeholder_ = 0.0 if self.placeholder == "learned" else float(self.placeholder)
        self.predictor_ = Predictor(generator=self._generator(), **self._network())
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
            "linear_path": bool(self.linear_path),
            "learned_placeholder": self.placeholder == "learned",
            "gate_sizes": None if gate_sizes is None else list(gate_sizes),
        }

    def _training_data(
        self, columns: Columns, target: np.ndarray, weight: np.ndarray
    ) -> tuple[TrainingData, np.ndarray, np.ndarray]:
        """Tensors of the rows that count, their strata and their row numbers."""
        codes, strata = self._encode_target(target)
        weight = weight * self._class_weights(target)
        kept = np.flatnonzero(weight)
        if not len(kept):
            raise InputError("class_weight gives every row the weight zero", "Some row must count")
        values, observed = self._inputs(columns)
        device = values.device
        rows = torch.as_tensor(kept, device=device)
        share = weight[kept] / weight[kept].mean()
        uneven = torch.as_tensor(share, dtype=torch.float32, device=device)
        blank = torch.full((values.shape[1],), self.placeholder_, device=device)
        blank[self.encoder_.n_entries :] = 1.0  # an indicator says "missing"
        data = TrainingData(
            values[rows],
            observed[rows],
            torch.as_tensor(codes[kept], device=device),
            uneven if np.ptp(share) else None,
            self.encoder_.n_entries,
            torch.as_tensor(self.encoder_.input_columns, device=device),
            self.n_features_in_,
            blank,
        )
        return data, strata[kept], kept

    def _class_weights(self, target: np.ndarray) -> np.ndarray:
        return np.ones(len(target))

    def _split(
        self, strata: np.ndarray, groups: np.ndarray | None
    ) -> tuple[list[Tensor], list[Tensor] | None]:
        """Per member the rows to learn from and the rows to be judged on."""
        everything = torch.arange(len(strata))
        n_folds = min(round(1 / max(self.validation_fraction, 1e-9)), len(strata) // 2)
        if not self.early_stopping or n_folds < 2:
            return [everything] * int(self.n_members), None
        out: list[np.ndarray] = []  # per member True for the rows it holds out
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
        going_on = hasattr(self, "policy_") and self._policy_given == self.policy
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
                stacklevel=3,
            )

    def _generator(self) -> torch.Generator:
        return torch.Generator().manual_seed(int(self._rng.integers(2**62)))

    def _inputs(self, columns: Columns) -> tuple[Tensor, Tensor]:
        """Filled values and observed mask on the networks' device; (n, D) each."""
        table = self.encoder_.transform(columns)
        device = self.predictor_.encoder.weight.device
        return (
            torch.from_numpy(table.filled(self.placeholder_)).to(device),
            torch.from_numpy(table.observed).to(device),
        )

    @torch.no_grad()
    def _predict_members(self, X: Any) -> Tensor:
        """ŷ of every member; (K, n, O) float64 on the CPU, computed in bounded chunks of rows."""
        check_is_fitted(self, "predictor_")
        values, observed = self._inputs(read_columns(X))
        net, loss = self.predictor_, self._loss()
        rows = max(CHUNK_ENTRIES // (net.members * max(net.inputs, 256)), 1)
        parts = [
            net(v.expand(net.members, -1, -1), m.expand(net.members, -1, -1))[1].cpu().double()
            for v, m in zip(values.split(rows), observed.split(rows), strict=True)
        ]
        return loss.predict(torch.cat(parts, 1))  # in double, so that probabilities sum to 1

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file that holds no code (see `imputefree.persist`)."""
        check_is_fitted(self, "predictor_")
        persist.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model written by `save`; nothing in the file is ever executed."""
        return persist.load(path, cls)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


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


def _read_groups(groups: Any, n_rows: int) -> np.ndarray | None:
    if groups is None:
        return None
    array = as_array(groups, "groups")
    if array.shape != (n_rows,):
        raise InputError(
            f"groups has shape {array.shape}",
            f"It must be one label a row: ({n_rows},)",
            "Pass the column that says which rows belong together",
        )
    return array.astype(str)
