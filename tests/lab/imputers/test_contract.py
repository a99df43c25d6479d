"""What every imputer promises, whatever its method; parametrized over all names."""

from __future__ import annotations

import functools
import pickle
import random

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from imputefree.errors import ParameterError
from imputefree.lab.imputers import IMPUTERS, Imputer, make_imputer
from tests.lab.imputers.made import hide, low_rank
from tests.refusals import check_error

D = 5
STEPS = 4  # per series, when tables are cut into series
TABLES = [name for name, cls in IMPUTERS.items() if issubclass(cls, Imputer)]
SERIES = [name for name in IMPUTERS if name not in TABLES]
# Small settings: the contract holds however well an imputer is trained.
QUICK = {
    "mice": {"max_iter": 2},
    "missforest": {"n_estimators": 3, "max_iter": 1},
    "mixture": {"n_components": 3, "max_iter": 10},
    "gain": {"max_steps": 20, "check_every": 10, "alpha": 10.0},
    "miwae": {"max_steps": 20, "check_every": 10, "n_imputation": 20, "hidden_layer_sizes": 16},
    "gpvae": {"max_iter": 1, "hidden_size": 8},
    "gpvae_rows": {"max_iter": 1, "hidden_size": 8, "n_steps": 2},
    "brits": {"max_iter": 1, "hidden_size": 8},
    "saits": {"max_iter": 1, "hidden_size": 8},
}


def make(name, **options):
    options = {"random_state": 0, **QUICK.get(name, {}), **options}
    known = IMPUTERS[name]._get_param_names()
    return make_imputer(name, **{key: value for key, value in options.items() if key in known})


def shaped(name, x):
    """A table as it is, or cut into series of four steps."""
    return x if name in TABLES else x.reshape(-1, STEPS, x.shape[1])


def flat(x):
    return x.reshape(-1, x.shape[-1])


def pattern(kind, seed=0, n=48):
    """A table with entries missing in various ways."""
    x, _ = hide(low_rank(seed, n, D), {"sparse": 0.8, "dense": 0.05}.get(kind, 0.3), seed)
    if kind == "sparse":
        x[4:8] = np.nan  # rows, or a whole series
    if kind == "constant":
        x[:, 1] = np.where(np.isnan(x[:, 1]), np.nan, 7.0)
    return x * {"huge": 1e9, "tiny": 1e-9}.get(kind, 1.0)


TRAIN, TEST = pattern("plain", 1), pattern("plain", 2, 24)


@functools.cache
def fitted(name):
    return make(name).fit(shaped(name, TRAIN))


def over(names):
    """Parametrize; networks of PyPOTS are slow."""
    slow = ("gpvae", "gpvae_rows", "brits", "saits")
    marks = {name: [pytest.mark.slow] if name in slow else [] for name in names}
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=marks[name]) for name in names]
    )


every, every_table, every_series = over(IMPUTERS), over(TABLES), over(SERIES)


@pytest.mark.parametrize("kind", ["plain", "sparse", "dense", "constant", "huge", "tiny"])
@every
def test_observed_entries_stay_and_no_gap_is_left(name, kind):
    train, test = pattern(kind, 1), pattern(kind, 2, 24)
    imputer = make(name).fit(shaped(name, train))
    for x in (train, test):
        before = x.copy()
        filled = flat(imputer.transform(shaped(name, x)))
        observed = ~np.isnan(x)
        assert filled.shape == x.shape
        assert np.array_equal(filled[observed], x[observed])
        assert np.isfinite(filled).all()
        assert np.array_equal(x, before, equal_nan=True)


@every
def test_gaps_in_columns_that_had_none_in_training(name):
    imputer = make(name).fit(shaped(name, low_rank(0, 48, D)))
    assert np.isfinite(imputer.transform(shaped(name, TEST))).all()


