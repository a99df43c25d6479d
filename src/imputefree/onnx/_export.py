"""Write a fitted estimator as an ONNX file, after comparing it with the estimator."""

from __future__ import annotations

import json
import os
import statistics
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from .._files import saving
from ..data import LONGEST, Category, Columns, Panel, PanelEncoder, Plan, TableEncoder
from ..errors import ModelFileError, require_extra
from ..estimators import predict_inputs, predicts_steps
from ._onnx_inputs import KEY, as_tensor, metadata_of, panel_inputs

TOLERANCE = 1e-5
N_ROWS, N_SERIES = 512, 64  # random rows, or series, that are compared
LONGEST_SAMPLE = 48  # maximum number of steps of a random series
BATCH = 1000
SECONDS = 1.0  # spent on each latency, roughly


@dataclass(frozen=True)
class Exported:
    """What was written: sizes in bytes, latencies in seconds (for one row and for 1,000)."""

    path: Path
    metadata: dict[str, Any]
    bytes: int
    compared: int
    difference: float
    latencies: dict[str, tuple[float, float]]


def export(
    model: Any,
    path: str | os.PathLike[str],
    timed: bool = False,
    bounds: tuple[np.ndarray, np.ndarray] | None = None,
) -> Exported:
    """Write `model` to `path`: raw columns with NaN in, predictions out.

    The file needs onnxruntime (or another runtime) and nothing of this package. Before it is moved
    into place, its predictions are compared with the estimator's on random rows with random gaps;
    if they differ by more than 1e-5, nothing is written. `timed` also measures how long both take.
    With `bounds` (see `imputefree.inspection.gap_bounds`) a table's model has a second output: the
    set of classes or the interval of each row.

    The file's metadata say what goes in and comes out, see `read_metadata`; `encode` makes the
    inputs from a frame.

    >>> import tempfile
    >>> import onnxruntime
    >>> from imputefree import GILClassifier
    >>> X = np.array([[1.0, np.nan], [2.0, 5.0]] * 10)
    >>> clf = GILClassifier(max_iter=1, n_members=1, random_state=0).fit(X, [0, 1] * 10)
    >>> path = Path(tempfile.mkdtemp()) / "model.onnx"
    >>> export(clf, path).difference < 1e-5
    True
    >>> session = onnxruntime.InferenceSession(path)
    >>> bool(np.allclose(session.run(None, {"X": X})[0], clf.predict_proba(X)))
    True
    """
    require_extra("onnx", "onnx", "onnxruntime")
    check_is_fitted(model)
    if not isinstance(getattr(model, "encoder_", None), TableEncoder | PanelEncoder):
        fact = f"{type(model).__name__} does not read gaps as the estimators of imputefree do"
        rule = "Only an ImputeFree… or GIL… estimator can be exported"
        raise ModelFileError(fact, rule, "Export one, without an imputer or another estimator")
    import onnx
    import onnxruntime

    from ._onnx_models import build

    path, metadata = Path(path), metadata_of(model, bounds is not None)
    proto = build(model, bounds).model(metadata["inputs"], {KEY: json.dumps(metadata)})
    onnx.checker.check_model(proto, full_check=True)
    content = proto.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3  # no warnings
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    compared = N_SERIES if isinstance(model.encoder_, PanelEncoder) else N_ROWS
    apart = difference(model, session, sample_rows(model, np.random.default_rng(0), compared))
    if apart > TOLERANCE:
        raise ModelFileError(
            f"the exported model differs from the estimator by {apart:.1e} on random rows",
            f"They must agree to {TOLERANCE:.0e}; nothing was written",
            "Scale inputs and targets to ordinary sizes and train again, or report this model",
        )
    with saving(path, ModelFileError) as place:
        place.write_bytes(content)
    seconds = latencies(model, session) if timed else {}
    return Exported(path, metadata, len(content), compared, apart, seconds)


def difference(model: Any, session: Any, sample: Columns | Panel) -> float:
    """Largest difference between an exported model and its estimator.

    Of probabilities, or of numbers in standard deviations of the target (relative to their own size
    where they are larger).
    """
    expected, inputs = predict_inputs(model, sample), _inputs_of(model, sample)
    predicted = session.run(None, inputs)[0]
    if predicts_steps(model):
        valid = np.arange(predicted.shape[1]) < inputs["lengths"][:, None]
        if not np.isnan(predicted[~valid]).all():
            return np.inf
        predicted = predicted[valid]
    if predicted.shape != expected.shape:
        return np.inf
    apart = np.abs(predicted - expected)
    if not hasattr(model, "classes_"):
        size = np.abs(expected - model.target_mean_)
        apart = apart / np.maximum(model.target_scale_, size)
    return float(np.where(np.isnan(apart), np.inf, apart).max())


def latencies(model: Any, session: Any) -> dict[str, tuple[float, float]]:
    """Median seconds for one row (or series) and for 1,000, with onnxruntime and in Python.

    Both get data that has been read already: tensors here, columns there. They take turns, so that
    a busy machine affects both.
    """
    seconds: dict[str, list[float]] = {"onnxruntime": [], "Python": []}
    for rows in (1, BATCH):
        sample = sample_rows(model, np.random.default_rng(1), rows)
        calls: dict[str, Callable[[], Any]] = {
            "onnxruntime": partial(session.run, None, _inputs_of(model, sample)),
            "Python": partial(predict_inputs, model, sample),
        }
        times: dict[str, list[float]] = {name: [] for name in calls}
        started = time.perf_counter()
        while len(times["Python"]) < 5 or time.perf_counter() - started < SECONDS:
            for name, call in calls.items():
                times[name].append(timeit.timeit(call, number=1))
        for name, measured in times.items():
            seconds[name].append(statistics.median(measured[1:]))
    return {name: (one, many) for name, (one, many) in seconds.items()}


