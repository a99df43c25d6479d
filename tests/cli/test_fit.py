"""`imputefree fit` as a user calls it: what is said, what is written, how it goes wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import imputefree
from imputefree.estimators import Engine
from imputefree.workflow._partial import Partial

TINY = ("--model", "network", "--max-iter", 2, "--members", 1)


def table(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "dose": rng.normal(size=rows),
            "ward": rng.choice(["a", "b", "c"], rows),
            "name": [f"Ms {i}" for i in range(rows)],
            "same": 1,
        }
    )
    frame["died"] = np.where(frame["dose"] + rng.normal(size=rows) > 0, "yes", "no")
    frame["dose"] = frame["dose"].mask(rng.random(rows) < 0.3)
    return frame


def stays(n=30, seed=0):
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n), 3)
    level = rng.normal(size=n)
    frame = pd.DataFrame({"stay": who, "hour": np.tile(np.arange(3), n)})
    frame["lactate"] = level[who] + rng.normal(size=len(who)) * 0.1
    frame["lactate"] = frame["lactate"].mask(rng.random(len(who)) < 0.3)
    frame["age"] = np.round(rng.normal(60, 10, n))[who]
    frame["score"] = level[who] + 0.5
    return frame


@pytest.fixture
def run(run, monkeypatch):
    """With wide tables, and on a day of its own."""
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    return run


@pytest.mark.slow
def test_a_table_from_file_to_model(run, tmp_path):
    table().to_csv("d.csv", index=False)
    code, out, err = run("fit", "d.csv", "--target", "died", "--folds", 2, *TINY, "-o", "m.model")
    assert code == 0
    assert "target 'died' read as 2 classes: no, yes (" in err
    assert "constant: always 1" in err
    for word in ("this model", "mask only", "mean + indicator", "gradient boosting", "AUC"):
        assert word in out
    assert "imputefree predict m.model" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.csv", "m.md", "m.model"]
    model = Engine.load("m.model")
    about = model.about_
    assert about["columns"] == {"dose": "number", "ward": "category"}
    assert set(about["left_out"]) == {"name", "same"}
    assert about["data"]["missing"]["dose"] == table()["dose"].isna().mean()
    assert about["made"]["date"] == "1970-01-02"
    assert about["made"]["command"] == (
        "imputefree fit d.csv --target died --folds 2 --model network --max-iter 2 --members 1"
        " -o m.model"
    )
    assert set(about["estimate"]["scores"]["imputefree"]) == {
        *("auc", "accuracy", "log_loss", "average_precision", "calibration_error")
    }
    json.dumps(about, allow_nan=False)
    assert model.card_ == (tmp_path / "m.md").read_text()
    assert model.predict_proba(table()[["ward", "dose"]]).shape == (60, 2)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["blend", "trees", "forest", "density"])
def test_the_default_is_a_blend_and_families_have_names(run, model):
    table(120).to_csv("d.csv", index=False)
    words = ("--target", "died", "--test", 0.3, "--time-limit", 4, "-o", "m")
    chosen = () if model == "blend" else ("--model", model)
    code, out, err = run("fit", "d.csv", *words, *chosen)
    assert code == 0, err
    fitted = Engine.load("m")
    assert type(fitted).__name__ == "ImputeFreeClassifier"
    assert list(fitted.weights_) == (
        ["trees", "forest", "density", "network"] if model == "blend" else [model]
    )
    assert ("Blend: trees" in out) == (model == "blend")
    assert ("What each family contributed" in fitted.card_) == (model == "blend")
    assert "(4 seconds)" in out
    assert run("explain", "m", "d.csv", "--rows", 0)[0] == 0
    assert run("export", "m", "-o", "m.onnx")[0] == 0


def test_series_of_numbers_in_parquet(run):
    stays().to_parquet("d.parquet")
    words = ("--target", "score", "--id", "stay", "--time", "hour", "--static", "age")
    code, out, _ = run("fit", "d.parquet", *words, "--test", 0.3, *TINY, "-o", "m.imputefree")
    assert code == 0
    assert "series held out (30 %)" in out
    assert "R²" in out
    model = Engine.load("m.imputefree")
    clock = {"kind": "numbers", "format": None}
    columns = {"id": "stay", "time": "hour", "static": ["age"]}
    assert model.about_["series"] == columns | {"per_step": False, "clock": clock}
    assert model.about_["data"]["series"] == 30
    assert model.about_["task"] == "regression"
    frame = stays()
    with_labels = model.predict(frame)  # labels may stay in the file
    assert with_labels == pytest.approx(model.predict(frame.drop(columns="score")))


@pytest.mark.slow
def test_scored_on_another_file(run):
    table().to_csv("d.csv", index=False)
    table(30, seed=1).to_csv("t.csv", index=False)
    code, _, _ = run("fit", "d.csv", "--target", "died", "--test", "t.csv", *TINY, "-o", "m")
    assert code == 0
    model = Engine.load("m")
    actual = model.about_["estimate"]
    assert (actual["tested"], actual["file"]) == (30, "t.csv")
    other = table(30, seed=1)
    right = model.predict(other[["dose", "ward"]]) == other["died"]
    assert actual["scores"]["imputefree"]["accuracy"][0] == pytest.approx(right.mean())


def test_without_an_estimate(run):
    table().to_csv("d.csv", index=False)
    code, out, _ = run("fit", "d.csv", "--target", "died", "--no-estimate", *TINY, "-o", "m")
    assert code == 0
    model = Engine.load("m")
    assert model.about_["estimate"] is None
    assert "not scored" in model.card_
    assert "not scored" in out


def test_groups_are_kept_together(run):
    table().assign(who=np.arange(60) // 2).to_csv("d.csv", index=False)
    words = ("--target", "died", "--group", "who", "--test", 0.5, *TINY)
    code, out, _ = run("fit", "d.csv", *words, "-o", "m")
    assert code == 0
    assert "kept together" in out
    about = Engine.load("m").about_
    assert about["estimate"]["interval"]["over"] == "groups"
    assert "who" not in about["columns"]


def test_lists_by_comma_and_repeated(run):
    table().assign(code=np.arange(60) % 4, other=np.arange(60) % 7).to_csv("d.csv", index=False)
    words = ("fit", "d.csv", "--target", "died", "--no-estimate", *TINY)
    assert run(*words, "--drop", "name,same", "--category", "code,other", "-o", "a")[0] == 0
    told = [w for name in ("name", "same") for w in ("--drop", name)]
    told += [w for name in ("code", "other") for w in ("--category", name)]
    assert run(*words, *told, "-o", "b")[0] == 0
    one, other = Engine.load("a").about_, Engine.load("b").about_
    assert one["columns"] == other["columns"]
    assert one["columns"]["code"] == "category"
    assert one["left_out"] == {"name": "as requested", "same": "as requested"}


BAD = [
    ("absent.csv", "died", (), ["absent.csv does not exist"]),
    ("d.csv", "dyed", (), ["no column 'dyed' (--target)", "Perhaps you mean 'died'"]),
    ("d.csv", "same", (), ["the target 'same'", "is 1 in all 60 rows"]),
    ("d.csv", "died", ("-o", "nowhere/m"), ["the folder nowhere does not exist"]),
    ("d.csv", "died", ("-o", "folder"), ["folder is a folder"]),
    ("d.csv", "died", ("-o", "d.csv"), ["would overwrite the data"]),
    ("d.csv", "died", ("-o", "notes.x"), ["notes.md exists and is not a model card"]),
    ("d.csv", "died", ("--test", "1.5"), ["--test is 1.5"]),
    ("d.csv", "died", ("--test", "absent.csv"), ["absent.csv does not exist"]),
    ("d.csv", "died", ("--test", "0.2", "--folds", "3"), ["--test and --folds were given"]),
    ("d.csv", "died", ("--time", "dose"), ["--time was given without --id"]),
    ("d.csv", "died", ("--model", "network", "--policy", "honesty"), ["policy is 'honesty'"]),
    ("d.csv", "died", ("--resume", "--fresh"), ["--resume and --fresh"]),
    ("d.csv", "died", ("--test", "d.csv"), ["d.csv holds the same as d.csv"]),
    ("junk.csv.zst", "died", (), ["junk.csv.zst cannot be read"]),
]


@pytest.mark.parametrize(("file", "target", "words", "said"), BAD)
def test_bad_input_is_one_sentence(run, tmp_path, file, target, words, said):
    frame = table().assign(none=None)
    frame.to_csv("d.csv", index=False)
    (tmp_path / "junk.csv.zst").write_bytes(b"no archive at all")
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.md").write_text("my own notes")
    output = () if "-o" in words else ("-o", "m")
    before = {path: path.stat().st_size for path in tmp_path.rglob("*")}
    code, out, err = run("fit", file, "--target", target, *output, *words)
    lines = [line for line in err.splitlines() if line.startswith("imputefree: ")]
    assert (code, out, len(lines)) == (1, "", 1)
    for part in said:
        assert part in lines[0]
    assert "Traceback" not in err
    assert {path: path.stat().st_size for path in tmp_path.rglob("*")} == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder(run, tmp_path):
    table().to_csv("d.csv", index=False)
    (tmp_path / "locked").mkdir(mode=0o500)
    code, _, err = run("fit", "d.csv", "--target", "died", "-o", "locked/m")
    assert code == 1
    assert "cannot be written" in err


def start(folder, *words):
    """The command in a process of its own, in `folder`, with as many threads as here."""
    command = [sys.executable, "-m", "imputefree", *map(str, words)]
    environment = os.environ | {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    environment["PYTHONPATH"] = str(Path(imputefree.__file__).parents[1])
    return subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )


def wait_for(path, process, seconds=120):
    begin = time.monotonic()
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() - begin < seconds
        time.sleep(0.01)


@pytest.mark.slow
def test_killed_and_resumed_is_undisturbed_byte_for_byte(run, tmp_path, monkeypatch):
    words = ("fit", "d.csv", "--target", "died", "--test", 0.3, "-o", "m.imputefree")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        table().to_csv(tmp_path / name / "d.csv", index=False)
    monkeypatch.chdir(tmp_path / "a")
    assert run(*words)[0] == 0
    monkeypatch.chdir(tmp_path / "b")
    partial = tmp_path / "b" / "m.imputefree.partial"

    process = start(tmp_path / "b", *words)
    wait_for(partial / "imputefree-0.piece", process)
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    assert not (tmp_path / "b" / "m.imputefree").exists()
    done = {path.name: path.stat().st_mtime_ns for path in partial.glob("*.piece")}
    code, _, err = run(*words)
    assert code == 1
    assert "Continue it with --resume" in err
    code, _, err = run(*words, "--resume", "--seed", 1)
    assert code == 1
    assert "--seed differ" in err

    keep = Partial.keep

    def interrupted(self, piece, **arrays):  # Ctrl-C, right after this piece
        keep(self, piece, **arrays)
        if piece == "mask_only-0":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Partial, "keep", interrupted)
        code, _, err = run(*words, "--resume")
    assert code == 130, err
    assert "--resume" in err.splitlines()[-1]
    kept = {path.name: path.stat().st_mtime_ns for path in partial.glob("*.piece")}
    assert done.items() <= kept.items()

    assert run(*words, "--resume")[0] == 0
    for name in ("m.imputefree", "m.md"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert not partial.exists()


def test_fresh_begins_anew_but_removes_only_its_own(run, tmp_path):
    table().to_csv("d.csv", index=False)
    words = ("fit", "d.csv", "--target", "died", "--no-estimate", *TINY, "-o", "m")
    (tmp_path / "m.partial").mkdir()
    (tmp_path / "m.partial" / "diary.txt").write_text("dear diary")
    code, _, err = run(*words, "--fresh")
    assert code == 1
    assert "is not a folder of unfinished work" in err
    assert (tmp_path / "m.partial" / "diary.txt").exists()
    (tmp_path / "m.partial" / "diary.txt").rename("diary.txt")
    (tmp_path / "m.partial" / "asked").write_text("{}")
    (tmp_path / "m.partial" / "mask_only-0.piece").write_text("")
    assert run(*words)[0] == 1
    assert run(*words, "--fresh")[0] == 0
    assert not (tmp_path / "m.partial").exists()


def test_resume_without_anything_to_resume_says_so(run):
    table().to_csv("d.csv", index=False)
    words = ("fit", "d.csv", "--target", "died", "--no-estimate", *TINY, "-o", "m")
    code, _, err = run(*words, "--resume")
    assert code == 0
    assert "Nothing to resume for m: starting from scratch." in err
    assert "Nothing to resume" not in run(*words)[2]


@pytest.fixture(scope="module")
def misleading():
    """300 rows with a shortcut that tells the label, except in the 80 trusted rows."""
    rng = np.random.default_rng(0)
    died, checked = rng.integers(0, 2, 300), np.arange(300) < 80
    told = np.where(checked, rng.permutation(died), died)
    columns = {
        "pulse": died + rng.normal(size=300),
        "scanner": told,
        "checked": checked.astype(int),
    }
    return pd.DataFrame(columns | {"died": np.array(["no", "yes"])[died]})


@pytest.mark.slow
def test_trusted_rows_judge_and_alone_are_scored(run, misleading):
    misleading.to_csv("d.csv", index=False)
    words = ("fit", "d.csv", "--target", "died", "--model", "network", "--members", 2, "--folds", 3)
    code, out, err = run(*words, "--trusted", "checked", "-o", "m.imputefree")
    assert code == 0, err
    assert "distrust 'scanner' (its values)" in out
    about = Engine.load("m.imputefree").about_
    assert about["estimate"]["tested"] == 80
    assert "checked" not in about["columns"]
    card = Path("m.md").read_text()
    assert "| scanner | its values |" in card
    assert "--trusted checked" in card
    # On trusted rows a model that trusts the shortcut is no better than guessing.
    scores = about["estimate"]["scores"]
    assert scores["imputefree"]["auc"][0] > scores["lightgbm"]["auc"][0]


@pytest.mark.parametrize(
    ("change", "words", "said"),
    [
        ({}, (), "Add --model network"),
        ({}, ("--model", "network", "--policy", "ddpg"), "Only the policy meta"),
        ({}, ("--model", "network", "--id", "pulse"), "for series"),
        ({"checked": 2}, ("--model", "network"), "(--trusted) of d.csv is '2' in row 1"),
        ({"checked": None}, ("--model", "network"), "(--trusted) of d.csv is empty in row 1"),
        ({"checked": 1}, ("--model", "network"), "marks 300 of 300 rows"),
        ({"checked": 0}, ("--model", "network"), "marks 0 of 300 rows"),
    ],
)
def test_trusted_rows_that_cannot_be(run, misleading, change, words, said):
    misleading.assign(**change).to_csv("d.csv", index=False)
    words = ("--target", "died", "--trusted", "checked", *words)
    code, _, err = run("fit", "d.csv", *words, "-o", "m.imputefree")
    assert code == 1
    assert said in err
