"""`fit` keeps what sets and intervals need, and `predict --coverage` writes them."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

from imputefree.estimators import Engine

FIT = ("fit", "data.csv", "--quick", "--seed", 1)


def numbers(n=600):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    frame["y"] = (5 * frame["a"] + rng.normal(size=n)).round(3)
    frame.loc[rng.random(n) < 0.5, "a"] = None
    return frame


@pytest.mark.parametrize("method", ["by_missingness", "mask"])
def test_intervals_are_written_and_the_card_says_what_is_kept(run, tmp_path, method):
    frame = numbers()
    frame.to_csv(tmp_path / "data.csv", index=False)
    words = ("--target", "y", "--test", "0.5", "--intervals", method, "-o", "m.model")
    code, _, err = run(*FIT, *words)
    assert code == 0, err
    model = Engine.load(tmp_path / "m.model")
    kept = model.conformal_
    assert kept["method"] == method
    assert ("rows" in kept) == (method == "mask")
    card = (tmp_path / "m.md").read_text()
    assert "## Intervals" in card
    assert ("in the model file, with their values" in card) == (method == "mask")
    assert json.loads(json.dumps(model.about_))["intervals"]["coverage"] == 0.9
    code, out, _ = run("predict", "m.model", "data.csv", "--coverage", 0.9)
    assert code == 0
    output = pd.read_csv(io.StringIO(out))
    assert output.columns.tolist() == ["prediction", "low", "high"]
    assert (output["low"] <= output["high"]).all()
    width = (output["high"] - output["low"]).to_numpy()
    gap = frame["a"].isna().to_numpy()
    if method == "mask":
        assert len(kept["target"]) == pytest.approx(120, abs=5)
        assert width[gap].mean() > 2 * width[~gap].mean()


def test_sets_of_series_are_written(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"who": np.repeat(np.arange(80), 2), "v": rng.normal(size=160)})
    frame["y"] = np.repeat(rng.choice(["ill", "well"], 80), 2)
    frame.loc[rng.random(160) < 0.3, "v"] = None
    frame.to_csv(tmp_path / "data.csv", index=False)
    words = ("--target", "y", "--id", "who", "--intervals", "mask", "--no-estimate")
    code, _, err = run(*FIT, *words, "-o", "m.model")
    assert code == 0, err
    code, out, _ = run("predict", "m.model", "data.csv", "--coverage", 0.6)
    output = pd.read_csv(io.StringIO(out))
    assert code == 0
    assert output.columns.tolist() == ["who", "prediction", "p_ill", "p_well", "set"]
    assert set(output["set"]) <= {"ill", "well", "ill|well"}


def test_a_model_that_keeps_nothing_is_refused(run, tmp_path):
    numbers(60).to_csv(tmp_path / "data.csv", index=False)
    assert run(*FIT, "--target", "y", "--no-estimate", "-o", "m.model")[0] == 0
    code, _, err = run("predict", "m.model", "data.csv", "--coverage", 0.9)
    assert code != 0
    assert "--no-estimate" in err
    assert run("predict", "m.model", "data.csv", "--coverage", 1.5)[0] != 0
