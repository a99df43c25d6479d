"""Deep classifiers for series: what they learn, and what they accept."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from imputefree import Panel
from imputefree.errors import ParameterError
from imputefree.lab.rivals import BRITSClassifier, GRUDClassifier, SAITSClassifier
from tests.refusals import check_error

CLASSES = [GRUDClassifier, BRITSClassifier, SAITSClassifier]
pytestmark = pytest.mark.slow  # PyPOTS takes long to import
every = pytest.mark.parametrize("cls", CLASSES)


def made(seed=0, n=120, steps=4, d=3):
    """Series whose column 0, if observed, tells the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, steps, d))
    x[:, :, 0] += 2 * y[:, None]
    x[rng.random(x.shape) < 0.4] = np.nan
    return x * [1.0, 10.0, 0.1] + [5.0, -100.0, 0.0], y


def make(cls, **options):
    return cls(**{"hidden_size": 8, "max_iter": 2, "batch_size": 32, "random_state": 0, **options})


@every
def test_learns_a_simple_signal(cls):
    model = make(cls, hidden_size=16, learning_rate_init=0.02, max_iter=8)
    model.fit(*made(0))
    x, y = made(1)
    assert roc_auc_score(y, model.predict_proba(x)[:, 1]) > 0.85
    assert model.validation_error_ == min(model.history_["validation_error"])
    assert model.validation_error_ < np.log(2)


@every
@pytest.mark.parametrize(
    "labels",
    [
        np.array(["dead", "alive", "unknown"]),
        np.array([True, False]),
        np.array([10, -3, 7, 2]),
        np.array(["only"]),
    ],
)
def test_any_labels(cls, labels):
    x, _ = made(n=40)
    y = labels[np.arange(40) % len(labels)]
    model = make(cls, max_iter=1).fit(x, y)
    assert np.array_equal(model.classes_, np.unique(labels))
    probability = model.predict_proba(x)
    assert probability.shape == (40, len(labels))
    assert (probability >= 0).all()
    np.testing.assert_allclose(probability.sum(1), 1.0, rtol=1e-12)
    assert set(model.predict(x).tolist()) <= set(labels.tolist())
    assert model.classes_.dtype == labels.dtype


@every
def test_series_are_classified_independently(cls):
    """PyPOTS' GRU-D would fill gaps with means of the test set."""
    x, y = made()
    model = make(cls).fit(x, y)
    together = model.predict_proba(x[:8])
    alone = np.concatenate([model.predict_proba(x[i : i + 1]) for i in range(8)])
    np.testing.assert_allclose(alone, together, rtol=1e-5)


@every
def test_the_seed_decides_and_the_global_generator_is_left_alone(cls):
    x, y = made(n=40)
    found = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        before = torch.get_rng_state()
        found.append(make(cls).fit(x, y).predict_proba(x))
        assert torch.equal(torch.get_rng_state(), before)
    assert np.array_equal(*found)
    assert not np.array_equal(make(cls, random_state=1).fit(x, y).predict_proba(x), found[0])


def test_held_out_series_choose_the_epoch_and_are_not_trained_on():
    x, y = made(n=60)
    held_out = np.arange(60) >= 40
    model = make(GRUDClassifier).fit(x, y, held_out=held_out)
    spoiled = x.copy()
    spoiled[held_out] = 1e3  # neither scales nor the first epoch see them
    other = make(GRUDClassifier, max_iter=1).fit(spoiled, y, held_out=held_out)
    same = make(GRUDClassifier, max_iter=1).fit(x, y, held_out=held_out)
    assert np.array_equal(other.predict_proba(x[:5]), same.predict_proba(x[:5]))
    found = model.predict_proba(x[held_out])
    truth = -np.log(found[np.arange(20), y[held_out]]).mean()
    assert model.validation_error_ == pytest.approx(truth, rel=1e-5)


@every
def test_series_of_one_step(cls):
    x, y = made(n=30, steps=1)
    assert np.isfinite(make(cls, max_iter=1).fit(x, y).predict_proba(x)).all()


def test_too_few_series_to_hold_any_out():
    x = np.array([[[1.0], [np.nan]], [[2.0], [3.0]]])
    model = make(GRUDClassifier, max_iter=1).fit(x, ["a", "b"])
    assert np.isnan(model.validation_error_)
    assert model.predict(x).shape == (2,)


@every
def test_lists_and_unequal_lengths(cls):
    x, y = made(n=40)
    lengths = np.array([4, 1, 3, 2] * 10)
    members = [one[:steps] for one, steps in zip(x, lengths, strict=True)]
    from_list = make(cls).fit(members, y).predict_proba(members)
    x[np.arange(4) >= lengths[:, None]] = np.inf  # padding is ignored
    panel = Panel.from_array(x, lengths)
    from_array = make(cls).fit(panel, y).predict_proba(panel)
    assert np.array_equal(from_list, from_array)


