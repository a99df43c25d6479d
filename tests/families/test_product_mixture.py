"""Mixtures against plain loops in double precision: density, one EM step, posterior, limits."""

from __future__ import annotations

from math import exp, log, pi

import numpy as np
import pytest

from imputefree.families import Background, Mixture, _product_mixture
from imputefree.families._product_mixture import EDGE

KINDS = ("bernoulli", "gaussian")


def made(kind, n=40, d=5, missing=0.4, seed=0):
    """Random entries with gaps; the last row is empty."""
    rng = np.random.default_rng(seed)
    values = rng.random((n, d)) if kind == "bernoulli" else rng.normal(3.0, 2.0, (n, d))
    observed = rng.random((n, d)) >= missing
    observed[-1] = False
    return values, observed


def fitted(kind, k=3, seed=0, dtype=np.float64, **options):
    values, observed = made(kind)
    model = Mixture(k, kind=kind, dtype=dtype, rng=np.random.default_rng(seed), **options)
    return model.fit(values, observed), values, observed


def density(x, mean, variance, kind):
    """p(x) of one entry under one component."""
    if kind == "bernoulli":
        return exp(x * log(mean) + (1 - x) * log(1 - mean))
    return exp(-((x - mean) ** 2) / (2 * variance)) / (2 * pi * variance) ** 0.5


def joint(model, x, seen):
    """p(k, observed entries) of one row, for each component."""
    found = []
    for k, weight in enumerate(model.weights_):
        p = weight
        for j in np.flatnonzero(seen):
            p *= density(x[j], model.means_[k, j], model.variances_[k, j], model.kind)
        found.append(p)
    return np.array(found)