@pytest.mark.slow
@every
def test_a_seed_decides_everything_and_global_generators_are_left_alone(name):
    x, expected = shaped(name, TEST), fitted(name).transform(shaped(name, TEST))
    for seed in (1, 2):
        random.seed(seed), np.random.seed(seed), torch.manual_seed(seed)  # noqa: NPY002
        before = random.getstate(), np.random.get_state()[1].copy(), torch.get_rng_state()  # noqa: NPY002
        imputer = make(name).fit(shaped(name, TRAIN))
        assert np.array_equal(imputer.transform(x), expected)
        assert np.array_equal(imputer.transform(x), expected)
        make(name, random_state=None).fit_transform(shaped(name, TRAIN)) if name in TABLES else 0
        assert random.getstate() == before[0]
        assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
        assert torch.equal(torch.get_rng_state(), before[2])
    state = np.random.RandomState(0)
    assert np.isfinite(make(name, random_state=state).fit_transform(shaped(name, TRAIN))).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mice", {"n_draws": 1}),
        *((name, {}) for name in ("missforest", "gain", "miwae", "gpvae_rows", *SERIES)),
    ],
)
def test_another_seed_fills_in_another_way(name, options):
    if name == "carry_forward":
        pytest.skip("uses no random numbers")
    x = shaped(name, TRAIN)
    left, right = (make(name, random_state=seed, **options).fit_transform(x) for seed in (0, 1))
    assert not np.array_equal(left, right)


@pytest.mark.parametrize("name", ["gain", "miwae"])
@pytest.mark.parametrize("n", [2, 50])
def test_networks_fill_a_single_column_near_its_mean(name, n):
    x = np.random.default_rng(0).normal(50.0, 1.0, size=(n + 1, 1))
    x[0] = np.nan
    assert abs(make(name).fit_transform(x)[0, 0] - np.nanmean(x)) < 1


@every
def test_rows_are_filled_independently(name):
    """Alone as together, and whatever the values of other rows (or series)."""
    imputer, x = fitted(name), shaped(name, pattern("sparse", 2, 24))
    together = imputer.transform(x)
    alone = np.concatenate([imputer.transform(x[i : i + 1]) for i in range(len(x))])
    np.testing.assert_allclose(alone, together, rtol=1e-5)
    other = x.copy()
    other[1:] = 3.0 * other[1:] - 50.0
    np.testing.assert_allclose(imputer.transform(other)[0], together[0], rtol=1e-5)


@every
def test_empty_columns_are_kept(name):
    train, test = TRAIN.copy(), TEST.copy()
    train[:, 2] = np.nan
    imputer = make(name).fit(shaped(name, train))
    test[:, 3] = np.nan  # filled in training, empty here; column 2 the other way round
    filled = flat(imputer.transform(shaped(name, test)))
    assert filled.shape == test.shape
    assert np.isfinite(filled).all()
    assert np.array_equal(filled[:, 2][~np.isnan(test[:, 2])], test[:, 2][~np.isnan(test[:, 2])])
    if name != "carry_forward":  # which fills it with what the steps of the series hold
        assert (filled[:, 2][np.isnan(test[:, 2])] == 0).all()


@every_table
@pytest.mark.parametrize("x", [np.array([[1.0, np.nan]]), np.full((3, 2), np.nan), [[1.0], [2.0]]])
def test_tiny_tables(name, x):
    assert np.isfinite(make(name).fit_transform(np.asarray(x))).all()


@every_series
@pytest.mark.parametrize(
    "x",
    [
        np.array([[[1.0], [np.nan]]]),  # one series
        np.array([[[1.0, np.nan]], [[np.nan, 2.0]]]),  # one step
        np.full((3, 2, 2), np.nan),
        np.array([[[1.0, 2.0], [np.nan, 3.0]], [[np.nan, np.nan], [np.nan, np.nan]]]),
    ],
)
def test_tiny_series(name, x):
    filled = make(name).fit_transform(x)
    assert np.isfinite(filled).all()
    assert np.array_equal(filled[~np.isnan(x)], x[~np.isnan(x)])


@pytest.mark.parametrize("name", ["knn", "mice", "missforest", "em", "gain", "miwae"])
@pytest.mark.parametrize("unit", [2.0**-100, 2.0**500])
def test_units_do_not_matter(name, unit):
    """Powers of two, so that not even a rounding differs."""
    expected = make(name).fit_transform(TRAIN) * unit
    np.testing.assert_allclose(make(name).fit_transform(TRAIN * unit), expected, rtol=1e-5)


