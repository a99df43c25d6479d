"""What the server answers: predictions as the model gives them, and why."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.serve.made import ALL, CARD, every_step, numbers, patients, stays

testclient = pytest.importorskip("starlette.testclient", reason="needs the extra serve")


def client(model, **options):
    from imputefree.serve._http_app import build_app

    return testclient.TestClient(build_app(model, **options))


@pytest.fixture(scope="module")
def table():
    return client(patients())


@pytest.fixture(scope="module")
def series():
    return client(stays())


def rows_of(frame):
    """Rows as JSON has them."""
    return [
        {name: None if pd.isna(value) else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


FRAME = pd.DataFrame(
    {
        "age": [31.0, None, 55.0],
        "sex": ["f", None, "m"],
        "home.dest": ["here", "there", None],
        "lactate": [1.5, None, 4.0],
        "grade": [2.0, 3.0, None],
    }
)


def test_a_batch_is_predicted_as_the_model_does(table):
    answer = table.post("/predict", json={"rows": rows_of(FRAME)}).json()
    expected = patients().predict_proba(FRAME)
    found = [list(one["probability"].values()) for one in answer["predictions"]]
    np.testing.assert_allclose(found, expected, atol=1e-7)
    labels = [one["prediction"] for one in answer["predictions"]]
    assert labels == patients().predict(FRAME).tolist()
    assert answer["notes"] == []


def test_one_row_is_a_batch_of_one(table):
    row = rows_of(FRAME)[0]
    one, batch = (table.post("/predict", json=body).json() for body in (row, {"rows": [row]}))
    assert one == batch


def test_absent_null_and_any_order_are_the_same(table):
    given = {"lactate": 4.0, "age": 55.0, "sex": "m"}
    full = rows_of(FRAME)[2]
    assert table.post("/predict", json=given).json() == table.post("/predict", json=full).json()
    assert table.post("/predict", json={}).status_code == 200


def test_unseen_levels_count_as_missing_and_are_said(table):
    answer = table.post("/predict", json={"rows": [{}, {"sex": "x"}]}).json()
    nothing, unseen = (one["probability"] for one in answer["predictions"])
    assert nothing == pytest.approx(unseen, abs=1e-6)
    (note,) = answer["notes"]
    assert note["field"] == "rows[1].sex"
    assert "'x' was never seen in training; it counts as missing" in note["note"]


def test_a_number_beyond_training_is_said(table):
    (note,) = table.post("/predict", json={"age": 500}).json()["notes"]
    assert note["field"] == "age"
    assert "beyond what training saw" in note["note"]


def test_notes_are_bounded(table):
    answer = table.post("/predict", json={"rows": [{"sex": "x"}] * 200}).json()
    assert len(answer["notes"]) == 51
    assert "150" in answer["notes"][-1]["note"]


def test_numbers_may_name_a_level_and_a_truth_is_a_number():
    frame = pd.DataFrame({"group": ["1", "2", None, "2"] * 10, "smokes": [True, False] * 20})
    from imputefree import GILClassifier

    model = GILClassifier(n_members=1, max_iter=1).fit(frame, [0, 1] * 20)
    served = client(model)
    one, other = (
        served.post("/predict", json={"group": group, "smokes": smokes}).json()
        for group, smokes in (("1", 1), (1.0, True))
    )
    assert one == other
    assert one["notes"] == []


@pytest.mark.parametrize("cell", ["01234", "1.0", "True", "x", 7])
def test_levels_are_those_that_predict_finds(cell):
    """Forced categories of a file hold numbers in any way of writing."""
    from imputefree import GILClassifier
    from imputefree.data import Levels

    levels = ["1", "1234", "x"]
    frame = pd.DataFrame({"group": pd.Categorical(levels * 10)})
    model = GILClassifier(n_members=1, max_iter=1).fit(frame, [0, 1] * 15)
    level = Levels(levels).match(pd.Series([cell]))[0][0]
    ours, plain = (
        client(model).post("/predict", json={"group": group}).json() for group in (cell, level)
    )
    assert ours["predictions"] == plain["predictions"]
    assert bool(ours["notes"]) == (level is None)


def test_classes_are_named_as_predict_names_them():
    """Whole numbers beside gaps are read as 0.0 and 1.0."""
    from imputefree import GILClassifier
    from imputefree.workflow._predicting import class_names

    model = GILClassifier(n_members=1, max_iter=1).fit(np.eye(20), np.array([0.0, 1.0] * 10))
    served = client(model)
    (said,) = served.post("/predict", json={}).json()["predictions"]
    assert list(said["probability"]) == class_names(model)
    assert isinstance(said["prediction"], int)
    assert served.get("/schema").json()["classes"] == [0, 1]
    why = served.post("/explain?of=1", json={"0": 1.0})
    assert why.status_code == 200
    assert why.json()["of"] == 1


def test_explain_agrees_with_predict_and_with_its_own_effects(table):
    row = {"age": 31, "lactate": 4.0}
    why = table.post("/explain?of=ill", json=row).json()
    said = table.post("/predict", json=row).json()["predictions"][0]
    assert why["prediction"] == said
    assert why["of"] == "ill"
    assert why["explained"] == pytest.approx(said["probability"]["ill"])
    effects = {one["name"]: one["effect"] for one in why["columns"]}
    assert {name for name, effect in effects.items() if effect is not None} == set(row)
    without = table.post("/predict", json={"age": 31}).json()["predictions"][0]
    change = said["probability"]["ill"] - without["probability"]["ill"]
    assert effects["lactate"] == pytest.approx(change, abs=1e-6)
    coming = {one["name"]: one["next"]["change"] for one in why["columns"] if one["next"]}
    assert set(coming) == {"sex", "home.dest", "grade"}
    assert why["next"]["name"] == max(coming, key=coming.get)


def test_explain_knows_its_class_by_its_text(series):
    step = {"steps": [{"hour": 0, "pulse": 90}]}
    found = [series.post(f"/explain?of={label}", json=step).json() for label in (0, 1)]
    assert [one["of"] for one in found] == [0, 1]
    assert sum(one["explained"] for one in found) == pytest.approx(1)
    answer = series.post("/explain?of=2", json=step)
    assert answer.status_code == 422
    assert answer.json()["error"]["field"] == "of"


def test_explain_takes_one_row(table):
    assert table.post("/explain", json={"rows": [{}]}).status_code == 200
    answer = table.post("/explain", json={"rows": [{}, {}]})
    assert answer.status_code == 422
    assert "One row is explained at a time" in answer.json()["error"]["rule"]


def test_when_nothing_is_missing_there_is_nothing_to_measure(table):
    row = {"age": 31, "sex": "f", "home.dest": "here", "lactate": 1.0, "grade": 1}
    assert table.post("/explain", json=row).json()["next"] is None


def test_an_array_has_numbered_columns():
    served = client(numbers())
    rows = [{"0": 1.0, "2": -1.0}, {"1": 0.5}]
    found = served.post("/predict", json={"rows": rows}).json()["predictions"]
    X = np.array([[1.0, np.nan, -1.0], [np.nan, 0.5, np.nan]])
    expected = numbers().predict(X)
    np.testing.assert_allclose([one["prediction"] for one in found], expected, atol=1e-6)
    schema = served.get("/schema").json()
    assert [one["name"] for one in schema["columns"]] == ["0", "1", "2"]
    assert schema["card"] is None
    assert schema["target"] is None


def test_series_are_predicted_as_the_model_does(series):
    frame = pd.DataFrame(
        {
            "patient": [1, 1, 2],
            "hour": [0.0, 0.5, 3.0],
            "age": [40.0, 40.0, np.nan],
            "ward": ["A", "A", None],
            "pulse": [80.0, np.nan, 120.0],
            "rhythm": [None, "other", "sinus"],
        }
    )
    rows = [
        {
            "static": {"age": 40, "ward": "A"},
            "steps": [{"hour": 0, "pulse": 80}, {"hour": 0.5, "rhythm": "other"}],
        },
        {"steps": [{"hour": 3.0, "pulse": 120, "rhythm": "sinus"}]},
    ]
    found = series.post("/predict", json={"rows": rows}).json()["predictions"]
    found = [list(one["probability"].values()) for one in found]
    np.testing.assert_allclose(found, stays().predict_proba(frame), atol=1e-6)


def test_dates_count_as_hours_and_are_said(series):
    dated = [{"hour": "2024-05-31T23:30"}, {"hour": "2024-06-01T00:00", "pulse": 90}]
    plain = [{"hour": 0}, {"hour": 0.5, "pulse": 90}]
    one, other = (series.post("/predict", json={"steps": steps}).json() for steps in (dated, plain))
    assert one["predictions"] == other["predictions"]
    assert "hours" in one["notes"][0]["note"]
    assert other["notes"] == []


def test_series_are_explained_by_column_and_by_step(series):
    steps = [{"hour": 0, "pulse": 80}, {"hour": 1, "pulse": 120}, {"hour": 2}]
    why = series.post("/explain", json={"static": {"age": 70}, "steps": steps}).json()
    effects = {one["name"]: one["effect"] for one in why["columns"]}
    assert effects["pulse"] is not None
    assert effects["age"] is not None
    assert effects["ward"] is None
    assert [set(step) for step in why["steps"]] == [{"pulse"}, {"pulse"}, set()]


def test_every_step_may_have_its_prediction():
    served = client(every_step())
    steps = [{"0": 1.0}, {"0": None, "1": 2.0}, {}]
    (found,) = served.post("/predict", json={"steps": steps}).json()["predictions"]
    array = np.array([[1.0, np.nan], [np.nan, 2.0], [np.nan, np.nan]])
    (expected,) = every_step().predict([array])
    np.testing.assert_allclose([one["prediction"] for one in found["steps"]], expected, atol=1e-6)
    why = served.post("/explain", json={"steps": steps}).json()
    assert why["explained"] == pytest.approx(float(expected[-1]), abs=1e-6)


def test_times_are_asked_for_where_training_had_them():
    """An index of times has no name; a model that knows times must not count steps instead."""
    from imputefree import GILSequenceRegressor

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"who": np.repeat(range(20), 3), "when": [0.0, 0.25, 1.0] * 20})
    frame["pulse"] = rng.normal(size=60)
    small = {"n_members": 1, "max_iter": 1}
    timed = GILSequenceRegressor(**small).fit(frame.set_index(["who", "when"]), range(20))
    steps = [{"pulse": 1.0}, {"pulse": 2.0}]
    answer = client(timed).post("/predict", json={"steps": steps})
    assert answer.status_code == 422
    assert answer.json()["error"]["field"] == "steps[0].time"
    counted = GILSequenceRegressor(id="who", **small).fit(frame.drop(columns="when"), range(20))
    served = client(counted)
    assert served.post("/predict", json={"steps": steps}).status_code == 200
    answer = served.post("/predict", json={"steps": [{"time": 0}]})
    assert answer.json()["error"]["field"] == "steps[0].time"  # no column of it


@pytest.mark.parametrize("kind", ALL)
def test_the_example_of_the_schema_is_taken(kind):
    served = client(ALL[kind]())
    schema = served.get("/schema").json()
    for path in ("/predict", "/explain"):
        answer = served.post(path, json=schema["example"])
        assert answer.status_code == 200
        assert answer.json()["notes"] == []


def test_schema_says_what_the_model_takes(table, series):
    schema = table.get("/schema").json()
    assert schema["target"] == "outcome"
    assert schema["classes"] == ["ill", "well"]
    assert schema["card"] == CARD
    columns = {one["name"]: one for one in schema["columns"]}
    assert columns["sex"]["levels"] == ["f", "m"]
    assert 20 <= columns["age"]["low"] < columns["age"]["high"] < 90
    assert 0 < columns["age"]["missing"] < 0.5
    told = series.get("/schema").json()["series"]
    assert told["id"] == "patient"
    assert told["time"] == {"name": "hour", "required": True, "unit": 0.5}
    assert [one["name"] for one in told["static"]] == ["age", "ward"]


def test_health(table):
    assert table.get("/health").json() == {"status": "ok"}


def test_huge_but_finite_numbers_give_finite_answers():
    served = client(numbers())
    for value in (1e308, -1e308, 5e-324, 10**300):
        answer = served.post("/predict", json={"0": value, "1": value})
        assert answer.status_code == 200
        assert np.isfinite(answer.json()["predictions"][0]["prediction"])
