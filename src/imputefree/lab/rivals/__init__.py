"""Rival methods by name: what people use instead of this package."""

from ._marginal import ClasswiseMixture, ObservedNaiveBayes
from ._methods import make_method
from ._series_networks import BRITSClassifier, GRUDClassifier, SAITSClassifier

__all__ = [
    "BRITSClassifier",
    "ClasswiseMixture",
    "GRUDClassifier",
    "ObservedNaiveBayes",
    "SAITSClassifier",
    "make_method",
]
