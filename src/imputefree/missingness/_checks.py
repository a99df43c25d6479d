"""What parameters of the mechanisms may be, with the rule in the error."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import ParameterError, shorten
from ._grid import Grid


def is_whole(value: Any) -> bool:
    """A whole number; True and False are none."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def check_number(name: str, value: Any, low: float, high: float, open_low: bool = False) -> float:
    """`value` as a float, or a ParameterError that says the range; infinity is in none."""
    good = isinstance(value, numbers.Real) and not isinstance(value, bool)
    try:
        good = good and math.isfinite(value)
    except OverflowError:  # a whole number beyond the largest float
        good = False
    if not good or not (low <= float(value) <= high) or (open_low and float(value) == low):
        span = f"at least {low:g}, and finite" if high == np.inf else f"in [{low:g}, {high:g}]"
        span = span.replace("[", "(").replace("at least", "above") if open_low else span
        raise ParameterError(
            f"{name} is {value!r}", f"It must be a number {span}", f"Pass {name}= such a number"
        )
    return float(value)


def check_choice(name: str, value: Any, *known: str) -> str:
    """`value`, or a ParameterError that says what is known."""
    if not isinstance(value, str) or value not in known:
        raise ParameterError(
            f"{name} is {value!r}",
            f"It must be one of {', '.join(map(repr, known))}",
            f"Pass {name}= one of these",
        )
    return value


def generator(random_state: Any) -> np.random.Generator:
    """A private Generator: the global random state is neither read nor changed.

    >>> generator(3).random() == generator(3).random()
    True
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint64))
    if random_state is None or (is_whole(random_state) and random_state >= 0):
        return np.random.default_rng(random_state)
    raise ParameterError(
        f"random_state is {random_state!r}",
        "It must be None, a whole number of at least 0, a RandomState or a Generator",
        "Pass random_state=0 for gaps that others can repeat",
    )


def check_columns(name: str, columns: Any, grid: Grid) -> list[int]:
    """Positions of the columns named, or numbered, in `columns`, each once.

    Names come first: in a frame with the columns 2, 0 and 1, 0 is the column of that name. Where
    all names are whole numbers, numbers are names and never positions.

    >>> from .grid import read_grid
    >>> check_columns("seen", [2, 0], read_grid(np.ones((4, 3))))
    [2, 0]
    """
    if isinstance(columns, str) or is_whole(columns):
        columns = [columns]
    if not isinstance(columns, Iterable):
        raise ParameterError(
            f"{name} is {columns!r}",
            "It must be a list of column names or positions",
            f"Pass {name}=[…] with such a list",
        )
    width, found = len(grid.names), []
    at = {text: j for j, text in enumerate(grid.names)}
    numbered = grid.named and all(_is_number(text) for text in grid.names)
    for one in columns:
        if (is_whole(one) or isinstance(one, str)) and str(one) in at:
            found.append(at[str(one)])
        elif is_whole(one) and 0 <= one < width and not numbered:
            found.append(int(one))
        else:
            known = shorten(grid.names) if grid.named else f"0 to {width - 1}"
            raise ParameterError(
                f"{name} holds {one!r}, which is no column of X",
                f"Columns are {known}",
                "Pass names of these" if numbered else "Pass names or positions of these",
            )
    if not found or len(set(found)) < len(found):
        raise ParameterError(
            f"{name} is {list(columns)!r}",
            "It must hold at least one column, and none twice",
            f"Pass {name}=[…] with different columns",
        )
    return found


def _is_number(text: str) -> bool:
    """Whether a name is a whole number, such as 10 or -1."""
    return text.removeprefix("-").isdecimal()
