"""What all estimators and imputers of the package share when they fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

if TYPE_CHECKING:
    from .data import Columns


def private_generator(random_state: Any) -> np.random.Generator:
    """A random generator for one fit, from whatever scikit-learn takes for random_state.

    >>> private_generator(3).random() == private_generator(3).random()
    True
    """
    return np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def remember_columns(estimator: Any, columns: Columns) -> None:
    """Set n_features_in_ and, if columns have names, feature_names_in_."""
    estimator.n_features_in_ = len(columns.names)
    estimator.__dict__.pop("feature_names_in_", None)
    if columns.named:
        estimator.feature_names_in_ = np.array(columns.names, dtype=object)


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Restore the attributes of an estimator if the block fails, so that it is not half fitted.

    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(mean_=1.0)
    >>> try:
    ...     with all_or_nothing(model):
    ...         model.mean_, model.spread_ = 5.0, 0.0
    ...         raise ValueError
    ... except ValueError:
    ...     print(model)
    namespace(mean_=1.0)
    """
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
