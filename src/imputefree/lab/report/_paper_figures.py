"""The figures printed in the paper, Tables 1 to 7, to be shown next to ours.

Source: "Gradient Importance Learning for Incomplete Observations", ICLR 2022. Each table is copied
below figure by figure, in the paper's order, so that they can be compared by eye: `96.29_0.7`
is a mean with its standard deviation, `-` is a dash in the paper, `<0.01` a bound.

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

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

PRINTED_NAMES: Final = {
    "gil": "GIL",
    "gil-d": "GIL-D",
    "gil-h": "GIL-H",
    "gain+network": "GAIN",
    "miwae+network": "MIWAE",
    "gpvae+network": "GP-VAE",
    "brits": "BRITS",  # end to end, no second network
    "mice+network": "MICE",
    "mean+network": "Mean",
    "carry_forward+network": "CF",
    "knn+network": "kNN",
    "missforest+network": "MF",
    "em+network": "EM",
    "zero+network": "Zero",
    "gate": "ablation",
    "imputers": "all imputers",
}
_METHODS: Final = {printed: name for name, printed in PRINTED_NAMES.items()}
# What the reader of a table must know to compare it with another.
NOTES: Final = {
    1: "The paper prints no standard deviations.",
    2: "The paper's standard deviations are over 3 masks.",
    3: "The paper's standard deviations are over 5 masks.",
    4: "The paper's p-values fit about 24 points: runs, not means of methods.",
    5: "The paper's GIL-D means are those of GIL in its Table 3, digit for digit.",
    6: "The paper prints no standard deviations.",
    7: "The paper prints the ablation without other methods next to it.",
}


@dataclass(frozen=True)
class Figure:
    """One printed figure.

    table : 1 to 7
    study : "mimic3", "ophthalmic", "mnist" or "physionet2012"
    mean, sd : in the unit of our runs: 0.9629 for 96.29 %; correlations and p-values as printed.
        sd is None where none is printed
    below : True where the paper prints "<": the value is less than `mean`
    printed : the characters of the paper, `_` before the subscript
    """

    table: int
    study: str
    setting: str
    method: str
    metric: str
    mean: float
    sd: float | None
    below: bool
    printed: str


# Study, setting, metric, then the figures under the methods of the head line.
_TABLE_1 = """
GIL GIL-D GIL-H GAIN MIWAE GP-VAE BRITS MICE Mean CF kNN MF EM
mimic3 variable accuracy 93.32 93.09 89.17 90.32 88.71 - - 92.17 88.02 87.32 84.79 75.81 68.20
mimic3 variable auc 96.10 96.79 92.96 95.57 94.28 - - 95.97 92.56 91.78 91.86 81.73 75.23
mimic3 fixed accuracy 91.47 91.01 88.25 88.48 86.18 76.50 80.24 90.09 86.41 86.87 85.48 78.11 70.51
mimic3 fixed auc 95.29 95.57 92.99 91.94 93.10 81.47 92.13 94.02 91.69 91.98 92.38 84.54 79.97
"""
_TABLE_2 = """
GIL GIL-D GIL-H GAIN GP-VAE MIWAE MICE Zero
ophthalmic rate-25 accuracy 86.84_1.43 87.13_1.09 83.63_0.83 85.38_1.09 85.67_0.83 80.99_1.8 \
84.21_0.72 84.50_1.8
ophthalmic rate-25 auc 92.40_1.33 92.42_1.44 88.87_2.16 90.13_2.09 91.47_1.02 84.04_1.47 \
91.35_1.35 90.59_0.32
ophthalmic rate-35 accuracy 83.33_0.72 85.09_2.58 80.41_1.49 80.41_0.83 80.41_0.83 79.24_4.38 \
80.41_1.49 80.12_1.09
ophthalmic rate-35 auc 88.49_0.68 90.68_2.36 87.02_3.03 88.02_2.15 84.85_3.29 85.51_3.47 \
85.87_3.24 88.02_0.97
"""
_TABLE_3 = """
GIL GIL-H GAIN MIWAE MICE Zero GP-VAE
mnist mcar-50 accuracy 96.29_0.7 96.08_1.2 96.23_0.7 95.46_0.8 94.58_0.2 95.83_1.7 96.57_3.1
mnist mcar-70 accuracy 93.35_0.9 93.26_0.9 91.98_3.8 93.20_0.8 90.53_3 92.80_0.8 93.49_3
mnist mcar-90 accuracy 78.47_3.9 78.44_4.7 72.58_9 77.91_11.3 73.48_5 76.67_5.3 76.25_2
mnist mar accuracy 93.23_0.3 93.15_0.5 92.97_0.8 93.18_0.4 92.62_1.1 82.50_2.9 92.62_1.3
"""
# Tables 4, 5 and 7 have one method, and their settings across.
_ACROSS = {
    4: """
