"""What both estimators share: groups are checked, and going on needs the columns of before."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier, GILRegressor
from imputefree.errors import InputError, ParameterError, UnseenCategoryWarning

SMALL = {"n_members": 2, "max_iter": 1, "hidden_layer_sizes": (4,), "random_state": 0}
FRAME = pd.DataFrame({"a": ["x", "y"] * 12, "b": np.arange(24.0)})
y = np.arange(24) // 2 % 2


def warm(estimator):
    """A fitted estimator whose next fit goes on."""
    return estimator(**SMALL, warm_start=True).fit(FRAME, y)


@pytest.mark.parametrize("estimator", [GILClassifier, GILRegressor])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_going_on_warns_once_of_unseen_categories(estimator, method):
    model = warm(estimator)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(model, method)(FRAME.assign(a="new"), y)
    assert [one.category for one in caught] == [UnseenCategoryWarning]
    assert "'a': 'new'" in str(caught[0].message)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_going_on_with_other_columns_is_refused_and_changes_nothing(method):
    model = warm(GILClassifier)
    before = model.predict_proba(FRAME)
    with pytest.raises(InputError, match=r"missing now 'b'; not in training 'B'"):
        getattr(model, method)(FRAME.rename(columns={"b": "B"}), y)
    assert np.array_equal(model.predict_proba(FRAME), before)


@pytest.mark.parametrize("shape", [(23,), (24, 1), (1, 24)])
def test_groups_are_one_label_a_row(shape):
    with pytest.raises(InputError) as caught:
        GILClassifier(**SMALL).fit(FRAME, y, groups=np.zeros(shape))
    assert str(caught.value) == (
        f"groups has shape {shape}. It must be one label a row: (24,). Pass the column that says"
        " which rows belong together."
    )


def test_ragged_groups_are_refused():
    with pytest.raises(InputError, match=r"groups cannot be read as an array .*one value a row"):
        GILClassifier(**SMALL).fit(FRAME, y, groups=[[1], [2, 3]])


def test_an_epoch_that_diverges_leaves_the_weights_as_they_were():
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = GILRegressor(n_members=1, hidden_layer_sizes=(4,), random_state=0)
    model.partial_fit(X, X[:, 0])
    model.set_params(learning_rate_init=999.0, weight_decay=1000.0)
    for _ in range(50):
        before = model.predict(X)
        try:
            model.partial_fit(X, X[:, 0])
        except ParameterError:
            break
    else:
        pytest.fail("training did not diverge: the test shows nothing")
    assert np.array_equal(model.predict(X), before)
