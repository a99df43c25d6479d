from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

from imputefree.lab.report._paper_figures import FIGURES, NOTES, PRINTED_NAMES, find
from imputefree.lab.rivals import SERIES, TABLES

PAPER = Path(__file__).parents[4] / "shared" / "paper.tex.txt"
LABELS = {
    1: "tab:mimic",
    2: "tab:oph",
    3: "tab:mnist",
    4: "tab:rank",
    5: "tab:mnnist_GIL-d",
    6: "tab:physionet",
    7: "tab:ablation",
}
# Numbers in headings and layout, which are not figures.
NOISE = r"\\multirow\{\d\}|\\multicolumn\{\d\}|\d\d\$?\\%\$?|\\(resizebox|cline|caption).*"


def printed_in_paper(table):
    """All figures of a table in the order of its LaTeX, subscripts joined by `_`."""
    if not PAPER.exists():
        pytest.skip(f"the paper's text is not at {PAPER}")
    text = PAPER.read_text(encoding="utf-8")
    block = next(
        part
        for part in re.findall(r"\\begin\{table\}.*?\\end\{table\}", text, flags=re.DOTALL)
        if f"\\label{{{LABELS[table]}}}" in part
    )
    body = block[block.index("\\toprule") : block.index("\\bottomrule")]
    body = re.sub(NOISE, "", body.replace("\\textless{}", "<"))
    body = re.sub(r"\\[a-z]+|[{}$]", "", body)
    body = re.sub(r"\s+_", "_", body)
    return re.findall(r"[<-]?\d+\.?\d*(?:_[\d.]+(?:e-\d+)?)?", body)


@pytest.mark.parametrize("table", LABELS)
def test_every_figure_is_the_one_printed_and_none_is_missing(table):
    assert [f.printed for f in FIGURES if f.table == table] == printed_in_paper(table)


@pytest.mark.parametrize(
    ("name", "mean", "sd"),
    [
        (("mimic3", "gil-d", "variable", "auc"), 0.9679, None),
        (("ophthalmic", "zero+network", "rate-35", "auc"), 0.8802, 0.0097),
        (("mnist", "miwae+network", "mcar-90", "accuracy"), 0.7791, 0.0113),
        (("mnist", "imputers", "mcar-50", "pearson_r"), -0.48, None),
        (("mnist", "gil-d", "mcar-50", "accuracy"), 0.9629, 0.00009),
        (("physionet2012", "miwae+network", "natural", "average_precision"), 0.4931, None),
        (("mnist", "gate", "mcar-90", "accuracy"), 0.783, 0.0018),
        (("ophthalmic", "gate", "rate-35", "auc"), 0.8726, 0.0253),
    ],
)
def test_units_of_single_figures(name, mean, sd):
    figure = find(*name)
    assert (figure.mean, figure.sd) == (mean, sd)


def test_every_figure_is_found_by_its_name():
    places = {(f.study, f.method, f.setting, f.metric) for f in FIGURES}
    assert len(places) == len(FIGURES)
    for figure in FIGURES:
        assert find(figure.study, figure.method, figure.setting, figure.metric) is figure


def test_methods_are_those_users_type():
    assert {f.method for f in FIGURES} == set(PRINTED_NAMES)
    assert set(PRINTED_NAMES) - {"imputers"} <= set(TABLES) | set(SERIES)


def test_a_missing_figure_is_none():
    assert find("mimic3", "gpvae+network", "variable", "auc") is None  # a dash
    assert find("mnist", "brits+network", "mar", "accuracy") is None


def test_gil_d_of_table_5_repeats_gil_of_table_3_as_the_note_says():
    assert "digit for digit" in NOTES[5]
    for rate in ("mcar-50", "mcar-70", "mcar-90"):
        gil_d, gil = (find("mnist", name, rate, "accuracy") for name in ("gil-d", "gil"))
        assert (gil_d.table, gil_d.mean) == (5, gil.mean)


def test_p_values_of_table_4_fit_about_24_points_as_the_note_says():
    for study, setting in (("mnist", "mcar-50"), ("ophthalmic", "rate-25")):
        r, p = (find(study, "imputers", setting, name).mean for name in ("pearson_r", "p_value"))
        edges = np.array([r - 0.005, r + 0.005])  # what rounding may have hidden
        low, high = np.sort(2 * t.sf(np.sqrt(22 / (1 - edges**2)) * np.abs(edges), 22))
        assert low < p < high
