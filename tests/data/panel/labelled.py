"""Series that have labels."""

from __future__ import annotations

import pandas as pd

from imputefree.data import Layout, read_panel

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
