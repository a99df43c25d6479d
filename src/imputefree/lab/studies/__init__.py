"""Studies to learn from: public data read from files, and simulated cohorts.

    load("mnist", rate=0.9)               from root=, IMPUTEFREE_DATA or the user's cache
    load("table:hepatitis")               a real table with natural gaps
    load("table:patients.csv", target="outcome")    a table of your own
    load("series:stays.csv", id="stay", time="hour", target="died")    series of your own
    load("icu", seed=0)                   simulated, needs no file

A new study is a module in this folder with a function (root, **options) -> Study, and a line in
LOADERS. Nothing is downloaded by an import or by `load`, only by `get` (`imputefree data get`).
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from ..._rules import check_options
from ...errors import ParameterError, shorten
from . import _csv_studies, _icu, _mnist, _ophthalmic, _physionet, mimic3
from ._csv_studies import KNOWN
from ._data_files import SOURCES, Root, get, home_of
from ._describe import describe, show
from ._describe_picture import draw
from ._icu import simulate as simulate_icu
from ._mnist import MASKS
from ._study import Study, long_form

LOADERS: dict[str, Callable[..., Study]] = {
    "mnist": _mnist.study,
    "physionet2012": _physionet.challenge_2012,
    "physionet2019": _physionet.challenge_2019,
    "mimic3": mimic3.load,
    "ophthalmic": _ophthalmic.study,
    "ophthalmic-simulated": _ophthalmic.simulated_study,
    "icu": _icu.study,
    "table": _csv_studies.study,
    "series": _csv_studies.series_study,
}
FROM_CSV = ("table", "series")  # written with a colon and a name, as in "table:hepatitis"


def load(name: str, root: Root = None, **options: Any) -> Study:
    """Load a study by name.

    Parameters
    ----------
    name : one of `LOADERS`; a table is "table:NAME" or "table:FILE.csv", series are
        "series:FILE.csv"
    root : the folder with its files, or the parent of that folder; IMPUTEFREE_DATA and the cache
        are tried next
    options : options of the study; see its function in `LOADERS`

    >>> load("icu", n_series=40, seed=0).X[0].shape[1]
    14
    >>> load("moon")
    Traceback (most recent call last):
    imputefree.errors.ParameterError: there is no study 'moon'. Studies are 'mnist', ...
    """
    kind, _, rest = str(name).partition(":")
    if kind not in LOADERS or (kind in FROM_CSV) != bool(rest):
        known = [study for study in LOADERS if study not in FROM_CSV]
        raise ParameterError(
            f"there is no study {name!r}",
            f"Studies are {shorten(known, limit=20)} and 'table:NAME', 'table:FILE.csv' or"
            " 'series:FILE.csv'",
            "Name one of them",
        )
    if rest:
        options["name"] = rest
    if kind != "series":  # its name is a path
        options["root"] = root
    check_options(repr(name), options, signature(LOADERS[kind]).parameters)
    return LOADERS[kind](**options)


def takes(name: str, option: str) -> bool:
    """Whether a study has this option; False if there is no such study.

    >>> takes("mnist", "mask_seed"), takes("icu", "mask_seed")
    (True, False)
    """
    kind = str(name).partition(":")[0]
    return kind in LOADERS and option in signature(LOADERS[kind]).parameters


__all__ = [
    "KNOWN",
    "LOADERS",
    "MASKS",
    "SOURCES",
    "Root",
    "Study",
    "describe",
    "draw",
    "get",
    "home_of",
    "load",
    "long_form",
    "show",
    "simulate_icu",
    "takes",
]
