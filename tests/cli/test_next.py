"""`imputefree next`: tables, JSON and lines; costs from words or files; plans."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier, ImputeFreeSequenceClassifier, measure_next
from imputefree.cli._next import read_costs, read_panels
from imputefree.errors import ParameterError

SMALL = {"n_members": 1, "max_iter": 10, "hidden_layer_sizes": (8,), "random_state": 0}
rng = np.random.default_rng(0)
TABLE = pd.DataFrame(rng.normal(size=(200, 3)), columns=["pulse", "ct", "[na]"])
TABLE["ward"] = rng.choice(["north", "south"], 200)
LABEL = np.where(TABLE["pulse"] + 2 * TABLE["ct"] > 0, "ill", "well")
TABLE = TABLE.mask(rng.random(TABLE.shape) < 0.3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("next")
    GILClassifier(**SMALL).fit(TABLE, LABEL).save(at / "model")
    TABLE.assign(y=LABEL).to_csv(at / "train.csv", index=False)
    TABLE[:3].mask(np.ones((3, 4), dtype=bool)).assign(ward="north").to_csv(
        at / "new.csv", index=False
    )
    (at / "costs.csv").write_text("measurement,cost\nct,500\n[na],inf\n")
    return at


@pytest.fixture
def run(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    return lambda *words: run("next", *words)


def test_one_row_is_ranked_by_gain_per_cost(run, folder):
    words = ("model", "new.csv", "--background", "train.csv", "--rows", "1")
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    assert out.index("ct") < out.index("pulse")
    assert "[na]" in out  # a name is not markup
    code, out, _ = run(*words, "--costs", "costs.csv", "--json")
    lines = json.loads(out)["measurements"]
    assert lines[0]["measurement"] == "pulse"
    expected = measure_next(
        GILClassifier.load(folder / "model"),
        pd.read_csv(folder / "new.csv").iloc[[1]],
        background=pd.read_csv(folder / "train.csv"),
        costs={"ct": 500},
    )
    ct = next(line for line in lines if line["measurement"] == "ct")
    assert ct["cost"] == 500
    assert ct["gain"] == pytest.approx(expected.gain[0, 1], abs=1e-6)


def test_many_rows_and_lines(run, tmp_path):
    csv = tmp_path / "lines.csv"
    code, out, _ = run("model", "train.csv", "--background", "train.csv", "--csv", csv)
    assert code == 0
    assert "200 rows" in out
    lines = pd.read_csv(csv)
    assert len(lines) == TABLE.isna().to_numpy().sum()
    assert lines["gain"].min() >= 0


def test_a_plan_stays_within_its_budget(run):
    words = ("model", "new.csv", "--background", "train.csv", "--rows", "0", "--json")
    code, out, _ = run(*words, "--budget", "3", "--costs", "ct=2", "--together", "lab=pulse,[na]")
    assert code == 0
    lines = json.loads(out)["measurements"]
    assert {line["measurement"] for line in lines} == {"ct", "lab"}
    assert lines[-1]["total_cost"] == 3
    code, out, _ = run(*words, "--confidence", "0")
    assert json.loads(out)["measurements"] == []


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--costs", "mri=5"], "mri"),
        (["--costs", "ct"], "ct=500"),
        (["--together", "lab"], "lab=na,k"),
        (["--budget", "-1"], "budget"),
    ],
)
def test_bad_words_are_one_sentence(run, words, part):
    code, out, err = run("model", "new.csv", "--background", "train.csv", *words)
    assert (code, out) == (1, "")
    assert part in err
    assert "Traceback" not in err


@pytest.fixture(scope="module")
def stays(folder):
    """A model of series, and series whose last step lacks "b", which decides, and "noise"."""
    draws = np.random.default_rng(1)
    frame = pd.DataFrame(draws.normal(size=(300, 2)), columns=["b", "noise"])
    frame.insert(0, "who", np.repeat([f"p{i}" for i in range(100)], 3))
    label = (frame.groupby("who", sort=False)["b"].last() > 0).astype(int)
    model = ImputeFreeSequenceClassifier(id="who", quality="fast", random_state=0)
    model.fit(frame, label).save(folder / "series")
    frame.to_csv(folder / "stays.csv", index=False)
    frame.loc[2::3, ["b", "noise"]] = np.nan
    frame.to_csv(folder / "open.csv", index=False)


def test_the_last_step_of_a_series_is_ranked(run, stays):
    words = ("series", "open.csv", "--background", "stays.csv")
    code, out, _ = run(*words, "--id", "p7,p3", "--json")
    assert code == 0
    answer = json.loads(out)
    assert set(answer["ids"]) == {"p3", "p7"}
    first = {line["id"]: line["measurement"] for line in reversed(answer["measurements"])}
    assert first == {"p3": "b", "p7": "b"}
    code, out, _ = run(*words, "--id", "p7", "--costs", "b=1000")
    assert "id p7" in out
    assert "1000" in out
    code, out, _ = run(*words, "--rows", "all", "--budget", "1")
    assert (code, "100 series" in out) == (0, True)


def test_series_are_named_by_id_and_not_by_row(run, stays):
    code, _, err = run("series", "open.csv", "--background", "stays.csv", "--rows", "3")
    assert code == 1
    assert "--id" in err


def test_costs_and_panels_are_read(tmp_path):
    file = tmp_path / "costs.csv"
    file.write_text("ct,500\n\nna, 2\n")
    assert read_costs((str(file), "k=1")) == {"ct": 500.0, "na": 2.0, "k": 1.0}
    assert read_panels(("lab = na, k",)) == {"lab": ["na", "k"]}
    file.write_text("ct,500\nna,much\n")
    with pytest.raises(ParameterError, match="much"):
        read_costs((str(file),))
