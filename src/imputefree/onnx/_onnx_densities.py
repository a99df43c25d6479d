"""Densities as ONNX operations: products with the mask, the values and their squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..families import DensityFamily, DensityInputs, FactorInputs, FactorMixture, Mixture
from ._graph import DOUBLE, FLOAT, Graph
from ._onnx_encoders import interpolated, unscaled_entries

NEVER = -1e300  # the logarithm of the weight of a component that is not there


def predict_densities(g: Graph, family: DensityFamily, x: str) -> str:
    """Raw columns (n, C) double -> probabilities (n, classes), or scaled numbers (n, 1), double."""
    values, mask = _table(g, family.inputs, x)
    classes = len(family.log_prior)
    parts = []
    for weight, (shape, models) in zip(family.weights, family.models.items(), strict=True):
        build: Any = _mixtures if shape == "product" else _analysers
        raw = build(g, models, values, mask, expected=not classes)  # (n, models)
        raw = g("Reshape", raw, np.array([0, -1, max(classes, 1)]))  # (n, folds, outputs)
        mean = g("ReduceMean", raw, np.array([1]), keepdims=0)
        parts.append(g("Mul", mean, float(weight)))
    total = g("Sum", *parts)
    return g("Softmax", g("Add", total, family.log_prior), axis=1) if classes else total


def factors(g: Graph, learned: FactorInputs, x: str) -> str:
    """What `FactorInputs.transform` returns; raw columns (n, C) double -> (n, q) double.

    Gauss-Jordan elimination turns [A b] into [I A⁻¹b], for all rows at once.
    """
    q = learned.analyser.n_factors
    table = _table(g, learned.inputs, x)
    system = g("Squeeze", _systems(g, [learned.analyser], *table), np.array([1]))
    for step, unit in enumerate(np.eye(q + 1)[:q, :, None]):
        column = g("Gather", system, np.array([step]), axis=2)  # (n, q + 1, 1)
        row = g("Gather", system, np.array([step]), axis=1)  # (n, 1, q + 1)
        row = g("Div", row, g("Gather", column, np.array([step]), axis=1))
        system = g("Sub", system, g("Mul", g("Sub", column, unit), row))
    last = g("Slice", system, np.array([0, q]), np.array([q, q + 1]), np.array([1, 2]))
    return g("Squeeze", last, np.array([2]))


def _table(g: Graph, inputs: DensityInputs, x: str) -> tuple[str, str]:
    """What `DensityInputs.transform` returns, the mask as numbers; (n, d) double each."""
    entries, seen = unscaled_entries(g, inputs.encoder, x)
    entries = interpolated(g, entries, inputs.maps())
    single = g("Cast", g("Cast", entries, to=FLOAT), to=DOUBLE)
    return g("Where", seen, single, 0.0), g("Cast", seen, to=DOUBLE)


def _mixtures(g: Graph, models: Sequence[Mixture], values: str, mask: str, expected: bool) -> str:
    """Log-densities, or expected last columns, of all models; (n, d) -> (n, models)."""
    most = max(len(model.weights_) for model in models)
    d = len(models[0].center_)
    slopes, targets = np.zeros((3, len(models), most, d)), np.zeros((len(models), most))
    logs = np.full((len(models), most), NEVER)
    for place, model in enumerate(models):
        size = len(model.weights_)
        slopes[:, place, :size] = _slopes(model)
        logs[place, :size], targets[place, :size] = np.log(model.weights_), model.means_[:, -1]
    slopes = slopes.reshape(3, -1, d)[:, :, : d - expected]  # a target is never observed
    joint = g("Add", _linear(g, values, mask, slopes), logs.ravel())
    joint = g("Reshape", joint, np.array([0, len(models), most]))
    axis = np.array([2])
    top = g("ReduceMax", joint, axis)
    share = g("Exp", g("Sub", joint, top))
    total = g("ReduceSum", share, axis)
    if not expected:
        return g("Squeeze", g("Add", top, g("Log", total)), axis)
    return g("Squeeze", g("Div", g("ReduceSum", g("Mul", share, targets), axis), total), axis)


def _slopes(model: Mixture) -> np.ndarray:
    """What values, mask and squares are multiplied by; (3, K, d)."""
    mean, variance = model.means_, model.variances_
    gaussian = np.asarray(model.kind) == "gaussian"
    switch = np.asarray(model.kind) == "bernoulli"
    share = np.where(gaussian, 0.5, mean)
    off = np.where(switch, np.log1p(-share), 0.0)
    bell = [mean / variance, _alone(mean, variance), -0.5 / variance]
    other = [np.log(share) - off, off, np.zeros_like(mean)]
    return np.where(gaussian, bell, other)


def _analysers(
    g: Graph, models: Sequence[FactorMixture], values: str, mask: str, expected: bool
) -> str:
    """The same for factor analysers of one component and q factors each.

    With A = I + L' diag(m/v) L and b = L' diag(m/v) (x - mu), q steps of elimination turn

        [ A   b  l ]          [ .   .        .       ]
        [ b'  0  0 ]   into   [ .   -b'A⁻¹b  -b'A⁻¹l ]      and the product of pivots is det A,
        [ l'  0  0 ]          [ .   .        .       ]

    for all rows and models at once; l are the loadings of the target.
    """
    q = models[0].n_factors
    system = _systems(g, models, values, mask, expected)
    volume = []
    for step in range(q):
        column = g("Gather", system, np.array([step]), axis=3)  # (n, M, size, 1)
        pivot = g("Gather", column, np.array([step]), axis=2)  # (n, M, 1, 1)
        row = g("Transpose", column, perm=[0, 1, 3, 2])
        system = g("Sub", system, g("Div", g("Mul", column, row), pivot))
        volume.append(g("Log", pivot))
    corner = g("Gather", system, np.array([q]), axis=2)
    axes = np.array([2, 3])
    if expected:
        at_zero = np.array([model.means_[0, -1] for model in models])
        moved = g("Squeeze", g("Gather", corner, np.array([q + 1]), axis=3), axes)
        return g("Sub", at_zero, moved)
    inside = g("Add", g("Gather", corner, np.array([q]), axis=3), g("Sum", *volume))
    mean, noise = (np.stack([getattr(m, name)[0] for m in models]) for name in ("means_", "noise_"))
    slopes = np.stack([mean / noise, _alone(mean, noise), -0.5 / noise])
    return g("Sub", _linear(g, values, mask, slopes), g("Mul", g("Squeeze", inside, axes), 0.5))


def _systems(
    g: Graph, models: Sequence[FactorMixture], values: str, mask: str, expected: bool = False
) -> str:
    """The matrices [A b; b' 0], with l as well for an expected target; (n, models, size, size)."""
    q, d = models[0].n_factors, len(models[0].center_) - expected
    size = q + 1 + expected
    mean, noise, loadings = (
        np.stack([getattr(model, name)[0] for model in models])
        for name in ("means_", "noise_", "loadings_")
    )
    start = np.zeros((len(models), size, size))
    start[:, range(q), range(q)] = 1.0
    if expected:
        start[:, :q, -1] = start[:, -1, :q] = loadings[:, -1]
    mean, noise, loadings = mean[:, :d], noise[:, :d], loadings[:, :d]
    scaled = loadings / noise[:, :, None]  # (models, d, q)
    on_mask, on_values = (np.zeros((d, len(models), size, size)) for _ in range(2))
    on_mask[:, :, :q, :q] = np.einsum("mjp,mjr->jmpr", loadings, scaled)
    on_mask[:, :, :q, q] = on_mask[:, :, q, :q] = -(mean[:, :, None] * scaled).swapaxes(0, 1)
    on_values[:, :, :q, q] = on_values[:, :, q, :q] = scaled.swapaxes(0, 1)
    flat = [g("MatMul", x, a.reshape(d, -1)) for x, a in ((mask, on_mask), (values, on_values))]
    system = g("Reshape", g("Sum", *flat), np.array([0, len(models), size, size]))
    return g("Add", system, start)


def _alone(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """The log-density of a Gaussian at 0."""
    return -0.5 * (mean**2 / variance + np.log(2 * np.pi * variance))


def _linear(g: Graph, values: str, mask: str, slopes: np.ndarray) -> str:
    """Values, mask and squares times slopes (3, k, d), added up; (n, d) -> (n, k)."""
    features = values, mask, g("Mul", values, values)
    products = [g("MatMul", x, slope.T) for x, slope in zip(features, slopes, strict=True)]
    return g("Sum", *products)
