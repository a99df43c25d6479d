"""An exported model beside its estimator: how far they are apart, and how long each takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from ..data import Panel
from ._onnx_inputs import numbers, panel_inputs
from ._samples import draw

TOLERANCE = 1e-5
BATCH = 1000
SECONDS = 1.0  # spent on each time measured, about


def new_session(content: bytes) -> Any:
    """An onnxruntime session with as many threads as PyTorch has, that keeps its warnings."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def inputs_of(model: Any, sample: Any) -> dict[str, np.ndarray]:
    """Rows or series as the exported model takes them; padding is infinite, to show that it does
    not matter."""
    if not isinstance(sample, Panel):
        return {"X": numbers(model.encoder_, sample)}
    found = panel_inputs(sample, model.encoder_.steps, model.encoder_.statics)
    padding = np.arange(found["X"].shape[1]) >= found["lengths"][:, None]
    found["X"][padding] = np.inf
    found["times"][padding] = -np.inf
    return found


def estimated(model: Any, sample: Any) -> np.ndarray:
    """What the estimator predicts: (n, classes) or (n,), per step one row a step."""
    per_step = isinstance(sample, Panel) and bool(model.predictor_.per_step)
    members = model._predict_members(sample, per_step)
    return members.mean(0).numpy() if hasattr(model, "classes_") else model._unscaled(members)


def difference(model: Any, session: Any, sample: Any) -> float:
    """The largest difference between both: of probabilities, or of numbers in standard deviations
    of the target (of their own size where they are larger)."""
    expected = estimated(model, sample)
    inputs = inputs_of(model, sample)
    found = session.run(None, inputs)[0]
    if isinstance(sample, Panel) and model.predictor_.per_step:
        valid = np.arange(found.shape[1]) < inputs["lengths"][:, None]
        if not np.isnan(found[~valid]).all():
            return np.inf
        found = found[valid]
    if found.shape != expected.shape:
        return np.inf
    apart = np.abs(found - expected)
    if not hasattr(model, "classes_"):
        size = np.abs(expected - model.target_mean_)
        apart = apart / np.maximum(model.target_scale_, size)
    return float(np.where(np.isnan(apart), np.inf, apart).max())


def latencies(model: Any, session: Any) -> dict[str, tuple[float, float]]:
    """Seconds for one row (or series) and for 1,000, of onnxruntime and of PyTorch.

    Both get what has been read already: tensors here, columns there.
    """
    found: dict[str, list[float]] = {"onnxruntime": [], "PyTorch": []}
    for rows in (1, BATCH):
        sample = draw(model, np.random.default_rng(1), rows)
        inputs = inputs_of(model, sample)
        both: dict[str, Callable[[], Any]] = {
            "onnxruntime": partial(session.run, None, inputs),
            "PyTorch": partial(estimated, model, sample),
        }
        for name, seconds in _medians(both).items():
            found[name].append(seconds)
    return {name: (one, many) for name, (one, many) in found.items()}


def _medians(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Median seconds of each call, taking turns, so that a busy machine hits both."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    started = time.perf_counter()
    while len(times["PyTorch"]) < 5 or time.perf_counter() - started < SECONDS:
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(each[1:]) for name, each in times.items()}
