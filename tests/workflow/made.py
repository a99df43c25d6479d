"""Small models and tables for tests of workflows and commands."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imputefree import GILClassifier, GILRegressor, GILSequenceClassifier

SMALL = {"max_iter": 2, "n_members": 2, "hidden_layer_sizes": 8, "random_state": 0}


def table(rows: int = 60, seed: int = 0) -> pd.DataFrame:
    """Numbers with gaps, whole numbers with gaps, truth values, two kinds of categories, y."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, rows).round(2),
            "beds": pd.array(rng.integers(0, 5, rows), dtype="Int64"),
            "smokes": rng.random(rows) < 0.5,
            "ward": rng.choice(["A", "B, upper", 'C "old"', "D\nnew", "É"], rows),
            "code": rng.choice(["1", "2", "3", "X"], rows),
        }
    )
    for j, name in enumerate(["age", "beds", "ward", "code"]):
        frame.loc[rng.random(rows) < 0.2 + 0.05 * j, name] = None
    frame["y"] = rng.choice(["ill", "well"], rows)
    return frame


def classifier(frame: pd.DataFrame, **options) -> GILClassifier:
    """Trained on all columns but y."""
    return GILClassifier(**SMALL | options).fit(frame.drop(columns="y"), frame["y"])


def regressor(frame: pd.DataFrame) -> GILRegressor:
    numbers = np.arange(len(frame), dtype=float)
    return GILRegressor(**SMALL).fit(frame.drop(columns="y"), numbers)


def long_table(series: int = 20, seed: int = 0) -> pd.DataFrame:
    """Series of unequal length, rows of one together: who, hour, age and sex (static), two more."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 7, series)
    who = np.repeat([f"p{i:03d}" for i in range(series)], lengths)
    frame = pd.DataFrame(
        {
            "who": who,
            "hour": np.concatenate([np.arange(length) * 1.5 for length in lengths]),
            "age": np.repeat(rng.integers(20, 90, series), lengths),
            "sex": np.repeat(rng.choice(["f", "m"], series), lengths),
            "pulse": rng.normal(80, 10, len(who)).round(1),
            "rhythm": rng.choice(["a", "b", None], len(who)),
        }
    )
    frame.loc[rng.random(len(who)) < 0.4, "pulse"] = np.nan
    frame["y"] = np.repeat(rng.integers(0, 2, series), lengths)
    return frame


def sequence_classifier(frame: pd.DataFrame, **options) -> GILSequenceClassifier:
    model = GILSequenceClassifier(**SMALL | options)
    columns = {"id": "who", "time": "hour", "static": ["age", "sex"]}
    return model.set_params(**columns).fit(frame, "y")
