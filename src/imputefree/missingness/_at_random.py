"""MAR: which entries are missing depends on values that are always seen, and on nothing else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import ParameterError
from ._checks import check_columns, check_number
from ._draws import Gaps, linear, lose_by_column, no_drivers, random_weights
from ._grid import Grid


def mar(
    grid: Grid,
    rate: float | None,
    rng: np.random.Generator,
    *,
    seen: Any = 0.3,
    columns: Any = None,
    strength: float = 2.0,
) -> Gaps:
    """Entries go missing by a logistic model of columns that are always seen.

    For each column j that may lose entries, eta_j = Σ_s w_sj z_s over the seen columns s, with z in
    standard deviations and w_j a random direction; an entry goes with the chance
    1 / (1 + exp(c_j - eta_j)). Every such column loses the same share of its entries, so all gaps
    are outside the seen columns, and the rate can be no more than their share of the table.

    seen : the columns that are always seen and drive the gaps: names or positions; or their share,
        in (0, 1), picked at random among complete columns of numbers that vary
    columns : which may lose entries; None means all that are not seen
    strength : standard deviation of eta, in logits

    >>> from imputefree.missingness import make_missing
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> make_missing("mar", X, seen=[0], strength=1.0).drivers.abs().round().astype(int)
       0  1  2
    0  0  0  0
    1  1  0  0
    2  1  0  0
    """
    check_number("strength", strength, 0, 100, open_low=True)
    drivers = seen_columns(grid, seen, rng)
    if columns is None:
        chosen = [j for j in range(len(grid.names)) if j not in set(drivers)]
    else:
        chosen = check_columns("columns", columns, grid)
    if set(chosen) & set(drivers) or not chosen:
        raise ParameterError(
            "no column is left to lose entries" if not chosen else "columns and seen overlap",
            "A column that is always seen loses no entries",
            "Take columns out of seen",
        )
    z = scaled_columns(grid, drivers)
    weights = random_weights(z, len(chosen), strength, rng)
    why = f"{len(chosen)} of {len(grid.names)} columns may lose entries, {len(drivers)} drive them"
    lost = lose_by_column(grid, chosen, rate, rng, linear(z, weights), why)
    matrix = no_drivers(grid)
    matrix[np.ix_(chosen, drivers)] = weights.T
    return Gaps(lost, "MAR", matrix)


def scaled_columns(grid: Grid, columns: list[int]) -> np.ndarray:
    """(rows, len(columns)) float32, in standard deviations; constant columns are 0."""
    return np.column_stack([grid.scaled(j).astype(np.float32) for j in columns])


def seen_columns(grid: Grid, seen: Any, rng: np.random.Generator, name: str = "seen") -> list[int]:
    """Positions of complete columns that can drive gaps: those asked for, or a share of all."""
    if isinstance(seen, float):
        check_number(name, seen, 0, 1, open_low=True)
        return pick_columns(grid, seen, rng, name)
    found = check_columns(name, seen, grid)
    for j in found:
        grid.column(j)  # refuses texts
        if not grid.present[:, j].all():
            raise ParameterError(
                f"{name} holds {grid.label(j)}, which has gaps",
                "Gaps at random depend on values that are always seen",
                f"Pass {name}= complete columns",
            )
    if not any(grid.varies(j) for j in found):
        raise ParameterError(
            f"{name} holds constant columns only",
            "Gaps at random depend on values that differ between rows",
            f"Pass {name}= a column that varies",
        )
    return found


def pick_columns(
    grid: Grid, share: float, rng: np.random.Generator, name: str, complete: bool = True
) -> list[int]:
    """That share of the columns, at least one and not all, of numbers that vary."""
    width = len(grid.names)
    wanted = min(max(math.floor(share * width + 0.5), 1), width - 1)
    found: list[int] = []
    # In random order up to the last one needed: columns after it have no say, whatever they hold.
    for j in rng.permutation(width).tolist():
        good = len(found) < wanted and (not complete or grid.present[:, j].all())
        if good and grid.varies(j):
            found.append(j)
    if not found:
        raise ParameterError(
            f"X has {width} columns, and none of them can drive the gaps of another",
            f"That takes two columns, one of them {'complete and ' * complete}of numbers that vary",
            f"Add such a column and name it in {name}=",
        )
    return sorted(found)
