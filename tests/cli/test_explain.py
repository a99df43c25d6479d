"""`imputefree explain`: tables on stdout, notes on stderr, files whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier, GILRegressor, GILSequenceClassifier, errors
from imputefree.inspection import explain_rows, input_values
from imputefree.inspection._drawings import draw_next, one_series

rng = np.random.default_rng(0)
N = 260
TABLE = pd.DataFrame({"dose": rng.normal(size=N), "[ward]": rng.choice(["north", "south"], N)})
TABLE["dose"] = TABLE["dose"].mask(rng.random(N) < 0.4)
TABLE.loc[0, "dose"] = 1.5
TABLE.loc[1, "dose"] = np.nan
LONG = pd.DataFrame({"who": np.repeat(np.arange(60), 3), "hour": np.tile([0, 1, 2.5], 60)})
LONG["pulse"] = rng.normal(80, 9, 180)
LONG.loc[rng.random(180) < 0.4, "pulse"] = np.nan
LONG.loc[2, "pulse"] = np.nan
LONG["temp"] = rng.normal(37, 1, 180)
SMALL = {"n_members": 1, "max_iter": 2, "hidden_layer_sizes": (4,), "random_state": 0}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Models and files, made once."""
    at = tmp_path_factory.mktemp("explain")
    GILClassifier(**SMALL).fit(TABLE, np.arange(N) % 3).save(at / "classes")
    GILRegressor(**SMALL).fit(TABLE, np.arange(N) * 1e3).save(at / "number")
    model = GILSequenceClassifier(id="who", time="hour", **SMALL)
    model.fit(LONG, {i: "ny"[i % 2] for i in range(60)}).save(at / "series")
    TABLE.assign(y=1, beside="x").to_csv(at / "table.csv", index=False)
    LONG.assign(died=0).to_csv(at / "long.csv", index=False)
    return at


@pytest.fixture
def run(run, folder, monkeypatch):
    """Call `imputefree explain` in the folder; gives exit code, stdout and stderr."""
    monkeypatch.chdir(folder)
    return lambda *words: run("explain", *words)


def test_one_row_has_its_values_and_what_to_measure(run):
    code, out, err = run("number", "table.csv", "--rows", "0")
    assert (code, err) == (0, "")
    assert "row 0: prediction " in out
    assert "dose" in out
    assert "1.5" in out
    assert "[ward]" in out  # a name is no markup
    assert "nothing to measure next" in out
    code, out, _ = run("number", "table.csv", "--rows", "1,0")
    assert code == 0
    assert out.index("row 1:") < out.index("measure next") < out.index("row 0:")


def test_many_rows_are_shown_by_column_and_the_cut_is_told(run):
    code, out, err = run("classes", "table.csv")
    assert code == 0
    assert err == "The first 200 rows; --rows all explains all.\n"
    assert "200 rows: the probability of the class predicted for each" in out
    code, out, err = run("classes", "table.csv", "--rows", "all", "--of", "2")
    assert (code, err) == (0, "")
    assert "260 rows: the probability of 2" in out


def test_json_is_the_explanation_and_nothing_else(run, folder, tmp_path):
    code, out, err = run(
        "classes", "table.csv", "--rows", "3,1-2", "--json", "--csv", tmp_path / "x.csv"
    )
    assert code == 0
    assert err == f"Lines: {tmp_path / 'x.csv'}\n"
    printed = json.loads(out)
    assert printed.pop("rows") == [3, 1, 2]
    actual = explain_rows(GILClassifier.load(folder / "classes"), TABLE.iloc[[3, 1, 2]])
    assert printed == json.loads(json.dumps(actual.to_dict()))
    lines = pd.read_csv(tmp_path / "x.csv")
    assert lines["row"].tolist() == [3, 3, 1, 1, 2, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_a_series_is_named_by_its_id(run):
    code, out, err = run("series", "long.csv", "--id", "7", "--json")
    assert (code, err) == (0, "")
    printed = json.loads(out)
    assert printed["ids"] == ["7"]
    assert np.shape(printed["removal"][0]) == (3, 2)
    code, out, err = run("series", "long.csv")
    assert code == 0
    assert "50 series: the probability of 'y'" in out
    assert err.startswith("The first 50 of 60 series")
    code, out, _ = run("series", "long.csv", "--id", "7, 0", "--id", "0", "--no-steps")
    assert code == 0
    assert out.index("id 0:") < out.index("id 7:")  # in the order of the file


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("number", ["--rows", "0"]),
        ("number", ["--rows", "1"]),
        ("classes", []),
        ("series", ["--id", "0"]),
        ("series", ["--id", "0", "--no-steps"]),
        ("series", []),
    ],
)
def test_pictures(run, model, words, tmp_path):
    pytest.importorskip("matplotlib")
    data = "long.csv" if model == "series" else "table.csv"
    ending = ".svg" if model == "classes" else ".png"
    target = tmp_path / f"why{ending}"
    target.write_text("old")
    code, out, _ = run(model, data, *words, "-o", target)
    assert code == 0
    assert out.endswith(f"Picture: {target}\n")
    start = target.read_bytes()[:400]
    assert start.startswith(b"\x89PNG") if ending == ".png" else b"<svg" in start
    assert len(list(tmp_path.iterdir())) == 1