@every
def test_nothing_observed(cls):
    x, y = made(n=30)
    x[3], x[:, :, 1] = np.nan, np.nan
    model = make(cls, max_iter=1).fit(x, y)
    assert np.isfinite(model.predict_proba(np.full_like(x[:4], np.nan))).all()


def test_series_are_aligned_at_their_last_step():
    x, y = made(n=40)
    model = make(GRUDClassifier).fit(x, y)
    shorter = x.copy()
    shorter[:, :2] = np.nan
    assert np.array_equal(model.predict_proba(x[:, 2:]), model.predict_proba(shorter))


@every
def test_static_columns_are_used(cls):
    rng = np.random.default_rng(0)
    x, _ = made(n=120)
    static = pd.DataFrame({"age": rng.normal(60, 10, 120), "height": rng.normal(170, 9, 120)})
    y = (static["age"] > 60).to_numpy()
    static.loc[::7, "height"] = np.nan
    panel = Panel.from_array(x, static=static)
    model = make(cls, learning_rate_init=0.02, max_iter=12).fit(panel, y)
    assert roc_auc_score(y, model.predict_proba(panel)[:, 1]) > 0.9
    check_error(
        lambda: model.predict_proba(x),
        "the series have no static columns. In training they had some. Pass static= as in"
        " training.",
    )
    other = Panel.from_array(x, static=static[["height", "age"]])
    check_error(lambda: model.predict(other), "'height', 'age'")


def test_invalid_series():
    x, y = made(n=40)
    model = make(GRUDClassifier).fit(x, y)
    static = np.zeros((40, 1))
    check_error(
        lambda: model.predict_proba(Panel.from_array(x, static=static)),
        "the series have some static columns. In training they had none. Pass static= as in"
        " training.",
    )
    check_error(
        lambda: model.predict_proba(np.zeros((2, 7, 3))),
        "series 0 has 7 steps, the longest in training had 4. GRUDClassifier takes at most as"
        " many steps as in training.",
    )
    check_error(lambda: model.predict_proba(x[:, :, :2]), "X has 2 features")
    check_error(lambda: make(GRUDClassifier).fit(x, y[:-1]), "X has 40 rows, y has 39")
    check_error(lambda: make(GRUDClassifier).fit(x, y, held_out=np.ones(40, bool)), "40 of 40")
    check_error(
        lambda: make(GRUDClassifier).fit(pd.DataFrame(x[0]), y),
        "X is a DataFrame. Series come as an array (series, steps, columns) or a list of (steps,"
        " columns).",
    )


def test_static_categories_are_one_hot():
    rng = np.random.default_rng(0)
    x, ward = rng.normal(size=(40, 4, 3)), np.array(["B", "A", None, "C"] * 10, dtype=object)
    y = (ward == "A").astype(int)
    table = pd.DataFrame({"ward": ward})
    as_numbers = pd.DataFrame(
        {level: np.where(pd.isna(ward), np.nan, ward == level).astype(float) for level in "ABC"}
    )
    panel, numbered = (Panel.from_array(x, static=static) for static in (table, as_numbers))
    model = make(GRUDClassifier).fit(panel, y)
    probability = model.predict_proba(panel)
    other = make(GRUDClassifier).fit(numbered, y).predict_proba(numbered)
    np.testing.assert_allclose(probability, other, atol=1e-6)
    wards = ["Z"] * 40, np.full(40, None)
    unseen, gap = (
        model.predict_proba(Panel.from_array(x, static=pd.DataFrame({"ward": ward}, dtype=object)))
        for ward in wards
    )
    np.testing.assert_array_equal(unseen, gap)


@pytest.mark.parametrize(
    ("cls", "option", "value"),
    [
        (GRUDClassifier, "hidden_size", 0),
        (GRUDClassifier, "weight_decay", -1),
        (BRITSClassifier, "reconstruction_weight", -1),
        (SAITSClassifier, "hidden_size", 10),
        (SAITSClassifier, "dropout", 1.0),
        (BRITSClassifier, "random_state", "luck"),
    ],
)
def test_invalid_parameters(cls, option, value):
    check_error(
        lambda: make(cls, **{option: value}).fit(*made(n=10)),
        f"{option} is {value!r}. It must be ",
        kind=ParameterError,
    )


@every
def test_scikit_learn(cls):
    model = make(cls, max_iter=1)
    with pytest.raises(NotFittedError):
        model.predict(made()[0])
    assert clone(model).get_params() == model.get_params()
    x, y = made(n=30)
    fitted = model.fit(x, y)
    assert fitted is model
    assert fitted.n_features_in_ == 3
    copied = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copied.predict_proba(x), fitted.predict_proba(x))
    assert 0 <= fitted.score(x, y) <= 1
