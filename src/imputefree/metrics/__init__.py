"""Scores of predictions, and confidence intervals for them."""

from ._intervals import LEVEL, Figure, Scores, figure_of, intervals, n_resamples, resamples
from ._scores import (
    HIGHER_IS_BETTER,
    SMALLEST,
    Figures,
    classification_scores,
    imputation_scores,
    loss,
    regression_scores,
    scores,
    weighted_scores,
)

__all__ = [
    "HIGHER_IS_BETTER",
    "LEVEL",
    "SMALLEST",
    "Figure",
    "Figures",
    "Scores",
    "classification_scores",
    "figure_of",
    "imputation_scores",
    "intervals",
    "loss",
    "n_resamples",
    "regression_scores",
    "resamples",
    "scores",
    "weighted_scores",
]
