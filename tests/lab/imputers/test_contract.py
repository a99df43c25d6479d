"""What every imputer promises, whatever its method; parametrised over all names."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from imputefree.errors import InputError, ParameterError
from imputefree.lab.imputers import IMPUTERS, Imputer, make_imputer
from tests.lab.imputers.made import hide, low_rank
from tests.refusals import check_error

D = 5
STEPS = 4  # of a series, where tables are cut into series
TABLES = [name for name, cls in IMPUTERS.items() if issubclass(cls, Imputer)]
SERIES = [name for name in IMPUTERS if name not in TABLES]
# Small settings: the contract holds however well an imputer is trained.
QUICK = {
    "mice": {"max_iter": 3},
    "missforest": {"n_estimators": 4, "max_iter": 2},
    "mixture": {"n_components": 3, "max_iter": 20},
    "gain": {"max_steps": 60, "alpha": 10.0},
    "miwae": {"max_steps": 60, "n_imputation": 20, "hidden_layer_sizes": 16},
    "gpvae": {"max_iter": 2, "hidden_size": 8},
    "gpvae_rows": {"max_iter": 2, "hidden_size": 8, "n_steps": 2},
    "brits": {"max_iter": 2, "hidden_size": 8},
    "saits": {"max_iter": 2, "hidden_size": 8},
}
EQUAL_LENGTHS = {"gpvae"}  # learn from series of equal length only


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
    """A table of which some entries are missing, in various ways."""
    x, _ = hide(low_rank(seed, n, D), {"sparse": 0.8, "dense": 0.05}.get(kind, 0.3), seed)
    if kind == "sparse":
        x[4:8] = np.nan  # rows, or a whole series
    if kind == "constant":
        x[:, 1] = np.where(np.isnan(x[:, 1]), np.nan, 7.0)
    if kind == "huge":
        x = 1e9 * x
    if kind == "tiny":
        x = 1e-9 * x
    return x


PATTERNS = ["plain", "sparse", "dense", "constant", "huge", "tiny"]
TRAIN, TEST = pattern("plain", 1), pattern("plain", 2, 24)


@functools.cache
def fitted(name):
    return make(name).fit(shaped(name, TRAIN))


every = pytest.mark.parametrize("name", list(IMPUTERS))
every_table = pytest.mark.parametrize("name", TABLES)
every_series = pytest.mark.parametrize("name", SERIES)


@pytest.mark.parametrize("kind", PATTERNS)
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
def test_gaps_where_training_had_none(name):
    imputer = make(name).fit(shaped(name, low_rank(0, 48, D)))
    assert np.isfinite(imputer.transform(shaped(name, TEST))).all()


@every
def test_same_seed_same_output(name):
    one, other = (make(name).fit_transform(shaped(name, TRAIN)) for _ in range(2))
    assert np.array_equal(one, other)
    again = fitted(name)
    first = again.transform(shaped(name, TEST))
    assert np.array_equal(again.transform(shaped(name, TEST)), first)


@every
def test_the_global_seed_is_left_alone(name):
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    make(name).fit_transform(shaped(name, TRAIN))
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@every
def test_other_rows_of_the_test_set_do_not_matter(name):
    """The same gaps, other values: the first row (series) is filled as before."""
    imputer, other = fitted(name), TEST.copy()
    kept = 1 if name in TABLES else STEPS
    other[kept:] = 3.0 * other[kept:] - 50.0
    filled = (flat(imputer.transform(shaped(name, x)))[:kept] for x in (TEST, other))
    np.testing.assert_allclose(*filled, rtol=1e-5)


@every
def test_row_by_row_equals_all_at_once(name):
    imputer, x = fitted(name), shaped(name, pattern("sparse", 2, 24))
    together = imputer.transform(x)
    alone = np.concatenate([imputer.transform(x[i : i + 1]) for i in range(len(x))])
    np.testing.assert_allclose(alone, together, rtol=1e-5)


@every
def test_columns_entirely_missing_are_kept(name):
    train, test = TRAIN.copy(), TEST.copy()
    train[:, 2] = np.nan
    imputer = make(name).fit(shaped(name, train))
    test[:, 3] = np.nan  # seen in training, not here; column 2 the other way round
    filled = flat(imputer.transform(shaped(name, test)))
    assert filled.shape == test.shape
    assert np.isfinite(filled).all()
    assert np.array_equal(filled[:, 2][~np.isnan(test[:, 2])], test[:, 2][~np.isnan(test[:, 2])])
    if name in TABLES:  # series may fill it with what their own steps hold
        assert (filled[:, 2][np.isnan(test[:, 2])] == 0).all()


@every_table
@pytest.mark.parametrize("x", [np.array([[1.0, np.nan]]), np.full((3, 2), np.nan), [[1.0], [2.0]]])
def test_tables_of_next_to_nothing(name, x):
    filled = make(name).fit_transform(np.asarray(x))
    assert np.isfinite(filled).all()


@every
def test_arrays_keep_their_width(name):
    for dtype in (np.float32, np.float64):
        x = shaped(name, TEST.astype(dtype))
        filled = fitted(name).transform(x)
        assert filled.dtype == dtype
        assert np.array_equal(filled[~np.isnan(x)], x[~np.isnan(x)])


def frame(x, dtype=np.float64):
    names = [f"c{j}" for j in range(x.shape[1])]
    index = pd.Index([f"row {i}" for i in range(len(x))], name="who")
    return pd.DataFrame(x.astype(dtype), columns=names, index=index)


@every_table
def test_frames_keep_index_columns_and_width(name):
    train, test = frame(TRAIN), frame(TEST).iloc[::-1]
    test["c1"] = test["c1"].astype(np.float32)
    imputer = make(name).fit(train)
    filled = imputer.transform(test)
    assert filled.index.equals(test.index)
    assert filled.index.name == "who"
    assert list(filled.columns) == list(test.columns)
    assert filled.dtypes.tolist() == test.dtypes.tolist()
    assert not filled.isna().any(axis=None)
    seen = test.notna()
    assert filled.where(seen).equals(test)
    assert list(imputer.feature_names_in_) == list(train.columns)


@every_table
def test_a_frame_is_filled_as_its_array(name):
    filled = make(name).fit(frame(TRAIN)).transform(frame(TEST))
    assert np.array_equal(filled.to_numpy(), fitted(name).transform(TEST))


@every_table
@pytest.mark.parametrize("rows", [24, D])  # as many rows as columns: which are the columns?
def test_polars(name, rows):
    names = [f"c{j}" for j in range(D)]
    x = pl.DataFrame(TEST[:rows], schema=names, orient="row").cast({"c1": pl.Float32})
    x = x.fill_nan(None)
    filled = make(name).fit(frame(TRAIN)).transform(x)
    assert isinstance(filled, pl.DataFrame)
    assert filled.schema == x.schema
    assert filled.null_count().sum_horizontal()[0] == 0
    assert np.isfinite(filled.to_numpy()).all()
    for column in names:
        seen = x[column].is_not_null()
        assert filled[column].filter(seen).equals(x[column].filter(seen))


@every_table
def test_wrong_columns(name):
    imputer = make(name).fit(frame(TRAIN))
    check_error(
        lambda: imputer.transform(frame(TEST)[["c1", "c0", "c2", "c3", "c4"]]),
        "they are 'c1', 'c0'",
    )
    check_error(lambda: imputer.transform(frame(TEST).drop(columns="c4")), "in that order")
    check_error(lambda: imputer.transform(TEST[:, :3]), "X has 3 features", "expecting 5")


@every
def test_text_infinity_and_emptiness(name):
    texts = shaped(name, TRAIN).astype(object)
    texts.reshape(-1, D)[0, 1] = "high"
    infinite = TRAIN.copy()
    infinite[3, 2] = np.inf
    for fit in (make(name).fit, fitted(name).transform):
        check_error(lambda fit=fit: fit(texts), "column '1' holds text")
        check_error(lambda fit=fit: fit(shaped(name, infinite)), "column 2 holds +inf")
        check_error(lambda fit=fit: fit(shaped(name, TRAIN)[:0]))


@every
def test_axes(name):
    wrong = TRAIN.reshape(-1, STEPS, D) if name in TABLES else TRAIN
    check_error(lambda: make(name).fit(wrong), "3D" if name in TABLES else "2D")


@every
def test_not_fitted(name):
    with pytest.raises(NotFittedError):
        make(name).transform(shaped(name, TEST))


@every
def test_scikit_learn_copies_it(name):
    imputer = make(name)
    copied = clone(imputer)
    assert copied.get_params() == imputer.get_params()
    assert "random_state" in imputer.get_params()
    assert repr(copied.set_params(random_state=7)).endswith("random_state=7)")
    clone(fitted(name)).fit(shaped(name, TRAIN))


@every_table
def test_in_a_pipeline(name):
    y = np.arange(len(TRAIN)) % 2
    model = make_pipeline(make(name), LogisticRegression(max_iter=50))
    model.fit(frame(TRAIN) / 100, y)
    assert model.predict(frame(TEST) / 100).shape == (len(TEST),)


@every
@pytest.mark.parametrize("random_state", [None, 3, np.random.RandomState(0)])
def test_seeds(name, random_state):
    imputer = make(name, random_state=random_state)
    assert np.isfinite(imputer.fit_transform(shaped(name, TRAIN))).all()


@every
def test_wrong_seed(name):
    check_error(
        lambda: make(name, random_state="luck").fit(shaped(name, TRAIN)),
        "random_state is 'luck'",
        kind=ParameterError,
    )


@every
def test_refitting_forgets(name):
    twice = make(name)
    twice.fit(shaped(name, pattern("plain", 5)[:, :3])).fit(shaped(name, TRAIN))
    x = shaped(name, TEST)
    assert np.array_equal(twice.transform(x), fitted(name).transform(x))


def test_unknown_names_list_the_known():
    check_error(lambda: make_imputer("magic"), "'magic'", "zero, mean", "em", kind=ParameterError)
    check_error(lambda: make_imputer(["em"]), "no imputer ['em']", kind=ParameterError)


def test_unknown_options_list_the_known():
    check_error(
        lambda: make_imputer("em", rigde=2.0),
        "'em' has no option 'rigde'",
        "ridge",
        kind=ParameterError,
    )


def test_options_arrive():
    assert make_imputer("em", ridge=2.0, random_state=0).get_params()["ridge"] == 2.0


def test_errors_are_value_errors():
    with pytest.raises(ValueError, match="infinity"):
        make_imputer("mean").fit([[np.inf]])
    assert issubclass(InputError, ValueError)


@every_series
def test_padding_is_neither_seen_nor_touched(name):
    if name in EQUAL_LENGTHS:
        pytest.skip("refuses them; test_gpvae.py")
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
