"""Measured dependence: by hand on small tables, by chance on large ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from imputefree.missingness import make_missing, mask_auc, pairwise_dependence
from tests.missingness.made import frame, table
from tests.refusals import check_error


def test_pairs_are_twice_the_auc_minus_one():
    truth = table(300, 3).round(1)  # with ties
    X = make_missing("mnar_self", truth, 0.3).apply(truth)
    actual = pairwise_dependence(X, truth).to_numpy()
    for i in range(3):
        for j in range(3):
            area = roc_auc_score(np.isnan(X[:, i]), truth[:, j])
            assert actual[i, j] == pytest.approx(2 * area - 1)


def test_without_the_truth_only_what_is_seen_counts():
    truth = table(300, 3)
    X = make_missing("mar", truth, 0.3, seen=[0]).apply(truth)
    actual = pairwise_dependence(X).to_numpy()
    assert np.isnan(np.diag(actual)).all()
    known = ~np.isnan(X[:, 2])
    area = roc_auc_score(np.isnan(X[known, 1]), X[known, 2])
    assert actual[1, 2] == pytest.approx(2 * area - 1)


def test_strings_and_columns_without_gaps_say_nothing():
    X = make_missing("mcar", frame(), 0.2, columns=["ph"]).apply(frame())
    actual = pairwise_dependence(X, frame())
    assert actual["sex"].isna().all()
    assert actual.drop(index="ph").isna().all(axis=None)
    areas = mask_auc(X, frame())
    assert areas.index.tolist() == ["ph"]
    assert list(areas.columns) == ["missing", "seen", "own", "seen and own"]


def test_what_cannot_be_known_is_nan():
    truth = table(200, 2)
    X = make_missing("mcar", truth, 0.4).apply(truth)
    areas = mask_auc(X)
    assert areas[["seen", "own", "seen and own"]].isna().all(axis=None)
    np.testing.assert_allclose(areas["missing"], 0.4)


def test_rows_are_sampled_from_large_tables():
    truth = pd.DataFrame(table(9000, 2), columns=["a", "b"])
    X = make_missing("mar", truth, 0.25, seen=["a"], strength=3.0).apply(truth)
    few, all_ = mask_auc(X, truth, max_rows=1500), mask_auc(X, truth, max_rows=10**9)
    assert few.loc["b", "seen"] == pytest.approx(all_.loc["b", "seen"], abs=0.03)
    assert few.loc["b", "missing"] == 0.5


def test_refusals():
    words = "truth has (4, 2) rows and columns, X has (3, 2). The truth is X without its gaps."
    for measure in (pairwise_dependence, mask_auc):
        check_error(lambda measure=measure: measure(np.ones((3, 2)), np.ones((4, 2))), words)
