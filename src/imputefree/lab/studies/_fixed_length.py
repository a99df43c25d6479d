"""Series of one length, as the paper makes them for methods that need it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

FIXED = 8  # steps: "most of the sequences have length ≤ 8"
FORMS = ("variable", "fixed")


def fixed_length(frames: Sequence[Any], steps: int = FIXED) -> np.ndarray:
    """(n, steps, D): the first steps of each series; a shorter one repeats its last.

    >>> fixed_length([np.array([[1.0], [2.0]]), np.arange(9.0)[:, None]], 3)[:, :, 0]
    array([[1., 2., 2.],
           [0., 1., 2.]])
    """
    places = np.arange(steps)
    return np.stack([np.asarray(one)[np.minimum(places, len(one) - 1)] for one in frames])
