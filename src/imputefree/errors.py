"""Errors and warnings that state the fact, the rule and the remedy.

>>> raise InputError(
...     fact="column 'lactate' holds +inf in 3 rows (first: row 17)",
...     rule="Values must be finite or missing (NaN)",
...     remedy="Replace infinities with NaN, or drop the rows",
... )
Traceback (most recent call last):
imputefree.errors.InputError: column 'lactate' holds +inf in 3 rows (first: row 17). Values must \
be finite or missing (NaN). Replace infinities with NaN, or drop the rows.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

Names = Any  # a list, a tuple or an array


class ImputefreeError(ValueError):
    """Base class of all errors that this package raises on purpose.

    It is a ValueError, as scikit-learn's own errors about data and parameters are.
    """

    def __init__(self, fact: str, rule: str = "", remedy: str = "") -> None:
        self.fact, self.rule, self.remedy = fact, rule, remedy
        super().__init__(" ".join(f"{part}." for part in (fact, rule, remedy) if part))

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        # Exceptions are pickled between processes (joblib): keep the three parts.
        return type(self), (self.fact, self.rule, self.remedy)


class InputError(ImputefreeError):
    """Data that cannot be learned from or predicted on, named by column and row."""


class InputTypeError(InputError, TypeError):
    """An InputError about the type of an object, where scikit-learn expects a TypeError."""


class ParameterError(ImputefreeError):
    """A constructor parameter outside its valid values."""


class ModelFileError(ImputefreeError):
    """A model file that is truncated, foreign, tampered with or from a newer version."""


class DownloadError(ImputefreeError):
    """A public file that could not be fetched, or is not the known one."""


class ResultsError(ImputefreeError):
    """A file of results that cannot be read, written or shared."""


class ClusterError(ImputefreeError):
    """A Dask cluster that cannot be reached, or is not fit for runs."""


class MissingExtraError(ImputefreeError, ImportError):
    """A library is not installed; it comes with an extra of this package."""


def require_extra(extra: str, *modules: str) -> None:
    """Raise a MissingExtraError unless all these modules of an extra are installed.

    >>> require_extra("bench", "no_such_module")
    Traceback (most recent call last):
    imputefree.errors.MissingExtraError: no_such_module is not installed. It comes with the extra \
'bench'. Run pip install 'imputefree[bench]'.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed",
            f"{'It comes' if len(missing) == 1 else 'They come'} with the extra {extra!r}",
            f"Run pip install 'imputefree[{extra}]'",
        )


class UnseenCategoryWarning(UserWarning):
    """Categories at prediction time that training never saw; they count as missing."""


class OutsideRangeWarning(UserWarning):
    """Numbers at prediction time far outside the range that training saw."""


class InterruptedWarning(UserWarning):
    """Training was interrupted; the best weights so far are kept."""


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(0, "row"), counted(1, "row"), counted(2, "row")
    ('0 rows', '1 row', '2 rows')
    """
    return f"{count} {noun}{'s' * (count != 1)}"


def shorten(names: Names, limit: int = 6, word: Callable[[Any], str] = repr) -> str:
    """The first names, each formatted by `word`, and how many more there are.

    >>> shorten(["hr", "temp", "ph"], limit=2)
    "'hr', 'temp' and 1 more"
    """
    shown = ", ".join(word(name) for name in names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")


def closest(name: str, known: Iterable[str]) -> str:
    """The remedy for a name that is not known: the known ones most like it; "" if none are.

    >>> closest("Outcome", ["age", "outcome"]), closest("x", ["age"])
    ("Perhaps you mean 'outcome'", '')
    """
    lower = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.lower(), list(lower), n=2, cutoff=0.6)
    suggested = " or ".join(repr(lower[other]) for other in near)
    return f"Perhaps you mean {suggested}" if near else ""


def brief(value: Any, limit: int = 100) -> str:
    """The repr of a value in one line, cut off where it is long.

    >>> brief("a name"), brief([1] * 100, limit=10)
    ("'a name'", '[1, 1, 1, …')
    """
    line = repr(value).replace("\n", " ")
    return line if len(line) <= limit else f"{line[:limit]}…"


def listed(*parts: tuple[str, Names]) -> str:
    """Lists of names under headings, such as what is missing; empty lists are left out.

    >>> listed(("missing", ["hr"]), ("not in training", []), ("new", ["ph", "temp"]))
    "missing 'hr'; new 'ph', 'temp'"
    """
    return "; ".join(f"{heading} {shorten(names)}" for heading, names in parts if len(names))