@every
def test_extreme_values_are_harmless(name):
    imputer, x = fitted(name), TEST.copy()
    expected = imputer.transform(shaped(name, x))[:1]
    x[-1] = [1e200, np.nan, 0.0, -1e200, np.nan]
    filled = imputer.transform(shaped(name, x))
    assert np.isfinite(filled).all()
    np.testing.assert_allclose(filled[:1], expected, rtol=1e-5, atol=1e-6)
    x[0, 0] = 1e300
    assert np.isfinite(make(name).fit_transform(shaped(name, x))).all()


@every
def test_a_failed_fit_changes_nothing(name):
    x = shaped(name, TEST)
    imputer = pickle.loads(pickle.dumps(fitted(name)))
    before = imputer.transform(x)
    assert np.array_equal(before, fitted(name).transform(x))
    imputer.set_params(random_state="wrong")
    with pytest.raises(ParameterError, match="random_state is 'wrong'"):
        imputer.fit(100 * x + 1000)
    assert np.array_equal(imputer.set_params(random_state=0).transform(x), before)


@every
def test_arrays_keep_their_dtype(name):
    x = shaped(name, TEST.astype(np.float32))
    filled = fitted(name).transform(x)
    assert filled.dtype == np.float32
    assert np.array_equal(filled[~np.isnan(x)], x[~np.isnan(x)])


def frame(x):
    index = pd.Index([f"row {i}" for i in range(len(x))], name="who")
    return pd.DataFrame(x, columns=[f"c{j}" for j in range(x.shape[1])], index=index)


@functools.cache
def fitted_on_a_frame(name):
    return make(name).fit(frame(TRAIN))


@every_table
def test_frames_keep_index_columns_and_dtypes(name):
    imputer, test = fitted_on_a_frame(name), frame(TEST)
    assert np.array_equal(imputer.transform(test), fitted(name).transform(TEST))
    test = test.iloc[::-1].astype({"c1": np.float32})
    filled = imputer.transform(test)
    assert filled.index.equals(test.index)
    assert filled.index.name == "who"
    assert list(filled.columns) == list(test.columns) == list(imputer.feature_names_in_)
    assert filled.dtypes.tolist() == test.dtypes.tolist()
    assert not filled.isna().any(axis=None)
    assert filled.where(test.notna()).equals(test)


@every_table
@pytest.mark.parametrize("rows", [24, D])  # as many rows as columns: which are the columns?
def test_polars(name, rows):
    names = [f"c{j}" for j in range(D)]
    x = pl.DataFrame(TEST[:rows], schema=names, orient="row").cast({"c1": pl.Float32})
    x = x.fill_nan(None)
    filled = fitted_on_a_frame(name).transform(x)
    assert isinstance(filled, pl.DataFrame)
    assert filled.schema == x.schema
    assert filled.null_count().sum_horizontal()[0] == 0
    assert np.isfinite(filled.to_numpy()).all()
    for column in names:
        seen = x[column].is_not_null()
        assert filled[column].filter(seen).equals(x[column].filter(seen))


@every
def test_wrong_columns(name):
    fewer = shaped(name, TEST)[..., :3]
    check_error(lambda: fitted(name).transform(fewer), "X has 3 features", "expecting 5")
    if name in TABLES:
        imputer, swapped = fitted_on_a_frame(name), ["c1", "c0", "c2", "c3", "c4"]
        check_error(lambda: imputer.transform(frame(TEST)[swapped]), "they are 'c1', 'c0'")


@every
def test_bad_values_and_shapes(name):
    strings = shaped(name, TRAIN).astype(object)
    strings.reshape(-1, D)[0, 1] = "high"
    infinite = TRAIN.copy()
    infinite[3, 2] = np.inf
    wrong_axes = TRAIN.reshape(-1, STEPS, D) if name in TABLES else TRAIN
    for fit in (make(name).fit, fitted(name).transform):
        check_error(lambda fit=fit: fit(strings), "column '1' holds")
        check_error(lambda fit=fit: fit(shaped(name, infinite)), "column 2 holds +inf")
        check_error(lambda fit=fit: fit(shaped(name, TRAIN)[:0]))
        check_error(lambda fit=fit: fit(wrong_axes), "3D" if name in TABLES else "2D")


