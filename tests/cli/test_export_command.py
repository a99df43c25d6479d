"""`imputefree export`: a few lines on stdout, a file, a sentence for what cannot be."""

from __future__ import annotations

import pytest

from imputefree.cli._app import main
from imputefree.onnx import _export as checking
from tests.onnx.models import series_model, table_model


@pytest.fixture
def run(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checking, "SECONDS", 0.0)
    monkeypatch.setattr(checking, "BATCH", 20)

    def call(*words):
        with pytest.raises(SystemExit) as left:
            main(["export", *map(str, words)])
        out, err = capfd.readouterr()  # what libraries print from C++ would show here too
        return left.value.code, out, err

    return call


@pytest.mark.parametrize("make", [table_model, series_model])
def test_says_how_near_how_large_and_how_fast(make, run, tmp_path):
    make().save("model.imputefree")
    code, out, err = run("model.imputefree")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("model.onnx: GIL")
    assert "(limit 1e-5)" in lines[1]
    assert [line.split()[0] for line in lines[4:]] == ["onnxruntime", "Python"]
    assert all(line.count(" ms") == 2 and " MB" in line for line in lines[4:])
    assert (tmp_path / "model.onnx").exists()


def test_a_name_of_ones_choice(run, tmp_path):
    table_model("numbers").save("model.imputefree")
    code, out, _ = run("model.imputefree", "-o", "other.onnx")
    assert code == 0
    assert "of the target's standard deviation" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.imputefree", "other.onnx"]


def test_what_cannot_be_done(run, tmp_path):
    code, out, err = run("model.imputefree")
    assert (code, out) == (1, "")
    assert err == "imputefree: model.imputefree does not exist. Correct the path.\n"
    table_model().save("model.onnx")
    before = (tmp_path / "model.onnx").read_bytes()
    code, out, err = run("model.onnx")
    assert (code, out) == (1, "")
    assert "model.onnx is an input" in err
    assert (tmp_path / "model.onnx").read_bytes() == before
    assert run()[0] == 2