@pytest.mark.parametrize("kind", KINDS)
class TestDefinitions:
    def test_log_likelihood(self, kind):
        model, values, observed = fitted(kind)
        by_hand = [log(joint(model, x, m).sum()) for x, m in zip(values, observed, strict=True)]
        np.testing.assert_allclose(model.log_likelihood(values, observed), by_hand, atol=1e-12)

    def test_responsibilities_and_posterior_mean(self, kind):
        model, values, observed = fitted(kind, n_members=2)
        rows = [joint(model, x, m) for x, m in zip(values, observed, strict=True)]
        shares = np.array([p / p.sum() for p in rows])
        np.testing.assert_allclose(model.responsibilities(values, observed), shares, atol=1e-12)
        means = [
            [sum(r[k] * model.means_[k, j] for k in range(len(r))) for j in range(5)]
            for r in shares
        ]
        np.testing.assert_allclose(model.posterior_mean(values, observed), means, atol=1e-12)

    def test_one_step_of_em(self, kind):
        """The step from max_iter=2 to max_iter=3, by loops over rows, columns and components."""
        smoothing = 1.5
        before, values, observed = fitted(kind, max_iter=2, tol=0.0, smoothing=smoothing)
        after, _, _ = fitted(kind, max_iter=3, tol=0.0, smoothing=smoothing)
        base = Background.of(values, observed, kind)
        rows = [joint(before, x, m) for x, m in zip(values, observed, strict=True)]
        share = np.array([p / p.sum() for p in rows])
        weight = np.array([share[:, k].sum() + smoothing for k in range(3)])
        np.testing.assert_allclose(after.weights_, weight / weight.sum(), rtol=1e-10)
        for k in range(3):
            for j in range(5):
                seen = [i for i in range(len(values)) if observed[i, j]]
                n = sum(share[i, k] for i in seen) + smoothing
                mean = sum(share[i, k] * values[i, j] for i in seen) + smoothing * base.mean[j]
                mean /= n
                assert after.means_[k, j] == pytest.approx(mean, rel=1e-10)
                if kind == "gaussian":
                    spread = sum(share[i, k] * (values[i, j] - mean) ** 2 for i in seen)
                    spread += smoothing * (base.variance[j] + (base.mean[j] - mean) ** 2)
                    assert after.variances_[k, j] == pytest.approx(spread / n, rel=1e-9)

    def test_objective_is_likelihood_of_rows_and_pseudo_rows(self, kind):
        smoothing = 0.7
        model, values, observed = fitted(kind, max_iter=3, tol=0.0, smoothing=smoothing)
        base = Background.of(values, observed, kind)
        expected = sum(log(joint(model, x, m).sum()) for x, m in zip(values, observed, strict=True))
        for k in range(3):
            pseudo = log(model.weights_[k])
            for j in range(5):
                # The mean log-density over the background, which is a quadratic or linear in x:
                # two points at one deviation each side have its first two moments.
                mean, variance = model.means_[k, j], model.variances_[k, j]
                step = 0.0 if kind == "bernoulli" else base.variance[j] ** 0.5
                for x in (base.mean[j] - step, base.mean[j] + step):
                    pseudo += 0.5 * log(density(x, mean, variance, kind))
            expected += smoothing * pseudo
        assert model.history_[0][-1] == pytest.approx(expected, rel=1e-10)

    def test_marginalising_a_column_equals_dropping_it(self, kind):
        model, values, observed = fitted(kind)
        observed[:, 2] = False
        kept = [0, 1, 3, 4]
        smaller = Mixture(3, kind=kind, dtype=np.float64)
        smaller.weights_, smaller.center_ = model.weights_, model.center_[kept]
        smaller.means_, smaller.variances_ = model.means_[:, kept], model.variances_[:, kept]
        np.testing.assert_allclose(
            model.log_likelihood(values, observed),
            smaller.log_likelihood(values[:, kept], observed[:, kept]),
            rtol=1e-12,
        )

    def test_a_density_sums_to_one(self, kind):
        model, _, _ = fitted(kind)
        seen = np.array([[True, False, False, False, False]])
        grid = np.array([0.0, 1.0]) if kind == "bernoulli" else np.arange(-60.0, 60.0, 0.01)
        rows = np.zeros((len(grid), 5))
        rows[:, 0] = grid
        mass = np.exp(model.log_likelihood(rows, np.repeat(seen, len(grid), 0))).sum()
        assert mass * (1.0 if kind == "bernoulli" else 0.01) == pytest.approx(1.0)

    def test_an_empty_row_carries_no_information(self, kind):
        model, values, observed = fitted(kind)
        assert model.log_likelihood(values, observed)[-1] == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(
            model.responsibilities(values, observed)[-1], model.weights_, rtol=1e-12
        )

    def test_values_of_gaps_are_ignored(self, kind):
        model, values, observed = fitted(kind)
        other = np.where(observed, values, np.nan)
        again = Mixture(3, kind=kind, dtype=np.float64, rng=np.random.default_rng(0))
        np.testing.assert_array_equal(again.fit(other, observed).means_, model.means_)
        np.testing.assert_array_equal(
            again.posterior_mean(other, observed), model.posterior_mean(values, observed)
        )

    @pytest.mark.parametrize("smoothing", [1e-9, 0.3, 5.0])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_likelihood_never_falls(self, kind, smoothing, dtype):
        """With almost no smoothing, the bounds on means and variances are active."""
        values, observed = made(kind, n=120, seed=3)
        values = np.round(values) if kind == "bernoulli" else values
        for seed in range(3):
            rng = np.random.default_rng(seed)
            model = Mixture(
                8, kind=kind, smoothing=smoothing, tol=0.0, max_iter=60, dtype=dtype, rng=rng
            )
            (history,) = model.fit(values, observed).history_
            rounding = np.finfo(dtype).eps * 10 * np.abs(history).max()
            assert np.diff(history).min() > -rounding
            assert history[-1] > history[0] + 1.0

    def test_a_start_is_half_way_between_a_row_and_the_background(self, kind):
        model, values, observed = fitted(kind, max_iter=0)
        base = Background.of(values, observed, kind)
        half = np.where(observed, (values + base.mean) / 2, base.mean)[observed.any(1)]
        nearest = [np.abs(half - mean).max(1).min() for mean in model.means_]
        np.testing.assert_allclose(nearest, 0.0, atol=1e-12)
        np.testing.assert_allclose(model.weights_, 1 / 3)

    def test_em_stops_when_it_gains_little_and_tells_how_far_it_is(self, kind):
        calls = []
        model, values, observed = fitted(kind, tol=1e-3, max_iter=50)
        enough = 1e-3 * observed.sum()
        gains = np.diff(model.history_[0])
        assert gains[-1] < enough < gains[:-1].min()
        assert len(fitted(kind, tol=1e9)[0].history_[0]) == 2  # the first gain is too small
        model = Mixture(3, kind=kind, tol=-1.0, max_iter=4, n_members=2)
        model.fit(values, observed, progress=lambda *told: calls.append(told))
        assert [len(history) for history in model.history_] == [5, 5]
        assert [step for step, _ in calls] == [-1, 0, 1, 2, 3, 3, 4, 5, 6, 7]
        told = [figures["log-likelihood per entry"] for _, figures in calls]
        expected = np.concatenate(model.history_) / observed.sum()
        np.testing.assert_allclose(told, expected, rtol=1e-12)

    @pytest.mark.parametrize(
        ("name", "change"),
        [
            ("variances_", lambda a: a * (a != a[0, 0])),
            ("weights_", lambda a: a * (a != a[0])),
            ("weights_", lambda a: a * 1.01),
            ("weights_", lambda a: a[None]),
            ("means_", lambda a: a[:, 1:]),
            ("means_", lambda a: np.where(a == a[0, 0], np.nan, a)),
        ],
    )
    def test_arrays_that_are_not_a_density_are_refused(self, kind, name, change):
        model, values, observed = fitted(kind)
        parameters = model.parameters()
        again = Mixture(kind=kind, dtype=np.float64).restore(model.center_, parameters)
        expected = model.log_likelihood(values, observed)
        np.testing.assert_array_equal(again.log_likelihood(values, observed), expected)
        with pytest.raises(ValueError, match=r"density|shares"):
            again.restore(model.center_, parameters | {name: change(parameters[name])})

    def test_members_are_averaged(self, kind):
        both, values, observed = fitted(kind, n_members=2, seed=5)
        rng = np.random.default_rng(5)  # the second start continues its random numbers
        single = [Mixture(3, kind=kind, dtype=np.float64, rng=rng) for _ in range(2)]
        parts = [np.exp(m.fit(values, observed).log_likelihood(values, observed)) for m in single]
        np.testing.assert_allclose(
            np.exp(both.log_likelihood(values, observed)), np.mean(parts, axis=0), rtol=1e-10
        )
        assert both.weights_.sum() == pytest.approx(1.0)

    def test_blocks_do_not_matter(self, kind, monkeypatch):
        whole, values, observed = fitted(kind)
        monkeypatch.setattr(_product_mixture, "CHUNK", 35)  # seven rows
        pieces, _, _ = fitted(kind)
        np.testing.assert_allclose(pieces.means_, whole.means_, rtol=1e-9)
        np.testing.assert_allclose(
            pieces.log_likelihood(values, observed),
            whole.log_likelihood(values, observed),
            atol=1e-9,
        )

    def test_few_rows_and_no_rows_with_entries(self, kind):
        values, observed = made(kind, n=3)
        assert len(Mixture(9, kind=kind).fit(values, observed).weights_) == 2
        empty = np.zeros_like(observed)
        model = Mixture(9, kind=kind).fit(values, empty)
        expected = 0.5 if kind == "bernoulli" else 0.0
        np.testing.assert_allclose(model.posterior_mean(values, empty), expected)


