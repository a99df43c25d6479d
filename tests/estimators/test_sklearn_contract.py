"""Everything scikit-learn asks of an estimator, by its own checks."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from imputefree import GILClassifier, GILRegressor

MINI_BATCHES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "rows meet in mini-batches, so a weight of 2 is not two rows; scikit-learn excuses its own"
        " MLPs the same way. test_estimators.py shows what weights do guarantee"
    )
}


@parametrize_with_checks(
    [GILClassifier(), GILRegressor()], expected_failed_checks=lambda estimator: MINI_BATCHES
)
def test_sklearn(estimator, check):
    check(estimator)
