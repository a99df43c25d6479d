"""`imputefree evaluate`: figures against the answers of a file, and what is odd about it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from imputefree.io import _csv_rows as csv_rows
from imputefree.metrics import _intervals as intervals
from imputefree.metrics._scores import classification_scores, regression_scores
from tests.workflow.made import classifier, long_table, regressor, sequence_classifier, table


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with three models and their data; the first as `imputefree fit` would write it."""
    folder = tmp_path_factory.mktemp("evaluate")
    frame = table()
    model = classifier(frame)
    model.about_ = {
        "task": "classification",
        "target": "y",
        "data": {"file": "table.csv", "rows": 60, "missing": dict(frame.isna().mean())},
    }
    model.save(folder / "table.imputefree")
    frame.to_csv(folder / "table.csv", index=False)
    regressor(frame).save(folder / "numbers.imputefree")
    frame.assign(y=np.arange(60.0)).to_csv(folder / "numbers.csv", index=False)
    series = long_table()
    sequence_classifier(series).save(folder / "series.imputefree")
    series.to_csv(folder / "series.csv", index=False)
    return folder


@pytest.fixture
def run(run, home, monkeypatch):
    """Call `evaluate` on a model of the folder, with files here; exit code, stdout, stderr."""

    monkeypatch.setattr(intervals, "RESAMPLES", 20)

    def call(model, data, *words):
        return run(
            "evaluate", home / model, home / data if (home / data).exists() else data, *words
        )

    return call


@pytest.fixture(params=[300, 10**6])
def pieces(request, monkeypatch):
    monkeypatch.setattr(csv_rows, "BLOCK", request.param)


def test_figures_of_a_classifier_are_those_of_one_call(run, home, tmp_path, pieces):
    frame = table(80, seed=1)
    frame.loc[:9, "y"] = None
    frame.to_csv(tmp_path / "new.csv", index=False)
    code, out, err = run("table.imputefree", tmp_path / "new.csv", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    rest = frame.iloc[10:]
    probability = classifier(table()).predict_proba(rest.drop(columns="y"))
    expected = classification_scores((rest["y"] == "well").to_numpy(int), probability)
    for name, value in expected.items():
        assert found["figures"][name]["value"] == pytest.approx(value, abs=1e-6)
        assert found["figures"][name]["low"] <= found["figures"][name]["high"]
    assert (found["count"], found["without"], found["bad_rows"]) == (70, 10, 0)
    assert found["missing"]["age"] == pytest.approx(frame["age"].isna().mean())
    inputs = frame.drop(columns="y")
    assert found["share_missing"] == pytest.approx(inputs.isna().to_numpy().mean())


def test_a_table_to_read(run, tmp_path):
    table(80, seed=1).to_csv(tmp_path / "new.csv", index=False)
    code, out, err = run("table.imputefree", tmp_path / "new.csv")
    assert (code, err) == (0, "")
    assert "table.imputefree on new.csv: 80 rows, target 'y'" in out
    assert "accuracy" in out
    assert "95% interval" in out


def test_a_regressor_needs_to_be_told_the_target(run, home):
    code, _, err = run("numbers.imputefree", "numbers.csv")
    assert code == 1
    assert "Pass --target COLUMN" in err
    code, out, _ = run("numbers.imputefree", "numbers.csv", "--target", "y", "--json")
    assert code == 0
    frame = pd.read_csv(home / "numbers.csv")
    expected = regression_scores(
        frame["y"].to_numpy(), regressor(table()).predict(table().drop(columns="y"))
    )
    found = {name: one["value"] for name, one in json.loads(out)["figures"].items()}
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-4)


def test_series(run, home, tmp_path, pieces):
    frame = long_table(30, seed=1)
    answered = frame.assign(y=frame["y"].astype(object))
    answered.loc[answered["who"] == "p003", "y"] = None
    second = answered["who"].duplicated()
    answered.loc[second, "y"] = None  # one row of a series is enough
    answered.to_csv(tmp_path / "new.csv", index=False)
    code, out, _ = run("series.imputefree", tmp_path / "new.csv", "--target", "y", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["unit"], found["count"], found["without"]) == ("series", 29, 1)
    first = frame.groupby("who").first()
    assert found["missing"]["sex"] == first["sex"].isna().mean()
    assert found["missing"]["pulse"] == pytest.approx(frame["pulse"].isna().mean())
    probability = sequence_classifier(long_table()).predict_proba(frame)
    kept = first.index != "p003"
    expected = classification_scores(first["y"].to_numpy()[kept], probability[kept])
    assert found["figures"]["auc"]["value"] == pytest.approx(expected["auc"], abs=1e-6)


