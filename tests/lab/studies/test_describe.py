"""Descriptions: figures that can be counted by hand, series, wide studies, tables and pictures."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from imputefree.lab.studies import Study, describe, draw, load, show
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
    actual = describe(study)
    lines = actual.lines.set_index("column")
    assert list(lines.index) == ["told, twin", "free", "whole"]
    assert lines["count"].tolist() == [2, 1, 1]
    assert lines.loc["told, twin", "missing"] == 0.5
    assert lines.loc["told, twin", "spread"] == 1.0
    assert lines.loc["whole", "missing"] == 0
    assert actual.missing == pytest.approx(study.missing_rate)
    assert actual.auc == 1.0
    assert actual.auc_of == "1 from 0"
    assert actual.patterns == 4
    assert actual.by_class["missing"].tolist()[1] > actual.by_class["missing"].tolist()[0] + 0.4
    assert abs(actual.together.iloc[0, 1]) < 0.2
    assert actual.looked_at == ""
    assert actual.lengths is None
    np.testing.assert_allclose(actual.per_row.mean(), actual.missing)


def test_what_goes_together():
    X = np.ones((100, 3))
    X[:40, 0] = X[:40, 1] = np.nan
    X[0, 1] = 1  # nearly the same gaps
    X[40:, 2] = np.nan  # the opposite
    together = describe(Study("t", X, np.zeros(100, int), **WHOSE)).together
    assert together.loc["0", "1"] > 0.9
    assert together.loc["0", "2"] == pytest.approx(-1)


def test_without_a_label_or_without_gaps():
    actual = describe(made(y=np.zeros(300, int)))
    assert actual.auc is None
    assert actual.lines["spread"].isna().all()
    assert "none: no label, or the same one everywhere" in printed(actual)
    whole = describe(Study("w", np.ones((20, 2)), np.arange(20) % 2, **WHOSE))
    assert whole.auc is None
    assert "none: no gaps" in printed(whole)
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


def test_too_few_rows_of_a_class_are_the_reason_given():
    rare = np.zeros(300, int)
    rare[:5] = 1
    actual = describe(made(y=rare))
    assert actual.auc is None
    assert "none: fewer than two classes have 6 rows or more" in printed(actual)
    same = describe(Study("s", np.array([[1.0, np.nan]] * 20), np.arange(20) % 2, **WHOSE))
    assert same.auc_of == "every row has the same gaps"


def test_rates_of_classes_agree_with_the_whole():
    """Series of a class count by their steps, as in the headline."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 40, size=50)
    # The longer, the more is missing: means over series would be too low.
    X = [np.where(rng.random((n, 3)) < n / 40, np.nan, 1.0) for n in lengths]
    y = rng.integers(0, 2, size=50)
    actual = describe(Study("s", X, y, **WHOSE))
    steps = np.array([lengths[y == one].sum() for one in (0, 1)])
    assert np.average(actual.by_class["missing"], weights=steps) == pytest.approx(actual.missing)
    joined = [np.concatenate([one for one, k in zip(X, y, strict=True) if k == c]) for c in (0, 1)]
    rates = [np.isnan(one).mean(axis=0) for one in joined]
    np.testing.assert_allclose(actual.by_class["missing"], np.mean(rates, axis=1))
    np.testing.assert_allclose(actual.lines["spread"], np.abs(rates[0] - rates[1]))


def test_columns_with_the_same_gaps_are_named_and_no_range():
    X = pd.DataFrame(np.ones((20, 9)), columns=list("abcdefghi"))
    X.loc[:5, ["a", "c", "d", "f"]] = np.nan
    X.loc[:9, ["b", "e", "g"]] = np.nan
    actual = describe(Study("s", X, np.zeros(20, int), **WHOSE))
    assert actual.lines["column"].tolist() == [
        "a, c and 2 more",
        "b, e, g",
        "2 columns without gaps",
    ]


def test_series_by_their_valid_steps():
    X = np.full((60, 5, 2), np.nan)
    lengths = np.where(np.arange(60) % 2, 5, 2)
    X[:, :2, 0] = 1.0
    study = Study("s", X, np.arange(60) % 2, lengths=lengths, columns=("a", "b"), **WHOSE)
    actual = describe(study)
    assert actual.rows == lengths.sum()
    assert actual.lengths.tolist() == lengths.tolist()
    assert actual.lines["column"].tolist() == ["a", "b"]
    np.testing.assert_allclose(actual.per_row[:2], [0.5, 0.8])
    assert actual.auc == 1.0  # the length tells
    assert "2 to 5, median" in printed(actual)
    frames = [pd.DataFrame(X[i, : lengths[i]], columns=["a", "b"]) for i in range(60)]
    listed = describe(Study("s", frames, study.y, **WHOSE))
    np.testing.assert_allclose(listed.per_row, actual.per_row)


