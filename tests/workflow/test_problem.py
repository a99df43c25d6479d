"""Files as problems: what is an input, what a label, what belongs together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.workflow._problem import read_other, read_problem
from imputefree.workflow._request import Request
from tests.refusals import check_error


@pytest.fixture
def ask(tmp_path):
    """A frame as a file, and a request for it."""

    def asked(frame, name="d.csv", **options):
        path = tmp_path / name
        frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
        return Request(path, options.pop("target", "y"), tmp_path / "m.imputefree", **options)

    return asked


def table(rows=24):
    return pd.DataFrame(
        {
            "a": np.arange(rows) / 7,
            "b": ["p", "q", None] * (rows // 3),
            "who": [f"Ms {i}" for i in range(rows)],
            "y": ["no", "yes"] * (rows // 2),
        }
    )


def series(n=12):
    """Series of 2 to 4 rows, shuffled; y once per series."""
    steps = np.array([2 + i % 3 for i in range(n)])
    who = np.repeat(np.arange(n) * 10, steps)
    frame = pd.DataFrame({"who": who, "when": np.concatenate([np.arange(s) for s in steps])})
    frame["v"] = np.arange(len(who)) / 3
    frame["age"] = frame["who"] / 20
    frame["y"] = np.where(frame["when"] == 0, frame["who"] // 10 % 2, np.nan)
    return frame.sample(frac=1, random_state=0).reset_index(drop=True)


@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz", "d.parquet"])
def test_a_table(ask, name):
    problem = read_problem(ask(table(), name))
    assert [one.name for one in problem.used] == ["a", "b"]
    assert list(problem.frame) == ["a", "b"]
    assert problem.task == "classification"
    assert problem.classes.tolist() == ["no", "yes"]
    assert problem.truth.tolist() == [0, 1] * 12


def test_rows_without_a_target_are_left_out_and_counted(ask):
    frame = table(30)
    frame.loc[[3, 7], "y"] = None
    problem = read_problem(ask(frame))
    assert len(problem.y) == len(problem.frame) == 28
    assert problem.frame["a"].tolist() == frame["a"].drop([3, 7]).tolist()
    assert "2 rows without a target left out." in problem.notes


@pytest.mark.parametrize(
    ("values", "task", "expected"),
    [
        ([0, 1], None, "classification"),
        ([0.5, 1.5, 2.5], None, "regression"),
        (range(24), None, "regression"),
        ([0, 1], "regression", "regression"),
        ([True, False], None, "classification"),
    ],
)
def test_the_task_is_read_off_the_target(ask, values, task, expected):
    frame = table().assign(y=np.resize(list(values), 24))
    assert read_problem(ask(frame, task=task)).task == expected


def test_series_and_their_labels(ask):
    frame = series()
    problem = read_problem(ask(frame, id="who", time="when", static=("age",)))
    order = pd.unique(frame["who"])
    assert problem.owners(np.arange(12)) == order.tolist()
    assert problem.y.tolist() == (order // 10 % 2).tolist()
    assert problem.statics == ["age"]
    some = np.array([1, 4])
    assert set(problem.rows(some)["who"]) == set(order[some])


def test_series_without_a_label_are_left_out(ask):
    frame = series()
    frame.loc[frame["who"] == 30, "y"] = None
    problem = read_problem(ask(frame, id="who", time="when"))
    kept = pd.unique(frame["who"][frame["who"] != 30])
    assert problem.owners(np.arange(11)) == kept.tolist()
    assert problem.y.tolist() == (kept // 10 % 2).tolist()
    assert problem.unit.max() == 10
    assert "1 series without a target left out." in problem.notes


def test_times_written_as_dates(ask):
    frame = series()
    frame["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(frame["when"], unit="h")
    problem = read_problem(ask(frame, id="who", time="when"))
    assert problem.frame["when"].dtype.kind == "M"
    frame["when"] = frame["when"].astype(str)
    frame.loc[5, "when"] = "soon"
    check_error(lambda: read_problem(ask(frame, id="who", time="when")), "'soon' in row 6")


def test_two_steps_at_the_same_time_are_refused(ask):
    frame = series()
    again = pd.concat([frame, frame.iloc[[3]]], ignore_index=True)
    rows = f"rows 4 and {len(frame) + 1}"
    for wrong, words in (
        (again, "which are equal"),
        (again.assign(x=np.sin(range(len(again)))), "Merge"),
    ):
        check_error(lambda w=wrong: read_problem(ask(w, id="who", time="when")), rows, words)


def test_groups(ask):
    frame = table().assign(ward=np.arange(24) // 3)
    problem = read_problem(ask(frame, group="ward"))
    assert "ward" not in problem.frame
    assert problem.groups.tolist() == [str(i // 3) for i in range(24)]


def test_dropped_and_forced(ask):
    frame = table().assign(code=np.arange(24) % 3)
    problem = read_problem(ask(frame, drop=("a",), category=("code", "who")))
    assert {one.name: one.kind for one in problem.used} == dict.fromkeys(
        ["b", "who", "code"], "category"
    )
    assert next(one for one in problem.columns if one.name == "a").left_out == "as requested"
    assert problem.frame["code"].tolist() == ["0", "1", "2"] * 8


def test_another_file_with_the_same_columns(ask):
    request = ask(table())
    problem = read_problem(request)
    other = table()[["y", "b", "a"]].iloc[:9].assign(new=1)
    other.to_csv(request.data.with_name("t.csv"), index=False)
    actual = read_other(request.data.with_name("t.csv"), problem)
    assert list(actual.frame) == list(problem.frame)
    assert actual.truth.tolist() == [0, 1] * 4 + [0]
    other.drop(columns="b").to_csv(request.data.with_name("t.csv"), index=False)
    check_error(
        lambda: read_other(request.data.with_name("t.csv"), problem),
        "t.csv has no column 'b' (of d.csv)",
    )
    other.assign(y="maybe").to_csv(request.data.with_name("t.csv"), index=False)
    check_error(
        lambda: read_other(request.data.with_name("t.csv"), problem),
        "has the class 'maybe'",
        "'no', 'yes'",
    )


def test_another_file_of_one_class_keeps_the_classes(ask):
    request = ask(table())
    problem = read_problem(request)
    table().iloc[1::2].to_csv(request.data.with_name("t.csv"), index=False)
    actual = read_other(request.data.with_name("t.csv"), problem)
    assert actual.truth.tolist() == [1] * 12


def test_a_test_file_that_was_learned_from_is_refused(ask):
    request = ask(table())
    problem, copy = read_problem(request), request.data.with_name("t.csv")
    copy.write_bytes(request.data.read_bytes())
    for path in (copy, request.data):
        check_error(lambda path=path: read_other(path, problem), "holds the same as")


def test_series_of_a_test_file_must_be_others(ask):
    request = ask(series(), id="who", time="when")
    problem, path = read_problem(request), request.data.with_name("t.csv")
    other = series()
    other.query("who < 20").to_csv(path, index=False)
    check_error(lambda: read_other(path, problem), "shares 2 values of 'who' (--id)")
    other.assign(who=other["who"] + 1000.0).to_csv(path, index=False)
    assert len(read_other(path, problem).y) == 12
    other.assign(who=other["who"].astype(float)).to_csv(path, index=False)
    check_error(lambda: read_other(path, problem), "shares 12 values")


def test_groups_of_a_test_file(ask):
    frame = table().assign(ward=np.arange(24) // 3)
    request = ask(frame, group="ward")
    problem, path = read_problem(request), request.data.with_name("t.csv")
    frame.assign(ward=frame["ward"] + 7).to_csv(path, index=False)
    check_error(lambda: read_other(path, problem), "shares 1 value of 'ward' (--group)", "('7')")
    frame.assign(ward=frame["ward"] + 8).to_csv(path, index=False)
    assert read_other(path, problem).groups.tolist() == [str(8 + i // 3) for i in range(24)]
    frame.drop(columns="ward").to_csv(path, index=False)
    check_error(lambda: read_other(path, problem), "no column 'ward' (--group)")


def test_changing_labels_or_groups_and_too_few_rows_are_refused(ask):
    request = ask(series(), id="who", time="when", group="v")
    check_error(lambda: read_problem(request), "column 'v' (--group)", "one group", "--group")
    request = ask(series().assign(y=lambda f: f["when"] % 2), id="who", time="when")
    check_error(lambda: read_problem(request), "'y'", "changes within")
    check_error(lambda: read_problem(ask(table().head(1))), "has 1 row with a target")


def test_a_column_in_the_order_of_the_rows_is_kept_if_it_is_named(ask):
    frame = table().assign(year=np.arange(24) + 1950, row=np.arange(24) + 1)
    frame.loc[:1, "y"] = None
    problem = read_problem(ask(frame))
    assert [one.name for one in problem.used] == ["a", "b", "year"]


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({"y": "yes"}, {}, ("the target 'y'", "is yes in all")),
        ({"y": None}, {}, ("the target 'y'", "is empty in all rows")),
        ({"y": [f"t{i}" for i in range(24)]}, {}, ("24 classes in 24 rows", "most of them once")),
        ({"a": None, "b": "p"}, {}, ("no column to learn from",)),
        ({}, {"drop": ("y",)}, ("column 'y' is named by --target and --drop",)),
        ({}, {"task": "regression"}, ("holds strings", "Regression needs numbers")),
        ({"a": [np.inf, 1.0] * 12}, {}, ("column 'a' holds +inf",)),
        ({"g": [None, 1.0] * 12}, {"group": "g"}, ("the group 'g'", "missing in 12 places")),
        ({"g": [None, 1.0] * 12}, {"id": "g"}, ("has no 'g' in 12 rows (first: row 1)",)),
    ],
)
def test_refusals(ask, change, options, words):
    check_error(lambda: read_problem(ask(table().assign(**change), **options)), *words)


def test_names_in_a_second_row_are_said_before_a_column_that_is_not_there(ask):
    rows = [[1.5, 7, "a"], [2.5, 8, "b"], [3.0, 9, "c"]] * 5
    frame = pd.DataFrame([["crp", "k", "y"], *rows], columns=["lab", "", "end"])
    check_error(lambda: read_problem(ask(frame)), "'crp', 'k'", "Remove the second row of names")


@pytest.mark.parametrize("option", [{"time": "a"}, {"static": ("a",)}])
def test_series_need_an_id(ask, option):
    with pytest.raises(ValueError, match="without --id"):
        ask(table(), **option)


def test_a_target_of_dates_is_refused(tmp_path):
    days = pd.date_range("2024-01-01", periods=30).strftime("%d.%m.%Y")
    pd.DataFrame({"day": days, "x": range(30)}).to_csv(tmp_path / "a.csv", index=False)
    request = Request(tmp_path / "a.csv", "day", tmp_path / "m.imputefree")
    check_error(lambda: read_problem(request), "'day'", "date", "--columns")
