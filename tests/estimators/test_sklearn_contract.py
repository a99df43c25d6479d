"""Everything scikit-learn asks of an estimator, by its own checks."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from imputefree import GILClassifier, GILRegressor

MINI_BATCHES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "rows meet in mini-batches, so a weight of 2 is not two rows; scikit-learn excuses its own"
        " MLPs the same way. test_estimators.py shows what weights do guarantee"
    )
}


# Small networks: the checks are about what an estimator accepts, not about how well it learns.
SMALL = {"n_members": 2, "hidden_layer_sizes": 32, "max_iter": 40, "n_iter_no_change": 4}


@pytest.mark.slow
@parametrize_with_checks(
    [GILClassifier(**SMALL), GILRegressor(**SMALL)],
    expected_failed_checks=lambda estimator: MINI_BATCHES,
)
def test_sklearn(estimator, check):
    check(estimator)
