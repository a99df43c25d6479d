"""Reference models that `fit` compares against: gradient boosting, linear models, mask only."""

from ._baseline import Baseline, BaselineClassifier, BaselineRegressor, FitResult, TrainingSet
from ._boosting import BoostingClassifier, BoostingRegressor
from ._impute_then_predict import Filler, ImputeThenPredict, ImputingEncoder
from ._linear import LinearClassifier, LinearRegressor
from ._mask_only import MaskOnlyClassifier, MaskOnlyRegressor
from ._summary_models import SummaryClassifier, SummaryRegressor

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
    "LinearRegressor",
    "MaskOnlyClassifier",
    "MaskOnlyRegressor",
    "SummaryClassifier",
    "SummaryRegressor",
    "TrainingSet",
]
