"""`imputefree audit`: words on stdout, and files whole or not at all."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from tests.inspection import made_gaps


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models and files, made once."""
    from imputefree import ImputeFreeClassifier, ImputeFreeSequenceClassifier

    at = tmp_path_factory.mktemp("audit")
    X, y = made_gaps.table(300, 0, True)
    answers = np.array(["ill", "well"])
    ImputeFreeClassifier(quality="fast", random_state=0).fit(X, answers[y]).save(at / "table")
    X, y, site = made_gaps.two_groups(200, 1)
    X.assign(outcome=answers[y], site=site).to_csv(at / "table.csv", index=False)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"who": np.repeat(np.arange(80)[::-1], 3), "hour": np.tile([0, 1, 2], 80)})
    frame["pulse"] = rng.normal(size=240)
    frame["died"] = (frame.groupby("who")["pulse"].transform("mean") > 0).astype(int)
    frame.loc[rng.random(240) < 0.2, "pulse"] = np.nan
    frame["ward"] = np.where(frame["who"] % 2, "north", "south")
    model = ImputeFreeSequenceClassifier(id="who", time="hour", quality="fast", random_state=0)
    labels = frame.groupby("who")["died"].first()
    model.fit(frame[["who", "hour", "pulse"]], labels).save(at / "series")
    frame.to_csv(at / "long.csv", index=False)
    return at


@pytest.fixture
def run(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    return lambda *words: run("audit", *words, "--repeats", "1")


def test_the_table_and_the_words(run):
    code, out, err = run("table", "table.csv", "--target", "outcome", "--group", "site")
    assert (code, err) == (0, "")
    assert "gaps of other rows" in out
    assert "A new site should check" in out
    assert "far" in out


@pytest.mark.parametrize("kind", ["html", "json", "png"])
def test_files(run, folder, kind):
    code, out, _ = run("table", "table.csv", "--target", "outcome", "--out", f"audit.{kind}")
    assert code == 0
    assert f"Audit: audit.{kind}" in out
    content = (folder / f"audit.{kind}").read_bytes()
    start = {"html": b"<!doctype html>", "json": b"{", "png": b"\x89PNG"}[kind]
    assert content.startswith(start)
    if kind == "json":
        assert json.loads(content)["metric"] == "auc"


def test_series_by_id_in_any_order(run):
    code, out, _ = run("series", "long.csv", "--target", "died", "--group", "ward", "--json")
    plain = json.loads(out)
    assert (code, plain["unit"]) == (0, "series")
    lines = {(line["kind"], line["scenario"]): line for line in plain["table"]}
    assert lines["as it is", "as it is"]["score"] > 0.9  # labels are matched by id
    assert lines["group", "north"]["rows"] == 40


@pytest.mark.parametrize(
    "words",
    [
        ["table", "table.csv"],  # saved from Python: the target is not known
        ["table", "table.csv", "--target", "nothing"],
        ["table", "table.csv", "--target", "outcome", "--group", "nowhere"],
        ["table", "table.csv", "--target", "outcome", "--out", "audit.txt"],
        ["table", "table.csv", "--target", "outcome", "--out", "table.csv"],
        ["table", "table.csv", "--target", "outcome", "--out", "nowhere/audit.png"],
        ["table", "table.csv", "--target", "site"],
    ],
)
def test_refused_in_one_sentence(run, words):
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert err.startswith("imputefree: ")
    assert "Traceback" not in err
