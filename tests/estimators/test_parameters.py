"""Constructor parameters: a bad value is named together with the values there are."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from imputefree import (
    GILClassifier,
    GILRegressor,
    GILSequenceClassifier,
    GILSequenceRegressor,
    ParameterError,
)
from imputefree.estimators._parameters import NETWORK_RULES as RULES

ESTIMATORS = (GILClassifier, GILRegressor, GILSequenceClassifier, GILSequenceRegressor)
rng = np.random.default_rng(0)
X = rng.normal(size=(24, 2))
y = (X[:, 0] > 0).astype(int)
SMALL = {"n_members": 2, "max_iter": 1, "hidden_layer_sizes": (4,), "random_state": 0}

NOT_WHOLE = [0, -1, 1.5, True, "2", None, np.nan, np.array([1, 2])]
NOT_NUMBERS = ["0.1", None, True, np.nan, np.inf, -1e-9, np.array([0.1, 0.2])]
NOT_FLAGS = ["yes", None, 1.0, np.array([True, False])]
NOT_NAMES = ["", "RELU", None, 1, ["relu"], np.array(["relu", "tanh"])]
BAD = {
    "n_members": NOT_WHOLE,
    "hidden_layer_sizes": [0, (), (8, 0), (8, 1.5), "ab", None, True, (True,), 1.5],
    "activation": NOT_NAMES,
    "linear_path": NOT_FLAGS,
    "relevance": NOT_FLAGS,
    "cell": NOT_NAMES,
    "per_step": NOT_FLAGS,
    "time_since": NOT_FLAGS,
    "summary": NOT_FLAGS,
    "dropout": [*NOT_NUMBERS, 1, 1.5],
    "placeholder": ["median", None, np.nan, np.inf, True, np.array([0.0, 1.0])],
    "indicator": NOT_FLAGS,
    "missingness": NOT_NAMES,
    "numeric_encoding": NOT_NAMES,
    "hide": [*NOT_NUMBERS, 1.0],
    "weight_averaging": [*NOT_NUMBERS, 1.0],
    "learning_rate_init": [*NOT_NUMBERS, 0, 1e9],
    "learning_rate_decay": [*NOT_NUMBERS, 0, 1.1],
    "learning_rate_decay_steps": NOT_WHOLE,
    "weight_decay": NOT_NUMBERS,
    "batch_size": NOT_WHOLE,
    "max_iter": NOT_WHOLE,
    "early_stopping": NOT_FLAGS,
    "validation": NOT_NAMES,
    "validation_fraction": [*NOT_NUMBERS, 0, 0.6],
    "n_iter_no_change": NOT_WHOLE,
    "tol": NOT_NUMBERS,
    "warm_start": NOT_FLAGS,
    "random_state": ["seed", -1, 2**32, 1.5, np.array([1.5])],
    "device": ["gpu", "", None, 1.5, "meta", "cuda:99", np.array(["cpu", "cuda"])],
    "verbose": NOT_FLAGS,
    "encoder": ["plain", 3],
    "class_weight": ["foo", 3, {"ill": -1}, {0: "heavy"}],
}


def test_every_rule_is_tested_and_is_about_a_parameter():
    assert set(BAD) == set(RULES)
    every = set()
    for estimator in ESTIMATORS:
        every |= set(inspect.signature(estimator).parameters)
    assert set(RULES) <= every


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_is_explained_with_its_default_and_has_a_rule(estimator):
    checked_elsewhere = {"policy", "reward", "categorical_features"}
    checked_elsewhere |= {"id", "time", "static", "variable", "value", "axes"}  # by the reader
    classifier = GILSequenceClassifier if "Sequence" in estimator.__name__ else GILClassifier
    assert estimator is classifier or f"those of `{classifier.__name__}`" in estimator.__doc__
    for name, parameter in inspect.signature(estimator).parameters.items():
        line = re.search(rf"^    (\w+, )?{name}(, \w+)? : (.*)$", classifier.__doc__, re.M)
        default = str(parameter.default).replace("'", '"')
        assert line[3].endswith(f"default={default}") or f'default="{default}"' in line[3], name
        assert name in RULES or name in checked_elsewhere


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in BAD.items() for v in values])
def test_a_bad_value_is_named_with_the_valid_ones(name, value):
    with pytest.raises(ParameterError) as caught:
        if name in ("cell", "per_step", "time_since", "summary"):
            GILSequenceClassifier(**(SMALL | {name: value})).fit(X[:, None], y)
        else:
            GILClassifier(**(SMALL | {name: value})).fit(X, y)
    assert str(caught.value) == (
        f"{name} is {value!r}. It must be {RULES[name][1]}. Pass such a value."
    )


@pytest.mark.parametrize("name", ["policy", "reward"])
@pytest.mark.parametrize("value", ["best", None, 3, dict, np.array([1, 2])])
def test_an_unknown_policy_or_reward_is_named_with_the_known_ones(name, value):
    with pytest.raises(ParameterError) as caught:
        GILClassifier(**SMALL, **{name: value}).fit(X, y)
    message = str(caught.value)
    assert message.startswith(f"{name} is {value!r}. It must be one of '")
    assert f"See imputefree.gil for the {name} interface." in message


def test_a_regressor_has_no_classes_to_contrast():
    with pytest.raises(ParameterError) as caught:
        GILRegressor(**SMALL, policy="ddpg", reward="contrastive").fit(X, y)
    assert str(caught.value) == (
        "reward is 'contrastive' for a regressor. The contrastive reward compares features of"
        " different classes. Use reward='loss'."
    )


def test_parameters_are_checked_at_fit_not_before():
    assert GILClassifier(n_members=-1).get_params()["n_members"] == -1


@pytest.mark.parametrize(
    "settings",
    [
        {"n_members": np.int64(2), "max_iter": np.int32(1), "batch_size": np.int64(8)},
        {"hidden_layer_sizes": np.int64(4)},
        {"hidden_layer_sizes": [np.int64(4), 3]},
        {"dropout": np.float32(0.1), "tol": np.float64(0.0), "learning_rate_init": np.float32(0.1)},
        {"indicator": np.bool_(True), "linear_path": np.bool_(False)},
        {"placeholder": -1},
        {"placeholder": "learned"},
        {"placeholder": "3max"},
        {"random_state": np.random.RandomState(0)},
        {"random_state": None},
        {"device": "cpu"},
        {"validation_fraction": 0.5, "validation": "shared"},
    ],
)
def test_numpy_numbers_and_edges_are_valid(settings):
    clf = GILClassifier(**(SMALL | settings)).fit(X, y)
    assert np.isfinite(clf.predict_proba(X)).all()
