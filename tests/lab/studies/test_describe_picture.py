"""Pictures of descriptions: written for every kind of study, with nothing too large or empty."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree.lab.studies import load
from imputefree.lab.studies._describe import describe
from imputefree.lab.studies._describe_picture import draw, length_bins
from imputefree.lab.studies._study import Study
from tests.lab.studies.test_describe import WHOSE, made
from tests.refusals import check_error


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


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Draws a study and gives the figure, as it was when it was written."""
    figure = pytest.importorskip("matplotlib.figure", reason="pictures need the extra bench")
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


def test_colour_bars_are_as_tall_as_their_image(drawn):
    axes = axes_titled(drawn(made()), "gaps that go together: correlation")
    (bar,) = axes.child_axes
    image, scale = axes.get_window_extent(), bar.get_window_extent()
    assert scale.height == pytest.approx(image.height, rel=0.01)
    assert scale.y0 == pytest.approx(image.y0, abs=1)


def test_images_with_one_rate_say_it_and_others_have_a_scale(drawn):
    same = "missing: 50.0 % of every pixel"
    assert any(same in one for one in texts(drawn(images(0.5))))
    figure = drawn(images(np.linspace(0.1, 0.9, 784)))
    assert not any("of every pixel" in one for one in texts(figure))
    assert axes_titled(figure, "missing, % of each pixel").child_axes


def test_bars_of_few_columns_are_not_thick(drawn):
    axes = axes_titled(drawn(made()), "missing, % of each column")
    assert len(axes.patches) == 3
    assert max(one.get_window_extent().height for one in axes.patches) < 60


def test_lengths_end_at_the_99th_percentile_and_no_series_is_left_out():
    lengths = np.r_[np.random.default_rng(0).geometric(0.1, size=5000), 4000]
    edges, over = length_bins(lengths)
    assert edges[-1] < 60
    assert over == (lengths > edges[-2]).sum()
    assert np.histogram(np.minimum(lengths, edges[-1] - 0.5), edges)[0].sum() == 5001
    for few in ([1, 1, 1, 2], [5] * 1000 + [9], [0, 100], [3, 4, 5]):
        edges, _ = length_bins(np.array(few))
        clipped = np.minimum(few, edges[-1] - 0.5)
        assert np.histogram(clipped, edges)[0].sum() == len(few)


def test_columns_that_differ_between_classes_are_shown(drawn):
    axes = axes_titled(drawn(made()), "largest difference of two classes, points")
    assert axes.get_yticklabels()[0].get_text() == "told, twin"
    assert axes.patches[0].get_width() == 100


def test_the_reason_without_an_auc_is_shown(drawn):
    rare = np.zeros(300, int)
    rare[0] = 1
    assert "fewer than two classes have 6 rows or more" in texts(drawn(made(y=rare)))
