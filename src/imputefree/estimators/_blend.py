"""`BlendEstimator`: families of models learn from the same folds and are pooled."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, is_classifier
from torch import Tensor

from .._ranks import current_ranks
from .._rules import all_or_nothing, check_rules, choice, number, or_the_word, private_generator
from ..data import Examples, RowStore, draw_folds, read_numbers, refuse_empty, remember_columns
from ..families import (
    DensityFamily,
    FamilyTask,
    ForestFamily,
    LinearFamily,
    OnFactors,
    Pool,
    TreeFamily,
    fast_growths,
    usual_growths,
)
from ..gil import Donors
from ..io import model_content, rebuild_model
from ..metrics import loss, scores
from ._base import GILEstimator
from ._inputs import Engine
from ._parameters import RULES
from ._resuming import Finished, fit_identity, fit_once, remove_finished, task_digest

N_FOLDS = 8
# Of the time that is left when a family's turn comes. This is the order in which they learn, and in
# which predictions are summed.
SHARES = {
    "trees": 0.5,
    "forest": 0.2,
    "density": 0.2,
    "linear": 0.2,
    "factors": 0.4,
    "network": 1.0,
}
TIMED_ROWS = 2000  # that show how long it takes to read all of them
FOR_POOLING = 0.03  # of a time limit, for what comes after the families
USUAL = ["trees", "forest", "density", "network"]
COPIES, COPIED_ROWS = 4, 20_000  # of rows with the gaps of others, and how many rows at most
FOREST_ROWS = 10_000  # at most; more were not tried
QUALITIES = {"fast": ["trees"], "balanced": USUAL, "best": USUAL}
# Of networks on factors, which are for wide tables of many rows.
FACTOR_NETWORK = {
    "n_members": N_FOLDS,
    "numeric_encoding": "plain",
    "hidden_layer_sizes": (256, 256),
    "weight_decay": 0.3,
    "batch_size": 256,
    "n_iter_no_change": 5,
    "max_iter": 40,
}


class NetworkFamily:
    """The networks of Gradient Importance Learning as a family; `model` is the estimator."""

    def __init__(self, model: GILEstimator) -> None:
        self.model = model

    def fit(self, task: FamilyTask) -> np.ndarray:
        """Train; returns out-of-fold predictions, NaN for rows that every member trained on."""
        examples = replace(task.examples, target=task.target)
        return self.model._fit_folds(
            examples, task.checkpoint, task.folds, task.deadline, np.arange(task.n_classes)
        )

    def predict(self, inputs: Any) -> np.ndarray:
        """Probabilities (n, classes), or scaled numbers (n, 1)."""
        values = self.model._predict_inputs(inputs)
        return values if values.ndim == 2 else values[:, None]

    def parts(self, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        """What a model file holds: arrays by name, and the rest as plain JSON types."""
        content, weights = model_content(self.model)
        arrays |= {name: weight.numpy() for name, weight in weights.items()}
        return content

    def restore(self, parts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """The inverse of `parts`."""
        weights = {name: torch.from_numpy(array) for name, array in arrays.items()}
        self.model = rebuild_model(type(self.model), parts, weights)


Family = DensityFamily | TreeFamily | LinearFamily | OnFactors | NetworkFamily


@dataclass(kw_only=True, eq=False, repr=False)
class BlendParameters(BaseEstimator):
    """Parameters of the four estimators."""

    families: Any = None
    quality: str = "balanced"
    time_limit: float | None = None
    missingness: str = "use"
    categorical_features: Any = "auto"
    random_state: Any = None
    verbose: bool = False


class BlendEstimator(Engine, BlendParameters):
    """The engine of the four `ImputeFree…` estimators; `ImputeFreeClassifier` explains it.

    Other classes read inputs (`TableInputs`, `SeriesInputs`) and handle the target (`ClassTarget`,
    `NumberTarget`). Fitted: encoder_, families_, weights_, sharpness_, losses_, out_of_fold_,
    seconds_.
    """

    network_class: type[GILEstimator]
    families_: dict[str, Any]
    weights_: dict[str, float]
    sharpness_: float
    settings_: dict[str, Any]
    losses_: dict[str, float | None]
    out_of_fold_: dict[str, float | None]
    seconds_: dict[str, float]
    _fitted_by = "families_"
    _kept = ("settings_", "n_features_in_", "weights_", "losses_")

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
        deadline, begun = None, time.monotonic()
        check_rules(self, BLEND_RULES)
        if self.time_limit is not None:
            deadline = begun + (1 - FOR_POOLING) * self.time_limit
        with all_or_nothing(self):
            examples = self._examples(X, y, sample_weight, groups, held_out)
            return self._fit(examples, checkpoint, deadline)

    @property
    def partial_fit(self) -> Any:
        """Not available: an AttributeError says why."""
        raise AttributeError(
            f"{type(self).__name__} has no partial_fit: trees and the weights of the blend are"
            " learned from all rows at once. Fit again on all rows, with fit_files if they do not"
            f" fit in memory, or continue networks alone with {self.network_class.__name__}."
        )

    def _fit(self, examples: Examples, checkpoint: Any, deadline: float | None) -> Self:
        rng = private_generator(self.random_state)
        task = self._task(examples, rng, checkpoint, deadline)
        families = {name: self._new_family(name, task.seed) for name in self._names(task)}
        finished = self._fit_families(families, task, rng)
        self._pool({name: families[name] for name in finished}, finished, task)
        remember_columns(self, task.examples.inputs.columns)
        remove_finished(checkpoint, list(finished))
        return self

    def _task(
        self, examples: Examples, rng: np.random.Generator, checkpoint: Any, deadline: float | None
    ) -> FamilyTask:
        """What all families learn from; learns the target's classes or scale, and the encoding."""
        target = examples.target if is_classifier(self) else examples.training_target()
        self._learn_target(target, None)
        examples = examples.reweighted(self._class_weights(examples.target))
        encoder = self._network()._new_encoder()
        encoder.owner = type(self).__name__
        self.encoder_ = encoder.fit(examples.training_inputs())
        refuse_empty(examples.inputs)
        codes, strata = self._encode_target(examples.target)
        folds = draw_folds(N_FOLDS, rng, strata, examples.groups, examples.held_out)
        n_classes = len(self.classes_) if is_classifier(self) else 0
        seed = int(rng.integers(2**31 - 1))
        return FamilyTask(examples, codes, n_classes, folds, seed, deadline, checkpoint)

    def _fit_families(
        self, families: dict[str, Family], task: FamilyTask, rng: np.random.Generator
    ) -> dict[str, Finished]:
        """Fit one family after the other, each with its share of the time; networks come last."""
        for family in families.values():
            if isinstance(family, NetworkFamily):
                family.model._blended = len(families) > 1
        views = self._views(task.examples.inputs, list(families))
        copies: dict[str, Any] = {}
        if self.missingness == "ignore":
            task, copies = self._without_mask(task, rng, families)
        identity = {} if task.checkpoint is None else fit_identity(self, task_digest(task))
        finished: dict[str, Finished] = {}
        for name, family in families.items():
            turn = task.seeing(views[name])
            turn = turn.copied(copies[name]) if name in copies else turn
            turn = turn.with_share(SHARES[name])
            if name == "network" and finished and self._too_late(turn):
                continue
            finished[name] = fit_once(name, family, turn, identity)
        return finished

    def _pool(
        self, families: dict[str, Family], finished: dict[str, Finished], task: FamilyTask
    ) -> None:
        """Learn the weights of the families, and keep those that have one."""
        n_rows = len(task.target)  # copies come after them
        predictions = [part.out_of_fold[:n_rows] for part in finished.values()]
        pool = Pool(np.ones(1))
        if len(families) > 1:
            pool = Pool.learn(predictions, task.target, task.weight)
        self.weights_ = dict(zip(families, pool.weights.tolist(), strict=True))
        self.sharpness_ = pool.sharpness
        self.families_ = {name: families[name] for name, w in self.weights_.items() if w}
        network = self.families_.get("network")
        self.settings_ = network.model.settings_ if isinstance(network, NetworkFamily) else {}
        self.seconds_ = {name: part.seconds for name, part in finished.items()}
        self._score(task, predictions, pool)

    def _without_mask(
        self,
        task: FamilyTask,
        rng: np.random.Generator,
        families: dict[str, Any],
    ) -> tuple[FamilyTask, dict[str, Any]]:
        """Give rows the gaps of others, so that gaps carry no information about the target.

        Trees split on gaps and linear models have indicators, so they learn from copies of the rows
        with such gaps; networks draw theirs as they train; densities integrate gaps out. All are
        judged on the first copy. Returns the task, and the copies by family.
        """
        n, inputs = len(task.target), task.examples.inputs
        count = self._n_copies(n)
        whose = Donors.of(torch.as_tensor(task.target), bool(task.n_classes))
        uniform = torch.from_numpy(rng.random((count, n)))
        donors = whose.draw(torch.arange(n).expand(count, n), uniform).numpy()
        copying = (TreeFamily, LinearFamily)
        split = [name for name, family in families.items() if isinstance(family, copying)]
        copies: dict[str, Any] = {}
        if split:
            rows = inputs.rows(np.tile(np.arange(n), count))
            copied = self._views(rows.with_gaps_of(donors.ravel()), split)
            copies = {name: copied[name] for name in split}
        return replace(task, examples=replace(task.examples, donors=donors[0])), copies

    def _n_copies(self, n_rows: int) -> int:
        """How many copies of this many rows trees and linear models learn from."""
        if self.missingness == "use":
            return 1
        return int(np.clip(COPIED_ROWS // n_rows, 1, COPIES))

    def _too_late(self, task: FamilyTask) -> bool:
        """Whether networks could hardly read the rows in the time that is left."""
        if task.deadline is None:
            return False
        inputs, begun = task.examples.inputs, time.monotonic()
        few = np.arange(min(inputs.n_rows, TIMED_ROWS))
        self.encoder_.parts(inputs.rows(few))[:]  # what networks keep of them
        seconds = (time.monotonic() - begun) * inputs.n_rows / len(few)
        return current_ranks().total(2 * seconds > task.seconds_left()) > 0

    def _score(self, task: FamilyTask, predictions: list[np.ndarray], pool: Pool) -> None:
        """Losses of the families, and scores of the pool, on rows they did not learn from."""
        known = ~np.isnan(np.stack(predictions)).any((0, 2))
        if task.n_classes:
            kind, truth = "classification", task.target
        else:
            kind, truth = "regression", read_numbers(task.examples.target)

        def scored(score: Any, prediction: np.ndarray) -> Any:
            return score(kind, truth[known], self._in_units(prediction[known]))

        self.losses_, self.out_of_fold_ = dict.fromkeys(self.weights_), {}
        if known.any():
            losses = (scored(loss, part) for part in predictions)
            self.losses_ = dict(zip(self.weights_, losses, strict=True))
            self.out_of_fold_ = scored(scores, pool.apply(predictions))

    def _names(self, task: FamilyTask) -> list[str]:
        """The families to fit, in their order; only networks can learn from fewer than two rows."""
        if task.n_classes == 1 or min((len(train) for train, _ in task.folds), default=0) < 2:
            return ["network"]
        names = self.families or QUALITIES[self.quality]
        if self.families is None:  # where they do not help, see docs/decisions.md
            idle = {"forest"} if len(task.target) > FOREST_ROWS else set()
            idle |= set() if task.n_classes else {"forest", "density"}
            names = [name for name in names if name not in idle]
        return [name for name in SHARES if name in names]

    def _views(self, inputs: Any, families: Sequence[str]) -> dict[str, Any]:
        """What each of these families reads of the inputs: all of a table."""
        if isinstance(inputs, RowStore):
            in_memory = [name for name in families if name in ("linear", "factors")]
            views = dict.fromkeys(families, inputs)
            return views | (dict.fromkeys(in_memory, inputs.whole()) if in_memory else {})
        return dict.fromkeys(families, self.encoder_.coded(inputs))

    def _new_family(self, name: str, seed: int | None = None) -> Family:
        """An unfitted family, as the parameters ask for."""
        categories = self._table_categories()
        if name == "trees":
            return TreeFamily(categories, self._growths(), 3 if self.quality == "fast" else 5)
        if name == "forest":
            return ForestFamily(categories)
        if name == "density":
            return DensityFamily(categories)
        if name == "linear":
            return LinearFamily(categories)
        network = NetworkFamily(self._network(seed))
        if name == "factors":
            network.model.set_params(categorical_features="auto", **FACTOR_NETWORK)
            return OnFactors(network, categories)
        return network

    def _table_categories(self) -> Any:
        """Which columns are categories, of those that all families but networks read."""
        return self.categorical_features

    def _growths(self) -> Any:
        """Which kinds of trees to grow; see `TreeFamily`."""
        return fast_growths if self.quality == "fast" else usual_growths

    def _network(self, seed: int | None = None) -> GILEstimator:
        """The networks, unfitted."""
        return self.network_class(
            categorical_features=self.categorical_features,
            n_members="auto" if self.quality != "best" else 2 * N_FOLDS,
            missingness=self.missingness,
            random_state=seed,
            verbose=self.verbose,
        )

    def _predict_inputs(self, inputs: Any) -> np.ndarray:
        """Pooled probabilities (n, classes), or numbers in the target's units (n,)."""
        views = self._views(inputs, list(self.families_))
        predictions = [
            self.families_[name].predict(views[name]) if share else None
            for name, share in self.weights_.items()
        ]
        pool = Pool(np.array([*self.weights_.values()]), self.sharpness_)
        return self._in_units(pool.apply(predictions))

    # ---- files
    def _parts(self, weights: dict[str, Tensor]) -> dict[str, Any]:
        families = {}
        for name, family in self.families_.items():
            arrays: dict[str, np.ndarray] = {}
            families[name] = family.parts(arrays)
            weights |= {f"{name}.{key}": torch.from_numpy(a) for key, a in arrays.items()}
        return {
            "encoder": self.encoder_.state(),
            "families": families,
            "sharpness": self.sharpness_,
        }

    def _restore(self, content: dict[str, Any], weights: dict[str, Tensor]) -> None:
        names = sorted(self.weights_, key=list(SHARES).index)
        self.weights_ = {name: self.weights_[name] for name in names}
        shares = np.array([*self.weights_.values()], dtype=np.float64)
        if not np.isclose(shares.sum(), 1) or (shares < 0).any():
            raise ValueError("the weights of the families are not shares")
        self.encoder_ = self.network_class.encoder_class.from_state(content["encoder"])
        self.sharpness_ = float(content["sharpness"])
        self.families_ = {name: self._new_family(name) for name, w in self.weights_.items() if w}
        for name, family in self.families_.items():
            start = f"{name}."
            arrays = {
                key.removeprefix(start): tensor.numpy()
                for key, tensor in weights.items()
                if key.startswith(start)
            }
            family.restore(content["families"][name], arrays)
            n_classes = len(self.classes_) if is_classifier(self) else 0
            if getattr(family, "n_classes", n_classes) != n_classes:
                raise ValueError("a family has other classes than the blend")


def _is_families(value: Any) -> bool:
    known = set(SHARES)
    return value is None or (
        isinstance(value, list | tuple) and len(value) > 0 and all(v in known for v in value)
    )


BLEND_RULES = {
    "families": (_is_families, f"None or a non-empty list of names among {', '.join(SHARES)}"),
    "quality": choice(*QUALITIES),
    "time_limit": or_the_word(None, number(0, 1e9, open_low=True)),
    "missingness": RULES["missingness"],
    "random_state": RULES["random_state"],
    "verbose": RULES["verbose"],
}
