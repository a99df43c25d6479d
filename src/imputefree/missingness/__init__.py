"""Gaps made on purpose: complete data in, a mask out, and a record of what drives which gap.

name            mechanism  what goes missing
mcar            MCAR       entries, whatever they or others say
mar             MAR        entries, by a logistic model of columns that are always seen
mnar_self       MNAR       entries, by a logistic model of their own value
mnar_quantile   MNAR       the tail of each column
mnar_hidden     MNAR       entries, by a logistic model of columns that get gaps themselves
blocks          MCAR, MAR  whole groups of columns of a row
mnist_mar       MAR        rows of pixels, by features of the part of an image always seen
series_rates    MCAR       steps of a channel that is sampled more rarely than the others
bursts          MCAR       runs of consecutive steps
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

import pandas as pd

from ..errors import ParameterError
from ._at_random import mar
from ._blocks import blocks
from ._checks import check_number, generator
from ._completely_random import mcar
from ._draws import Gaps
from ._grid import read_grid
from ._images import mnist_mar
from ._measure import mask_auc, pairwise_dependence
from ._not_at_random import mnar_hidden, mnar_quantile, mnar_self
from ._result import Missing
from ._series_gaps import bursts, series_rates

MECHANISMS: dict[str, Callable[..., Gaps]] = {
    "mcar": mcar,
    "mar": mar,
    "mnar_self": mnar_self,
    "mnar_quantile": mnar_quantile,
    "mnar_hidden": mnar_hidden,
    "blocks": blocks,
    "mnist_mar": mnist_mar,
    "series_rates": series_rates,
    "bursts": bursts,
}


def make_missing(
    name: str,
    X: Any,
    rate: float | None = None,
    random_state: Any = 0,
    lengths: Any = None,
    **options: Any,
) -> Missing:
    """Decide which entries of X go missing. X itself stays as it is; `.apply(X)` makes the gaps.

    Parameters
    ----------
    name : one of `MECHANISMS`
    X : a table, (n, d) array or frame; or series, (N, T, D) array or list of (T_i, D). The steps of
        series are rows like those of a table. For "mnist_mar" also (n, height, width). Text columns
        may lose entries but drive nothing.
    rate : share of the entries of X that are missing in the end, in [0, 1]. Entries that are
        missing already stay missing and count; so do columns that never lose anything. Reached to
        the nearest entry, or, where whole blocks go, to the nearest block. None means 0.3, or
        what the options say where they settle it.
    random_state : int, None, RandomState or Generator; the same int gives the same gaps
    lengths : (N,) steps of each series in a padded (N, T, D) array. Padding is no entry: it
        counts for nothing, and `observed` is False there.
    options : those of the mechanism; see its function

    >>> import numpy as np
    >>> X = pd.DataFrame(np.arange(30.0).reshape(10, 3), columns=["age", "pulse", "ph"])
    >>> missing = make_missing("mar", X, rate=0.4, seen=["age"])
    >>> missing
    Missing(mar: MAR, 40.0 % of 30 entries missing)
    >>> missing.apply(X).isna().sum().to_dict()
    {'age': 0, 'pulse': 6, 'ph': 6}
    >>> make_missing("magic", X)
    Traceback (most recent call last):
    imputefree.errors.ParameterError: there is no missingness 'magic'. Known are mcar, mar, ...
    """
    if not isinstance(name, str) or name not in MECHANISMS:
        raise ParameterError(
            f"there is no missingness {name!r}",
            f"Known are {', '.join(MECHANISMS)}",
            "Pass one of these names",
        )
    run = MECHANISMS[name]
    kinds = signature(run).parameters.values()
    known = [one.name for one in kinds if one.kind is Parameter.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            raise ParameterError(
                f"the missingness {name!r} has no option {option!r}",
                f"Its options are {', '.join(known)}",
                "Leave it out, or pass one of these",
            )
    if rate is not None:
        check_number("rate", rate, 0, 1)
    grid = read_grid(X, lengths=lengths, images=run is mnist_mar)
    gaps = run(grid, rate, generator(random_state), **options)
    observed = grid.present & ~gaps.lost
    return Missing(
        name=name,
        mechanism=gaps.mechanism,
        observed=grid.restore(observed),
        rate=float((~observed).mean()) if gaps.rate is None else gaps.rate,
        drivers=pd.DataFrame(gaps.drivers, grid.names, grid.names),
        missing_by_column=pd.Series((~observed).mean(axis=0), grid.names),
        size=observed.size,
    )


__all__ = [
    "MECHANISMS",
    "Gaps",
    "Missing",
    "blocks",
    "bursts",
    "check_number",
    "generator",
    "make_missing",
    "mar",
    "mask_auc",
    "mcar",
    "mnar_hidden",
    "mnar_quantile",
    "mnar_self",
    "mnist_mar",
    "pairwise_dependence",
    "read_grid",
    "series_rates",
]