def test_a_wide_study_is_looked_at_in_part_and_says_so():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((8000, 200)) < 0.5, np.nan, 1.0)
    actual = describe(Study("wide", X, np.arange(8000) % 10, **WHOSE))
    assert abs(actual.auc - 0.5) < 0.03
    assert actual.together.shape == (40, 40)
    assert actual.looked_at == (
        "patterns and correlations: 5,000 of 8,000 rows;"
        " AUC: 5,000 of 8,000 rows, 100 of 200 columns"
    )
    assert "… and 175 more columns" in printed(actual)


def test_the_table_says_simulated_and_quotes_names_as_they_are():
    text = printed(describe(load("icu", n_series=120)))
    assert "icu  (SIMULATED)" in text
    assert "lactate" in text
    odd = made()
    odd.X.columns = ["[bold]x", "[/]", "c", "d"]
    assert "[bold]x, [/]" in printed(describe(odd))


@pytest.mark.slow
def test_a_picture_that_cannot_be_written(tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need the extra plot")
    actual = describe(made())
    for path in (tmp_path / "none" / "p.png", tmp_path / "p.docx"):
        check_error(lambda p=path: draw(actual, p), f"{path} cannot be written (", ".png")


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Draws a study and gives the figure, as it was when it was written."""
    figure = pytest.importorskip("matplotlib.figure", reason="pictures need the extra plot")
    made_figures = []
    plain = figure.Figure.savefig

    def savefig(self, *given, **options):
        made_figures.append(self)
        plain(self, *given, **options)

    monkeypatch.setattr(figure.Figure, "savefig", savefig)

    def run(study):
        draw(describe(study), tmp_path / "p.png")
        return made_figures[-1]

    return run


def texts(figure):
    from matplotlib.text import Text

    return [one.get_text() for one in figure.findobj(Text)]


def axes_titled(figure, title):
    return next(
        one for one in figure.findobj(lambda a: hasattr(a, "get_title")) if one.get_title() == title
    )


def images(rate):
    """400 images whose pixels miss exactly that share (784,)."""
    place = np.tile(np.arange(400)[:, None] / 400, (1, 784))
    place = np.random.default_rng(0).permuted(place, axis=0)
    X = np.where(place < rate, np.nan, 0.5).astype(np.float32)
    return Study("mnist", X, np.arange(400) % 2, **WHOSE)


def test_the_picture_of_a_table(drawn):
    figure = drawn(made())
    axes = axes_titled(figure, "missing, % of each column")
    assert len(axes.patches) == 3
    assert max(bar.get_window_extent().height for bar in axes.patches) < 60  # few, yet not thick
    axes = axes_titled(figure, "largest difference of two classes, points")
    assert axes.get_yticklabels()[0].get_text() == "told, twin"
    assert axes.patches[0].get_width() == 100
    axes = axes_titled(figure, "gaps that occur together: correlation")
    (bar,) = axes.child_axes
    image, scale = axes.get_window_extent(), bar.get_window_extent()
    assert scale.height == pytest.approx(image.height, rel=0.01)
    assert scale.y0 == pytest.approx(image.y0, abs=1)


@pytest.mark.slow
def test_images_with_one_rate_say_it_and_others_have_a_scale(drawn):
    same = "missing: 50.0 % of every pixel"
    assert any(same in one for one in texts(drawn(images(0.5))))
    figure = drawn(images(np.linspace(0.1, 0.9, 784)))
    assert not any("of every pixel" in one for one in texts(figure))
    assert axes_titled(figure, "missing, % of each pixel").child_axes


@pytest.mark.slow
@pytest.mark.parametrize("few", [[1, 1, 1, 2], [5] * 1000 + [9], [1, 100], [3, 4, 5], None])
def test_no_length_is_left_out_and_long_ones_share_the_last_bar(drawn, few):
    lengths = (
        np.r_[np.random.default_rng(0).geometric(0.1, size=2000), 4000] if few is None else few
    )
    study = Study("s", [np.ones((n, 1)) for n in lengths], np.zeros(len(lengths), int), **WHOSE)
    axes = axes_titled(drawn(study), "lengths of series, steps")
    bars = axes.patches
    assert sum(bar.get_height() for bar in bars) == len(lengths)
    assert len(bars) <= 40
    beyond = max(lengths) > bars[-1].get_x() + bars[-1].get_width()
    words = f"to {max(lengths)}: {bars[-1].get_height():.0f} series"
    assert [text.get_text().endswith(words) for text in axes.texts] == [True] * int(beyond)


@pytest.mark.slow
def test_the_picture_of_series(drawn):
    figure = drawn(load("icu", n_series=120))
    assert axes_titled(figure, "lengths of series, steps").patches
    assert any("SIMULATED" in text for text in texts(figure))


def test_the_reason_without_an_auc_is_shown(drawn):
    rare = np.zeros(300, int)
    rare[0] = 1
    assert "fewer than two classes have 6 rows or more" in texts(drawn(made(y=rare)))
