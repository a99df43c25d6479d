"""The same series in every format, and labels for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import torch

from imputefree.data import Layout, read_panel
from imputefree.errors import InputError
from tests import refusals

NAN = np.nan
LONG = Layout(id="who", time="hour")
PAIRS = Layout(id="who", time="hour", variable="what", value="value")


def check_error(X, *parts, layout=None, kind=InputError, **how):
    """Reading X raises such an error."""
    refusals.check_error(lambda: read_panel(X, layout or Layout(), **how), *parts, kind=kind)


def made(n=3, width=4, n_columns=2, seed=0):
    """Series with gaps; shape (n, width, n_columns)."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, width, n_columns))
    values[rng.random(values.shape) < 0.3] = NAN
    return values


def long_frame(values, names=("hr", "temp")):
    n, width, _ = values.shape
    frame = pd.DataFrame(values.reshape(n * width, -1), columns=list(names))
    frame.insert(0, "who", np.repeat(np.arange(n), width))
    frame.insert(1, "hour", np.tile(np.arange(width), n))
    return frame


def as_polars(frame):
    return pl.from_pandas(frame)


def as_nested(values):
    return pd.DataFrame(
        {name: [pd.Series(one) for one in values[:, :, j]] for j, name in enumerate(["hr", "temp"])}
    )


def matrix(panel):
    return np.stack(panel.steps.arrays, axis=1)


VALUES = made()
FORMATS = {  # made when asked for: polars starts threads
    "array": lambda: (VALUES, Layout()),
    "float32": lambda: (VALUES.astype(np.float32), Layout()),
    "object": lambda: (np.where(np.isnan(VALUES), None, VALUES.astype(object)), Layout()),
    "ndt": lambda: (VALUES.transpose(0, 2, 1), Layout(axes="ndt")),
    "tensor": lambda: (torch.from_numpy(VALUES), Layout()),
    "masked": lambda: (np.ma.masked_invalid(VALUES), Layout()),
    "list": lambda: (list(VALUES), Layout()),
    "tuple": lambda: (tuple(VALUES), Layout()),
    "nested lists": lambda: (VALUES.tolist(), Layout()),
    "list of tensors": lambda: (list(torch.from_numpy(VALUES)), Layout()),
    "list of pandas": lambda: (
        [pd.DataFrame(one, columns=["hr", "temp"]) for one in VALUES],
        Layout(),
    ),
    "list of polars": lambda: (
        [pl.DataFrame(one, schema=["hr", "temp"]) for one in VALUES],
        Layout(),
    ),
    "long pandas": lambda: (long_frame(VALUES), LONG),
    "long polars": lambda: (as_polars(long_frame(VALUES)), LONG),
    "without time": lambda: (long_frame(VALUES).drop(columns="hour"), Layout(id="who")),
    "indexed": lambda: (long_frame(VALUES).set_index(["who", "hour"]), Layout()),
    "pairs pandas": lambda: (
        long_frame(VALUES).melt(["who", "hour"], var_name="what"),
        PAIRS,
    ),
    "pairs polars": lambda: (
        as_polars(long_frame(VALUES).melt(["who", "hour"], var_name="what")),
        PAIRS,
    ),
    "nested": lambda: (as_nested(VALUES), Layout()),
}


IDS = ["c", "a", "b"]


def frame(ids=IDS):
    """Three series of 2, 1 and 3 steps; rows out of order in time."""
    c, a, b = ids
    return pd.DataFrame(
        {
            "who": pd.Series([c, a, c, b, b, b], dtype=object),
            "hour": [5, 0, 4, 3, 1, 2],
            "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            "died": pd.Series([None, 0, 1, 0, None, 0], dtype=object),
            "stage": ["c5", "a0", "c4", "b3", "b1", "b2"],
        }
    )


STAGES = ["c4", "c5", "a0", "b1", "b2", "b3"]  # in the order of the panel


def keyed(ids=IDS, **more):
    layout = Layout(id="who", time="hour", apart=("died", "stage"), **more)
    return read_panel(frame(ids), layout)


def plain():
    return read_panel([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]])


def from_pairs():
    X = frame()[["who", "hour", "x", "stage"]].rename(columns={"x": "value"}).assign(what="x")
    layout = Layout(id="who", time="hour", variable="what", value="value", apart=("stage",))
    return read_panel(X, layout)