def _inputs_of(model: Any, sample: Columns | Panel) -> dict[str, np.ndarray]:
    """Inputs of the exported model; padding is infinite, to show that it does not matter."""
    if not isinstance(sample, Panel):
        return {"X": as_tensor(model.encoder_, sample)}
    inputs = panel_inputs(sample, model.encoder_.steps, model.encoder_.statics)
    padding = np.arange(inputs["X"].shape[1]) >= inputs["lengths"][:, None]
    inputs["X"][padding], inputs["times"][padding] = np.inf, -np.inf
    return inputs


def sample_rows(model: Any, rng: np.random.Generator, rows: int) -> Columns | Panel:
    """Random rows, or series, as the estimator reads them.

    The first has no entries, the second no gaps; the others have gaps at rates from 0 to 1.
    """
    encoder = model.encoder_
    if not isinstance(encoder, PanelEncoder):
        return _random_columns(encoder, rng, rows, special=_near_thresholds(model))
    lengths = rng.integers(1, LONGEST_SAMPLE + 1, rows)
    lengths[: min(rows, 2)] = LONGEST_SAMPLE
    distance = rng.uniform(0.2, 1.8, lengths.sum()) if encoder.uneven else 1.0
    times = np.cumsum(np.broadcast_to(encoder.unit * distance, lengths.sum()))
    statics = None
    if encoder.statics is not None:
        statics = _random_columns(encoder.statics, rng, rows)
    steps = _random_columns(encoder.steps, rng, rows, lengths)
    return Panel(
        steps=replace(steps, arrays=[_held(array, rng, lengths) for array in steps.arrays]),
        lengths=lengths,
        times=times,
        statics=statics,
        ids=np.arange(rows, dtype=object),
        keyed=False,
        source=np.arange(lengths.sum()),
        apart={},
    )


def _held(array: np.ndarray, rng: np.random.Generator, lengths: np.ndarray) -> np.ndarray:
    """Hold the column at one value in half of the series; gaps stay where they are.

    Real columns are often constant, and rounding shows most in the spread of a constant.
    """
    if array.dtype == object or np.isnan(array).all():
        return array
    values = np.repeat(rng.choice(array[~np.isnan(array)], len(lengths)), lengths)
    held = np.repeat(rng.random(len(lengths)) < 0.5, lengths) & ~np.isnan(array)
    return np.where(held, values, array)


def _near_thresholds(model: Any) -> dict[str, np.ndarray]:
    """By column, the thresholds of the trees and the next larger numbers, on their other side."""
    families = getattr(model, "families_", {})
    by_column: dict[str, np.ndarray] = {}
    for family in (families[name] for name in ("trees", "forest") if name in families):
        encoder, trees = family.encoder, family.trees
        finite = np.abs(trees.threshold) < LONGEST  # others only ask whether there is a value
        column = np.where(finite, encoder.input_columns[trees.feature], -1)
        for j, name in enumerate(encoder.names):
            at = np.append(by_column.get(name, []), trees.threshold[column == j])
            by_column[name] = np.unique(at)
    return {name: np.append(at, np.nextafter(at, np.inf)) for name, at in by_column.items()}


def _random_columns(
    encoder: TableEncoder,
    rng: np.random.Generator,
    rows: int,
    lengths: Any = 1,
    special: Mapping[str, np.ndarray] | None = None,
) -> Columns:
    """Columns of rows, or of the steps of series; all rows of a series have the same gap rate.

    special : numbers by column that should occur
    """
    rates = rng.uniform(0, 1, rows)
    rates[:2] = [1.0, 0.0][:rows]
    rates = np.repeat(rates, lengths)
    arrays = []
    for plan in encoder.plans:
        array = _random_values(plan, rng, len(rates), (special or {}).get(plan.name, ()))
        array[rng.random(len(rates)) < rates] = None if array.dtype == object else np.nan
        arrays.append(array)
    declared = [isinstance(plan, Category) for plan in encoder.plans]
    return Columns(encoder.names, encoder.named, arrays, declared, len(rates))


def _random_values(
    plan: Plan, rng: np.random.Generator, rows: int, special: Sequence[float] | np.ndarray
) -> np.ndarray:
    """Values without gaps: levels, values of training and, where inputs are scaled, outliers."""
    if isinstance(plan, Category):
        levels = np.array([*plan.all_levels, None], dtype=object)
        return levels[rng.integers(0, max(len(levels) - 1, 1), rows)]
    far = (rng.random(rows) < 0.1) & plan.scaled
    array = plan.center + plan.spread * np.where(far, 100.0, 1.5) * rng.standard_normal(rows)
    special = np.array([*plan.levels, *plan.knots, *special])
    if len(special):
        array = np.where(rng.random(rows) < 0.5, rng.choice(special, rows), array)
    return array
