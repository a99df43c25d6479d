"""The same 24 series with gaps in every form that estimators take."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import torch

from imputefree import GILSequenceClassifier, Panel

rng = np.random.default_rng(0)
N, NAMES = 24, ["a", "b", "c"]
LENGTHS = rng.permutation(np.arange(N) % 5 + 2)
LENGTHS[:2] = 1
SERIES = [rng.normal(size=(steps, 3)).round(2) for steps in LENGTHS]
for values in SERIES:
    values[rng.random(values.shape) < 0.3] = np.nan
SERIES[2][:] = np.nan  # a series without a single observation
TIMES = [np.cumsum(rng.integers(1, 4, steps)).astype(float) for steps in LENGTHS]
WIDE_TIMES = np.stack([np.append(t, t[-1] + 1 + np.arange(7 - len(t))) for t in TIMES])
Y = np.array(["ill", "well"])[np.arange(N) % 2]
STEP_Y = [np.arange(steps) % 2 for steps in LENGTHS]
STATIC = pd.DataFrame({"age": np.where(np.arange(N) % 3, 20.0 + np.arange(N), np.nan)})
STATIC["sex"] = np.array(["f", "m", None], dtype=object)[np.arange(N) % 3]
TIMED = Panel.from_list(SERIES, times=TIMES)
COLUMNS = {"id": "who", "time": "hour"}
PAIRS = COLUMNS | {"variable": "what", "value": "much"}
SMALL = {"n_members": 2, "max_iter": 2, "hidden_layer_sizes": (4,), "random_state": 0}


def small(cls=GILSequenceClassifier, **options):
    return cls(**(SMALL | options))


def same(left, right):
    """Whether two models have the same weights, bit for bit."""
    weights = (model.predictor_.state_dict().values() for model in (left, right))
    return all(map(torch.equal, *weights))


def padded(filler=np.nan, dtype=float):
    array = np.full((N, max(LENGTHS) + 1, 3), filler, dtype=dtype)
    for row, series in zip(array, SERIES, strict=True):
        row[: len(series)] = series
    return array


def long(**static):
    frame = pd.DataFrame(np.concatenate(SERIES), columns=NAMES)
    frame.insert(0, "who", np.repeat(np.arange(N), LENGTHS))
    frame.insert(1, "hour", np.concatenate(TIMES))
    for name, values in static.items():
        frame[name] = np.repeat(np.asarray(values), LENGTHS)
    return frame


def shuffled(frame, seed=0):
    """Rows in any order, but series in the order they had."""
    mixed = frame.sample(frac=1, random_state=seed)
    return pd.concat(part for _, part in mixed.groupby("who", sort=True))


def pairs():
    return long().melt(["who", "hour"], var_name="what", value_name="much")


def objects():
    array = np.empty(N, dtype=object)
    array[:] = SERIES
    return array


def nested():
    return pd.DataFrame(
        {
            name: [pd.Series(s[:, j], index=t) for s, t in zip(SERIES, TIMES, strict=True)]
            for j, name in enumerate(NAMES)
        }
    )


def frames():
    return [pd.DataFrame(s, columns=NAMES, index=t) for s, t in zip(SERIES, TIMES, strict=True)]


FORMATS = {  # X and the parameters that describe it
    "padded array": lambda: (Panel.from_array(padded(), LENGTHS, WIDE_TIMES), {}),
    "columns before steps": lambda: (
        Panel.from_array(padded().transpose(0, 2, 1), LENGTHS, WIDE_TIMES, axes="ndt"),
        {},
    ),
    "lengths and times in lists": lambda: (
        Panel.from_array(padded(), LENGTHS.tolist(), WIDE_TIMES.tolist()),
        {},
    ),
    "list of lists": lambda: (Panel.from_list([s.tolist() for s in SERIES], TIMES), {}),
    "array of arrays": lambda: (Panel.from_list(objects(), TIMES), {}),
    "list of frames": lambda: (frames(), {}),
    "list of polars frames": lambda: (
        Panel.from_list([pl.DataFrame(s, schema=NAMES) for s in SERIES], TIMES),
        {},
    ),
    "nested frame": lambda: (nested(), {}),
    "long frame": lambda: (long(), COLUMNS),
    "long frame, shuffled": lambda: (shuffled(long()), COLUMNS),
    "long frame, nullable": lambda: (long().convert_dtypes(), COLUMNS),
    "long polars frame": lambda: (pl.from_pandas(long()), COLUMNS),
    "pairs": lambda: (pairs(), PAIRS),
    "polars pairs": lambda: (pl.from_pandas(pairs()), PAIRS),
    "indexed frame": lambda: (long().set_index(["who", "hour"]), {}),
}
