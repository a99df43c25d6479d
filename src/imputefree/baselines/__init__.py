"""Reference models that `fit` compares against: gradient boosting, linear models, mask only."""

from ._baseline import ClassRival, Learned, NumberRival, Rival, Task
from ._boosting import BoostingClassifier, BoostingRegressor
from ._linear import LinearClassifier, LinearRegressor
from ._mask_only import MaskOnlyClassifier, MaskOnlyRegressor
from ._summary_models import SummaryClassifier, SummaryRegressor

__all__ = [
    "BoostingClassifier",
    "BoostingRegressor",
    "ClassRival",
    "Learned",
    "LinearClassifier",
    "LinearRegressor",
    "MaskOnlyClassifier",
    "MaskOnlyRegressor",
    "NumberRival",
    "Rival",
    "SummaryClassifier",
    "SummaryRegressor",
    "Task",
]
