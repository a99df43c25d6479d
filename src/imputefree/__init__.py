"""Train neural networks directly on incomplete tables and series: NaN in, prediction out."""

__version__ = "0.1.0"  # first: modules below ask for it

from .errors import ImputefreeError, InputError, ModelFileError, ParameterError
from .estimators import GILClassifier, GILRegressor
from .sequence_estimators import GILSequenceClassifier, GILSequenceRegressor

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
