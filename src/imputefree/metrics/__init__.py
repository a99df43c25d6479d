"""Scores of predictions, and confidence intervals for them."""

from ._intervals import LEVEL, Scores, intervals, n_resamples
from ._scores import (
    HIGHER_IS_BETTER,
    SMALLEST,
    Figures,
    classification_scores,
    imputation_scores,
    regression_scores,
    scores,
)

__all__ = [
    "HIGHER_IS_BETTER",
    "LEVEL",
    "SMALLEST",
    "Figures",
    "Scores",
    "classification_scores",
    "imputation_scores",
    "intervals",
    "n_resamples",
    "regression_scores",
    "scores",
]
