"""`BlendEstimator`: families of models learn from the same folds and are pooled."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from .._rules import all_or_nothing, check_rules, choice, number, or_the_word, private_generator
from ..data import Examples, draw_folds, remember_columns
from ..families import FamilyTask, Growth, Pool, TreeFamily
from ..io import load_model_file, model_content, rebuild_model, save_model_file
from ._base import GILEstimator
from ._parameters import RULES

N_FOLDS = 8
SHARES = {"trees": 0.3, "network": 1.0}  # of the time that is left when a family's turn comes
QUALITIES = {"fast": ("trees",), "balanced": ("trees", "network"), "best": ("trees", "network")}


class NetworkFamily:
    """The networks of Gradient Importance Learning as a family; `model` is the estimator."""

    def __init__(self, model: GILEstimator) -> None:
        self.model = model

    def fit(self, task: FamilyTask, checkpoint: Any = None) -> np.ndarray:
        """Train; returns out-of-fold predictions, NaN for rows that every member trained on."""
        examples = replace(task.examples, target=task.target)
        self.model._fit(examples, checkpoint, task.folds, task.deadline)
        return self.model.__dict__.pop("out_of_fold_", None)

    def predict(self, inputs: Any) -> np.ndarray:
        """Probabilities (n, classes), or scaled numbers (n, 1)."""
        values = self.model._predict_inputs(inputs)
        return values if values.ndim == 2 else values[:, None]

    def parts(self, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        """What a model file holds: arrays by name, and the rest as plain JSON types."""
        content, weights = model_content(self.model)
        arrays |= {name: weight.numpy() for name, weight in weights.items()}
        return content

    @classmethod
    def from_parts(
        cls, parts: dict[str, Any], arrays: dict[str, np.ndarray], model_class: Any
    ) -> NetworkFamily:
        """The inverse of `parts`."""
        weights = {name: torch.from_numpy(array) for name, array in arrays.items()}
        return cls(rebuild_model(model_class, parts, weights))


@dataclass(kw_only=True, eq=False, repr=False)
class BlendParameters(BaseEstimator):
    """Parameters of the four estimators."""

    families: Any = None
    quality: str = "balanced"
    time_limit: float | None = None
    categorical_features: Any = "auto"
    random_state: Any = None
    verbose: bool = False


class BlendEstimator(BlendParameters):
    """The engine of the four `ImputeFree…` estimators; `ImputeFreeClassifier` explains it.

    Other classes read inputs (`TableInputs`, `SeriesInputs`) and handle the target (`ClassTarget`,
    `NumberTarget`). Fitted: families_, weights_, pool_, validation_losses_.
    """

    network_class: type[GILEstimator]
    classes_: np.ndarray
    families_: dict[str, Any]
    pool_: Pool
    # of the inputs (`TableInputs`, `SeriesInputs`) and the target (`ClassTarget`, `NumberTarget`)
    _examples: Any
    _read: Any
    _arrange: Any
    _learn_target: Any
    _encode_target: Any
    _class_weights: Any
    _in_units: Any

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        held_out: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn from a table (or series) with gaps; arguments as for `GILClassifier.fit`."""
        deadline = None if self.time_limit is None else time.monotonic() + self.time_limit
        check_rules(self, BLEND_RULES)
        with all_or_nothing(self):
            examples = self._examples(X, y, sample_weight, groups, held_out)
            return self._fit(examples, checkpoint, deadline)

    def _fit(self, examples: Examples, checkpoint: Any, deadline: float | None) -> Self:
        target = examples.target if is_classifier(self) else examples.training_target()
        self._learn_target(target, None)
        examples = examples.reweighted(self._class_weights(examples.target))
        codes, strata = self._encode_target(examples.target)
        rng = private_generator(self.random_state)
        folds = draw_folds(N_FOLDS, rng, strata, examples.groups, examples.held_out)
        n_classes = len(self.classes_) if is_classifier(self) else 0
        seed = int(rng.integers(2**31 - 1))
        task = FamilyTask(examples, codes, n_classes, folds, seed, deadline)
        families = self._new_families(task)
        out_of_fold = []
        for name, family in families.items():
            share = task.with_seconds(SHARES[name] * task.seconds_left())
            options = {"checkpoint": checkpoint} if name == "network" else {}
            out_of_fold.append(family.fit(share, **options))
        pool = Pool(np.ones(1))
        if len(families) > 1:
            pool = Pool.learn(out_of_fold, codes, task.weight)
        self.weights_ = dict(zip(families, pool.weights.tolist(), strict=True))
        self.families_ = {name: families[name] for name, w in self.weights_.items() if w}
        self.pool_ = pool
        remember_columns(self, examples.inputs.columns)
        return self

    def _new_families(self, task: FamilyTask) -> dict[str, Any]:
        """The families to fit, in their order; without folds only networks can learn."""
        names = self.families or QUALITIES[self.quality]
        if not task.folds or task.n_classes == 1:
            names = ("network",)
        makers = {"trees": self._trees, "network": self._network}
        return {name: makers[name](task) for name in makers if name in names}

    def _trees(self, task: FamilyTask) -> TreeFamily:
        if self.quality == "fast":
            return TreeFamily(self.categorical_features, growths=(Growth(),), n_folds=3)
        return TreeFamily(self.categorical_features)

    def _network(self, task: FamilyTask) -> NetworkFamily:
        return NetworkFamily(
            self.network_class(
                categorical_features=self.categorical_features,
                n_members=N_FOLDS if self.quality != "best" else 2 * N_FOLDS,
                random_state=task.seed,
                verbose=self.verbose,
            )
        )

    def _predict_inputs(self, inputs: Any) -> np.ndarray:
        """Pooled probabilities (n, classes), or numbers in the target's units (n,)."""
        predictions = [
            self.families_[name].predict(inputs) if share else None
            for name, share in self.weights_.items()
        ]
        return self._in_units(self.pool_.apply(predictions))

    def _predict(self, X: Any, output: Callable[[np.ndarray], np.ndarray]) -> Any:
        """What `output` makes of the predictions for X, in the form of X."""
        check_is_fitted(self, "pool_")
        inputs = self._read(X)
        return self._arrange(output(self._predict_inputs(inputs)), inputs, X, False)

    # ---- files
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file that holds no code."""
        check_is_fitted(self, "pool_")
        save_model_file(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model written by `save`; nothing in the file is ever executed."""
        return load_model_file(path, cls)

    def _parts(self, weights: dict[str, Tensor]) -> dict[str, Any]:
        families = {}
        for name, family in self.families_.items():
            arrays: dict[str, np.ndarray] = {}
            families[name] = family.parts(arrays)
            weights |= {f"{name}.{key}": torch.from_numpy(a) for key, a in arrays.items()}
        return {"families": families, "sharpness": self.pool_.sharpness}

    def _restore(self, content: dict[str, Any], weights: dict[str, Tensor]) -> None:
        shares = np.array(list(self.weights_.values()), dtype=np.float64)
        if not np.isclose(shares.sum(), 1) or (shares < 0).any():
            raise ValueError("the weights of the families are not shares")
        self.pool_ = Pool(shares, float(content["sharpness"]))
        self.families_ = {}
        for name in (name for name, share in self.weights_.items() if share):
            start = f"{name}."
            arrays = {
                key.removeprefix(start): tensor.numpy()
                for key, tensor in weights.items()
                if key.startswith(start)
            }
            parts = content["families"][name]
            if name == "network":
                self.families_[name] = NetworkFamily.from_parts(parts, arrays, self.network_class)
            else:
                self.families_[name] = TreeFamily.from_parts(parts, arrays)


def _is_families(value: Any) -> bool:
    known = set(SHARES)
    return value is None or (
        isinstance(value, list | tuple) and len(value) > 0 and all(v in known for v in value)
    )


BLEND_RULES = {
    "families": (_is_families, f"None or a non-empty list of names among {', '.join(SHARES)}"),
    "quality": choice(*QUALITIES),
    "time_limit": or_the_word(None, number(0, 1e9, open_low=True)),
    "random_state": RULES["random_state"],
    "verbose": RULES["verbose"],
}
