"""Studies to learn from: public data read from files, and simulated cohorts.

    load("mnist", rate=0.9)               from root=, IMPUTEFREE_DATA or the user's cache
    load("table:hepatitis")               a real table with natural gaps
    load("table:patients.csv", target="outcome")    a file of your own
    load("series:stays.csv", id="stay", time="hour", target="died")    series of your own
    load("icu", seed=0)                   simulated, needs no file

Nothing is downloaded by an import or a load; `imputefree data get NAME` is the one thing that does.
"""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import Any

from ...data import Split, Splits, shorten
from ...errors import ParameterError
from . import _icu as icu
from . import _physionet2012 as physionet2012
from ._data_files import Root
from ._describe import describe
from ._describe_picture import draw
from ._describe_table import show
from ._download import Report, get, home_of
from ._long_form import long_form
from ._sources import SOURCES, File
from ._study import Study
from ._table_studies import KNOWN

# name: the module in this folder and its function (root, **options) -> Study; imported when asked.
LOADERS = {
    "mnist": ("_mnist", "study"),
    "physionet2012": ("_physionet2012", "study"),
    "mimic3": ("mimic3", "load"),
    "ophthalmic": ("_ophthalmic", "study"),
    "ophthalmic-simulated": ("_ophthalmic_simulated", "study"),
    "icu": ("_icu_study", "study"),
    "table": ("_table_studies", "study"),
    "series": ("_series_csv", "study"),
}
FILES = ("table", "series")  # their names go on after a colon


def load(name: str, root: Root = None, **options: Any) -> Study:
    """A study by its name.

    Parameters
    ----------
    name : one of `LOADERS`; tables by "table:NAME" or "table:FILE.csv", series by
        "series:FILE.csv"
    root : the folder with its files, or the one above; then IMPUTEFREE_DATA and the cache are tried
    options : those of the study; see `study` in its module

    >>> load("icu", n_series=40, seed=0).X[0].shape[1]
    14
    >>> load("moon")
    Traceback (most recent call last):
    imputefree.errors.ParameterError: there is no study 'moon'. Studies are 'mnist', ...
    """
    kind, _, rest = str(name).partition(":")
    if kind not in LOADERS or (kind in FILES) != bool(rest):
        known = [one for one in LOADERS if one not in FILES]
        raise ParameterError(
            f"there is no study {name!r}",
            f"Studies are {shorten(known, limit=20)} and 'table:NAME', 'table:FILE.csv' or"
            " 'series:FILE.csv'",
            "Name one of them",
        )
    module, function = LOADERS[kind]
    if rest:
        options["name"] = rest
    read = getattr(import_module(f".{module}", __name__), function)
    if kind != "series":  # a path says where it is
        options["root"] = root
    return _call(name, read, options)


def takes(name: str, option: str) -> bool:
    """Whether a study has this option; False for a study that there is not.

    >>> takes("mnist", "mask_seed"), takes("icu", "mask_seed")
    (True, False)
    """
    kind = str(name).partition(":")[0]
    if kind not in LOADERS:
        return False
    module, function = LOADERS[kind]
    return option in signature(getattr(import_module(f".{module}", __name__), function)).parameters


def _call(name: str, read: Any, options: dict[str, Any]) -> Study:
    """An option that the study does not have is the caller's mistake, told with those it has."""
    has = signature(read).parameters
    unknown = [one for one in options if one not in has]
    if unknown:
        raise ParameterError(
            f"{name!r} has no option {unknown[0]!r}",
            f"Its options are {shorten([one for one in has if one != 'name'], limit=20)}",
            "Correct the option's name, or leave it out",
        )
    study: Study = read(**options)
    return study


__all__ = [
    "KNOWN",
    "LOADERS",
    "SOURCES",
    "File",
    "Report",
    "Root",
    "Split",
    "Splits",
    "Study",
    "describe",
    "draw",
    "get",
    "home_of",
    "icu",
    "load",
    "long_form",
    "physionet2012",
    "show",
    "takes",
]
