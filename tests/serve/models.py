"""Small models of every kind to serve, clients of them, and a server process."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import contextmanager
from functools import cache

import numpy as np
import pandas as pd

from imputefree import (
    GILClassifier,
    GILRegressor,
    GILSequenceClassifier,
    GILSequenceRegressor,
    ImputeFreeClassifier,
    ImputeFreeSequenceClassifier,
)

SMALL = {"random_state": 0, "n_members": 2, "max_iter": 8, "batch_size": 16}
CARD = "# Model card\n\nInvented for a test.\n"


@cache
def patients() -> GILClassifier:
    """A table of numbers and categories, as `imputefree fit --model network` leaves it."""
    return _with_card(GILClassifier(**SMALL))


@cache
def blend() -> ImputeFreeClassifier:
    """The same table, as `imputefree fit` leaves it."""
    return _with_card(ImputeFreeClassifier(time_limit=0.5, random_state=0))


def _with_card(model):
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
    model.fit(frame, outcome)
    model.about_ = {
        "task": "classification",
        "target": "outcome",
        "data": {"missing": frame.isna().mean().to_dict()},
    }
    model.card_ = CARD
    return model


@cache
def numbers() -> GILRegressor:
    """From a bare array: no names, no card, a number to predict."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    X[rng.random(X.shape) < 0.3] = np.nan
    return GILRegressor(**SMALL).fit(X, np.nansum(X, axis=1))


@cache
def stays() -> GILSequenceClassifier:
    """Series with times and static columns, from a long frame."""
    model = GILSequenceClassifier(id="patient", time="hour", static=["age", "ward"], **SMALL)
    return model.fit(*_stays())


def _stays():
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
    return frame, pd.Series(rng.integers(0, 2, 40), index=range(40))


@cache
def every_step() -> GILSequenceRegressor:
    """Series from arrays, with one prediction per step."""
    rng = np.random.default_rng(3)
    series = [rng.normal(size=(steps, 2)) for steps in rng.integers(2, 6, 30)]
    targets = [steps[:, 0] for steps in series]
    return GILSequenceRegressor(per_step=True, **SMALL).fit(series, targets)


@cache
def stays_blend() -> ImputeFreeSequenceClassifier:
    """The same series, as `imputefree fit` leaves them."""
    model = ImputeFreeSequenceClassifier(
        id="patient", time="hour", static=["age", "ward"], quality="fast", random_state=0
    )
    return model.fit(*_stays())


ALL = {
    "table": patients,
    "blend": blend,
    "array": numbers,
    "series": stays,
    "blend of series": stays_blend,
    "every step": every_step,
}


def client_of(model, **options):
    """A client of a model, without a socket."""
    from starlette.testclient import TestClient

    from imputefree.serve import build_app

    return TestClient(build_app(model, **options))


@cache
def client(kind, **options):
    """A client of a model by name, one for all tests."""
    return client_of(ALL[kind](), **options)


def refused(answer, status, field=None, *parts):
    """Check the one shape of all errors: this status, about this field, with these words."""
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"}
    error = answer.json()["error"]
    assert set(error) == {"field", "fact", "rule", "remedy"}
    assert error["field"] == field
    text = " ".join(filter(None, error.values()))
    assert "Traceback" not in text
    for part in parts:
        assert part in text
    return error


@contextmanager
def running(model, folder, *options, environment=None):
    """`imputefree serve` in its own process; yields the process and its address."""
    path = folder / "model.imputefree"
    model.save(path)
    command = [sys.executable, "-m", "imputefree", "serve", str(path), "--port", "0", *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        line = process.stdout.readline()
        address = re.search(r"http://\S+", line)
        assert address, line + process.stderr.read()
        yield process, address.group()
    finally:
        process.kill()
        process.communicate(timeout=30)
