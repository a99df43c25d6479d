"""Small models of every kind to serve, and servers that run them."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import contextmanager
from functools import cache

import numpy as np
import pandas as pd

from imputefree import GILClassifier, GILRegressor, GILSequenceClassifier, GILSequenceRegressor

SMALL = {"random_state": 0, "n_members": 2, "max_iter": 8, "batch_size": 16}
CARD = "# Model card\n\nMade up, for a test.\n"


@cache
def patients() -> GILClassifier:
    """A table of numbers and categories, as `imputefree fit` leaves it."""
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n).astype(float),
            "sex": rng.choice(["f", "m"], n),
            "home.dest": rng.choice(["here", "there", "no, where"], n),
            "lactate": rng.gamma(2.0, 1.0, n).round(2),
            "grade": rng.choice([1.0, 2.0, 3.0], n),
        }
    )
    outcome = np.where(frame["lactate"] + (frame["sex"] == "m") > 2, "ill", "well")
    for name in frame:
        frame.loc[rng.random(n) < 0.2, name] = None
    model = GILClassifier(**SMALL).fit(frame, outcome)
    model.about_ = {
        "task": "classification",
        "target": "outcome",
        "data": {"missing": frame.isna().mean().to_dict()},
    }
    model.card_ = CARD
    return model


@cache
def numbers() -> GILRegressor:
    """A bare array: no names, no card, a number to predict."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    X[rng.random(X.shape) < 0.3] = np.nan
    return GILRegressor(**SMALL).fit(X, np.nansum(X, axis=1))


@cache
def stays() -> GILSequenceClassifier:
    """Series with times and static columns, out of a long frame."""
    rng = np.random.default_rng(2)
    lengths = rng.integers(2, 7, 40)
    who = np.repeat(np.arange(40), lengths)
    frame = pd.DataFrame(
        {
            "patient": who,
            "hour": np.concatenate([np.arange(n) * 0.5 for n in lengths]),
            "age": rng.integers(20, 90, 40).astype(float)[who],
            "ward": rng.choice(["A", "B"], 40)[who],
            "pulse": rng.normal(80, 10, len(who)).round(),
            "rhythm": rng.choice(["sinus", "other"], len(who)),
        }
    )
    frame.loc[rng.random(len(frame)) < 0.3, "pulse"] = None
    frame.loc[rng.random(len(frame)) < 0.3, "rhythm"] = None
    labels = pd.Series(rng.integers(0, 2, 40), index=range(40))
    model = GILSequenceClassifier(id="patient", time="hour", static=["age", "ward"], **SMALL)
    return model.fit(frame, labels)


@cache
def every_step() -> GILSequenceRegressor:
    """Series out of arrays, a prediction a step."""
    rng = np.random.default_rng(3)
    series = [rng.normal(size=(steps, 2)) for steps in rng.integers(2, 6, 30)]
    targets = [one[:, 0] for one in series]
    return GILSequenceRegressor(per_step=True, **SMALL).fit(series, targets)


ALL = {"table": patients, "array": numbers, "series": stays, "every step": every_step}


@contextmanager
def running(model, folder, *options, environment=None):
    """`imputefree serve` in a process of its own; yields the process and its address."""
    path = folder / "model.imputefree"
    model.save(path)
    words = [sys.executable, "-m", "imputefree", "serve", str(path), "--port", "0", *options]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + process.stderr.read()
        yield process, found.group()
    finally:
        process.kill()
        process.communicate(timeout=30)