def recovered(truth, model, tolerance):
    """Each true component has its own fitted one nearby."""
    distance = np.abs(truth[:, None] - model.means_).max(2)
    assert sorted(distance.argmin(1)) == list(range(len(truth)))
    assert distance.min(1).max() < tolerance


@pytest.mark.parametrize("edge", [0.0, 1.0])
def test_a_share_of_all_or_nothing_is_refused(edge):
    model, _, _ = fitted("bernoulli")
    parameters = model.parameters()
    parameters["means_"] = parameters["means_"].copy()
    parameters["means_"][1, 2] = edge
    with pytest.raises(ValueError, match="outside their range"):
        Mixture(kind="bernoulli").restore(model.center_, parameters)


class TestRecovery:
    def test_bernoulli(self):
        rng = np.random.default_rng(0)
        truth = np.array([[0.9] * 6 + [0.1] * 6, [0.1] * 6 + [0.9] * 6, [0.1, 0.9] * 6])
        of = rng.choice(3, 6000, p=[0.5, 0.3, 0.2])
        values = (rng.random((6000, 12)) < truth[of]).astype(float)
        observed = rng.random(values.shape) >= 0.4
        model = Mixture(3, rng=np.random.default_rng(1), tol=1e-8).fit(values, observed)
        recovered(truth, model, 0.06)
        np.testing.assert_allclose(np.sort(model.weights_), [0.2, 0.3, 0.5], atol=0.03)

    def test_gaussian(self):
        rng = np.random.default_rng(0)
        truth = np.array([[0.0, 0.0, 5.0], [4.0, 4.0, 0.0]])
        of = rng.choice(2, 4000, p=[0.7, 0.3])
        spread = np.array([0.5, 1.5])[of, None]
        values = truth[of] + spread * rng.normal(size=(4000, 3))
        observed = rng.random(values.shape) >= 0.3
        model = Mixture(2, kind="gaussian", rng=np.random.default_rng(1), tol=1e-8)
        recovered(truth, model.fit(values, observed), 0.15)
        order = model.weights_.argsort()[::-1]
        np.testing.assert_allclose(model.weights_[order], [0.7, 0.3], atol=0.03)
        np.testing.assert_allclose(model.variances_[order] ** 0.5, [[0.5] * 3, [1.5] * 3], atol=0.1)


