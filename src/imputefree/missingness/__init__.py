"""Simulate gaps: complete data in, a mask out, and a record of what drives which gap.

name            mechanism  what goes missing
mcar            MCAR       entries, independently of values
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
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np
import pandas as pd

from .._rules import check_name, check_options, check_value, number, whole
from ..errors import shorten
from ._block_gaps import blocks, mnist_mar
from ._entry_gaps import Draw, Gaps, mar, mcar, mnar_hidden, mnar_quantile, mnar_self, no_drivers
from ._gap_measures import mask_auc, pairwise_dependence
from ._grid import put_gaps, read_grid
from ._series_gaps import bursts, series_rates

SHOWN = 3  # drivers named per line of the report
_ENTRIES = (mcar, mar, mnar_self, mnar_quantile, mnar_hidden)
MECHANISMS: dict[str, Callable[..., Gaps]] = {
    run.__name__: run for run in (*_ENTRIES, blocks, mnist_mar, series_rates, bursts)
}


@dataclass(frozen=True, repr=False, eq=False)
class Missing:
    """Gaps for data of one shape.

    Attributes
    ----------
    name : the name in `MECHANISMS`
    mechanism : "MCAR", "MAR" or "MNAR"
    observed : bool, True where an entry is seen; an array in the shape of X, or a list of them
    rate : share of entries missing in the end, old and new
    drivers : (d, d) DataFrame. Row i, column j: by how many logits the chance that column i is
        missing grows per standard deviation of column j. All 0 for MCAR; for MAR only columns that
        are always seen drive; self-masking is on the diagonal. Infinite where a quantile decides.
    missing_by_column : (d,) Series, share missing per column
    size : number of entries

    Examples
    --------
    >>> from imputefree.missingness import make_missing
    >>> X = pd.DataFrame({"age": [31, 50, 47, 62], "ph": [7.1, 7.4, 7.3, 7.2]})
    >>> missing = make_missing("mar", X, rate=0.25, seen=["age"], strength=1.5)
    >>> missing.report()
         missing     driven by
    age      0.0       nothing
    ph       0.5  'age' (+1.5)
    """

    name: str
    mechanism: str
    observed: Any
    rate: float
    drivers: pd.DataFrame
    missing_by_column: pd.Series
    size: int

    def apply(self, X: Any) -> Any:
        """A copy of X, or of other data of its shape, with these gaps.

        Frames stay frames, with their names and index. Columns without gaps keep their dtype;
        integers with gaps become floats and bools pandas' "boolean", as NumPy has no gap for them.
        """
        return put_gaps(X, self.observed)

    def report(self) -> pd.DataFrame:
        """For each column: the share missing, and the columns whose values drive its gaps.

        The strongest drivers come first, each with its logits per standard deviation.
        """
        lines = []
        for name, row in self.drivers.iterrows():
            strongest = row[row != 0].sort_values(key=lambda v: -v.abs(), kind="stable")
            words = [
                f"{'itself' if driver == name else repr(str(driver))} ({logits:+.2g})"
                for driver, logits in strongest.items()
            ]
            lines.append(shorten(words, SHOWN, str) or "nothing")
        return pd.DataFrame({"missing": self.missing_by_column.round(4), "driven by": lines})

    def __repr__(self) -> str:
        return (
            f"Missing({self.name}: {self.mechanism}, {100 * self.rate:.1f} % of"
            f" {self.size:,} entries missing)"
        )


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
        series are rows like those of a table. For "mnist_mar" also (n, height, width). Columns of
        strings may lose entries but drive nothing.
    rate : share of the entries of X that are missing in the end, in [0, 1]. Entries that are
        missing already stay missing and count; so do columns that never lose anything. Reached to
        the nearest entry, or, where whole blocks go, to the nearest block. None means 0.3, or
        what the options say where they settle it.
    random_state : int, None, RandomState or Generator; the same int gives the same gaps
    lengths : (N,) steps of each series in a padded (N, T, D) array. Padding is not an entry: it
        does not count, and `observed` is False there.
    options : options of the mechanism; see its function

    >>> X = pd.DataFrame(np.arange(30.0).reshape(10, 3), columns=["age", "pulse", "ph"])
    >>> missing = make_missing("mar", X, rate=0.4, seen=["age"])
    >>> missing
    Missing(mar: MAR, 40.0 % of 30 entries missing)
    >>> missing.apply(X).isna().sum().to_dict()
    {'age': 0, 'pulse': 6, 'ph': 6}
    >>> make_missing("magic", X)
    Traceback (most recent call last):
    imputefree.errors.ParameterError: there is no mechanism 'magic'. Valid names are mcar, mar, ...
    """
    check_name("mechanism", name, MECHANISMS)
    run = MECHANISMS[name]
    kinds = signature(run).parameters.values()
    known = [option.name for option in kinds if option.kind is Parameter.KEYWORD_ONLY]
    check_options(f"the mechanism {name!r}", options, known)
    if rate is not None:
        check_value("rate", rate, number(0, 1))
    grid = read_grid(X, lengths=lengths, images=run is mnist_mar)
    gaps = run(Draw(grid, rate, generator(random_state)), **options)
    observed = grid.present & ~gaps.lost
    drivers = no_drivers(grid) if gaps.drivers is None else gaps.drivers
    return Missing(
        name=name,
        mechanism=gaps.mechanism,
        observed=grid.restore(observed),
        rate=float((~observed).mean()) if gaps.rate is None else gaps.rate,
        drivers=pd.DataFrame(drivers, grid.names, grid.names),
        missing_by_column=pd.Series((~observed).mean(axis=0), grid.names),
        size=observed.size,
    )


def generator(random_state: Any) -> np.random.Generator:
    """A private Generator: the global random state is neither read nor changed."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint64))
    if random_state is not None:
        holds, wording = whole(0)
        rule = (holds, f"None, {wording}, a RandomState or a Generator")
        check_value("random_state", random_state, rule)
    return np.random.default_rng(random_state)


__all__ = [
    "MECHANISMS",
    "Gaps",
    "Missing",
    "generator",
    "make_missing",
    "mask_auc",
    "pairwise_dependence",
    "put_gaps",
]
