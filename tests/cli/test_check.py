"""`imputefree check`: what it prints, its exit codes, and the same warnings from `fit`."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def stays(tmp_path):
    """A table with an answer, a column that is filled in afterwards, an id, and a clean one."""
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(rng.normal(size=(n, 3)).round(3), columns=["a", "b", "c"])
    frame["died"] = (frame["a"] + rng.normal(size=n) > 0).astype(int)
    frame.to_csv(tmp_path / "clean.csv", index=False)
    frame["discharge"] = np.where(frame["died"] == 1, "morgue", "home")
    frame["autopsy"] = np.where((frame["died"] == 1) & (frame.index % 3 == 0), 7.5, np.nan)
    frame["patient"] = [f"P{i // 3:03d}" for i in range(n)]
    frame.to_csv(tmp_path / "traps.csv", index=False)
    return tmp_path


def test_traps_and_the_options_that_avoid_them(run, stays):
    code, out, _ = run("check", stays / "traps.csv", "--target", "died")
    assert code == 0
    for column in ("discharge", "autopsy", "patient"):
        assert f"'{column}'" in out
    assert "--drop discharge --drop autopsy --group patient" in out
    words = ("--drop", "discharge,autopsy", "--group", "patient", "--strict")
    code, out, _ = run("check", stays / "traps.csv", "--target", "died", *words)
    assert code == 0
    assert "No trap" in out


def test_a_column_that_groups_rows_is_not_to_be_dropped(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"patient": [f"P{i // 8:02d}" for i in range(320)], "a": rng.normal(size=320)}
    )
    frame["died"] = frame["patient"].map(lambda who: int(who[1:]) % 2)
    frame.to_csv(tmp_path / "told.csv", index=False)
    _, out, _ = run("check", tmp_path / "told.csv", "--target", "died")
    assert "'patient' predicts the target almost alone" in out
    assert "fit with: --group patient\n" in out


def test_many_columns_and_classes_are_not_all_listed(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 90))).add_prefix("gene")
    frame.assign(grade=np.arange(80) % 8).to_csv(tmp_path / "wide.csv", index=False)
    _, out, _ = run("check", tmp_path / "wide.csv", "--target", "grade")
    line = " ".join(out.split())
    assert "8 classes: 0, 1, 2, 3, 4, 5 and 2 more (classification; for numbers: --task" in line
    assert "gene49 and 40 more" in line


def test_strict_and_json(run, stays):
    words = ("check", stays / "traps.csv", "--target", "died", "--json", "--strict")
    code, out, _ = run(*words)
    assert code == 3
    actual = json.loads(out)
    assert {trap["kind"] for trap in actual["traps"]} == {"answer", "afterwards", "groups"}
    assert run("check", stays / "clean.csv", "--target", "died", "--strict")[0] == 0


def test_rows_that_the_test_file_shares(run, stays):
    clean = pd.read_csv(stays / "clean.csv")
    clean.iloc[:250].to_csv(stays / "train.csv", index=False)
    clean.iloc[240:].to_csv(stays / "test.csv", index=False)
    words = ("--target", "died", "--test", stays / "test.csv")
    assert "10 rows of the test data" in run("check", stays / "train.csv", *words)[1]


@pytest.mark.parametrize(
    ("change", "fact"),
    [({"died": 1}, "is 1 in"), ({"died": [1] * 297 + [0] * 3}, "297 of 300")],
)
def test_targets_that_hardly_vary_are_refused(run, stays, change, fact):
    pd.read_csv(stays / "clean.csv").assign(**change).to_csv(stays / "c.csv", index=False)
    for words in (["check"], ["fit", "-o", "m.imputefree"]):
        code, _, err = run(words[0], stays / "c.csv", "--target", "died", *words[1:])
        assert code == 1
        assert fact in err
    code, _, err = run("bench", f"table:{stays / 'c.csv'}", "--target", "died")
    assert code == 1
    assert fact in err


def test_bench_needs_a_target(run, stays):
    code, _, err = run("bench", f"table:{stays / 'clean.csv'}")
    assert code == 1
    assert "--target" in err


@pytest.mark.slow
def test_fit_warns_and_the_card_tells(run, stays):
    words = ("fit", stays / "traps.csv", "--target", "died", "--no-estimate", "--quality", "fast")
    code, _, err = run(*words, "--model", "trees", "-o", "m.imputefree")
    assert code == 0
    assert "WARNING: Column 'discharge'" in err
    assert "'discharge' predicts" in (stays / "m.md").read_text()
    rows = pd.read_csv(stays / "traps.csv").assign(a=1e6)
    rows.to_csv("odd.csv", index=False)
    for command in ("predict", "evaluate"):
        code, _, err = run(command, "m.imputefree", "odd.csv")
        assert code == 0
        assert err.count("Outside the range of training: 'a' reaches 1e+06 in 300 rows") == 1
