"""Families of models that predict without imputing, and how they are pooled.

A family has `fit(task)`, which returns out-of-fold predictions, and `predict(inputs)`; see
`FamilyTask`. Networks are in `imputefree.gil`; here are trees and densities.
"""

from ._family import FamilyTask
from ._pooling import Pool
from ._tree_ensemble import NEARLY_ZERO, TreeEnsemble
from ._tree_family import Growth, TreeFamily

__all__ = ["NEARLY_ZERO", "FamilyTask", "Growth", "Pool", "TreeEnsemble", "TreeFamily"]
