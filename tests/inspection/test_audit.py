"""The audit finds what was planted, and says nothing where nothing was."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

from imputefree import GILSequenceClassifier, ImputeFreeSequenceClassifier, audit_missingness
from imputefree.errors import ImputefreeError
from tests.inspection import made_gaps


@cache
def boosted(leak):
    X, y = made_gaps.table(600, 0, leak)
    return HistGradientBoostingClassifier(max_iter=40, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def leaky():
    return audit_missingness(boosted(True), *made_gaps.table(400, 1, True), n_repeats=2)


class ByMask(ClassifierMixin, BaseEstimator):
    """Sees only whether the first entry is missing."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        chance = np.where(np.isnan(np.asarray(X))[:, 0], 0.9, 0.1)
        return np.column_stack([1 - chance, chance])


class ByValue(RegressorMixin, BaseEstimator):
    """The first entry itself, which always is there; with an interval around it."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.nan_to_num(np.asarray(X)[:, 0])

    def predict_interval(self, X, coverage=0.9):
        middle = self.predict(X)
        return np.column_stack([middle - 1, middle + 1])


def test_a_planted_leak_is_found_and_said(leaky):
    value, low, _ = leaky.mask
    assert low > 0.05
    assert 0.2 < leaky.mask_share < 1
    own, theirs = (leaky.line(n) for n in ("own gaps, as many values", "gaps of other rows"))
    assert value == pytest.approx(own["score"] - theirs["score"])
    assert own["missing"] == pytest.approx(theirs["missing"])
    assert leaky.telling[0] == "late"
    words = leaky.summary()
    assert f"{leaky.mask_share:.0%} of the gain over chance) comes from" in words
    assert "same reasons as here (above all 'late'" in words
    assert str(leaky) == words


def test_all_of_the_score_is_the_masks_if_a_model_sees_nothing_else():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 2))
    X[y == 1, 0] = np.nan
    audit = audit_missingness(ByMask().fit(X, y), X, y, n_repeats=8)
    assert audit.line("as it is")["score"] == 1
    assert audit.line("gaps of other rows")["score"] == pytest.approx(0.5, abs=0.04)
    assert audit.mask_share > 0.9
    assert "Most of it" in audit.summary()


def test_nothing_is_the_masks_if_a_model_does_not_see_it():
    X = np.random.default_rng(0).normal(size=(200, 2))
    X[::3, 1] = np.nan
    audit = audit_missingness(ByValue().fit(X, X[:, 0]), X, X[:, 0])
    assert audit.mask == (0, 0, 0)
    assert audit.line("as it is")["coverage"] == 1
    assert audit.line("complete rows")["coverage"] == 1


def test_without_a_leak_the_mask_hardly_matters_and_one_column_does():
    audit = audit_missingness(boosted(False), *made_gaps.table(400, 1), n_repeats=2)
    assert audit.mask.low <= 0 or audit.mask.value < 0.02
    assert audit.indispensable == ["dose"]
    words = audit.summary()
    assert "hardly matters" in words
    assert "cannot do without 'dose'" in words
    assert "that it has 'dose'" in words
    assert "ignore" not in words


def test_a_group_with_more_gaps_and_more_error_is_named():
    X, y, groups = made_gaps.two_groups(500, 1)
    audit = audit_missingness(boosted(False), X, y, groups=groups, n_repeats=2)
    assert list(audit.worse) == ["far"]
    far, near = (audit.line(name, "group") for name in ("far", "near"))
    assert far["missing"] > near["missing"]
    assert audit.worse["far"].value == pytest.approx(far["loss"] - near["loss"])
    assert "Served worse: group 'far'" in audit.summary()
    # Near rows with the gaps of far ones lose what far ones lack.
    gaps = audit.line("far", "group gaps")
    assert gaps["rows"] == (groups == "near").sum()
    assert gaps["change_high"] < -0.1


def test_scores_are_those_of_the_metrics_package(leaky):
    X, y = made_gaps.table(400, 1, True)
    model = boosted(True)
    chance = model.predict_proba(X)
    assert leaky.line("as it is")["score"] == pytest.approx(roc_auc_score(y, chance[:, 1]))
    assert leaky.line("as it is")["loss"] == pytest.approx(log_loss(y, chance))
    without = roc_auc_score(y, model.predict_proba(X.assign(dose=np.nan))[:, 1])
    line = leaky.line("dose", "column")
    assert line["score"] == pytest.approx(without)
    assert line["change"] == pytest.approx(without - roc_auc_score(y, chance[:, 1]))
    complete = X.notna().all(axis=1).to_numpy()
    line = leaky.line("complete rows")
    assert (line["rows"], line["missing"]) == (complete.sum(), 0)
    assert line["score"] == pytest.approx(roc_auc_score(y[complete], chance[complete, 1]))


def test_a_table_without_gaps_has_no_mask():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    model = HistGradientBoostingRegressor(max_iter=30).fit(X[:100], X[:100, 0])
    audit = audit_missingness(model, X[100:], X[100:, 0], n_repeats=1)
    assert (audit.mask, audit.metric) == (None, "r2")
    assert "no gaps" in audit.summary()
    assert audit.indispensable == ["0"]


def test_a_model_no_better_than_chance_is_said():
    X, y = made_gaps.table(100, 5)
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, np.arange(100) % 2)
    assert (
        "not clearly better than chance"
        in audit_missingness(model, X, y[::-1], n_repeats=1).summary()
    )


def test_series_with_a_leak():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 240)
    series = [rng.normal(size=(4, 2)) for _ in y]
    for values, label in zip(series, y, strict=True):
        values[rng.random(4) < 0.1 + 0.6 * label, 1] = np.nan
    model = ImputeFreeSequenceClassifier(quality="fast", random_state=0)
    model.fit(series[:120], y[:120])
    audit = audit_missingness(model, series[120:], y[120:], n_repeats=2)
    assert audit.unit == "series"
    assert audit.mask_share > 0.5
    assert audit.telling[0] == "1"
    assert audit.line("mask only")["score"] > 0.7


def test_answers_about_a_frame_of_series_may_be_a_column_or_by_id():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": np.repeat(np.arange(40), 2), "v": rng.normal(size=80)})
    frame["ill"] = frame["id"] % 2
    model = GILSequenceClassifier(id="id", max_iter=1, n_members=1, random_state=0)
    model.fit(frame, "ill")
    by_id = frame.groupby("id")["ill"].first()[::-1]
    named = audit_missingness(model, frame, "ill", n_repeats=1).table
    pd.testing.assert_frame_equal(
        named, audit_missingness(model, frame[["id", "v"]], by_id, n_repeats=1).table
    )


def test_the_same_seed_gives_the_same_audit():
    X, y = made_gaps.table(60, 1, True)
    first, again = (audit_missingness(boosted(True), X, y, n_repeats=1) for _ in range(2))
    pd.testing.assert_frame_equal(first.table, again.table)


def test_of_many_rows_some_are_drawn():
    X, y = made_gaps.table(300, 1)
    audit = audit_missingness(boosted(False), X, y, n_repeats=1, max_rows=150)
    assert audit.table["rows"].iloc[0] == 150
    assert "150 of 300 rows" in audit.summary()


def test_as_json_page_and_picture(leaky):
    plain = json.loads(json.dumps(leaky.to_dict(), allow_nan=False))
    assert plain["mask_share"] == leaky.mask_share
    assert len(plain["table"]) == len(leaky.table)
    page = leaky.to_html()
    assert "<svg" in page
    assert "script" not in page
    assert "late" in page
    labels = [tick.get_text() for axes in leaky.draw().axes for tick in axes.get_yticklabels()]
    assert {"as it is", "gaps of other rows", "late", "complete rows"} <= set(labels)


REFUSED = {
    "few rows": lambda X, y, m: (m, X[:9], y[:9]),
    "one class": lambda X, y, m: (m, X, np.zeros(len(y), int)),
    "a class unknown to the model": lambda X, y, m: (m, X, y + 1),
    "answers of several kinds": lambda X, y, m: (
        m,
        X,
        np.array(["yes", *y[1:]], dtype=object),
    ),
    "no answers": lambda X, y, m: (m, X, None),
    "fewer answers than rows": lambda X, y, m: (m, X, y[:-1]),
    "a model that takes no gaps": lambda X, y, m: (
        LogisticRegression().fit(X.fillna(0), y),
        X.fillna(0),
        y,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    X, y = made_gaps.table(60, 1)
    with pytest.raises(ImputefreeError):
        audit_missingness(*REFUSED[case](X, y, boosted(False)))


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        audit_missingness(HistGradientBoostingClassifier(), *made_gaps.table(60, 1))


@pytest.mark.parametrize("options", [{"n_repeats": 0}, {"max_rows": 1}, {"groups": ["a"]}])
def test_refused_options(options):
    with pytest.raises(ImputefreeError):
        audit_missingness(boosted(False), *made_gaps.table(60, 1), **options)


def test_a_model_of_steps_is_refused():
    series = [np.zeros((2, 1))] * 20
    model = GILSequenceClassifier(per_step=True, max_iter=1, n_members=1)
    model.fit(series, [np.array([0, 1])] * 20)
    with pytest.raises(ImputefreeError):
        audit_missingness(model, series, [0, 1] * 10)


def test_groups_may_be_numbers():
    X, y = made_gaps.table(100, 1)
    audit = audit_missingness(boosted(False), X, y, groups=np.arange(100) % 2, n_repeats=1)
    assert set(audit.table.loc[audit.table["kind"] == "group", "scenario"]) == {"0", "1"}
