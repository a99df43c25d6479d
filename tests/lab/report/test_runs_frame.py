from __future__ import annotations

import numpy as np
import pytest

from imputefree.errors import InputError, ParameterError
from imputefree.lab.report._runs_frame import check_methods, checked
from imputefree.lab.report._stats import compare, compare_over_studies, mean_ranks, summary
from tests.lab.report.test_stats import runs_of
from tests.refusals import check_error


def test_what_comes_back():
    runs = runs_of(a=[0.5, 0.6]).assign(n_test=1, n_train=4, other="x")
    runs.index = [7, 7]  # two files joined
    found = checked(runs, "accuracy")
    columns = ["study", "setting", "method", "mask_seed", "split", "accuracy", "test_to_train"]
    assert found.columns.tolist() == columns
    assert found.index.tolist() == [0, 1]
    assert found["mask_seed"].tolist() == ["0", "1"]
    assert found["accuracy"].dtype == np.float64
    assert found["test_to_train"].tolist() == [0.25, 0.25]
    check_methods(found, ["a"])
    check_error(lambda: check_methods(found, ["z"]), "'z'", "have 'a'", kind=ParameterError)


def test_runs_from_json_with_none_and_no_mask_seed():
    runs = runs_of(a=[0.5, 0.6], b=[0.4, 0.3]).astype({"accuracy": object})
    runs["split"], runs["mask_seed"] = runs["mask_seed"], None
    runs.loc[0, "accuracy"] = None
    found = compare(runs, "accuracy", "a", test_to_train=0.1)
    assert found[["pairs", "dropped"]].to_numpy().tolist() == [[1, 1]]


def changed(column, value):
    runs = runs_of(a=[0.5, 0.6], b=[0.4, 0.7]).astype({column: object})
    runs.loc[1, column] = value
    return runs


@pytest.mark.parametrize(
    ("runs", "parts"),
    [
        (runs_of(a=[0.5]).drop(columns="split"), ["no column 'split'", "there are 'study'"]),
        (runs_of(), ["no runs", "at least one"]),
        (changed("accuracy", "high"), ["accuracy is no number in 1 run", "'high'", "'a'"]),
        (changed("accuracy", np.inf), ["accuracy is infinite in 1 run", "'inf'", "finite"]),
        (changed("method", None), ["is empty in 1 run", "'natural'"]),
        (changed("mask_seed", 0), ["method 'a', mask_seed '0', split '0' is there more than once"]),
    ],
)
def test_bad_runs_give_one_sentence(runs, parts):
    for statistic in (summary, mean_ranks, compare, compare_over_studies):
        check_error(lambda s=statistic: s(runs, "accuracy"), *parts, kind=InputError)
