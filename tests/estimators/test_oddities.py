"""Any odd object in place of any argument about series: an error on purpose, or no harm."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

from attacks._made_tables import ODD
from imputefree import GILSequenceClassifier, ImputefreeError, Panel

TINY = {"n_members": 1, "max_iter": 1, "hidden_layer_sizes": (4,), "random_state": 0}
LAYOUT = ["id", "time", "static", "variable", "value", "axes"]
BESIDE = ["sample_weight", "groups", "held_out"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "per_step"),
    [("array", False), ("list", True), ("long", False), ("indexed", True), ("polars", False)],
)
def test_any_oddity_anywhere_is_an_error_on_purpose_or_does_no_harm(form, per_step):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"who": [0, 0, 1, 1, 2, 2], "hour": [0, 1] * 3, "c0": rng.normal(size=6)})
    X, columns = {
        "array": lambda: (frame["c0"].to_numpy().reshape(3, 2, 1), {}),
        "list": lambda: (list(frame["c0"].to_numpy().reshape(3, 2, 1)), {}),
        "long": lambda: (frame, {"id": "who", "time": "hour"}),
        "indexed": lambda: (frame.set_index(["who", "hour"]), {}),
        "polars": lambda: (pl.from_pandas(frame), {"id": "who", "time": "hour"}),
    }[form]()
    y = np.arange(6) % 2 if per_step else np.arange(3) % 2
    options = TINY | {"per_step": per_step}

    def fit(odd, name):
        roles, given = columns, {"X": X, "y": y}
        if name in LAYOUT:
            roles = columns | {name: odd}
        else:
            given[name] = odd
        model = GILSequenceClassifier(**options, **roles).fit(**given)
        actual = model.predict_proba(given["X"])
        assert np.isfinite(np.concatenate(actual) if per_step else actual).all()

    fitted = GILSequenceClassifier(**options, **columns).fit(X, y)
    calls = {f"fit {name}": partial(fit, name=name) for name in [*LAYOUT, *BESIDE, "X", "y"]}
    calls |= {
        "predict": fitted.predict,
        "score": lambda odd: fitted.score(X, y, odd),
        "lengths": lambda odd: Panel.from_array(np.zeros((3, 2, 1)), lengths=odd),
        "times": lambda odd: Panel.from_list([np.zeros((2, 1))] * 3, times=odd),
        "static": lambda odd: Panel.from_list([np.zeros((2, 1))] * 3, static=odd),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for odd_name, odd in ODD.items():
            for name, call in calls.items():
                try:
                    call(odd)
                except ImputefreeError:
                    continue
                except Exception as error:
                    raise AssertionError(f"{name}={odd_name}") from error
