"""Rival methods by name: what people use instead of this package."""

from ._methods import CLASSES, KINDS, NUMBERS, OURS, SERIES, TABLES, make_method
from ._series_networks import BRITSClassifier, GRUDClassifier, SAITSClassifier
from ._table_rivals import ClasswiseMixture, ForestClassifier, ForestRegressor, ObservedNaiveBayes

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
