"""Naive Bayes and class-wise mixtures: Bayes' rule by hand, gaps left out, scikit-learn checks."""

from __future__ import annotations

import pickle
from math import exp, log, pi

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from imputefree.errors import InputError, InputTypeError, ParameterError
from imputefree.lab.rivals._table_rivals import ClasswiseMixture, ObservedNaiveBayes
from tests.refusals import check_error

rng = np.random.default_rng(0)
Y = rng.integers(0, 3, 240)
NUMBERS = rng.normal(2.0 * (Y[:, None] == np.arange(4)), 1.0) * [1, 10, 0.1, 1] + 5
BITS = (rng.random((240, 4)) < 0.2 + 0.5 * (Y[:, None] == np.arange(4))).astype(float)
GAPS = rng.random((240, 4)) < 0.4
SMALL = ClasswiseMixture(n_components=2, random_state=0, max_iter=20)
BOTH = [ObservedNaiveBayes(), SMALL]


def with_gaps(values):
    return np.where(GAPS, np.nan, values)


def fresh(model):
    return type(model)(**model.get_params())


@parametrize_with_checks([ObservedNaiveBayes(), ClasswiseMixture(max_iter=20)])
def test_sklearn(estimator, check):
    check(estimator)


class TestNaiveBayes:
    @pytest.mark.parametrize("kind", ["bernoulli", "gaussian"])
    def test_by_hand(self, kind):
        """Loops in double precision, on values that need no scaling to compare posteriors."""
        X = with_gaps(BITS if kind == "bernoulli" else NUMBERS)
        model = ObservedNaiveBayes(kind=kind, smoothing=2.0).fit(X, Y)
        actual = model.predict_proba(X[:20])
        for i in range(20):
            p = []
            for label in range(3):
                q = np.equal(Y, label).mean()
                for j in range(4):
                    if GAPS[i, j]:
                        continue
                    column = X[~GAPS[:, j], j]
                    own = X[~GAPS[:, j] & (label == Y), j]
                    n = len(own) + 2.0
                    if kind == "bernoulli":
                        overall = (column.sum() + 0.5) / (len(column) + 1)
                        mean = (own.sum() + 2.0 * overall) / n
                        q *= mean if X[i, j] else 1 - mean
                    else:
                        mean = (own.sum() + 2.0 * column.mean()) / n
                        spread = ((own - mean) ** 2).sum()
                        spread += 2.0 * (column.var() + (column.mean() - mean) ** 2)
                        spread /= n
                        q *= exp(-((X[i, j] - mean) ** 2) / (2 * spread)) / spread**0.5
                p.append(q)
            np.testing.assert_allclose(actual[i], np.array(p) / sum(p), rtol=1e-5)

    def test_without_gaps_and_smoothing_it_is_scikit_learns(self):
        ours = ObservedNaiveBayes(kind="gaussian", smoothing=1e-9).fit(NUMBERS, Y)
        theirs = GaussianNB(var_smoothing=0.0).fit(NUMBERS, Y)
        np.testing.assert_allclose(
            ours.predict_proba(NUMBERS), theirs.predict_proba(NUMBERS), rtol=1e-6, atol=1e-12
        )
        ours = ObservedNaiveBayes(smoothing=1e-9).fit(BITS, Y)
        theirs = BernoulliNB(alpha=1e-9).fit(BITS, Y)
        np.testing.assert_allclose(
            ours.predict_proba(BITS), theirs.predict_proba(BITS), rtol=1e-4, atol=1e-9
        )


