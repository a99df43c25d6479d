"""The classic imputers: how good they are, by their definition, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree.errors import ParameterError
from imputefree.lab.imputers import make_imputer
from imputefree.lab.imputers._classic import (
    MAX_BYTES,
    MAX_SECONDS,
    MICEImputer,
    MissForestImputer,
    NeighboursImputer,
    refuse_slow,
)
from tests.lab.imputers.made import hide, low_rank, scaled_rmse
from tests.refusals import check_error

X = low_rank(0)
GAPPY, MISSING = hide(X, 0.3, 0)


# How many times smaller than that of the mean the error must be.
@pytest.mark.parametrize(
    ("name", "factor"), [("em", 6.0), ("mice", 5.0), ("missforest", 2.5), ("knn", 2.0)]
)
def test_beats_the_mean_on_unseen_rows(name, factor):
    error, mean_error = (
        scaled_rmse(imputer.fit(GAPPY[:300]).transform(GAPPY[300:]), X[300:], MISSING[300:])
        for imputer in (make_imputer(name, random_state=0), make_imputer("mean"))
    )
    assert error * factor < mean_error


def naive_neighbours(train, rows, k):
    """By definition: mean squared distance over shared columns, donors that have the entry."""
    center, spread = np.nanmean(train, 0), np.nanstd(train, 0)
    donors, out = (train - center) / spread, (rows - center) / spread
    for row in out:
        shared = ~np.isnan(donors) & ~np.isnan(row)
        with np.errstate(invalid="ignore"):
            gap = np.where(shared, donors - row, 0.0)
            distance = (gap**2).sum(1) / shared.sum(1)
        for j in np.flatnonzero(np.isnan(row)):
            able = np.flatnonzero(~np.isnan(donors[:, j]) & shared.any(1))
            row[j] = donors[able[np.argsort(distance[able])[:k]], j].mean()
    return out * spread + center


@pytest.mark.parametrize("k", [1, 10])
def test_neighbours_follow_the_definition(k):
    train, rows = GAPPY[:100], GAPPY[200:230]
    assert (~np.isnan(rows)).any(1).all()
    actual = NeighboursImputer(n_neighbors=k).fit(train).transform(rows)
    np.testing.assert_allclose(actual, naive_neighbours(train, rows, k), rtol=1e-8)


@pytest.mark.slow
def test_mice_means_are_the_limit_of_averaged_draws():
    x = low_rank(0, 150, 6, noise=0.5)
    gappy, missing = hide(x, 0.3, 0)
    fitted = MICEImputer(max_iter=5, random_state=0).fit(gappy)
    means = fitted.transform(gappy)
    draws = {n: fitted.set_params(n_draws=n).transform(gappy) for n in (1, 16)}
    spread = {n: scaled_rmse(drawn, means, missing) for n, drawn in draws.items()}
    assert spread[16] < 0.4 * spread[1]  # noise falls with the root of the number: a quarter
    errors = {n: scaled_rmse(drawn, x, missing) for n, drawn in draws.items()}
    assert scaled_rmse(means, x, missing) < errors[1]
    assert errors[16] < errors[1]


def test_missforest_learns_nonlinear_relations():
    u = np.random.default_rng(0).uniform(-2, 2, size=(300, 1))
    x = np.hstack([u, u**2, np.sin(3 * u)])
    gappy, missing = hide(x, 0.15, 3)
    missing &= ~np.isnan(gappy[:, :1])  # the others are functions of the first
    forest = MissForestImputer(n_estimators=20, random_state=0).fit_transform(gappy)
    mice = MICEImputer(random_state=0).fit_transform(gappy)
    assert scaled_rmse(forest, x, missing) < 0.4 * scaled_rmse(mice, x, missing)


WIDE = np.broadcast_to(0.0, (60_000, 784))  # the shape of MNIST, without its memory


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (MICEImputer()._train, ("MICE on 60,000 x 784 would", "GiB", "n_nearest_features")),
        (MissForestImputer()._train, ("missForest on 60,000 x 784 would", "GiB", "allow_slow")),
        (NeighboursImputer()._complete, ("kNN from 60,000 training rows for 60,000 rows", "slow")),
    ],
)
def test_large_tables_are_refused_at_once(run, words):
    run.__self__.n_donors_ = 60_000
    check_error(lambda: run(WIDE, np.random.default_rng(0)), *words, kind=ParameterError)


def test_allow_slow(monkeypatch):
    monkeypatch.setattr("imputefree.lab.imputers._classic.MAX_SECONDS", 0)
    small = GAPPY[:30, :4]
    for cls in (NeighboursImputer, MICEImputer, MissForestImputer):
        check_error(lambda cls=cls: cls().fit_transform(small), "would take", kind=ParameterError)
    options = {"max_iter": 1, "allow_slow": True, "random_state": 0}
    assert not np.isnan(MICEImputer(**options).fit_transform(small)).any()
    assert not np.isnan(MissForestImputer(n_estimators=2, **options).fit_transform(small)).any()
    assert not np.isnan(NeighboursImputer(allow_slow=True).fit_transform(small)).any()


@pytest.mark.parametrize(
    ("seconds", "n_bytes", "words"),
    [
        (3600, 0, "T would take about 60 minutes. Tasks"),
        (3 * 3600, 0, "T would take about 3 hours. Tasks"),
        (1e6, 0, "T would take about 12 days. Tasks"),
        (1, 40 * 2**30, "T would take about 40 GiB of memory. Tasks"),
        (3 * 3600, 40 * 2**30, "T would take about 3 hours and about 40 GiB of memory. Tasks"),
    ],
)
def test_refusals_state_the_estimate(seconds, n_bytes, words):
    def run(allowed):
        refuse_slow("T", seconds=seconds, n_bytes=n_bytes, remedy="Use 'mean'", allowed=allowed)

    check_error(lambda: run(False), words, "Use 'mean', or pass allow_slow", kind=ParameterError)
    run(True)


def test_the_limits_themselves_are_allowed_and_nothing_beyond():
    limits = {"seconds": MAX_SECONDS, "n_bytes": MAX_BYTES}
    refuse_slow("T", **limits, remedy="", allowed=False)
    for name, limit in limits.items():
        with pytest.raises(ParameterError):
            refuse_slow("T", **limits | {name: limit * 1.001}, remedy="", allowed=False)
