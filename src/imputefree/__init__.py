"""Train neural networks directly on incomplete tables and series: NaN in, prediction out."""

from .errors import ImputefreeError, InputError, ModelFileError, ParameterError
from .estimators import GILClassifier, GILRegressor
from .sequence_estimators import GILSequenceClassifier, GILSequenceRegressor

__version__ = "0.1.0"
__all__ = [
    "GILClassifier",
    "GILRegressor",
    "GILSequenceClassifier",
    "GILSequenceRegressor",
    "ImputefreeError",
    "InputError",
    "ModelFileError",
    "ParameterError",
]
