"""How errors list names, count things and say what two lists do not share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Names = Sequence[Any] | np.ndarray


def counted(count: int, what: str) -> str:
    """A count with its noun.

    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{count} {what}{'s' * (count > 1)}"


def shorten(names: Names, limit: int = 6, word: Callable[[Any], str] = repr) -> str:
    """The first names, each as `word` puts it, and how many more there are.

    >>> shorten(["hr", "temp", "ph"], limit=2)
    "'hr', 'temp' and 1 more"
    """
    shown = ", ".join(word(name) for name in names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")


def listed(*parts: tuple[str, Names]) -> str:
    """What is missing, what is too much, and so on; parts without a name are left out.

    >>> listed(("missing", ["hr"]), ("not in training", []), ("new", ["ph", "temp"]))
    "missing 'hr'; new 'ph', 'temp'"
    """
    return "; ".join(f"{what} {shorten(names)}" for what, names in parts if len(names))