@every
def test_scikit_learn(name):
    with pytest.raises(NotFittedError):
        make(name).transform(shaped(name, TEST))
    copied = clone(make(name))
    assert copied.get_params() == make(name).get_params()
    assert repr(copied.set_params(random_state=7)).endswith("random_state=7)")
    twice = clone(fitted(name)).fit(shaped(name, pattern("plain", 5)[:, :3]))
    x = shaped(name, TEST)
    assert np.array_equal(twice.fit(shaped(name, TRAIN)).transform(x), fitted(name).transform(x))


def test_pipelines_and_names_of_features():
    table, y = frame(TRAIN), np.arange(len(TRAIN)) % 2
    pipeline = make_pipeline(make_imputer("em"), LogisticRegression(max_iter=50))
    assert pipeline.fit(table / 100, y).predict(table).shape == (len(table),)
    columns = make_column_transformer((make_imputer("mean"), ["c0", "c2"])).fit(table)
    assert list(columns.get_feature_names_out()) == ["meanimputer__c0", "meanimputer__c2"]
    filled = make_imputer("mean").set_output(transform="pandas").fit(table).transform(table)
    assert list(filled) == list(table)


@every_series
def test_padding_is_neither_seen_nor_touched(name):
    if name == "gpvae":
        pytest.skip("refuses series of unequal length; see test_pypots_imputers.py")
    x = shaped(name, TRAIN).copy()
    lengths = np.array([4, 2] * (len(x) // 2))
    spoiled = x.copy()
    spoiled[1::2, 2:] = np.inf
    clean = make(name).fit(x, lengths=lengths).transform(x, lengths=lengths)
    filled = make(name).fit(spoiled, lengths=lengths).transform(spoiled, lengths=lengths)
    assert (filled[1::2, 2:] == np.inf).all()
    assert np.array_equal(filled[0::2], clean[0::2])
    assert np.array_equal(filled[1::2, :2], clean[1::2, :2])
    assert np.array_equal(clean[1::2, 2:], x[1::2, 2:], equal_nan=True)
    series = [one[:steps] for one, steps in zip(x, lengths, strict=True)]
    from_list = make(name).fit_transform(series)
    for one, padded, steps in zip(from_list, clean, lengths, strict=True):
        assert np.array_equal(one, padded[:steps])


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("knn", "n_neighbors", 0),
        ("knn", "weights", "far"),
        ("mice", "max_iter", 0),
        ("mice", "n_draws", -1),
        ("mice", "n_nearest_features", 1.5),
        ("missforest", "n_estimators", "many"),
        ("missforest", "min_samples_leaf", 0),
        ("missforest", "allow_slow", "no"),
        ("em", "ridge", -1.0),
        ("em", "tol", -1e-3),
        ("em", "allow_slow", "yes"),
        ("mixture", "n_components", 2.5),
        ("mixture", "n_components", "many"),
        ("mixture", "kind", "poisson"),
        ("mixture", "smoothing", 0.0),
        ("mixture", "n_members", 0),
        ("gain", "alpha", (1, "x")),
        ("gain", "hint_rate", 1.0),
        ("gain", "hide", 0.95),
        ("gain", "batch_size", 0),
        ("gain", "max_steps", 1.5),
        ("miwae", "decoder", "laplace"),
        ("miwae", "n_latent", 0),
        ("miwae", "learning_rate_init", ()),
        ("miwae", "hidden_layer_sizes", (0,)),
        ("miwae", "validation_fraction", 0),
        ("brits", "max_iter", 0),
        ("brits", "learning_rate_init", -1),
        ("brits", "verbose", "loud"),
        ("saits", "hidden_size", 30),  # must be a multiple of the attention heads
        ("gpvae", "length_scale", 0),
        ("gpvae", "window_size", 1.5),
        ("gpvae_rows", "n_steps", 0),
    ],
)
def test_invalid_parameters(name, option, value):
    imputer = make(name, **{option: value})
    check_error(
        lambda: imputer.fit(shaped(name, TRAIN)), f"{option} is {value!r}", kind=ParameterError
    )


def test_unknown_names_and_options_list_the_known():
    check_error(lambda: make_imputer(["em"]), "no imputer ['em']", "zero", kind=ParameterError)
    words = "'em' has no option 'rigde'", "ridge"
    check_error(lambda: make_imputer("em", rigde=2.0), *words, kind=ParameterError)
