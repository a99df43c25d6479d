"""Descriptions: figures that can be counted by hand, series, wide studies, tables and pictures."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from imputefree.datasets import load
from imputefree.datasets.describe import describe
from imputefree.datasets.describe_picture import draw
from imputefree.datasets.describe_table import show
from imputefree.datasets.study import Study
from tests.refusals import check_error

WHOSE = {"citation": "made up here", "licence": "none needed", "simulated": True}


def printed(found):
    out = io.StringIO()
    show(found, Console(file=out, width=120))
    return out.getvalue()


def made(n=300, **beside):
    """`told` is missing in class 1 only; `twin` with it; `free` by chance; `whole` never."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=["told", "twin", "free", "whole"])
    X.loc[y == 1, ["told", "twin"]] = np.nan
    X.loc[rng.random(n) < 0.3, "free"] = np.nan
    return Study("made", X, beside.pop("y", y), **WHOSE, **beside)


def test_figures_of_a_table():
    study = made()
    found = describe(study)
    lines = found.lines.set_index("column")
    assert list(lines.index) == ["told … twin (2 columns)", "free", "whole"]
    assert lines["count"].tolist() == [2, 1, 1]
    assert lines.loc["told … twin (2 columns)", "missing"] == 0.5
    assert lines.loc["told … twin (2 columns)", "spread"] == 1.0
    assert lines.loc["whole", "missing"] == 0
    assert found.missing == pytest.approx(study.missing_rate)
    assert found.auc == 1.0
    assert found.auc_of == "1 from 0"
    assert found.patterns == 4
    assert found.by_class["missing"].tolist()[1] > found.by_class["missing"].tolist()[0] + 0.4
    assert abs(found.together.iloc[0, 1]) < 0.2
    assert found.looked_at == ""
    assert found.lengths is None
    np.testing.assert_allclose(found.per_row.mean(), found.missing)


def test_what_goes_together():
    X = np.ones((100, 3))
    X[:40, 0] = X[:40, 1] = np.nan
    X[0, 1] = 1  # nearly the same gaps
    X[40:, 2] = np.nan  # the opposite
    together = describe(Study("t", X, np.zeros(100, int), **WHOSE)).together
    assert together.loc["0", "1"] > 0.9
    assert together.loc["0", "2"] == pytest.approx(-1)


def test_without_a_label_or_without_gaps():
    found = describe(made(y=np.zeros(300, int)))
    assert found.auc is None
    assert found.lines["spread"].isna().all()
    assert "none: no label" in printed(found)
    whole = describe(Study("w", np.ones((20, 2)), np.arange(20) % 2, **WHOSE))
    assert whole.auc is None
    assert whole.complete == 1
    assert "fewer than two columns" in printed(whole)


def test_numbers_and_many_and_rare_classes():
    rng = np.random.default_rng(1)
    number = describe(made(y=(np.arange(300) % 2) + rng.random(300)))
    assert number.auc == 1.0
    assert number.auc_of == "up to the median from above the median"
    many = describe(made(y=np.arange(300) % 60))
    assert len(many.by_class) == 0
    rare = np.arange(300) % 2
    rare[0] = 7
    assert describe(made(y=rare)).auc_of == "1 from 0"


def test_series_by_their_valid_steps():
    X = np.full((60, 5, 2), np.nan)
    lengths = np.where(np.arange(60) % 2, 5, 2)
    X[:, :2, 0] = 1.0
    study = Study("s", X, np.arange(60) % 2, lengths=lengths, columns=("a", "b"), **WHOSE)
    found = describe(study)
    assert found.rows == lengths.sum()
    assert found.lengths.tolist() == lengths.tolist()
    assert found.lines["column"].tolist() == ["a", "b"]
    np.testing.assert_allclose(found.per_row[:2], [0.5, 0.8])
    assert found.auc == 1.0  # the length tells
    assert "2 to 5, median" in printed(found)
    frames = [pd.DataFrame(X[i, : lengths[i]], columns=["a", "b"]) for i in range(60)]
    listed = describe(Study("s", frames, study.y, **WHOSE))
    np.testing.assert_allclose(listed.per_row, found.per_row)


def test_a_wide_study_is_looked_at_in_part_and_says_so():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((8000, 200)) < 0.5, np.nan, 1.0)
    found = describe(Study("wide", X, np.arange(8000) % 10, **WHOSE))
    assert abs(found.auc - 0.5) < 0.03
    assert found.together.shape == (40, 40)
    assert found.looked_at == (
        "patterns and what goes together: 5,000 of 8,000 rows;"
        " AUC: 5,000 of 8,000 rows, 100 of 200 columns"
    )
    assert "… and 175 more columns" in printed(found)


def test_the_table_says_simulated_and_quotes_names_as_they_are():
    text = printed(describe(load("icu", n_series=120)))
    assert "icu  (SIMULATED)" in text
    assert "lactate" in text
    odd = made()
    odd.X.columns = ["[bold]x", "[/]", "c", "d"]
    assert "[bold]x … [/] (2 columns)" in printed(describe(odd))


@pytest.mark.parametrize("name", ["table", "series", "nothing"])
def test_a_picture_is_written(tmp_path, name):
    pytest.importorskip("matplotlib", reason="pictures need the extra bench")
    study = {
        "table": made,
        "series": lambda: load("icu", n_series=120),
        "nothing": lambda: Study("n", np.ones((9, 2)), np.zeros(9, int), **WHOSE),
    }[name]()
    path = tmp_path / "picture.png"
    draw(describe(study), path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_picture_that_cannot_be_written(tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need the extra bench")
    found = describe(made())
    for path in (tmp_path / "none" / "p.png", tmp_path / "p.docx"):
        check_error(lambda p=path: draw(found, p), f"cannot be written to {path} (", ".png")
