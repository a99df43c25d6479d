"""Reference models that `fit` compares with: boosting, linear, mask only, impute then predict."""

from ._baseline import Baseline, BaselineClassifier, BaselineRegressor, FitResult, TrainingSet
from ._baseline_encoders import LinearEncoder, PlainEncoder, TreeEncoder
from ._boosting import BoostingClassifier, BoostingRegressor
from ._derived_tables import (
    MaskOnlyClassifier,
    MaskOnlyRegressor,
    SummaryClassifier,
    SummaryRegressor,
)
from ._impute_then_predict import Filler, ImputeThenPredict, ImputingEncoder
from ._linear import LinearClassifier, LinearRegressor

__all__ = [
    "Baseline",
    "BaselineClassifier",
    "BaselineRegressor",
    "BoostingClassifier",
    "BoostingRegressor",
    "Filler",
    "FitResult",
    "ImputeThenPredict",
    "ImputingEncoder",
    "LinearClassifier",
    "LinearEncoder",
    "LinearRegressor",
    "MaskOnlyClassifier",
    "MaskOnlyRegressor",
    "PlainEncoder",
    "SummaryClassifier",
    "SummaryRegressor",
    "TrainingSet",
    "TreeEncoder",
]
