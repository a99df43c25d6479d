"""What scikit-learn asks of any estimator, whatever data it takes, by its own checks.

Most of scikit-learn's checks fit a 2D table, which a sequence estimator refuses on purpose; only
those that hand over no data can run. `test_base.py` and `test_sequence_estimators.py` ask the rest
with series.
"""

from __future__ import annotations

import warnings

import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.utils import estimator_checks as checks
from sklearn.utils import get_tags

from imputefree import GILSequenceClassifier, GILSequenceRegressor

ESTIMATORS = [GILSequenceClassifier(), GILSequenceRegressor(), GILSequenceClassifier(cell="gru")]
WITHOUT_DATA = {
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
}
# Left out, because they fit or predict 2D tables. Beside each what stands for it in
# test_base.py or test_sequence_estimators.py, where anything does.
WITH_TABLES = {
    "check_all_zero_sample_weights_error",  # TestWeights
    "check_array_api_input",  # no array API
    "check_class_weight_classifiers",  # TestWeights
    "check_classifier_data_not_an_array",  # TestFormats
    "check_classifiers_classes",  # TestLabels
    "check_classifiers_one_label",  # TestLabels
    "check_classifiers_one_label_sample_weights",  # TestWeights
    "check_classifiers_regression_target",  # TestLabels
    "check_classifiers_train",  # test_simulated_tasks_are_learned
    "check_complex_data",  # tests/data
    "check_decision_proba_consistency",  # there is no decision_function
    "check_dict_unchanged",  # TestNothingHalfDone
    "check_dont_overwrite_parameters",  # TestNothingHalfDone
    "check_dtype_object",  # TestFormats
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",  # tests/data
    "check_estimators_empty_data_messages",  # TestBadSeries
    "check_estimators_fit_returns_self",
    "check_estimators_overwrite_params",
    "check_estimators_partial_fit_n_features",
    "check_estimators_pickle",  # TestFiles
    "check_estimators_unfitted",  # TestNothingHalfDone
    "check_f_contiguous_array_estimator",  # TestFormats (axes)
    "check_fit1d",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",  # TestSeeds
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",  # TestFormats
    "check_methods_subset_invariance",  # TestFormats
    "check_n_features_in",  # TestFormats
    "check_n_features_in_after_fitting",
    "check_non_transformer_estimators_n_iter",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_regressor_data_not_an_array",
    "check_regressors_int",
    "check_regressors_no_decision_function",  # there is none
    "check_regressors_train",
    "check_requires_y_none",  # TestLabels
    "check_sample_weight_equivalence_on_dense_data",  # excused for tables too: mini-batches
    "check_sample_weights_list",  # TestWeights
    "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_pandas_series",  # TestWeights
    "check_sample_weights_shape",  # TestWeights
    "check_supervised_y_2d",  # TestLabels
    "check_supervised_y_no_nan",  # TestLabels
}


def asked_of(estimator):
    """Names of all checks scikit-learn would run on an estimator that takes tables."""

    class TakesTables(type(estimator)):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.two_d_array = True
            return tags

    actual = checks._yield_all_checks(TakesTables(), legacy=True)
    return {checks._check_name(check) for check in actual} | {"check_estimator_cloneable"}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize("name", sorted(WITHOUT_DATA))
def test_sklearn(estimator, name):
    assert name in asked_of(estimator)
    getattr(checks, name)(type(estimator).__name__, estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS[:2], ids=repr)
def test_no_check_is_forgotten(estimator):
    assert asked_of(estimator) <= WITHOUT_DATA | WITH_TABLES


@pytest.mark.parametrize("estimator", ESTIMATORS[:2], ids=repr)
def test_scikit_learn_knows_that_it_takes_series(estimator):
    tags = get_tags(estimator)
    assert tags.input_tags.three_d_array
    assert not tags.input_tags.two_d_array
    assert tags.input_tags.allow_nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SkipTestWarning, match="Can't test estimator"):
            list(checks._yield_all_checks(estimator, legacy=True))
