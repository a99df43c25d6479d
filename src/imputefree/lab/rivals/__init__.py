"""Rival methods by name: what people use instead of this package."""

from ._forest import ForestClassifier, ForestRegressor
from ._marginal import ClasswiseMixture, ObservedNaiveBayes
from ._methods import CLASSES, KINDS, NUMBERS, OURS, SERIES, TABLES, make_method
from ._series_networks import BRITSClassifier, GRUDClassifier, SAITSClassifier

__all__ = [
    "CLASSES",
    "KINDS",
    "NUMBERS",
    "OURS",
    "SERIES",
    "TABLES",
    "BRITSClassifier",
    "ClasswiseMixture",
    "ForestClassifier",
    "ForestRegressor",
    "GRUDClassifier",
    "ObservedNaiveBayes",
    "SAITSClassifier",
    "make_method",
]
