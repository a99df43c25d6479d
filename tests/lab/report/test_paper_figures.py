from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

from imputefree.lab.report._paper_figures import FIGURES, NOTES, PRINTED_NAMES, find, lookup
from imputefree.lab.rivals._methods import SERIES, TABLES

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
# Numbers that head lines and columns, and layout: no figures.
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
    ("printed", "found", "mean", "sd"),
    [
        (r"\small \textbf{96.79}", lookup(1, "gil-d", "variable", "auc"), 0.9679, None),
        (r"\small 70.51", lookup(1, "em+network", "fixed", "accuracy"), 0.7051, None),
        (r"{88.02} $_{0.97}$", lookup(2, "zero+network", "rate-35", "auc"), 0.8802, 0.0097),
        (r"77.91$_{11.3}$", lookup(3, "miwae+network", "mcar-90", "accuracy"), 0.7791, 0.0113),
        (r"\textit{92.62}$_{1.3}$", lookup(3, "gpvae+network", "mar", "accuracy"), 0.9262, 0.0013),
        (r"\small -0.48", lookup(4, "imputers", "mcar-50", "pearson_r"), -0.48, None),
        (r"96.29$_{0.09}$", lookup(5, "gil-d", "mcar-50", "accuracy"), 0.9629, 0.00009),
        (r"\small 49.31", lookup(6, "miwae+network", "natural", "average_precision"), 0.4931, None),
        (r"78.3$_{1.8e-03}$", lookup(7, "gate", "mcar-90", "accuracy"), 0.783, 0.0018),
        (r"87.26$_{2.53}$", lookup(7, "gate", "rate-35", "auc"), 0.8726, 0.0253),
    ],
)  # fmt: skip
def test_single_figures_by_name(printed, found, mean, sd):
    assert found == (mean, sd)
    if not PAPER.exists():
        pytest.skip(f"the paper's text is not at {PAPER}")
    assert printed in PAPER.read_text(encoding="utf-8")


def test_plausible_ranges():
    for figure in FIGURES:
        if figure.metric == "pearson_r":
            assert -1 < figure.mean < 0
        elif figure.metric == "p_value":
            assert 0 < figure.mean < 1
        else:
            low = 0.35 if figure.metric == "average_precision" else 0.6
            assert low < figure.mean < 0.98
        assert figure.sd is None or 0 < figure.sd < 0.05
        assert not figure.below or figure.metric == "p_value"


def test_figures_are_one_a_name_whatever_the_table():
    places = {(f.study, f.method, f.setting, f.metric) for f in FIGURES}
    assert len(places) == len(FIGURES)
    assert len({(f.table, f.method, f.setting, f.metric) for f in FIGURES}) == len(FIGURES)
    for figure in FIGURES:
        assert find(figure.study, figure.method, figure.setting, figure.metric) is figure


def test_methods_are_those_users_type():
    assert {f.method for f in FIGURES} == set(PRINTED_NAMES)
    assert set(PRINTED_NAMES) - {"imputers"} <= set(TABLES) | set(SERIES)


def test_no_figure_is_none():
    assert lookup(1, "gpvae+network", "variable", "auc") is None  # a dash
    assert lookup(3, "gil-d", "mcar-50", "accuracy") is None  # stands in Table 5
    assert lookup(9, "gil", "mar", "accuracy") is None
    assert find("mnist", "brits+network", "mar", "accuracy") is None


def test_gil_d_of_table_5_repeats_gil_of_table_3_as_the_note_says():
    assert "digit for digit" in NOTES[5]
    for rate in ("mcar-50", "mcar-70", "mcar-90"):
        assert lookup(5, "gil-d", rate, "accuracy")[0] == lookup(3, "gil", rate, "accuracy")[0]


def test_p_values_of_table_4_fit_about_24_points_as_the_note_says():
    for setting in ("mcar-50", "rate-25"):
        r, p = (lookup(4, "imputers", setting, name)[0] for name in ("pearson_r", "p_value"))
        edges = np.array([r - 0.005, r + 0.005])  # what rounding may have hidden
        low, high = np.sort(2 * t.sf(np.sqrt(22 / (1 - edges**2)) * np.abs(edges), 22))
        assert low < p < high
