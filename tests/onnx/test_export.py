"""A file is written if it predicts what the model predicts, and otherwise nothing changes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from imputefree.baselines import ImputeThenPredict
from imputefree.errors import ModelFileError
from imputefree.onnx import export
from imputefree.onnx._checking import difference, new_session
from imputefree.onnx._samples import draw
from tests.onnx.made import frame, series_model, table_model


@pytest.mark.parametrize("make", [table_model, series_model])
def test_a_changed_model_is_noticed(make, tmp_path):
    """The comparison sees it when a single weight, or a scale, is another."""
    model = make()
    export(model, tmp_path / "model.onnx")
    session = new_session((tmp_path / "model.onnx").read_bytes())
    sample = draw(model, np.random.default_rng(0), 20)
    assert difference(model, session, sample) < 1e-5
    with torch.no_grad():
        model.predictor_.layers[-1].weight[0, 0, 0] += 0.1
    assert difference(model, session, sample) > 1e-5


def test_a_wrong_export_leaves_the_old_file(tmp_path):
    model = table_model()
    model.predictor_.activation = torch.tanh  # the file will say "relu"
    path = tmp_path / "model.onnx"
    path.write_text("old")
    with pytest.raises(ModelFileError, match="away from the estimator"):
        export(model, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be written"):
        export(table_model(), tmp_path / "no" / "model.onnx")


def test_a_model_behind_an_imputer_is_refused(tmp_path):
    own = ImputeThenPredict(estimator=table_model()).fit(frame(), np.arange(80) % 2)
    with pytest.raises(ModelFileError, match="ImputingEncoder"):
        export(own.estimator_, tmp_path / "model.onnx")


def test_without_the_extra():
    """In a process that cannot import onnx, as on a machine without it."""
    code = (
        "import sys; sys.modules['onnx'] = None\n"
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'onnx' else real(name, *a)\n"
        "from imputefree.cli._app import main\n"
        "main(['export', 'model.imputefree'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "imputefree: onnx is not installed. Export needs the extra `onnx`. Run pip install"
        " 'imputefree[onnx]'.\n"
    )
