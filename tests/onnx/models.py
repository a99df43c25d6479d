"""Small models, one for everything that changes the graph."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imputefree import (
    GILClassifier,
    GILRegressor,
    GILSequenceClassifier,
    GILSequenceRegressor,
    ImputeFreeClassifier,
    ImputeFreeRegressor,
    ImputeFreeSequenceClassifier,
    ImputeFreeSequenceRegressor,
)

SMALL = {"max_iter": 2, "n_members": 2, "hidden_layer_sizes": (6, 5), "random_state": 0}


def frame(rows=80, seed=0, gaps=0.3):
    """Numbers with many and with few values, a category of strings and one of numbers."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "dose": rng.normal(size=rows),
            "stage": rng.integers(1, 5, rows).astype(float),
            "money": 1e6 * rng.exponential(size=rows),
            "site": rng.choice(["north", "south", "west"], rows).astype(object),
            "ward": pd.Categorical(rng.integers(1, 4, rows)),
        }
    )
    if gaps:
        for name in X:
            X.loc[rng.random(rows) < gaps, name] = None
    return X


def table_model(task="binary", gaps=0.3, **options):
    X = frame(gaps=gaps)
    X.loc[5, "site"], X.loc[7, "site"] = "moon", "mars"  # seen once: rare
    y = np.arange(len(X)) % {"binary": 2, "classes": 3, "numbers": 7}[task]
    if task == "numbers":
        return GILRegressor(**SMALL | options).fit(X, 5e3 + 1e4 * y)
    return GILClassifier(**SMALL | options).fit(X, np.array(["a", "b", "c"])[y])


def gappy_frame(rows, seed):
    """New rows with any share of gaps; the first has no entries."""
    rng = np.random.default_rng(seed)
    X = frame(rows, seed, gaps=0)
    X["site"] = rng.choice(["north", "south", "west", "moon", "mars"], rows).astype(object)
    X.loc[rng.random(rows) < 0.2, "money"] *= -1e9  # far outside
    shares = rng.random(rows)
    shares[0] = 1.0
    for name in X:
        X.loc[rng.random(rows) < shares, name] = None
    return X


def long_frame(series=24, seed=0, longest=7, uneven=True, static=True):
    """Series of 1 to `longest` steps in long form, with gaps, categories and static columns."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, series)
    steps = np.concatenate([np.arange(length, dtype=float) for length in lengths])
    rows = len(steps)
    X = pd.DataFrame({"who": np.repeat(np.arange(series), lengths), "hour": steps})
    if uneven:
        X["hour"] = 3.0 * X["hour"] + rng.random(rows)
    X["pulse"] = rng.normal(80, 10, rows)
    X["drug"] = rng.choice(["yes", "no"], rows).astype(object)
    X["full"] = rng.normal(size=rows)
    for name in ("pulse", "drug"):
        X.loc[rng.random(rows) < 0.4, name] = None
    if static:
        X["age"] = rng.normal(60, 9, series)[X["who"]]
        X["sex"] = rng.choice(["f", "m"], series)[X["who"]].astype(object)
        X.loc[X["who"] % 4 == 1, "age"] = np.nan
    return X


def series_model(task="binary", uneven=True, static=True, **options):
    X = long_frame(uneven=uneven, static=static)
    how = {"id": "who", "time": "hour", "static": ["age", "sex"] if static else None}
    if options.get("per_step"):
        X["label"] = np.arange(len(X)) % 2
        y = "label"
    else:
        y = {who: who % 2 for who in X["who"].unique()}
    cls = GILSequenceClassifier if task == "binary" else GILSequenceRegressor
    return cls(**how, **SMALL | options).fit(X, y)


def series_blend(task="binary", families=None):
    """A blend on series that decide the target, so that trees split on their summaries."""
    X = long_frame(200, seed=5)
    X.loc[X["who"] % 3 == 0, "full"] = np.nan
    grouped = X.groupby("who")
    y = grouped["pulse"].mean().fillna(80) / 10 - 8 + (grouped["drug"].last() == "yes")
    y += grouped.size() / 4 + grouped["age"].first().fillna(60) / 30
    how = {"id": "who", "time": "hour", "static": ["age", "sex"], "time_limit": 8}
    if task == "numbers":
        model = ImputeFreeSequenceRegressor(**how, families=families, random_state=0)
        return model.fit(X, (1e3 * y).to_dict())
    model = ImputeFreeSequenceClassifier(**how, families=families, random_state=0)
    return model.fit(X, (y > y.median()).map({True: "high", False: "low"}).to_dict())


def blend_model(task="binary", families=None, rows=240):
    """A blend on columns that decide the target, so that trees split on all kinds of them."""
    X = frame(rows, seed=3)
    X.loc[5, "site"], X.loc[7, "site"] = "moon", "mars"
    y = X["dose"].fillna(0) + X["stage"].fillna(2) / 2 + (X["site"] == "south") + X["money"].isna()
    y += 3.0 * (X["ward"] == 2)
    if task == "numbers":
        return ImputeFreeRegressor(families=families, random_state=0).fit(X, 1e3 * y)
    edges = [y.median()] if task == "binary" else [y.quantile(0.3), y.quantile(0.6)]
    model = ImputeFreeClassifier(families=families, random_state=0)
    return model.fit(X, np.array(["a", "b", "c"])[np.digitize(y, edges)])