class TestPrecision:
    def test_float32_agrees_even_if_densities_underflow(self):
        """800 columns of zeros and ones, means at the edge: densities near exp(-10,000)."""
        rng = np.random.default_rng(0)
        values = (rng.random((4, 800)) < 0.5).astype(float)[rng.integers(0, 4, 60)]
        observed = rng.random(values.shape) >= 0.1
        models = {}
        for dtype in (np.float32, np.float64):
            model = Mixture(4, dtype=dtype, rng=np.random.default_rng(0), smoothing=1e-9)
            models[dtype] = model.fit(values, observed)
        means = models[np.float64].means_
        assert (means.min(), means.max()) == (EDGE, 1.0 - EDGE)
        other = 1.0 - values
        for rows in (values, other):
            wide = models[np.float64].log_likelihood(rows, observed)
            narrow = models[np.float32].log_likelihood(rows, observed)
            assert np.isfinite(narrow).all()
            np.testing.assert_allclose(narrow, wide, rtol=1e-5, atol=1e-2)
        assert models[np.float64].log_likelihood(other, observed).min() < -5000
        np.testing.assert_allclose(
            models[np.float32].posterior_mean(values, observed),
            models[np.float64].posterior_mean(values, observed),
            atol=1e-3,
        )

    @pytest.mark.parametrize("shift", [0.0, 1e7])
    def test_gaussian_far_from_zero(self, shift):
        """A shift of the data changes nothing else."""
        values, observed = made("gaussian")
        near = Mixture(3, kind="gaussian", rng=np.random.default_rng(0)).fit(values, observed)
        far = Mixture(3, kind="gaussian", rng=np.random.default_rng(0))
        far.fit(values + shift, observed)
        np.testing.assert_allclose(far.means_ - shift, near.means_, atol=1e-5)
        np.testing.assert_allclose(far.variances_, near.variances_, rtol=1e-5)

    def test_an_outlier_leaves_the_rest_finite(self):
        values, observed = made("gaussian")
        values[0], observed[0] = 1e6, True
        model = Mixture(3, kind="gaussian", rng=np.random.default_rng(0)).fit(values, observed)
        assert np.isfinite(model.log_likelihood(values, observed)).all()
        assert np.isfinite(model.posterior_mean(values, observed)).all()

    def test_a_constant_column_is_kept(self):
        values, observed = made("gaussian")
        values[:, 1] = 0.1
        model = Mixture(3, kind="gaussian", rng=np.random.default_rng(0)).fit(values, observed)
        np.testing.assert_allclose(model.means_[:, 1], 0.1)