def test_the_range_of_the_picture_is_that_of_the_predictions(folder):
    """Bars of "measure next" reach from the lowest to the highest prediction, and no further."""
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    actual = explain_rows(GILRegressor.load(folder / "number"), TABLE.iloc[[1]])
    axes = Figure().subplots()
    draw_next(axes, actual)
    ends = [end for bar in axes.patches if bar.get_width() for end in bar.get_bbox().intervalx]
    assert min(ends) == pytest.approx(actual.next_low[0, 0])
    assert max(ends) == pytest.approx(actual.next_high[0, 0])


def test_curves_of_a_series_break_at_gaps(folder):
    pytest.importorskip("matplotlib")
    model, one = GILSequenceClassifier.load(folder / "series"), LONG[LONG["who"] == 0]
    actual = explain_rows(model, one)
    last, (steps,) = input_values(model, one)
    axes = one_series(actual, last[0], steps).axes[0]
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    curves = [line.get_ydata() for line in axes.get_lines()]
    assert len(curves) == steps.shape[1]
    assert sorted(names) == sorted(actual.columns)
    drawn = {name: ~np.isnan(curve) for name, curve in zip(names, curves, strict=False)}
    for j, name in enumerate(actual.columns[: steps.shape[1]]):
        assert drawn[name].tolist() == (~pd.isna(steps[:, j])).tolist()


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["nothing", "table.csv"], "nothing does not exist"),
        (["classes", "nothing.csv"], "nothing.csv does not exist"),
        (["classes", "long.csv"], "long.csv: there is no column 'dose', '[ward]'"),
        (["classes", "table.csv", "--rows", "260"], "--rows names 260, but the rows are 0 to 259"),
        (["classes", "table.csv", "--rows", "1,x"], "--rows is '1,x'"),
        (["classes", "table.csv", "--rows", "5-2"], "--rows is '5-2'"),
        (["classes", "table.csv", "--rows", "0", "--of", "9"], "of is '9', which is not a class"),
        (["number", "table.csv", "--rows", "0", "--of", "9"], "of is '9', but this model predicts"),
        (["classes", "table.csv", "--id", "9"], "--id 9 was given for a model of tables"),
        (["series", "long.csv", "--rows", "9"], "--rows 9 was given for a model of series"),
        (["series", "long.csv", "--id", "99"], "there is no series '99'"),
        (["classes", "table.csv", "-o", "why.gif"], "--output is 'why.gif'"),
        (["classes", "table.csv", "-o", "no/why.png"], "the folder of no/why.png does not exist"),
        (["classes", "table.csv", "--csv", "table.csv"], "table.csv is an input"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_on_stderr(run, words, printed):
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert err.startswith(f"imputefree: {printed}")
    assert err.count("\n") == 1


def test_an_unseen_category_is_one_note_and_a_bad_row_is_named_by_its_line(run, tmp_path):
    path = tmp_path / "strange.csv"
    TABLE.head(2).assign(**{"[ward]": "moon"}).to_csv(path, index=False)
    code, _, err = run("classes", path)
    assert (code, err.count("\n")) == (0, 1)
    assert "'moon' in column '[ward]' (2 rows)" in err
    path.write_text("dose,[ward]\n1,north\nmuch,south\n")
    code, out, err = run("classes", path)
    assert (code, out) == (1, "")
    assert "line 3" in err
    assert "'much'" in err


def test_without_matplotlib_nothing_is_begun(run, monkeypatch):
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    code, out, err = run("classes", "table.csv", "-o", "why.png")
    assert (code, out) == (1, "")
    assert "pip install 'imputefree[plot]'" in err


def test_a_file_that_cannot_be_written_leaves_nothing_behind(run, tmp_path):
    (tmp_path / "x.csv").mkdir()
    code, _, err = run("classes", "table.csv", "--csv", tmp_path / "x.csv")
    assert code == 1
    assert (
        err
        == f"imputefree: --csv is {tmp_path / 'x.csv'}, a folder. It must be a file. Name one.\n"
    )
    assert [path.name for path in Path(tmp_path).iterdir()] == ["x.csv"]


def test_times_may_be_dates(run, tmp_path):
    dates = LONG.assign(hour=pd.Timestamp("2024-03-01") + pd.to_timedelta(LONG["hour"], "h"))
    model = GILSequenceClassifier(id="who", time="hour", **SMALL)
    model.fit(dates, {i: i % 2 for i in range(60)}).save(tmp_path / "m")
    dates.to_csv(tmp_path / "dates.csv", index=False)
    code, out, err = run(tmp_path / "m", tmp_path / "dates.csv", "--id", "0", "--json")
    assert (code, err) == (0, "")
    printed = json.loads(out)
    assert printed["times"] == [[0, 1, 2.5]]  # hours since the first step
    assert printed["prediction"][0] == pytest.approx(model.predict_proba(dates[:3])[0, 1], abs=1e-6)