def test_every_step(run, home, tmp_path, pieces):
    frame = long_table()
    frame["y"] = frame.index % 2
    model = sequence_classifier(frame, per_step=True)
    model.save(home / "steps.imputefree")
    frame.to_csv(tmp_path / "new.csv", index=False)
    code, out, _ = run("steps.imputefree", tmp_path / "new.csv", "--target", "y", "--json")
    assert code == 0
    expected = classification_scores(frame["y"].to_numpy(), model.predict_proba(frame))
    found = json.loads(out)
    assert (found["unit"], found["count"]) == ("step", len(frame))
    assert found["figures"]["auc"]["value"] == pytest.approx(expected["auc"], abs=1e-6)


def test_an_answer_that_changes_within_a_series(run, tmp_path):
    frame = long_table()
    frame["y"] = frame.index % 2
    frame.to_csv(tmp_path / "new.csv", index=False)
    code, _, err = run("series.imputefree", tmp_path / "new.csv", "--target", "y")
    assert code == 1
    assert "changes within a series" in err


def test_a_class_that_training_did_not_have(run, tmp_path):
    frame = table(40, seed=1).assign(ward="A")
    frame.loc[5, "y"] = "gone"
    frame.to_csv(tmp_path / "new.csv", index=False)
    code, _, err = run("table.imputefree", tmp_path / "new.csv")
    assert code == 1
    assert "line 7: the target 'y' holds 'gone', which is none of the classes 'ill', 'well'" in err
    code, out, err = run("table.imputefree", tmp_path / "new.csv", "--on-error", "skip", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["count"], found["without"], found["bad_rows"]) == (39, 0, 1)
    assert "1 line was left out" in err


def test_the_training_file_is_no_honest_test(run):
    code, out, err = run("table.imputefree", "table.csv", "--json")
    assert code == 0
    assert "the file that the model learned from" in err
    assert json.loads(out)["notes"]


def test_other_gaps_than_in_training_are_told(run, tmp_path):
    frame = table(80, seed=1)
    frame.loc[5:, "age"] = np.nan
    frame.to_csv(tmp_path / "new.csv", index=False)
    _, _, err = run("table.imputefree", tmp_path / "new.csv")
    assert "Shares of missing values differ from training: 'age'" in err
    assert "'smokes'" not in err


def test_classes_are_found_however_numbers_are_written(run, home, tmp_path):
    frame = long_table(30, seed=1)
    written = frame.assign(y=frame["y"].map({0: "0.0", 1: "1"}))
    for name, one in {"a.csv": frame, "b.csv": written}.items():
        one.to_csv(tmp_path / name, index=False)
    words = ["--target", "y", "--json"]
    one, other = (
        json.loads(run("series.imputefree", tmp_path / name, *words)[1])["figures"]
        for name in ("a.csv", "b.csv")
    )
    assert one == other


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("age,beds,smokes,ward,code\n1,2,True,A,1\n", "has no column 'y'"),
        ("age,beds,smokes,ward,code,y\n1,2,True,A,1,\n", "no row with an answer in 'y'"),
        ("age,beds,smokes,ward,code,y\n", "no rows"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(run, tmp_path, content, part):
    (tmp_path / "new.csv").write_text(content)
    code, out, err = run("table.imputefree", "new.csv")
    assert (code, out) == (1, "")
    assert part in err
    assert err.count("\n") == 1


def test_a_file_of_bad_lines_alone(run, home, tmp_path):
    for model, names in (("table", "table.csv"), ("series", "series.csv")):
        header = (home / names).read_text().splitlines()[0]
        (tmp_path / "bad.csv").write_text(f"{header}\n1,2\n")
        words = ["--target", "y", "--on-error", "skip", "--in-memory"]
        code, _, err = run(f"{model}.imputefree", tmp_path / "bad.csv", *words)
        assert code == 1
        assert "has no row with an answer in 'y'" in err
        assert "Traceback" not in err
