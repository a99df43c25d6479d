"""Families of models that predict without imputing, and how they are pooled.

A family has `fit(task)`, which returns out-of-fold predictions, and `predict(inputs)`; see
`FamilyTask`. Networks are in `imputefree.gil`; here are the others.
"""

from ._conditional_draws import ConditionalDraws
from ._density_family import DensityFamily
from ._density_inputs import DensityInputs
from ._factor_inputs import FactorInputs, OnFactors
from ._factor_mixture import FactorMixture
from ._family import FamilyTask
from ._forest_family import NO_SHARE, ForestFamily
from ._linear_family import BENT, LinearFamily
from ._pooling import Pool
from ._product_mixture import Background, Mixture
from ._relevance import column_relevance
from ._tree_ensemble import NEARLY_ZERO, TreeEnsemble
from ._tree_family import Growth, TreeFamily, fast_growths, usual_growths

__all__ = [
    "BENT",
    "NEARLY_ZERO",
    "NO_SHARE",
    "Background",
    "ConditionalDraws",
    "DensityFamily",
    "DensityInputs",
    "FactorInputs",
    "FactorMixture",
    "FamilyTask",
    "ForestFamily",
    "Growth",
    "LinearFamily",
    "Mixture",
    "OnFactors",
    "Pool",
    "TreeEnsemble",
    "TreeFamily",
    "column_relevance",
    "fast_growths",
    "usual_growths",
]
