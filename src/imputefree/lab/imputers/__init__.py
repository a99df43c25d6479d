"""Imputers, the first step of the two-step rivals: fill the gaps, then predict.

To add one, derive from `Imputer` or `SeriesImputer` and add it to `IMPUTERS`.
"""

from __future__ import annotations

from typing import Any

from ..._rules import check_name, check_options
from ._classic import (
    CarryForwardImputer,
    MeanImputer,
    MICEImputer,
    MissForestImputer,
    NeighboursImputer,
    StepByStep,
    ZeroImputer,
)
from ._deep_imputers import GAIN, MIWAE
from ._em import EMImputer, MixtureImputer
from ._imputer import Imputer, SeriesImputer
from ._pypots_imputers import BRITSImputer, GPVAEImputer, GPVAERowsImputer, SAITSImputer

# By name. Those for tables derive from Imputer, those for series from SeriesImputer.
IMPUTERS: dict[str, type[Imputer] | type[SeriesImputer]] = {
    "zero": ZeroImputer,
    "mean": MeanImputer,
    "carry_forward": CarryForwardImputer,
    "knn": NeighboursImputer,
    "mice": MICEImputer,
    "missforest": MissForestImputer,
    "em": EMImputer,
    "mixture": MixtureImputer,
    "gain": GAIN,
    "miwae": MIWAE,
    "brits": BRITSImputer,
    "gpvae": GPVAEImputer,
    "gpvae_rows": GPVAERowsImputer,
    "saits": SAITSImputer,
}


def make_imputer(name: str, **options: Any) -> Any:
    """A new imputer by name; options are those of its constructor.

    >>> make_imputer("mice", max_iter=5, random_state=0)
    MICEImputer(max_iter=5, random_state=0)
    >>> make_imputer("magic")
    Traceback (most recent call last):
    imputefree.errors.ParameterError: there is no imputer 'magic'. Valid names are zero, ...
    """
    check_name("imputer", name, IMPUTERS)
    check_options(f"the imputer {name!r}", options, IMPUTERS[name]._get_param_names())
    return IMPUTERS[name](**options)


__all__ = [
    "GAIN",
    "IMPUTERS",
    "MIWAE",
    "BRITSImputer",
    "CarryForwardImputer",
    "EMImputer",
    "GPVAEImputer",
    "GPVAERowsImputer",
    "Imputer",
    "MICEImputer",
    "MeanImputer",
    "MissForestImputer",
    "MixtureImputer",
    "NeighboursImputer",
    "SAITSImputer",
    "SeriesImputer",
    "StepByStep",
    "ZeroImputer",
    "make_imputer",
]
