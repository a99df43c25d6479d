"""Scores of predictions, and confidence intervals for them."""

from ._intervals import LEVEL, Scores, intervals, n_resamples
from ._scores import HIGHER_IS_BETTER

__all__ = [
    "HIGHER_IS_BETTER",
    "LEVEL",
    "Scores",
    "intervals",
    "n_resamples",
]
