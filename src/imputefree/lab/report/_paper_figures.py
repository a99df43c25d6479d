"""The figures printed in the paper, Tables 1 to 7, to be shown next to ours.

Source: "Gradient Importance Learning for Incomplete Observations", ICLR 2022. `paper_figures.csv`
has them figure by figure, in the paper's order: `96.29_0.7` is a mean with its standard deviation,
`<0.01` a bound. What is a dash in the paper is not there.

Methods have our names (`lab.rivals`); the paper's are in `PRINTED_NAMES`. Settings have these
names, each used by one study only:
    "variable", "fixed" (MIMIC-III), "rate-25", "rate-35" (ophthalmic), "natural" (PhysioNet),
    "mcar-50", "mcar-70", "mcar-90", "mar" (MNIST)

>>> figure = find("mnist", "gil", "mcar-90", "accuracy")
>>> figure.table, figure.mean, figure.sd
(3, 0.7847, 0.0039)
>>> find("mimic3", "brits", "variable", "accuracy") is None  # a dash
True
"""

from __future__ import annotations

import csv
import json
from importlib.resources import files
from typing import Final, NamedTuple

_HERE = files(__package__)
_NAMES = json.loads(_HERE.joinpath("paper_names.json").read_text(encoding="utf-8"))
PRINTED_NAMES: Final[dict[str, str]] = _NAMES["printed_names"]  # BRITS has no second network
# What the reader of a table must know to compare it with another.
NOTES: Final = {int(table): text for table, text in _NAMES["notes"].items()}


class Figure(NamedTuple):
    """One printed figure.

    table : 1 to 7
    study : "mimic3", "ophthalmic", "mnist" or "physionet2012"
    printed : the characters of the paper, `_` before the subscript
    mean, sd : in the unit of our runs: 0.9629 for 96.29 %; correlations and p-values as printed.
        sd is None where none is printed
    """

    table: int
    study: str
    setting: str
    method: str
    metric: str
    printed: str
    mean: float
    sd: float | None


def _figure(table: str, study: str, setting: str, method: str, metric: str, printed: str) -> Figure:
    mean, _, sd = printed.partition("_")
    scale = 1.0 if table == "4" else 100.0
    # The means are in per cent. The subscripts of Table 2, and of its study in Table 7, are too;
    # those of MNIST are thousandths of 1 by the captions, and Table 7 writes their e-03 out.
    sd_scale = 100.0 if study != "mnist" else (1.0 if "e" in sd else 1000.0)
    value = round(float(mean.lstrip("<")) / scale, 6)  # 96.29 / 100 as one would type it
    spread = round(float(sd) / sd_scale, 8) if sd else None
    return Figure(int(table), study, setting, method, metric, printed, value, spread)


_FILE = _HERE.joinpath("paper_figures.csv").read_text(encoding="utf-8")
# In the order of the paper: tables, then lines, then from left to right.
FIGURES: Final = [_figure(*row) for row in list(csv.reader(_FILE.splitlines()))[1:]]
_BY_STUDY: Final = {(f.study, f.method, f.setting, f.metric): f for f in FIGURES}


def find(study: str, method: str, setting: str, metric: str) -> Figure | None:
    """The figure in whichever table, or None: GIL-D on MNIST is in Table 5, not in 3.

    >>> find("mnist", "gil-d", "mcar-70", "accuracy").table
    5
    """
    return _BY_STUDY.get((study, method, setting, metric))
