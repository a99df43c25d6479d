"""Series on the command line: labels per step, several files, the latest held out, histories."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.slow
SMALL = ("--max-iter", 2, "--members", 1)


@pytest.fixture(scope="module")
def stays(tmp_path_factory):
    """Hourly steps with dates, half of them ill from some hour on; and a table of patients."""
    folder, rng = tmp_path_factory.mktemp("stays"), np.random.default_rng(0)
    lengths = rng.integers(3, 8, 40)
    who, step = np.repeat(np.arange(40), lengths), np.concatenate([*map(np.arange, lengths)])
    begin = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(40)[who], unit="D")
    steps = pd.DataFrame({"stay": who, "when": begin + pd.to_timedelta(step, unit="h")})
    steps["pulse"] = rng.normal(80, 9, len(who)).round(1)
    steps.loc[rng.random(len(who)) < 0.3, "pulse"] = np.nan
    steps["ill"] = ((who % 2 == 0) & (step > 1)).astype(int)
    steps.to_csv(folder / "steps.csv", index=False)
    people = pd.DataFrame({"stay": np.arange(40), "age": rng.integers(20, 90, 40)})
    people["patient"] = np.arange(40) // 2
    people.to_csv(folder / "people.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def model(stays):
    """A model of every step, and what `fit` says of it."""
    from imputefree.cli._app import main

    path = stays / "m.imputefree"
    words = ["fit", stays / "steps.csv", "--join", stays / "people.csv", "--target", "ill"]
    words += ["--id", "stay", "--time", "when", "--per-step", "--drop", "patient", *SMALL]
    words += ["--by-time", "when", "--test", 0.25, "-o", path]
    with pytest.raises(SystemExit) as left:
        main([*map(str, words)])
    assert left.value.code == 0
    return path


def test_the_card_tells_how_it_was_scored(model, stays):
    card = model.with_suffix(".md").read_text()
    assert "of each step of a series" in card
    assert "the latest 10 series by 'when'" in card
    assert "steps.csv + people.csv" in card


def predicted(path):
    """The probability by stay and time."""
    return pd.read_csv(path, parse_dates=["when"]).set_index(["stay", "when"])["p_1"]


def test_a_growing_series_is_predicted_as_the_whole_one(model, stays, run):
    steps = pd.read_csv(stays / "steps.csv").drop(columns="ill")
    join = ("--join", stays / "people.csv")
    assert run("predict", model, stays / "steps.csv", *join, "-o", "whole.csv")[0] == 0
    whole = predicted("whole.csv")
    assert len(whole) == len(steps)
    hour, found = steps.groupby("stay").cumcount(), []
    for number in range(3):  # a file per hour, with the rows that are new
        steps[hour == number].to_csv("new.csv", index=False)
        words = ("predict", model, "new.csv", *join, "--history", "ward.csv", "-o", "now.csv")
        assert run(*words)[0] == 0
        found.append(predicted("now.csv"))
        assert len(found[-1]) == (hour == number).sum()
    found = pd.concat(found)
    assert np.allclose(found, whole.loc[found.index], atol=1e-6)
    assert len(pd.read_csv("ward.csv")) == len(found)
    code, out, _ = run("predict", model, stays / "steps.csv", *join, "--last")
    assert code == 0
    assert len(out.splitlines()) == 41
    last = whole.groupby("stay").last()
    assert float(out.splitlines()[1].split(",")[-1]) == pytest.approx(last.iloc[0])


def test_evaluate_joins_too(model, stays, run):
    words = ("evaluate", model, stays / "steps.csv", "--join", stays / "people.csv", "--json")
    code, out, _ = run(*words)
    assert code == 0
    assert json.loads(out)["unit"] == "step"
    assert json.loads(out)["count"] == len(pd.read_csv(stays / "steps.csv"))


def test_all_methods_are_compared_step_by_step(stays, run):
    words = ["fit", stays / "steps.csv", "--join", stays / "people.csv", "--target", "ill"]
    words += ["--id", "stay", "--time", "when", "--group", "patient", "--per-step", *SMALL]
    code, out, err = run(*words, "--folds", 2, "-o", "m.imputefree")
    assert code == 0, err
    assert "failed" not in out
    assert out.count("–") >= 20  # every score has an interval


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        (("--per-step",), "--per-step was given without --id"),
        (("--id", "stay", "--per-step", "--model", "trees"), "--model trees"),
        (("--id", "stay", "--by-time", "when", "--folds", 3), "--by-time"),
        (
            (
                "--id",
                "stay",
            ),
            "changes within a series",
        ),
        (("--id", "stay", "--per-step", "--by-time", "pulse"), "--by-time"),
    ],
)
def test_what_makes_no_sense_is_refused(stays, run, words, fact):
    code, _, err = run("fit", stays / "steps.csv", "--target", "ill", *words, "-o", "m.model")
    assert code == 1
    assert fact in err


def test_a_history_needs_series(model, stays, run):
    code, _, err = run("predict", model, stays / "steps.csv", "--history", stays / "steps.csv")
    assert code == 1
    assert "would be overwritten" in err
