"""make_missing: rates are met, old gaps stay, data of every kind comes back with gaps."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imputefree.errors import InputError, ParameterError
from imputefree.missingness import MECHANISMS, make_missing
from imputefree.missingness._grid import read_grid
from tests.missingness.made import frame, images, table
from tests.refusals import check_error

OPTIONS = {
    "blocks": {"groups": [[0, 1], [2, 3], [4]]},
    "mar": {"seen": [0]},
    "mnist_mar": {"shape": (6, 1), "seen_share": 0.2},
}
EACH = [(name, OPTIONS.get(name, {})) for name in MECHANISMS]


@pytest.mark.parametrize("n", [60, 600])
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.5, 0.7])
@pytest.mark.parametrize(("name", "options"), EACH)
def test_the_rate_is_met_within_one_percent(name, options, rate, n):
    missing = make_missing(name, table(n), rate, **options)
    assert abs(missing.rate - rate) <= 0.01
    assert missing.rate == pytest.approx((~missing.observed).mean())
    assert missing.missing_by_column.mean() == pytest.approx(missing.rate)


@pytest.mark.parametrize("name", ["mcar", "mar", "mnar_self", "mnar_quantile", "mnar_hidden"])
@pytest.mark.parametrize("n", [3, 7, 20])
def test_the_count_is_exact_if_entries_go_one_by_one(name, n):
    for rate in (0.1, 0.25, 0.5):
        X = table(n, d=5)
        missing = (
            make_missing(name, X, rate, seen=[2]) if name == "mar" else make_missing(name, X, rate)
        )
        assert (~missing.observed).sum() == round(rate * X.size)


@pytest.mark.parametrize(("name", "options"), EACH)
def test_entries_that_are_missing_already_stay_missing_and_count(name, options):
    X = table(1000)
    X[np.random.default_rng(3).random(len(X)) < 0.3, 3] = np.nan
    missing = make_missing(name, X, 0.4, **options)
    assert not missing.observed[np.isnan(X)].any()
    assert abs(missing.rate - 0.4) <= 0.01
    np.testing.assert_array_equal(np.isnan(missing.apply(X)), ~missing.observed)


@pytest.mark.parametrize(("name", "options"), EACH)
def test_the_same_seed_gives_the_same_gaps(name, options):
    X = table(300)
    before, state = X.copy(), np.random.get_state()[1].copy()  # noqa: NPY002
    first = make_missing(name, X, 0.3, 5, **options).observed
    np.testing.assert_array_equal(first, make_missing(name, X, 0.3, 5, **options).observed)
    if name != "mnar_quantile":  # without ties nothing of it is random
        assert (first != make_missing(name, X, 0.3, 6, **options).observed).any()
    np.testing.assert_array_equal(state, np.random.get_state()[1])  # noqa: NPY002
    np.testing.assert_array_equal(X, before)


def test_random_states():
    X = table(50)
    for state in (np.random.RandomState, np.random.default_rng):
        one, two = (make_missing("mcar", X, random_state=state(1)).observed for _ in range(2))
        np.testing.assert_array_equal(one, two)
    make_missing("mcar", X, random_state=None)
    for wrong in (-1, 1.5, "0", True):
        check_error(
            lambda wrong=wrong: make_missing("mcar", X, random_state=wrong),
            f"random_state is {wrong!r}. It must be None, a whole number, at least 0",
            kind=ParameterError,
        )


@settings(derandomize=True, max_examples=30, deadline=None)
@given(
    st.integers(2, 40),
    st.integers(2, 6),
    st.floats(0, 0.5),
    st.sampled_from(["mcar", "mar", "mnar_self", "mnar_quantile", "mnar_hidden"]),
    st.floats(-1e300, 1e300),
)
def test_any_small_table(n, d, rate, name, outlier):
    X = np.random.default_rng(n).integers(0, 3, (n, d)).astype(float)
    X[0] = outlier
    X[1] = 1.0
    options = {"seen": [0]} if name == "mar" else {}
    missing = make_missing(name, X, rate, n, **options)
    assert (~missing.observed).sum() == round(rate * X.size)
    assert np.isfinite(missing.drivers.to_numpy()).all() or name == "mnar_quantile"


@pytest.mark.parametrize("name", ["mcar", "mar", "mnar_self", "mnar_hidden"])
def test_series_are_read_step_by_step(name):
    X = table(1200).reshape(60, 20, 6)
    missing = make_missing(name, X, 0.3)
    assert missing.observed.shape == X.shape
    flat = make_missing(name, X.reshape(1200, 6), 0.3)
    np.testing.assert_array_equal(missing.observed.reshape(1200, 6), flat.observed)


@pytest.mark.parametrize("name", ["mcar", "series_rates", "bursts", "mnar_self"])
def test_padding_does_not_count(name):
    X = table(1200).reshape(60, 20, 6)
    lengths = np.random.default_rng(0).integers(1, 21, 60)
    valid = np.arange(20) < lengths[:, None]
    missing = make_missing(name, X, 0.4, lengths=lengths)
    assert not missing.observed[~valid].any()
    assert (~missing.observed[valid]).mean() == pytest.approx(missing.rate)
    assert abs(missing.rate - 0.4) < 0.01


def refused(*parts, name="mcar", X=None, rate=0.3, kind=ParameterError, **options):
    X = table(20) if X is None else X
    check_error(lambda: make_missing(name, X, rate, **options), *parts, kind=kind)


def test_bad_names_and_options():
    refused(
        "there is no mechanism 'magic'. Valid names are mcar, mar, mnar_self, mnar_quantile,"
        " mnar_hidden, blocks, mnist_mar, series_rates, bursts. Pass one of these names.",
        name="magic",
    )
    refused("there is no mechanism None", name=None)
    refused(
        "the mechanism 'mcar' has no option 'seen'. Its options are columns, keep_one."
        " Leave it out, or pass one of these.",
        seen=[0],
    )


@pytest.mark.parametrize("rate", [-0.1, 1.1, np.nan, "0.3", True, [0.3]])
def test_bad_rates(rate):
    refused(f"rate is {rate!r}. It must be a number in [0, 1]. Pass such", rate=rate)


def test_rates_that_cannot_be_reached():
    refused(
        "rate 0.9 cannot be reached: 3 of 6 columns may lose entries, 3 drive them."
        " At most 0.5 of all entries can be missing here. Lower rate, or let more entries go"
        " missing.",
        name="mar",
        rate=0.9,
        seen=[0, 1, 2],
    )
    gappy = table(20)
    gappy[:, :3] = np.nan
    refused(
        "rate is 0.3, but 0.5 of X is missing already. The rate counts all missing entries, old"
        " and new. Raise rate.",
        X=gappy,
    )


def test_bad_data():
    refused("column 0 holds +inf", X=np.array([[np.inf, 1.0]]), kind=InputError)
    refused("Found a table with 0 sample(s)", X=np.empty((0, 3)), kind=InputError)
    refused("Expected 2D array, got 1D array", X=np.ones(3), kind=InputError)
    refused("cannot be read as a table", X=[[1, 2], [3]], kind=InputError)
    refused("lengths is given, but X is not a padded", lengths=[1])
    for lengths in ([1, 2, 3, 6], [1, 2], [1.5] * 4):
        refused("lengths h", X=np.ones((4, 5, 2)), lengths=lengths, kind=InputError)
    strings = [["a", 1.0], ["b", 2.0]]
    refused(
        "column 0 holds strings. Only numbers can", name="mnar_self", X=strings, kind=InputError
    )


def test_mnist_in_uint8():
    X = (255 * images(300, 28)).astype(np.uint8).reshape(300, 784)
    for name in ("mcar", "mar", "mnar_self", "mnist_mar"):
        missing = make_missing(name, X, 0.3)
        assert abs(missing.rate - 0.3) < 0.001
        assert missing.apply(X).dtype == np.float32


def test_the_report_says_what_drives_what():
    X = frame()
    report = make_missing("mar", X, 0.3, seen=["age"], strength=1.5).report()
    assert report.loc["age"].tolist() == [0, "nothing"]
    assert set(report["driven by"][1:]) <= {"'age' (+1.5)", "'age' (-1.5)"}
    assert report["missing"].tolist() == [0, 0.4, 0.4, 0.4]
    self_masked = make_missing("mnar_self", X[["age", "ph"]], side="low").report()
    assert set(self_masked["driven by"]) == {"itself (-2)"}
    assert set(make_missing("mcar", X).report()["driven by"]) == {"nothing"}


def test_the_report_names_the_strongest_drivers_only():
    missing = make_missing("mar", table(100, 8), 0.1, seen=[0, 1, 2, 3, 4])
    row = missing.drivers.iloc[7].abs()
    line = missing.report()["driven by"].iloc[7]
    assert line.endswith(") and 2 more")
    assert line.startswith(f"'{row.idxmax()}' (")


def test_frames_stay_frames_with_names_index_and_dtypes():
    X = frame().assign(
        dose=pd.array([1] * 200, "Int64"), ward=pd.Categorical(["a", "b"] * 100), n=np.int32(3)
    )
    before = X.copy()
    missing = make_missing("mcar", X, 0.3, columns=["age", "ph", "ill", "sex", "dose", "ward"])
    gappy = missing.apply(X)
    pd.testing.assert_frame_equal(X, before)
    assert list(gappy.columns) == list(X.columns)
    assert gappy.index.equals(X.index)
    np.testing.assert_array_equal(gappy.notna(), missing.observed)
    kinds = {name: str(kind) for name, kind in gappy.dtypes.items()}
    assert kinds["age"] == "float64"
    assert kinds["ill"] == "boolean"
    for name in ("ph", "sex", "dose", "ward", "n"):
        assert gappy[name].dtype == X[name].dtype
    for name in X.columns:
        seen = missing.observed[:, list(X.columns).index(name)]
        assert (gappy[name][seen] == X[name][seen]).all()


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [("f4", "f4"), ("f8", "f8"), ("u1", "f4"), ("i8", "f8"), ("i4", "f8"), ("?", "f4")],
)
def test_arrays_keep_their_precision(kind, wanted):
    X = (table(50) * 3).astype(kind)
    missing = make_missing("mcar", X)
    gappy = missing.apply(X)
    assert gappy.dtype == wanted
    np.testing.assert_array_equal(gappy[missing.observed], X[missing.observed].astype(wanted))
    assert np.isnan(gappy[~missing.observed]).all()


def test_objects_get_none():
    X = np.array([["a", 1.0], ["b", 2.0]], dtype=object)
    gappy = make_missing("mcar", X, 0.5).apply(X)
    assert sum(value is None for value in gappy.ravel()) == 2


def test_polars_frames():
    pl = pytest.importorskip("polars")
    X = pl.DataFrame({"age": [31, 50, 47, 62], "sex": ["f", "m", "m", "f"], "ill": [True] * 4})
    missing = make_missing("mcar", X, 0.5)
    gappy = missing.apply(X)
    assert gappy.schema == X.schema
    np.testing.assert_array_equal(
        np.column_stack([column.is_not_null() for column in gappy.get_columns()]), missing.observed
    )


def test_gaps_can_be_put_into_other_data_of_the_shape_only():
    missing = make_missing("mcar", table(20, 3))
    assert np.isnan(missing.apply(np.zeros((20, 3)))).sum() == 18
    check_error(
        lambda: missing.apply(np.zeros((20, 2))),
        "the gaps were made for data of shape (20, 3), but X has shape (20, 2). Gaps fit data of"
        " the shape they were made for.",
    )
    series = make_missing("mcar", [table(4, 2), table(5, 2)])
    check_error(
        lambda: series.apply([table(4, 2)]), "made for 2 series, but X is not a list of as many"
    )


def test_it_can_be_pickled_and_not_changed():
    missing = make_missing("mar", frame())
    again = pickle.loads(pickle.dumps(missing))
    np.testing.assert_array_equal(again.observed, missing.observed)
    with pytest.raises(AttributeError):
        missing.rate = 0.5


def test_masked_arrays_have_gaps_where_they_are_masked():
    X = np.ma.masked_greater(np.array([[1.0, 2.0], [3.0, 4.0]]), 3.5)
    np.testing.assert_array_equal(read_grid(X).present, [[True, True], [True, False]])


def test_scaled_columns_have_mean_0_and_deviation_1():
    X = table(500)
    X[:, 1], X[:5, 0] = 7.0, np.nan
    X[7, 2] = 1e300
    grid = read_grid(X)
    assert not grid.scaled(1).any()
    assert not grid.varies(1)
    for j in (0, 2, 3):
        seen = grid.scaled(j)[grid.present[:, j]]
        assert abs(seen.mean()) < 1e-9
        assert seen.std() == pytest.approx(1)
    assert not grid.scaled(0)[:5].any()


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_lists_of_series_come_back_as_lists(kind):
    X = [kind(table(n, 3)) for n in (4, 1, 6)]
    grid = read_grid(X)
    assert grid.lengths.tolist() == [4, 1, 6]
    assert [mask.shape for mask in grid.restore(grid.present)] == [(4, 3), (1, 3), (6, 3)]


def test_padded_series_come_back_padded():
    X = table(40, 3).reshape(8, 5, 3)
    lengths = np.array([5, 1, 2, 3, 4, 5, 5, 1])
    grid = read_grid(X, lengths)
    assert len(grid.present) == lengths.sum()
    np.testing.assert_array_equal(
        grid.restore(grid.present)[:, :, 0], np.arange(5) < lengths[:, None]
    )


def test_bad_series():
    frames = [pd.DataFrame({"a": [1.0], "b": [1.0]}), pd.DataFrame({"b": [1.0], "a": [1.0]})]
    for X, words in (
        ([table(4, 3), table(4, 2)], "series 1 has 2 columns while series 0 has 3"),
        ([table(4, 3), np.ones((0, 3))], "series 1"),
        (frames, "series 1 and series 0 have different columns, or in another order"),
        ([frames[0], np.ones((1, 2))], "series 1 is an array while series 0 is"),
    ):
        check_error(lambda X=X: read_grid(X), words)
