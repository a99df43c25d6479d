"""The card says what the scores say: warnings where they are due, and only there."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from imputefree.workflow._card import best_reference, most_telling_gaps, render, verdict
from imputefree.workflow._problem import Problem
from imputefree.workflow._problem_columns import Column
from imputefree.workflow._request import Request


def estimate(ours=(0.80, 0.75, 0.85), mask=0.6, boosting=0.78, low=-0.01, high=0.05):
    def of(value):
        return {"auc": [value, value - 0.05, value + 0.05], "log_loss": [0.4, 0.3, 0.5]}

    scores = {"imputefree": of(ours[0]), "mask_only": of(mask), "lightgbm": of(boosting)}
    scores["imputefree"]["auc"] = list(ours)
    actual = {
        "how": "5-fold cross-validation",
        "tested": 300,
        "interval": {
            "level": 0.95,
            "method": "percentile bootstrap",
            "resamples": 1000,
            "over": "rows",
            "seed": 0,
        },
        "main": "auc",
        "scores": scores,
        "differences": {
            name: {"auc": [ours[0] - scores[name]["auc"][0], low, high], "log_loss": [0, -1, 1]}
            for name in ("mask_only", "lightgbm")
        },
        "failed": {},
    }
    return actual | verdict(actual)


def about(found, rows=300, classes=None):
    return {
        "task": "classification",
        "target": "died",
        "columns": {"dose|x": "number"},
        "left_out": {"name": "strings that are all different, as names are"},
        "series": None,
        "data": {
            "file": "d.csv",
            "rows": rows,
            "series": None,
            "missing": {"dose|x": 0.125, "name": 0.0},
            "target": {"classes": classes or {"no": 150, "yes": 150}},
            "notes": ["3 rows without a target left out."],
        },
        "estimate": found,
        "blend": {
            "weights": {"trees": 0.7, "network": 0.3, "density": 0.0},
            "metric": "log_loss",
            "losses": {"trees": 0.45, "network": 0.47, "density": 0.61},
            "scores": {"log_loss": 0.44, "calibration_error": 0.031},
        },
        "made": {
            "version": "1",
            "date": "1970-01-02",
            "command": "imputefree fit d.csv",
            "random_state": 0,
            "estimator": "ImputeFreeClassifier",
            "settings": {"random_state": 0},
        },
    }


def test_everything_is_in_it():
    card = render("card.md.jinja", about(estimate()))
    for part in (
        *(
            "# Model card: died from d.csv",
            "0.800 [0.750, 0.850]",
            "| dose\\|x | number | 12.5 % |",
        ),
        *("`name`: strings that", "no: 150, yes: 150", "3 rows without", "imputefree fit d.csv"),
        *(
            "but not with the rows that were learned from",
            "percentile bootstrap",
            "of the class yes",
        ),
        "difference from gradient boosting (LightGBM) | +0.020 [-0.010, +0.050]",
        *("| trees | 70 % | 0.450 |", "| density | left out | 0.610 |", "| the blend |  | 0.440 |"),
        "Calibration error of the blend there: 0.031.",
    ):
        assert part in card
    assert "WARNING" not in card


@pytest.mark.parametrize(("mask", "warned"), [(0.76, False), (0.769, False), (0.771, True)])
def test_mask_only_nearly_as_good_is_a_warning(mask, warned):
    sentences = verdict(estimate(mask=mask), "boat")["warnings"]
    assert any("Mask only reaches 90 %" in one and "'boat'" in one for one in sentences) == warned


def test_boosting_ahead_is_a_warning_or_a_remark():
    sure = estimate(boosting=0.85, low=-0.08, high=-0.02)
    assert "is better than this model" in sure["warnings"][0]
    assert "prefer it" in render("card.md.jinja", about(sure))
    unsure = estimate(boosting=0.81, low=-0.04, high=0.02)
    assert not unsure["warnings"]
    assert "did as well or better" in render("card.md.jinja", about(unsure))
    assert not estimate(boosting=0.7)["remarks"]


def test_no_better_than_chance_is_a_warning():
    assert "not clearly better than chance" in estimate(ours=(0.55, 0.48, 0.6))["warnings"][0]
    assert not estimate(ours=(0.8, 0.51, 0.9))["warnings"]


def test_limits_depend_on_the_data():
    few = render("card.md.jinja", about(estimate(), rows=60, classes={"no": 55, "yes": 5}))
    assert "only 60 rows" in few
    assert "The class yes is rare (5 of 60)" in few
    assert "91.7 %" in few
    many = render("card.md.jinja", about(estimate(), rows=3000, classes={"no": 1500, "yes": 1500}))
    assert "only" not in many.partition("## Limits")[2]
    assert "rare" not in many


def test_a_short_training_is_mentioned():
    described = about(estimate())
    assert "kept short" not in render("card.md.jinja", described)
    described["made"]["settings"] = {"quality": "fast", "time_limit": 30.0}
    assert "(30 seconds, fast quality)" in render("card.md.jinja", described)


def test_groups_need_no_warning():
    actual = copy.deepcopy(estimate())
    assert "--group" in render("card.md.jinja", about(actual))
    actual["interval"]["over"] = "groups"
    assert "--group" not in render("card.md.jinja", about(actual))


def test_the_best_reference():
    assert best_reference(estimate(mask=0.7, boosting=0.6)) == "mask_only"
    assert best_reference(estimate(mask=0.6, boosting=0.7)) == "lightgbm"
    actual = estimate()
    actual["main"] = "log_loss"
    actual["scores"]["mask_only"]["log_loss"][0] = 0.1
    assert best_reference(actual) == "mask_only"


@pytest.mark.parametrize("kind", [int, float])
def test_the_most_telling_gaps(kind):
    y = np.array([0, 1] * 20, dtype=kind)
    gaps = np.where(y == 1, np.nan, 1.0)
    other = np.where(np.arange(40) < 20, np.nan, 1.0)
    frame = pd.DataFrame({"b": other, "a": gaps, "c": 1.0})
    columns = [Column(name, "number", 0.5) for name in frame]
    request = Request(Path("d.csv"), "y", Path("m"))
    problem = Problem(request, "d.csv", frame, np.arange(40), y, columns)
    assert most_telling_gaps(problem) == "a"
    without = replace(problem, frame=frame[["b", "c"]], columns=[columns[0], columns[2]])
    assert most_telling_gaps(without) is None