class TestMixture:
    def test_bayes_rule_over_the_class_models(self):
        X = with_gaps(BITS)
        model = fresh(SMALL).fit(X, Y)
        values = np.where(GAPS, 0.0, X)
        parts = [
            log(np.equal(Y, label).mean()) + model.mixtures_[label].log_likelihood(values, ~GAPS)
            for label in range(3)
        ]
        p = np.exp(np.array(parts)).T
        np.testing.assert_allclose(model.predict_proba(X), p / p.sum(1, keepdims=True), rtol=1e-9)
        np.testing.assert_array_equal(model.predict(X), p.argmax(1))

    @pytest.mark.parametrize("kind", ["bernoulli", "gaussian"])
    def test_a_task_that_no_column_alone_solves(self, kind):
        draw = np.random.default_rng(1)
        corner = draw.integers(0, 2, (600, 2))
        y = corner[:, 0] ^ corner[:, 1]
        X = np.repeat(corner, 3, axis=1).astype(float)
        if kind == "bernoulli":
            X = np.where(draw.random(X.shape) < 0.1, 1 - X, X)
        else:
            X += draw.normal(0, 0.3, X.shape)
        X[draw.random(X.shape) < 0.3] = np.nan
        mixed = ClasswiseMixture(n_components=4, random_state=0).fit(X[:400], y[:400])
        simple = ObservedNaiveBayes().fit(X[:400], y[:400])
        assert mixed.kind_ == kind
        assert mixed.score(X[400:], y[400:]) > 0.85
        assert simple.score(X[400:], y[400:]) < 0.65

    def test_density_of_a_gaussian_class_in_scaled_units(self):
        """One component, one column: the textbook density of (x - center) / spread."""
        X = NUMBERS[:, :1]
        model = ClasswiseMixture(n_components=1, n_members=1, random_state=0).fit(X, Y)
        one = model.mixtures_[0]
        z = (X[0] - model.center_) / model.spread_
        expected = -0.5 * ((z - one.means_[0]) ** 2 / one.variances_[0])
        expected -= 0.5 * np.log(2 * pi * one.variances_[0])
        np.testing.assert_allclose(one.log_likelihood(z[None], np.ones((1, 1), bool)), expected)

    def test_the_seed_decides(self):
        X = with_gaps(NUMBERS)
        first, again, other = (
            fresh(SMALL).set_params(random_state=seed).fit(X, Y).predict_proba(X)
            for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(first, again)
        assert (first != other).any()


@pytest.mark.parametrize("model", BOTH)
class TestBoth:
    def test_an_empty_row_gets_the_class_shares(self, model):
        model = fresh(model).fit(with_gaps(BITS), Y)
        actual = model.predict_proba(np.full((1, 4), np.nan))[0]
        np.testing.assert_allclose(actual, np.bincount(Y) / len(Y))

    def test_a_column_that_is_empty_in_a_class_does_not_decide(self, model):
        """It is as common in that class as in all rows: almost no evidence."""
        X = with_gaps(BITS)
        X[Y == 0, 3] = np.nan
        X[Y != 0, 3] = 1.0
        model = fresh(model).fit(X, Y)
        row = np.full((2, 4), np.nan)
        row[1, 3] = 1.0
        shares = model.predict_proba(row)
        np.testing.assert_allclose(shares[1], shares[0], atol=0.02)

    @pytest.mark.parametrize("size", [1e-200, 1e200, 1e308])
    def test_extreme_values_give_probabilities(self, model, size):
        X = with_gaps(NUMBERS)
        model = fresh(model).fit(X, Y)
        row = np.array([[size, -size, size, np.nan]])
        actual = model.predict_proba(row)
        assert np.isfinite(actual).all()
        assert actual.sum() == pytest.approx(1.0)
        X[:, 0] *= size / 10
        fitted = fresh(model).fit(X, Y)
        np.testing.assert_allclose(fitted.predict_proba(X).sum(1), 1.0)

    def test_frames_and_string_labels(self, model):
        names = np.array(["well", "ill", "dead"])[Y]
        frame = pd.DataFrame(with_gaps(NUMBERS), columns=list("abcd"))
        model = fresh(model).fit(frame, names)
        assert model.classes_.tolist() == ["dead", "ill", "well"]
        assert set(model.predict(frame)) <= set(names)
        check_error(
            lambda: model.predict(frame[["b", "a", "c", "d"]]),
            *("feature names should match", "'b', 'a'", "'a', 'b'"),
        )
        check_error(lambda: model.predict(np.zeros((2, 3))), "X has 3 features", "expecting 4")

    def test_strings_are_refused(self, model):
        frame = pd.DataFrame({"dose": [1.0, None, 2.0], "ward": ["a", None, "b"]})
        words = ("column 'ward' holds text", "numbers", "GILClassifier")
        check_error(lambda: fresh(model).fit(frame, [0, 1, 0]), *words, kind=InputTypeError)

    def test_a_pickled_model_predicts_the_same(self, model):
        model = fresh(model).fit(with_gaps(NUMBERS), Y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(NUMBERS), model.predict_proba(NUMBERS))

    def test_nothing_to_learn_from(self, model):
        check_error(
            lambda: fresh(model).fit(np.full((4, 2), np.nan), [0, 1, 0, 1]),
            "no column holds an entry",
        )

    def test_bad_parameters_and_values(self, model):
        for name, value in (("kind", "poisson"), ("smoothing", -1.0)):
            check_error(
                lambda name=name, value=value: (
                    fresh(model).set_params(**{name: value}).fit(BITS, Y)
                ),
                *(f"{name} is {value!r}", "It must be"),
                kind=ParameterError,
            )
        check_error(lambda: fresh(model).set_params(kind="bernoulli").fit(NUMBERS, Y), "[0, 1]")
        check_error(lambda: fresh(model).fit(BITS, Y[:5]), "240 rows", "5", kind=InputError)

    def test_a_failed_fit_changes_nothing(self, model):
        model = fresh(model).fit(with_gaps(BITS), Y)
        before = model.predict_proba(BITS)
        with pytest.raises(InputError):
            model.fit(np.full((3, 7), np.nan), [0, 1, 1])
        np.testing.assert_array_equal(model.predict_proba(BITS), before)
