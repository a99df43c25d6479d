"""scikit-learn compatible estimators for tables and for series with gaps."""

from ._base import GILEstimator
from ._blend import BlendEstimator
from ._blend_estimators import (
    ImputeFreeClassifier,
    ImputeFreeRegressor,
    ImputeFreeSequenceClassifier,
    ImputeFreeSequenceRegressor,
)
from ._inputs import (
    Engine,
    predict_inputs,
    predicts_steps,
    read_inputs,
    reads_series,
    unfitted_panel,
)
from ._parameters import RULES, check_parameters
from ._sequence_estimators import GILSequenceClassifier, GILSequenceRegressor, SequenceEstimator
from ._table_estimators import GILClassifier, GILRegressor, TableEstimator

__all__ = [
    "RULES",
    "BlendEstimator",
    "Engine",
    "GILClassifier",
    "GILEstimator",
    "GILRegressor",
    "GILSequenceClassifier",
    "GILSequenceRegressor",
    "ImputeFreeClassifier",
    "ImputeFreeRegressor",
    "ImputeFreeSequenceClassifier",
    "ImputeFreeSequenceRegressor",
    "SequenceEstimator",
    "TableEstimator",
    "check_parameters",
    "predict_inputs",
    "predicts_steps",
    "read_inputs",
    "reads_series",
    "unfitted_panel",
]
