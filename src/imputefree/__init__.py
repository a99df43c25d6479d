"""Train neural networks directly on incomplete tables: NaN in, prediction out, no imputer."""

from .errors import ImputefreeError, InputError, ModelFileError, ParameterError
from .estimators import GILClassifier, GILRegressor

__version__ = "0.1.0"
__all__ = [
    "GILClassifier",
    "GILRegressor",
    "ImputefreeError",
    "InputError",
    "ModelFileError",
    "ParameterError",
]
