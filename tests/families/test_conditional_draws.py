"""Draws given a row against dense Gaussians, roots of their CDF, and Bayes' rule."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

from imputefree.data import read_columns
from imputefree.families import ConditionalDraws, _conditional_draws
from tests.families.test_factor_mixture import dense


def table(n=400, seed=0):
    """Two related numbers, a number of three values and a category, with gaps."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "a": np.exp(a),
            "b": a + 0.5 * rng.normal(size=n),
            "few": np.clip(np.round(a + 0.5 * rng.normal(size=n)), -1, 1),
            "word": np.array(["x", "y", "z"], dtype=object)[
                np.clip(np.round(a + rng.normal(size=n)) + 1, 0, 2).astype(int)
            ],
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.2)


@pytest.fixture(scope="module")
def draws():
    return ConditionalDraws().fit(read_columns(table()), np.random.default_rng(0))


def dense_log_density(draws, x, seen):
    total = 0.0
    for k, weight in enumerate(draws.density.weights_):
        mean, covariance = dense(draws.density, k)
        total += weight * multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)]).pdf(
            x[seen]
        )
    return np.log(total)


def test_a_level_has_its_share_times_the_density_of_the_rest_given_it(draws):
    """p(v | x_o) ~ share_v p(x_o, v) / p(v), with dense Gaussians."""
    frame = table()
    values, observed = draws.entries(read_columns(frame))
    for name, j in (("few", 2), ("word", 3)):
        mine = draws.column_of == j
        for row in np.flatnonzero(frame[name].isna() & frame["a"].notna())[:5]:
            gap, donor, weight = draws.plausible(
                values, observed, np.array([row]), np.array([j]), np.array([0.5])
            )
            assert (gap == 0).all()
            shown = frame[name].to_numpy()[donor]
            shares = frame[name].value_counts(normalize=True)
            assert sorted(shown) == sorted(shares.index)
            expected = []
            for v, d in zip(shown, donor, strict=True):
                x = np.where(mine, draws.values[d], values[row]).astype(float)
                both = dense_log_density(draws, x, observed[row] | mine)
                expected.append(shares[v] * np.exp(both - dense_log_density(draws, x, mine)))
            np.testing.assert_allclose(weight, np.array(expected) / sum(expected), atol=1e-10)


def excess(score, share, p, mean, deviation):
    return p @ norm.cdf((score - mean) / deviation) - share


def test_the_quantiles_of_a_number_are_roots_of_its_distribution(draws):
    """The donor has the rank that the normal score has, among the training values."""
    frame = table()
    values, observed = draws.entries(read_columns(frame))
    rows, shares = np.flatnonzero(frame["a"].isna())[:6], np.array([0.1, 0.5, 0.93])
    gap, donor, weight = draws.plausible(values, observed, rows, np.zeros(6, int), shares)
    assert (weight == 1 / 3).all()
    np.testing.assert_array_equal(gap, np.repeat(np.arange(6), 3))
    p, mean, variance = draws.density.conditionals(values[rows], observed[rows])
    entry = int(np.flatnonzero(draws.column_of == 0)[0])
    known = np.sort(frame["a"].dropna().to_numpy())
    margins = (
        draws.density.means_,
        (draws.density.loadings_**2).sum(2) + draws.density.noise_,
    )
    for i in range(6):
        parts = p[i], mean[i, :, entry], np.sqrt(variance[i, :, entry])
        for q, share in enumerate(shares):
            score = brentq(excess, -9, 9, args=(share, *parts))
            mixture = zip(draws.density.weights_, *(x[:, entry] for x in margins), strict=True)
            rank = sum(w * norm.cdf((score - m) / np.sqrt(v)) for w, m, v in mixture)
            expected = known[int(rank * len(known))]
            assert frame["a"][donor[3 * i + q]] == expected


def test_with_nothing_known_values_are_those_of_the_column(draws):
    frame = table()
    values, observed = draws.entries(read_columns(frame))
    nothing = np.zeros_like(observed[:1])
    gap, donor, weight = draws.plausible(
        values[:1], nothing, np.array([0, 0]), np.array([2, 3]), np.array([0.5])
    )
    for g, name in enumerate(("few", "word")):
        shares = frame[name].value_counts(normalize=True)
        shown = frame[name].to_numpy()[donor[gap == g]]
        np.testing.assert_allclose(weight[gap == g], shares[shown].to_numpy(), atol=1e-12)


def test_ties_of_a_number_have_their_share():
    """A number that is mostly 0: eight of a hundred draws are something else, as in training."""
    rng = np.random.default_rng(0)
    gains = np.where(rng.random(1000) < 0.08, rng.exponential(1000, 1000), 0.0)
    frame = pd.DataFrame({"gains": gains, "age": rng.normal(size=1000) + (gains > 0)})
    draws = ConditionalDraws().fit(read_columns(frame), rng)
    entries = draws.entries(read_columns(pd.DataFrame({"gains": [np.nan], "age": [np.nan]})))
    shares = (np.arange(1000) + 0.5) / 1000
    _, donor, _ = draws.plausible(*entries, np.zeros(1, int), np.zeros(1, int), shares)
    np.testing.assert_allclose(np.sort(gains[donor]), np.sort(gains))


def test_draws_have_the_probabilities_of_plausible_values(draws):
    frame, n = table(), 4000
    values, observed = draws.entries(read_columns(frame))
    row = int(np.flatnonzero(frame["word"].isna() & frame["a"].isna())[0])
    for j, name in ((3, "word"), (0, "a")):
        cells = np.full(n, row), np.full(n, j)
        drawn = draws.draw(values, observed, *cells, np.random.default_rng(0))
        shares = (np.arange(100) + 0.5) / 100
        _, donor, weight = draws.plausible(values, observed, np.array([row]), np.array([j]), shares)
        codes = pd.Series(frame[name]).rank(method="dense").to_numpy()
        for level in np.quantile(codes[donor], [0.2, 0.5, 0.8]):
            expected = weight[codes[donor] <= level].sum()
            assert abs((codes[drawn] <= level).mean() - expected) < 0.04


