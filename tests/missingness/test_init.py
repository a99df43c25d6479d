"""make_missing: the rate is met everywhere, old gaps stay, bad input is refused in words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imputefree.errors import InputError, ParameterError
from imputefree.missingness import MECHANISMS, make_missing
from tests.missingness.made import images, table
from tests.refusals import check_error

OPTIONS = {
    "blocks": {"groups": [[0, 1], [2, 3], [4]]},
    "mar": {"seen": [0]},
    "mnist_mar": {"shape": (6, 1), "seen_share": 0.2},
}
EACH = [(name, OPTIONS.get(name, {})) for name in MECHANISMS]


@pytest.mark.parametrize("n", [60, 1500])
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.3, 0.5, 0.7])
@pytest.mark.parametrize(("name", "options"), EACH)
def test_the_rate_is_met_within_one_percent(name, options, rate, n):
    for seed in range(3):
        X = table(n, seed=seed)
        missing = make_missing(name, X, rate, seed, **options)
        assert abs(missing.rate - rate) <= 0.01
        assert missing.rate == pytest.approx((~missing.observed).mean())
        assert missing.missing_by_column.mean() == pytest.approx(missing.rate)


@pytest.mark.parametrize("name", ["mcar", "mar", "mnar_self", "mnar_quantile", "mnar_hidden"])
@pytest.mark.parametrize("n", [3, 7, 20])
def test_where_entries_go_one_by_one_the_count_is_exact(name, n):
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
def test_the_same_seed_gives_the_same_gaps_and_nobody_elses_draws_change(name, options):
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
            f"random_state is {wrong!r}. It must be None, a whole number of at least 0",
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
def test_padding_counts_for_nothing(name):
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


def test_refusals_of_names_and_options():
    refused(
        "there is no missingness 'magic'. Known are mcar, mar, mnar_self, mnar_quantile,"
        " mnar_hidden, blocks, mnist_mar, series_rates, bursts. Pass one of these names.",
        name="magic",
    )
    refused("there is no missingness None", name=None)
    refused(
        "the missingness 'mcar' has no option 'seen'. Its options are columns, keep_one."
        " Leave it out, or pass one of these.",
        seen=[0],
    )


@pytest.mark.parametrize("rate", [-0.1, 1.1, np.nan, "0.3", True, [0.3]])
def test_refusals_of_rates(rate):
    refused(f"rate is {rate!r}. It must be a number in [0, 1]. Pass rate= such", rate=rate)


def test_refusals_of_rates_that_cannot_be_reached():
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


def test_refusals_of_data():
    refused("column 0 holds +inf", X=np.array([[np.inf, 1.0]]), kind=InputError)
    refused("Found a table with 0 sample(s)", X=np.empty((0, 3)), kind=InputError)
    refused("Expected 2D array, got 1D array", X=np.ones(3), kind=InputError)
    refused("cannot be read as a table", X=[[1, 2], [3]], kind=InputError)
    refused("lengths is given, but X is no padded", lengths=[1])
    refused(
        "lengths does not fit X. It must hold 4 whole numbers from 1 to 5, one a series.",
        X=np.ones((4, 5, 2)),
        lengths=[1, 2, 3, 6],
    )
    texts = [["a", 1.0], ["b", 2.0]]
    refused("column 0 holds texts. Only numbers can", name="mnar_self", X=texts, kind=InputError)


def test_it_works_at_the_shape_of_mnist_with_small_numbers():
    X = (255 * images(300, 28)).astype(np.uint8).reshape(300, 784)
    for name in ("mcar", "mar", "mnar_self", "mnist_mar"):
        missing = make_missing(name, X, 0.3)
        assert abs(missing.rate - 0.3) < 0.001
        assert missing.apply(X).dtype == np.float32
