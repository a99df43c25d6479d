"""Lines of results become runs, with one name per setting, and bad runs one error."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree.errors import InputError, ParameterError
from imputefree.lab.report._paper_figures import FIGURES
from imputefree.lab.report._result_lines import (
    check_methods,
    checked_runs,
    runs_frame,
    setting_name,
    tidy_lines,
)
from imputefree.lab.report._stats import compare, summary
from imputefree.lab.runs._protocol import Run
from imputefree.lab.runs._run import attempt, failed
from tests.lab.report.test_stats import runs_of
from tests.refusals import check_error


@pytest.mark.parametrize(
    ("study", "options", "name"),
    [
        ("mnist", {"rate": 0.7}, "mcar-70"),
        ("mnist", {"rate": 0.7, "mechanism": "mcar", "masks": "fixed"}, "mcar-70"),
        ("mnist", {"mechanism": "mar"}, "mar"),
        ("ophthalmic", {"rate": 0.25}, "rate-25"),
        ("mimic3", {}, "variable"),
        ("mimic3", {"form": "fixed"}, "fixed"),
        ("physionet2012", {"form": "hourly"}, "natural"),
    ],
)
def test_settings_of_the_paper_have_its_names(study, options, name):
    assert setting_name(study, options) == name
    assert (study, name) in {(figure.study, figure.setting) for figure in FIGURES}


@pytest.mark.parametrize(
    ("study", "options", "name"),
    [
        ("mnist", {"mechanism": "mar", "rate": 0.4}, "mar-40"),
        ("mnist", {"rate": 0.125}, "mcar-12.5"),
        ("mnist", {"rate": 0}, "mcar-0"),
        ("mnist", {"rate": [0.5]}, "mcar-[0.5]"),
        ("ophthalmic", {"rate": 10**400}, f"rate-{10**400}"),
        ("ophthalmic", {}, "natural"),
        ("ophthalmic-simulated", {"rate": 0.25, "seed": 3}, "rate-25, seed 3"),
        ("physionet2012", {"form": "raw"}, "natural, form raw"),
    ],
)
def test_other_settings_are_spelled_out(study, options, name):
    assert setting_name(study, options) == name


def test_real_lines_done_and_failed_go_through_the_statistics():
    options = {"n_series": 60}
    runs = [Run("icu", "mask_only", options=options, split_seed=seed) for seed in range(2)]
    records = [attempt(run) for run in runs]
    records += [failed(Run("icu", "gil", options=options, split_seed=0), "out of memory")]
    frame = runs_frame(records)
    assert frame["status"].tolist() == ["done", "done", "failed"]
    assert frame["setting"].tolist() == ["variable, n_series 60"] * 3
    done = frame[:2]
    assert (done["n_train"] + done["n_test"] == 60).all()
    means = summary(frame, "auc").set_index("method")
    assert means["runs"].to_dict() == {"mask_only": 2, "gil": 0}
    assert means.loc["mask_only", "mean"] == np.mean([r["scores"]["auc"] for r in records[:2]])
    pairs = compare(frame, "auc", "mask_only")
    assert pairs[["pairs", "dropped"]].to_numpy().tolist() == [[0, 2]]


def test_imputation_error_is_scaled_except_for_pixels():
    scores = {"imputation_mse": 9.0, "imputation_mse_scaled": 0.5}
    lines = [failed(Run(name, "gil"), "") | {"scores": scores} for name in ("mnist", "icu")]
    assert runs_frame(lines)["imputation_error"].tolist() == [9.0, 0.5]
    assert "imputation_error" not in runs_frame([failed(Run("icu", "gil"), "")])


def test_lines_are_tidied_once_and_for_all():
    odd = {"study": "mnist", "method": "gil\x00", "scores": {"auc": float("inf"), "r2": True}}
    odd |= {"setting": None, "rows": [1, 2], "notes": "none", "mask_seed": None, "split_seed": "a"}
    (line,) = tidy_lines([odd])
    assert line["method"] == "gil\ufffd"
    assert line["scores"] == {"auc": None, "r2": None}
    assert (line["setting"], line["rows"], line["notes"]) == ({}, None, [])
    assert (line["mask_seed"], line["split_seed"]) == (0, "a")
    assert tidy_lines([line]) == [line]
    check_error(lambda: tidy_lines([]), "no results", kind=ParameterError)


def test_runs_that_differ_by_parameters_have_names_of_their_own():
    base = failed(Run("mnist", "gil"), "") | {"scores": {"accuracy": 0.5}, "status": "done"}
    settings = [{}, {"max_iter": 3, "dropout": 0.5}, {"max_iter": 4, "dropout": 0.5}, {}]
    lines = tidy_lines(base | {"setting": setting, "n": n} for n, setting in enumerate(settings))
    assert [line["method"] for line in lines] == [
        *("gil", "gil [dropout 0.5, max_iter 3]", "gil [dropout 0.5, max_iter 4]"),
    ]
    assert lines[0]["n"] == 3  # the last line of the same run counts
    assert tidy_lines(lines) == lines
    same = [base, base | {"options": {"rate": 0.5}}]  # 0.5 is the default
    assert len(tidy_lines(same)) == 1


def test_checked_runs():
    runs = runs_of(a=[0.5, 0.6]).assign(n_test=1, n_train=4, other="x")
    runs.index = [7, 7]  # two files joined
    table = checked_runs(runs, "accuracy")
    columns = ["study", "setting", "method", "mask_seed", "split", "accuracy", "test_to_train"]
    assert table.columns.tolist() == columns
    assert table.index.tolist() == [0, 1]
    assert table["mask_seed"].tolist() == ["0", "1"]
    assert table["accuracy"].dtype == np.float64
    assert table["test_to_train"].tolist() == [0.25, 0.25]
    check_error(lambda: check_methods(table, ["z"]), "'z'", "have 'a'", kind=ParameterError)


def test_runs_from_json_with_none_and_no_mask_seed():
    runs = runs_of(a=[0.5, 0.6], b=[0.4, 0.3]).astype({"accuracy": object})
    runs["split"], runs["mask_seed"] = runs["mask_seed"], None
    runs.loc[0, "accuracy"] = None
    pairs = compare(runs, "accuracy", "a", test_to_train=0.1)
    assert pairs[["pairs", "dropped"]].to_numpy().tolist() == [[1, 1]]


def changed(column, value):
    runs = runs_of(a=[0.5, 0.6], b=[0.4, 0.7]).astype({column: object})
    runs.loc[1, column] = value
    return runs


@pytest.mark.parametrize(
    ("runs", "parts"),
    [
        (runs_of(a=[0.5]).drop(columns="split"), ["no column 'split'", "there are 'study'"]),
        (runs_of(), ["no runs", "at least one"]),
        (changed("accuracy", "high"), ["accuracy is not a finite number in 1 run", "'high'"]),
        (changed("accuracy", np.inf), ["accuracy is not a finite number in 1 run", "'inf'"]),
        (changed("method", None), ["is empty in 1 run", "'natural'"]),
        (changed("mask_seed", 0), ["method 'a', mask_seed '0', split '0' is there more than once"]),
    ],
)
def test_bad_runs_are_one_error(runs, parts):
    for statistic in (summary, compare):
        check_error(lambda s=statistic: s(runs, "accuracy"), *parts, kind=InputError)
