"""What `make_missing` returns: the mask, the rate reached, and what drives which gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..errors import shorten
from ._apply import put_gaps

SHOWN = 3  # drivers a line of the report names


@dataclass(frozen=True, repr=False, eq=False)
class Missing:
    """Gaps for data of one shape.

    Attributes
    ----------
    name : of the mechanism, one of `MECHANISMS`
    mechanism : "MCAR", "MAR" or "MNAR"
    observed : bool, True where an entry is seen; an array in the shape of X, or a list of them
    rate : share of entries missing in the end, those of before included
    drivers : (d, d) DataFrame. Row i, column j: by how many logits the chance that column i is
        missing grows with a standard deviation of column j's value. All 0 for MCAR; for MAR only
        columns that are always seen drive; self-masking is on the diagonal. Infinite where a
        quantile decides.
    missing_by_column : (d,) Series, share missing of each column
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
        """A copy of X, or of other data of its shape, with gaps in the places decided on.

        Frames stay frames, with their names and index. Columns without gaps keep their dtype; whole
        numbers with gaps become floats and pandas' bool "boolean", as NumPy has no gap for them.
        """
        return put_gaps(X, self.observed)

    def report(self) -> pd.DataFrame:
        """For each column: the share missing, and the columns whose values drive its gaps.

        The strongest drivers come first, each with its logits a standard deviation.
        """
        strength = self.drivers.to_numpy()
        names = self.drivers.columns.to_numpy()
        lines = [_worded(name, row, names) for name, row in zip(names, strength, strict=True)]
        return pd.DataFrame({"missing": self.missing_by_column.round(4), "driven by": lines})

    def __repr__(self) -> str:
        return (
            f"Missing({self.name}: {self.mechanism}, {100 * self.rate:.1f} % of"
            f" {self.size:,} entries missing)"
        )


def _worded(name: str, row: np.ndarray, names: np.ndarray) -> str:
    order = [j for j in np.argsort(-np.abs(row), kind="stable") if row[j]]
    worded = [
        f"{'itself' if names[j] == name else repr(str(names[j]))} ({row[j]:+.2g})" for j in order
    ]
    return shorten(worded, SHOWN, str) or "nothing"
