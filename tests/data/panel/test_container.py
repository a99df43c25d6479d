"""Rows of a panel are whole series."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imputefree.data._panel import Layout, Panel, read_panel


def test_rows_are_whole_series_in_the_order_asked_for():
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 6, size=20)
    start = pd.Timestamp("2020")
    frame = pd.DataFrame(
        {
            "who": np.repeat(np.arange(20), lengths),
            "when": start + pd.to_timedelta(rng.permutation(lengths.sum()), unit="h"),
            "x": rng.normal(size=lengths.sum()),
            "rhythm": rng.choice(["a", "b"], size=lengths.sum()),
            "age": np.repeat(rng.normal(size=20), lengths),
            "died": np.repeat(rng.integers(0, 2, size=20), lengths),
        }
    )
    layout = Layout(id="who", time="when", static=("age",), apart=("died",))
    panel = read_panel(frame, layout)
    for kept in (np.array([7, 3, 3, 19]), np.array([5]), rng.permutation(20), np.arange(20) > 14):
        some = panel.rows(kept)
        wanted = np.arange(20)[kept]
        parts = np.split(np.arange(lengths.sum()), np.cumsum(panel.lengths)[:-1])
        steps = np.concatenate([parts[i] for i in wanted])
        assert isinstance(some, Panel)
        assert some.n_rows == some.statics.n_rows == len(wanted)
        assert some.ids.tolist() == wanted.tolist()
        assert some.lengths.tolist() == lengths[wanted].tolist()
        for ours, theirs in (
            *zip(some.steps.arrays, panel.steps.arrays, strict=True),
            (some.times, panel.times),
            (some.source, panel.source),
            (some.apart["died"], panel.apart["died"]),
        ):
            np.testing.assert_array_equal(ours, theirs[steps])
        np.testing.assert_array_equal(some.statics.arrays[0], panel.statics.arrays[0][wanted])
        np.testing.assert_array_equal(some.starts, panel.starts[wanted])
    again = panel.rows(np.array([7, 3, 19])).rows(np.array([2, 0]))
    assert again.ids.tolist() == [19, 7]
