"""Densities that integrate gaps out: p(observed entries | class), or E[y | observed entries]."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize, nnls
from scipy.special import log_softmax

from ..data import Columns
from ._density_inputs import DensityInputs
from ._factor_mixture import FactorMixture
from ._family import FamilyTask, softmax
from ._product_mixture import Background, Mixture
from ._stacked_densities import Stack, stacks

# Chosen on the tables of the benchmark (docs/decisions.md); the optimum is flat.
SMOOTHING = {"class": 4.0, "product": 1.0, "factors": 4.0}  # pseudo-rows, see `_learn`
ENTRIES = 10  # observed ones of a column per parameter that a component has for it
MOST_COMPONENTS = 60
FACTORS, MOST_FACTORS, JOINT_FACTORS = 5, 15, 10  # per class; of inputs and target
COLUMNS_PER_FACTOR = 50  # of a class, if the table is wide
NOISE = 0.3  # least noise of a factor analyser, see there
MOST_VALUES = 2**22  # per density: of a larger table, some rows are drawn
LEAST_ROWS = 200  # however wide the table is
TOLERANCE = {"small": 1e-3, "large": 1e-4}  # EM stops early on tables of fewer than
SMALL_ROWS = 5_000  # rows: its last steps would fit their noise
PULL = 1.0  # strength of shrinkage of the shapes' weights, in rows
SHAPES = ("product", "factors")
Density = Mixture | FactorMixture


class DensityFamily:
    """Densities of two shapes on every fold, weighted by out-of-fold rows.

    The shapes are a mixture of products of independent columns (`Mixture`) and a factor analyser
    (`FactorMixture`), each fitted to observed entries alone. For classes, let L_sc be the
    log-density of a row's observed entries under shape s in class c, averaged over folds. Then

        log p(c | row) = sum_s b_s L_sc + log p(c) + constant.

    For numbers, the density is that of inputs and target jointly, and the prediction
    sum_s b_s E_s[y | row]. The weights b_s >= 0 have the least loss on out-of-fold rows: each shape
    makes its own errors, and is overconfident alone (b_s = 1).

    categorical_features : as for `TableEncoder`
    n_folds : on how many of the folds densities are fitted

    Fitted: inputs (`DensityInputs`); models, by shape a list over folds and in them over classes
    (for numbers one per fold); weights (2,); log_prior (classes,), empty for numbers.
    """

    inputs: DensityInputs
    models: dict[str, list[Density]]
    weights: np.ndarray
    log_prior: np.ndarray

    def __init__(self, categorical_features: Any = "auto", n_folds: int = 5) -> None:
        self.categorical_features = categorical_features
        self.n_folds = n_folds

    def fit(self, task: FamilyTask) -> np.ndarray:
        """Fit densities; returns out-of-fold predictions, NaN for rows that were never held out."""
        self.inputs = DensityInputs(self.categorical_features)
        self.inputs.fit(task.examples.training_inputs().sample())
        rng = np.random.default_rng(task.seed)
        n, outputs = len(task.target), max(task.n_classes, 1)
        most = max(outputs * MOST_VALUES // max(len(self.inputs.kinds), 1), LEAST_ROWS)
        rows = np.sort(rng.permutation(n)[:most])
        table = self.inputs.transform(task.examples.inputs.rows(rows))
        judged = table
        if task.examples.donors is not None:
            judged = self.inputs.transform(task.examples.judged_inputs().rows(rows))
        target = task.target[rows]
        weight = np.ones(len(rows)) if task.weight is None else task.weight[rows]
        counts = np.bincount(target, weight, task.n_classes) if task.n_classes else np.empty(0)
        self.log_prior = np.log((counts + 1) / (counts + 1).sum())
        self.models = {shape: [] for shape in SHAPES}
        raw = np.full((len(SHAPES), len(rows), outputs), np.nan)
        for number, (train, validation) in enumerate(task.folds[: self.n_folds]):
            if number and task.is_late():
                break
            train, validation = (np.flatnonzero(np.isin(rows, r)) for r in (train, validation))
            if task.weight is not None:  # densities count rows, so these are drawn by weight
                train = rng.choice(train, len(train), p=weight[train] / weight[train].sum())
            part = [array[train] for array in (*table, target)]
            for shape in SHAPES:
                self.models[shape] += self._learn(shape, rng, task, *part)
            if len(validation):
                raw[:, validation] = self._raw(number, *(array[validation] for array in judged))
        known = ~np.isnan(raw[0, :, 0])
        learn = _class_weights if task.n_classes else _number_weights
        self.weights = learn(raw[:, known], target[known], weight[known], self.log_prior)
        result = np.full((n, outputs), np.nan)
        result[rows[known]] = self._link(raw[:, known])
        return result

    def predict(self, columns: Columns) -> np.ndarray:
        """Probabilities (n, classes), or scaled numbers (n, 1)."""
        table, outputs = self.inputs.transform(columns), len(self.log_prior)
        if outputs:
            logs = _log_densities(self._stacks, *table)  # fold by fold
            return self._link(logs.reshape(*logs.shape[:2], -1, outputs).mean(2))
        folds = range(len(self.models[SHAPES[0]]))
        return self._link(np.mean([self._raw(fold, *table) for fold in folds], axis=0))

    @cached_property
    def _stacks(self) -> list[list[Stack]]:
        """All densities by shape, as predictions use them."""
        return [list(stacks(self.models[shape])) for shape in SHAPES]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_stacks"}

    def _learn(
        self,
        shape: str,
        rng: np.random.Generator,
        task: FamilyTask,
        values: np.ndarray,
        observed: np.ndarray,
        target: np.ndarray,
    ) -> list[Density]:
        """A density per class, or one with the target as the last column.

        Components shrink towards their class, and classes towards all rows.
        """
        kinds = self._kinds(shape)
        size = "small" if len(task.target) < SMALL_ROWS else "large"
        if not task.n_classes:
            values = np.column_stack([values, target])
            observed = np.column_stack([observed, np.ones(len(target), dtype=bool)])
        everyone = Background.of(values, observed, kinds)
        models: list[Density] = []
        for code in range(max(task.n_classes, 1)):
            rows = target == code if task.n_classes else slice(None)
            x, seen, base = values[rows], observed[rows], everyone
            if task.n_classes:
                base = Background.of(x, seen, kinds, SMOOTHING["class"], everyone)
            if shape == "product":
                needed = ENTRIES * (1 + (kinds == "gaussian").mean())  # Gaussians have a variance
                count = int(np.clip(seen.sum() / seen.shape[1] / needed, 1, MOST_COMPONENTS))
                model: Density = Mixture(
                    count, kind=kinds, smoothing=SMOOTHING["product"], max_iter=30, rng=rng
                )
            else:
                base = Background(base.mean, everyone.variance)
                model = self._analyser(rng)
            model.tol = TOLERANCE[size]
            models.append(model.fit(x, seen, base, stop=task.is_late))
            model.dtype = np.dtype(np.float64)  # that of predictions
        return models

    def _kinds(self, shape: str) -> np.ndarray:
        """Kinds of the columns of a density; a target comes last."""
        kinds = self.inputs.kinds.tolist() + ["gaussian"] * (not len(self.log_prior))
        return np.array(kinds if shape == "product" else ["gaussian"] * len(kinds))

    def _analyser(self, rng: Any = None) -> FactorMixture:
        width = len(self._kinds("factors"))
        q = int(np.clip(width // COLUMNS_PER_FACTOR, FACTORS, MOST_FACTORS))
        q = min(q if len(self.log_prior) else JOINT_FACTORS, width)
        drawings = (self.inputs.kinds == "bernoulli").all()  # numbers of one size, and no outliers
        dtype = np.float32 if drawings else np.float64
        return FactorMixture(
            1, q, smoothing=SMOOTHING["factors"], floor=NOISE, max_iter=20, dtype=dtype, rng=rng
        )

    def _raw(self, fold: int, values: np.ndarray, observed: np.ndarray) -> np.ndarray:
        """Log-densities by class, or expected targets, of one fold's models; (shapes, n, C)."""
        outputs = max(len(self.log_prior), 1)
        models = [self.models[shape][fold * outputs : (fold + 1) * outputs] for shape in SHAPES]
        if len(self.log_prior):
            return _log_densities([list(stacks(shape)) for shape in models], values, observed)
        values = np.column_stack([values, np.zeros(len(values))])
        observed = np.column_stack([observed, np.zeros(len(values), dtype=bool)])
        return np.array([model.posterior_mean(values, observed)[:, -1:] for (model,) in models])

    def _link(self, raw: np.ndarray) -> np.ndarray:
        total = np.tensordot(self.weights, raw, 1)
        return softmax(total + self.log_prior) if len(self.log_prior) else total

    # ---- files
    def parts(self, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        """What a model file holds: arrays by name, and the rest as plain JSON types."""
        for shape, models in self.models.items():
            sizes = np.array([len(model.weights_) for model in models], dtype=np.int32)
            arrays[f"{shape}.sizes"] = sizes
            arrays[f"{shape}.center"] = np.stack([model.center_ for model in models])
            for name in models[0].parameters():
                joined = [model.parameters()[name] for model in models]
                arrays[f"{shape}.{name}"] = np.concatenate(joined)
        shares = {"weights": self.weights.tolist(), "log_prior": self.log_prior.tolist()}
        return shares | self.inputs.parts(arrays)

    def restore(self, parts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """The inverse of `parts`; a ValueError if they do not fit together."""
        self.inputs = DensityInputs()
        self.inputs.restore(parts, arrays)
        shares = (np.array(parts[name], dtype=np.float64) for name in ("weights", "log_prior"))
        self.weights, self.log_prior = shares
        if self.weights.shape != (len(SHAPES),) or self.log_prior.ndim != 1:
            raise ValueError("the weights do not belong to the densities")
        if not (np.isfinite(self.weights).all() and np.isfinite(self.log_prior).all()):
            raise ValueError("a weight is not a number")
        self.models = {shape: list(self._restored(shape, arrays)) for shape in SHAPES}
        counts = {len(models) for models in self.models.values()}
        if len(counts) != 1 or 0 in counts or max(counts) % max(len(self.log_prior), 1):
            raise ValueError("the densities do not belong to the classes")

    def _restored(self, shape: str, arrays: dict[str, np.ndarray]) -> Iterator[Density]:
        """The densities of one shape."""
        prefix = f"{shape}."
        stored = {
            name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)
        }
        kinds, sizes, center = self._kinds(shape), stored.pop("sizes"), stored.pop("center")
        if sizes.ndim != 1 or (sizes < 1).any() or center.shape != (len(sizes), len(kinds)):
            raise ValueError("the densities do not belong to the columns")
        if any(len(array) != sizes.sum(dtype=np.int64) for array in stored.values()):
            raise ValueError("the densities do not add up to their components")
        for number, end in enumerate(np.cumsum(sizes)):
            at = slice(end - sizes[number], end)
            model = (
                Mixture(kind=kinds, dtype=np.float64) if shape == "product" else self._analyser()
            )
            yield model.restore(center[number], {name: array[at] for name, array in stored.items()})


def _log_densities(
    by_shape: list[list[Stack]], values: np.ndarray, observed: np.ndarray
) -> np.ndarray:
    """Log-densities of rows under all models of each shape; (n, d) -> (shapes, n, models)."""
    logs = [[stack.log_likelihoods(values, observed) for stack in shape] for shape in by_shape]
    return np.stack([np.concatenate(shape, axis=1) for shape in logs])


def _class_weights(
    raw: np.ndarray, target: np.ndarray, weight: np.ndarray, log_prior: np.ndarray
) -> np.ndarray:
    """Weights of shapes with the least log-loss; raw (S, n, C) log-densities -> (S,).

    Shrinkage acts on their logarithms, towards 0.14, because entries of a row are dependent.
    """
    raw = raw - raw.max(2, keepdims=True)
    row, n, usual = np.arange(len(target)), max(len(target), 1), -2.0

    def loss(logs: np.ndarray) -> tuple[float, np.ndarray]:
        shares = np.exp(logs)
        log_p = log_softmax(np.tensordot(shares, raw, 1) + log_prior, axis=1)
        excess = (np.exp(log_p) * raw).sum(2) - raw[:, row, target]  # (S, n)
        value = -(weight * log_p[row, target]).sum() + PULL * ((logs - usual) ** 2).sum()
        slope = shares * (excess * weight).sum(1) + 2 * PULL * (logs - usual)
        return value / n, slope / n

    bounds = [(-9.0, 1.0)] * len(raw)
    start = np.full(len(raw), usual)
    return np.exp(minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x)


def _number_weights(
    raw: np.ndarray, target: np.ndarray, weight: np.ndarray, log_prior: np.ndarray
) -> np.ndarray:
    """Weights >= 0 of shapes with the least squared error, shrunk towards equal ones; (S, n, 1)."""
    count = len(raw)
    root, pull = np.sqrt(weight), np.sqrt(PULL)
    rows = np.vstack([(raw[:, :, 0] * root).T, pull * np.eye(count)])
    return nnls(rows, np.concatenate([target * root, np.full(count, pull / count)]))[0]