def test_blocks_of_gaps_give_draws_of_the_same_distribution(draws, monkeypatch):
    frame, n = table(), 600
    entries = draws.entries(read_columns(frame))
    row = np.full(n, int(np.flatnonzero(frame["word"].isna())[0]))
    monkeypatch.setattr(_conditional_draws, "BLOCK", 100)
    words = frame["word"].to_numpy()
    blocks = words[draws.draw(*entries, row, np.full(n, 3), np.random.default_rng(1))]
    _, donor, weight = draws.plausible(*entries, row[:1], np.array([3]), np.array([0.5]))
    for word, p in zip(words[donor], weight, strict=True):
        assert abs((blocks == word).mean() - p) < 0.08
    none = np.empty(0, int)
    assert len(draws.draw(*entries, none, none, np.random.default_rng(1))) == 0


def test_known_entries_move_the_draws_of_the_others(draws):
    frame = pd.DataFrame({"a": [8.0, 0.1], "b": np.nan, "few": np.nan, "word": [None, None]})
    entries = draws.entries(read_columns(frame))
    rng, n = np.random.default_rng(0), 500
    rows = np.repeat([0, 1], n)
    b = table()["b"].to_numpy()[draws.draw(*entries, rows, np.ones(2 * n, int), rng)]
    assert b[:n].mean() > 1 > -1 > b[n:].mean()


def test_a_column_of_one_value_is_always_that():
    frame = table(60).assign(same=np.where(np.arange(60) % 2, 7.0, np.nan))
    draws = ConditionalDraws().fit(read_columns(frame), np.random.default_rng(0))
    entries = draws.entries(read_columns(frame))
    cells = np.array([0, 0, 2]), np.array([3, 4, 4])
    gap, donor, weight = draws.plausible(*entries, *cells, np.array([0.5]))
    assert weight[gap == 0].sum() == pytest.approx(1)
    assert weight[gap > 0].tolist() == [1.0, 1.0]
    assert frame["same"].to_numpy()[donor[gap > 0]].tolist() == [7.0, 7.0]


def test_a_column_without_values_has_no_plausible_one():
    frame = table(60).assign(never=np.nan)
    draws = ConditionalDraws().fit(read_columns(frame), np.random.default_rng(0))
    entries = draws.entries(read_columns(frame))
    row, column = np.array([0, 1]), np.array([4, 0])
    assert draws.draw(*entries, row, column, np.random.default_rng(0))[0] == -1
    gap, _, weight = draws.plausible(*entries, row, column, np.array([0.5]))
    assert gap.tolist() == [1]
    assert weight.tolist() == [1.0]
    among = np.array([1, 0, 2, 0]), np.array([2, 4, 3, 4])  # cells with levels and cells without
    gap, _, weight = draws.plausible(*entries, *among, np.array([0.5]))
    for at in (0, 2):
        cell = among[0][[at]], among[1][[at]]
        np.testing.assert_array_equal(
            weight[gap == at], draws.plausible(*entries, *cell, np.array([0.5]))[2]
        )
    assert set(gap.tolist()) == {0, 2}


@pytest.mark.parametrize(("rows", "width", "shape"), [(150, 2, (1, 2, 2)), (299, 45, (2, 45, 4))])
def test_large_tables_have_more_components_and_factors(rows, width, shape):
    X = np.random.default_rng(0).normal(size=(rows, width))
    draws = ConditionalDraws().fit(read_columns(X), np.random.default_rng(0))
    assert draws.density.loadings_.shape == shape


def test_a_number_of_ten_values_is_drawn_like_a_category():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(110) % 10, np.arange(110) % 11, rng.normal(size=110)])
    draws = ConditionalDraws().fit(read_columns(X.astype(float)), rng)
    assert draws.ranked.tolist() == [False, True, True]
    entries = draws.entries(read_columns(np.full((1, 3), np.nan)))
    cell = np.zeros(1, int)
    _, donor, weight = draws.plausible(*entries, cell, cell, np.array([0.5]))
    assert sorted(X[donor, 0]) == list(range(10))
    np.testing.assert_allclose(weight, 0.1)


def test_the_entry_of_the_most_common_level_is_left_out():
    words = pd.DataFrame({"word": [*"aabbbbc" * 9], "x": np.arange(63.0), "other": [*"ppq" * 21]})
    draws = ConditionalDraws().fit(read_columns(words), np.random.default_rng(0))
    encoder = draws.inputs.encoder
    every = encoder.input_names[: encoder.n_entries]
    kept = [every[j] for j in draws._kept_entries()]
    assert set(every) - set(kept) == {"word=b", "other=p"}


@pytest.mark.parametrize("width", [1.0, 0.1])
def test_the_outermost_quantiles_are_the_outermost_values(draws, width):
    """Also of a narrow density, for which all of the column lies below the highest score."""
    frame, draws = table(), copy.deepcopy(draws)
    draws.density.loadings_ *= width
    draws.density.noise_ *= width**2
    values, observed = draws.entries(read_columns(frame))
    row = np.flatnonzero(frame["a"].isna())[:1]
    ends = np.array([0.0, 1.0])
    _, donor, _ = draws.plausible(values, np.zeros_like(observed), row, np.zeros(1, int), ends)
    assert frame["a"][donor].tolist() == [frame["a"].min(), frame["a"].max()]
