"""What all our estimators do alike: a private source of randomness, and columns remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

if TYPE_CHECKING:
    from .data import Columns


def private_generator(random_state: Any) -> np.random.Generator:
    """A generator of a fit's own, from whatever scikit-learn takes for random_state.

    >>> private_generator(3).random() == private_generator(3).random()
    True
    """
    return np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def remember_columns(estimator: Any, columns: Columns) -> None:
    """Sets n_features_in_ and, where columns have names, feature_names_in_."""
    estimator.n_features_in_ = len(columns.names)
    estimator.__dict__.pop("feature_names_in_", None)
    if columns.named:
        estimator.feature_names_in_ = np.array(columns.names, dtype=object)
