"""What the estimators share: from a table to trained networks and back to predictions."""

from __future__ import annotations

import os
import warnings
from typing import Any, Self

import numpy as np
import torch
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from . import persist
from .data import Columns, TableEncoder, assign_folds, read_columns
from .data.target import as_array, read_target, read_weights
from .errors import InputError, InterruptedWarning
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

    # Subclasses provide these two.
    def _encode_target(self, y: Any, first: bool) -> tuple[np.ndarray, np.ndarray]:
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
        check_parameters(self)
        columns = read_columns(X)
        target = read_target(y, columns.n_rows, type(self).__name__)
        weight = read_weights(sample_weight, columns.n_rows)
        groups = _read_groups(groups, columns.n_rows)
        going_on = self.warm_start and hasattr(self, "predictor_")
        self._start(columns, target, going_on)
        data, strata, kept = self._training_data(columns, target, weight)
        train_rows, held_out = self._split(strata, None if groups is None else groups[kept])
        trainer = self._trainer_for(self.predictor_)
        with training_progress(self.verbose, self.max_iter, type(self).__name__) as report:
            trainer.run(data, train_rows, held_out, progress=report)
        self._finish(trainer)
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """One epoch over the rows given, without a validation part; starts or goes on."""
        check_parameters(self)
        columns = read_columns(X)
        target = read_target(y, columns.n_rows, type(self).__name__)
        weight = read_weights(sample_weight, columns.n_rows)
        self._start(columns, target, going_on=hasattr(self, "predictor_"))
        data, _, _ = self._training_data(columns, target, weight)
        trainer = getattr(self, "_trainer", None) or self._trainer_for(self.predictor_)
        every_row = torch.arange(len(data.values))
        trainer.run(data, [every_row] * self.n_members, epochs=1)
        self._finish(trainer)
        self._trainer = trainer  # keeps Adam's moments for the next call
        return self

    def _start(self, columns: Columns, target: np.ndarray, going_on: bool) -> None:
        """Learn the encoding and build the networks, unless training goes on."""
        self._rng = np.random.default_rng(
            check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        )
        self._encode_target(target, first=not going_on)
        if going_on:  # that the columns are those of before shows when they are encoded
            return
        self._trainer = None
        self.encoder_ = TableEncoder(
            self.categorical_features,
            self.indicator,
            self.numeric_encoding,
            owner=type(self).__name__,
        ).fit(columns)
        self.n_features_in_ = len(columns.names)
        if columns.named:
            self.feature_names_in_ = np.array(columns.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        policy = make_policy(self.policy)
        self.predictor_ = Predictor(
            int(self.n_members),
            len(self.encoder_.input_names),
            self._loss().outputs,
            _sizes(self.hidden_layer_sizes),
            generator=self._generator(),
            activation=self.activation,
            dropout=self.dropout,
            linear_path=self.linear_path,
            learned_placeholder=self.placeholder == "learned",
            gate_sizes=policy.gate_sizes,
        ).to(_device(self.device))

    def _training_data(
        self, columns: Columns, target: np.ndarray, weight: np.ndarray
    ) -> tuple[TrainingData, np.ndarray, np.ndarray]:
        """Tensors of the rows that count, their strata and their row numbers."""
        codes, strata = self._encode_target(target, first=False)
        weight = weight * self._class_weights(target)
        kept = np.flatnonzero(weight)
        if not len(kept):
            raise InputError("class_weight gives every row the weight zero", "Some row must count")
        values, observed = self._inputs(columns)
        device = values.device
        rows = torch.as_tensor(kept, device=device)
        share = weight[kept] / weight[kept].mean()
        uneven = torch.as_tensor(share, dtype=torch.float32, device=device)
        blank = torch.full((values.shape[1],), self._placeholder(), device=device)
        blank[self.encoder_.n_entries :] = 1.0  # an indicator says "missing"
        data = TrainingData(
            values[rows],
            observed[rows],
            torch.as_tensor(codes[kept], device=device),
            uneven if np.ptp(share) else None,
            self.encoder_.n_entries,
            torch.as_tensor(self.encoder_.input_columns, device=device),
            blank,
        )
        return data, strata[kept], kept

    def _placeholder(self) -> float:
        """What is filled in before the network sees a row; it puts in learned values itself."""
        return 0.0 if self.placeholder == "learned" else float(self.placeholder)

    def _class_weights(self, target: np.ndarray) -> np.ndarray:
        return np.ones(len(target))

    def _split(
        self, strata: np.ndarray, groups: np.ndarray | None
    ) -> tuple[list[Tensor], list[Tensor] | None]:
        """Per member the rows to learn from and the rows to be judged on."""
        everything = torch.arange(len(strata))
        n_folds = min(round(1 / max(self.validation_fraction, 1e-9)), len(strata) // 2)
        if not self.early_stopping or n_folds < 2:
            return [everything] * self.n_members, None
        out: list[np.ndarray] = []  # per member True for the rows it holds out
        while len(out) < self.n_members:  # a new shuffle once every fold had its member
            folds = assign_folds(n_folds, self._rng, strata, groups)
            present = np.unique(folds[folds >= 0])
            if len(present) < 2:  # nothing can be held out and still be learned from
                return [everything] * self.n_members, None
            out += [folds == fold for fold in present]
        if self.validation == "shared":
            out = out[:1] * self.n_members
        del out[self.n_members :]
        return [everything[torch.from_numpy(~rows)] for rows in out], [
            everything[torch.from_numpy(rows)] for rows in out
        ]

    def _trainer_for(self, predictor: Predictor) -> Trainer:
        settings = Settings(
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
        going_on = self.warm_start and hasattr(self, "policy_")
        return Trainer(
            predictor,
            self.policy_ if going_on else make_policy(self.policy),
            make_reward(self.reward),
            self._loss(),
            settings,
            self._generator(),
            self._generator(),
        )

    def _finish(self, trainer: Trainer) -> None:
        self.policy_ = trainer.policy
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
            torch.from_numpy(table.filled(self._placeholder())).to(device),
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
            net(v.expand(net.members, -1, -1), m.expand(net.members, -1, -1))[1].double()
            for v, m in zip(values.split(rows), observed.split(rows), strict=True)
        ]
        return loss.predict(torch.cat(parts, 1)).cpu()  # double: probabilities sum to 1

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


def _sizes(hidden: Any) -> tuple[int, ...]:
    # int: PyTorch and JSON do not take NumPy's whole numbers, which parameter searches give.
    return tuple(int(size) for size in np.atleast_1d(hidden))


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