class TestBackground:
    def test_shrinks_towards_another_background(self):
        values, observed = made("gaussian")
        observed[:, 3] = False
        toward = Background(np.arange(5.0), np.full(5, 2.0))
        found = Background.of(values, observed, "gaussian", 3.0, toward)
        for j in range(5):
            own = values[observed[:, j], j]
            n = len(own) + 3.0
            mean = (own.sum() + 3.0 * j) / n
            variance = (((own - mean) ** 2).sum() + 3.0 * (2.0 + (j - mean) ** 2)) / n
            assert found.mean[j] == pytest.approx(mean)
            assert found.variance[j] == pytest.approx(variance)
        assert found.mean[3] == 3.0

    def test_without_another_background(self):
        """One more entry 1/2 for a switch; a variance of 1 where there is none to be seen."""
        kinds = np.array(["gaussian"] * 5 + ["bernoulli", "bernoulli", "level", "level"])
        rng = np.random.default_rng(0)
        values = np.column_stack([rng.normal(2.0, 3.0, 20), 1e-80 * rng.normal(size=20)])
        values = np.column_stack([values, np.zeros(20), np.full(20, 0.1), rng.normal(size=20)])
        values = np.column_stack([values, rng.integers(0, 2, (20, 4))])
        observed = rng.random(values.shape) < 0.6
        observed[:, [4, 6, 8]] = False
        found = Background.of(values, observed, kinds)
        for j in range(9):
            own = values[observed[:, j], j]
            expected = {4: (0.0, 1.0), 6: (0.5, 0.25), 8: (0.5, 0.25)}.get(j)
            if j in (2, 3):
                expected = own[0], 1.0
            elif j in (0, 1):
                expected = own.mean(), own.var()
            elif j in (5, 7):
                mean = own.mean() if j == 7 else (own.sum() + 0.5) / (len(own) + 1)
                expected = mean, mean * (1 - mean)
            np.testing.assert_allclose([found.mean[j], found.variance[j]], expected, rtol=1e-12)


class TestMixedColumns:
    """A number, a switch and a category of three levels in one density."""

    kinds = np.array(["gaussian", "bernoulli", "level", "level", "level"])

    def fitted(self, **options):
        rng = np.random.default_rng(0)
        group, level = rng.integers(0, 2, 80), rng.integers(0, 3, 80)
        number = 4.0 * group + rng.normal(size=80)
        values = np.column_stack([number, group, np.eye(3)[np.where(group, level, 0)]])
        observed = rng.random((80, 3)) < 0.7
        observed = observed[:, [0, 1, 2, 2, 2]]
        model = Mixture(3, kind=self.kinds, rng=np.random.default_rng(0), **options)
        return model.fit(values, observed), values, observed

    def test_log_likelihood(self):
        model, values, observed = self.fitted()
        by_hand = []
        for x, seen in zip(values, observed, strict=True):
            total = 0.0
            for k, p in enumerate(model.weights_):
                mean = model.means_[k]
                if seen[0]:
                    p *= density(x[0], mean[0], model.variances_[k, 0], "gaussian")
                if seen[1]:
                    p *= density(x[1], mean[1], None, "bernoulli")
                if seen[2]:
                    p *= mean[2 + int(x[2:].argmax())]
                total += p
            by_hand.append(log(total))
        np.testing.assert_allclose(model.log_likelihood(values, observed), by_hand, atol=1e-12)

    def test_levels_are_a_distribution_and_the_objective_never_falls(self):
        model, _, _ = self.fitted(tol=0.0, smoothing=0.5)
        np.testing.assert_allclose(model.means_[:, 2:].sum(1), 1.0)
        share = model.means_[:, 1:]
        np.testing.assert_allclose(model.variances_[:, 1:], share * (1 - share))
        (history,) = model.history_
        assert np.diff(history).min() > -1e-9
        assert history[-1] > history[0] + 1.0


@pytest.mark.parametrize(("columns", "components", "rows"), [(5, 2, 14), (3, 7, 10), (80, 2, 1)])
def test_a_block_holds_rows_of_a_bounded_size(columns, components, rows, monkeypatch):
    """70 numbers: a row's columns, or its components."""
    values = np.random.default_rng(0).integers(0, 2, (33, columns)).astype(float)
    observed = np.ones(values.shape, dtype=bool)
    model = Mixture(components, max_iter=1).fit(values, observed)
    monkeypatch.setattr(_product_mixture, "CHUNK", 70)
    sizes = [len(joint) for _, joint in model._joint(values, observed, model.slopes())]
    assert set(sizes[:-1]) == {rows}
    assert sum(sizes) == 33


@pytest.mark.parametrize("mean", [0.0, 1e-300, 5.0, -5.0, 1e150])
def test_a_column_that_varies_by_rounding_is_constant(mean):
    """Deviations of a billionth of the mean are rounding; its variance is then 1."""
    unit = max(abs(mean), 1e-290)
    for spread, constant in ((0.5e-9, True), (2e-9, False)):
        values = mean + unit * spread * np.tile([-1.0, 1.0], 10)[:, None]
        found = Background.of(values, np.ones((20, 1), dtype=bool), "gaussian")
        varied = np.ptp(values) > 0 and unit * spread > 1e-160
        assert (found.variance[0] == 1.0) == (constant or not varied)
