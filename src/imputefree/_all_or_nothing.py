"""A fit that fails leaves an estimator as it was, not half fitted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Put attributes back if the block fails; for fits that replace what they learn.

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