imputers
mnist mcar-50, mnist mcar-70, mnist mcar-90, ophthalmic rate-25, ophthalmic rate-35, mimic3 variable
pearson_r -0.48 -0.88 -0.86 -0.12 -0.54 -
p_value 0.018 <0.01 <0.01 0.581 <0.01 -
""",
    5: """
gil-d
mnist mcar-50, mnist mcar-70, mnist mcar-90
accuracy 96.29_0.09 93.35_0.9 78.47_3.9
""",
    7: """
gate
ophthalmic rate-25, ophthalmic rate-35, mnist mcar-70, mnist mcar-90
accuracy 84.50_1.49 80.99_1.09 93.22_0.6e-03 78.3_1.8e-03
auc 89.78_1.68 87.26_2.53 - -
""",
}
_TABLE_6 = """
GIL GIL-H GAIN GP-VAE MIWAE BRITS Mean Zero
physionet2012 natural accuracy 87.45 87.38 86.23 86.85 87.12 86.20 86.87 87.15
physionet2012 natural auc 82.20 82.00 78.02 82.21 83.47 81.30 82.57 81.14
physionet2012 natural average_precision 49.19 48.64 39.89 47.05 49.31 43.57 48.30 47.37
"""


def _figure(
    table: int, study: str, setting: str, method: str, metric: str, printed: str
) -> Figure | None:
    if printed == "-":
        return None
    mean, _, sd = printed.partition("_")
    scale = 1.0 if table == 4 else 100.0
    # The means are in per cent. The subscripts of Table 2, and of its study in Table 7, are too;
    # those of MNIST are thousandths of 1 by the captions, and Table 7 writes their e-03 out.
    sd_scale = 100.0 if study != "mnist" else (1.0 if "e" in sd else 1000.0)
    return Figure(
        table,
        study,
        setting,
        method,
        metric,
        mean=round(float(mean.lstrip("<")) / scale, 6),  # 96.29 / 100 as one would type it
        sd=round(float(sd) / sd_scale, 8) if sd else None,
        below=mean.startswith("<"),
        printed=printed,
    )


def _methods_across(table: int, text: str) -> Iterator[Figure | None]:
    head, *lines = text.strip().splitlines()
    for line in lines:
        study, setting, metric, *figures = line.split()
        for method, printed in zip(head.split(), figures, strict=True):
            yield _figure(table, study, setting, _METHODS[method], metric, printed)


def _settings_across(table: int, text: str) -> Iterator[Figure | None]:
    method, head, *lines = text.strip().splitlines()
    for line in lines:
        metric, *figures = line.split()
        for place, printed in zip(head.split(","), figures, strict=True):
            study, setting = place.split()
            yield _figure(table, study, setting, method, metric, printed)


def _all() -> Iterator[Figure | None]:
    for table, text in ((1, _TABLE_1), (2, _TABLE_2), (3, _TABLE_3)):
        yield from _methods_across(table, text)
    yield from _settings_across(4, _ACROSS[4])
    yield from _settings_across(5, _ACROSS[5])
    yield from _methods_across(6, _TABLE_6)
    yield from _settings_across(7, _ACROSS[7])


# In the order of the paper: tables, then lines, then from left to right.
FIGURES: Final = tuple(figure for figure in _all() if figure is not None)
_BY_STUDY: Final = {(f.study, f.method, f.setting, f.metric): f for f in FIGURES}


def find(study: str, method: str, setting: str, metric: str) -> Figure | None:
    """The figure in whichever table, or None: GIL-D on MNIST is in Table 5, not in 3.

    >>> find("mnist", "gil-d", "mcar-70", "accuracy").table
    5
    >>> find("ophthalmic", "imputers", "rate-35", "p_value").below  # printed as <0.01
    True
    """
    return _BY_STUDY.get((study, method, setting, metric))
