"""The examples run, draw a picture, and are on the page of the gallery."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts import gallery

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", gallery.NAMES)
def test_example_draws_a_picture(name, tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need the extra plot")
    figure = gallery.run(name)
    assert figure.axes
    gallery.save(figure, name, tmp_path)
    light, dark = (tmp_path / f"{name}-{mode}.svg" for mode in ("light", "dark"))
    assert gallery.INK in light.read_text()
    assert gallery.INK not in dark.read_text()


def test_every_example_is_in_the_gallery():
    assert sorted(gallery.NAMES) == sorted(path.stem for path in (ROOT / "examples").glob("*.py"))


def test_the_page_is_made_from_the_examples(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["gallery", "--check"])
    assert gallery.main() == 0, "run `make gallery`"


@pytest.mark.parametrize("name", gallery.NAMES)
def test_an_example_is_short_and_its_pictures_are_small(name):
    assert 15 <= len((gallery.EXAMPLES / f"{name}.py").read_text().splitlines()) <= 40
    for mode in ("light", "dark"):
        assert (gallery.PICTURES / f"{name}-{mode}.svg").stat().st_size < 60_000
