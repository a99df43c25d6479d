"""The last line: no prediction that is not finite leaves an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError


def finite(values: np.ndarray, what: str = "prediction") -> np.ndarray:
    """The same predictions (n, …); one that is not a finite number is an InputError.

    Encoders bound what networks read, and fits refuse weights that are not finite, so that this
    should not happen. It must not be filled: nobody could tell the filling from a prediction.

    >>> finite(np.array([0.5, np.nan]))
    Traceback (most recent call last):
    imputefree.errors.InputError: the prediction of row 1 is nan. Predictions are finite numbers. \
Look for extreme values in this row and in the data of training; with numeric_encoding='unscaled', \
scale them.
    """
    known = np.isfinite(values)
    if known.all():
        return values
    row = int(np.argmin(known.reshape(len(values), -1).all(1)))
    odd: Any = values[row][~known[row]].flat[0] if values.ndim > 1 else values[row]
    raise InputError(
        f"the {what} of row {row} is {odd}",
        "Predictions are finite numbers",
        "Look for extreme values in this row and in the data of training; with"
        " numeric_encoding='unscaled', scale them",
    )
