"""Methods by name: each can be made and fitted with held-out rows, or says what it cannot do."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree.errors import ParameterError
from imputefree.lab.rivals import SERIES, TABLES, make_method
from tests.lab.simulated import series, table
from tests.refusals import check_error

pytest.importorskip("lightgbm")
pytest.importorskip("xgboost")
# These train for minutes with their defaults; the tests of imputers use few steps.
LONG = ("gain", "miwae", "missforest", "brits", "gpvae", "saits")
ALL = [
    (kind, name, task)
    for kind, methods in (("table", TABLES), ("series", SERIES))
    for name, tasks in methods.items()
    for task in tasks
    if not (name.endswith("+network") and name.split("+")[0] in LONG)
]


def fast(model):
    """With few trees, epochs and members, wherever they are."""
    few = {"max_iter": 3, "n_estimators": 3, "n_members": 1}
    names = [name for name in model.get_params() if name.split("__")[-1] in few]
    return model.set_params(**{name: few[name.split("__")[-1]] for name in names})


@pytest.mark.parametrize(("kind", "name", "task"), ALL)
def test_each_fits_and_predicts(kind, name, task):
    X, y = table(n=80) if kind == "table" else series(n=80)
    if name in ("naive_bayes", "mixture_per_class"):
        X = X.drop(columns="ward")  # they take numbers
    y = np.array(["no", "yes"])[y] if task == "classification" else y + 0.5
    model = fast(make_method(name, task, kind, random_state=3))
    seeds = [v for k, v in model.get_params().items() if k.split("__")[-1] == "random_state"]
    assert set(seeds) <= {3}
    model.fit(X, y, held_out=np.arange(80) >= 60)
    assert model.predict(X).shape == (80,)
    if task == "classification":
        np.testing.assert_allclose(model.predict_proba(X).sum(1), 1.0)


@pytest.mark.parametrize("name", ["naive_bayes", "mixture_per_class"])
def test_held_out_rows_are_left_out_even_if_not_needed(name):
    X, y = table(n=80)
    X = X.drop(columns="ward")
    model = fast(make_method(name)).fit(X, y, held_out=np.arange(80) >= 60)
    without = fast(make_method(name)).fit(X[:60], y[:60])
    np.testing.assert_array_equal(model.predict_proba(X), without.predict_proba(X))
    check_error(lambda: model.fit(X, y, held_out=[1, 0]), "held_out has shape (2,)")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"name": "magic"}, "no method for tables 'magic'. Valid names are mask_"),
        ({"name": "ridge", "kind": "series"}, "no method for series 'ridge'. Valid names"),
        ({"name": None}, "no method for tables None"),
        ({"name": "lightgbm", "task": "ranking"}, "no task 'ranking'. Valid names are"),
        ({"name": "lightgbm", "kind": "image"}, "no kind of data 'image'. Valid names"),
    ],
)
def test_unknown_names_list_the_known(asked, words):
    check_error(lambda: make_method(**asked), f"there is {words}", kind=ParameterError)
