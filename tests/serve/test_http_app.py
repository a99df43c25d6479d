"""What the server answers: predictions and explanations of the model, its schema, who may ask."""

from __future__ import annotations

import copy
import socket
import warnings
from functools import partial
from importlib.resources import files

import hypothesis
import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier, measure_next, read_table
from imputefree.cli._serve import ranking
from imputefree.errors import ParameterError
from imputefree.inspection import keep_scores, read_rows
from imputefree.serve import Limits, listen
from imputefree.serve._model_schema import Schema
from tests.serve.models import (
    ALL,
    CARD,
    client,
    client_of,
    every_step,
    numbers,
    patients,
    refused,
    stays,
)
from tests.workflow import made

pytest.importorskip("starlette", reason="needs the extra serve")
TOKEN = "s3cret-Token_+/="
FRAME = pd.DataFrame(
    {
        "age": [31.0, None, 55.0],
        "sex": ["f", None, "m"],
        "home.dest": ["here", "there", None],
        "lactate": [1.5, None, 4.0],
        "grade": [2.0, 3.0, None],
    }
)
ROWS = [
    {name: None if pd.isna(value) else value for name, value in row.items()}
    for row in FRAME.to_dict("records")
]
NONE = {"lactate": None, "grade": None, "sex": None}


def ask(kind, body, path="/predict"):
    answer = client(kind).post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_predictions_are_those_of_the_model():
    answer = ask("table", {"rows": ROWS})
    shares = [list(one["probability"].values()) for one in answer["predictions"]]
    np.testing.assert_allclose(shares, patients().predict_proba(FRAME), atol=1e-7)
    labels = [one["prediction"] for one in answer["predictions"]]
    assert labels == patients().predict(FRAME).tolist()
    assert answer["notes"] == []
    assert ask("table", ROWS[0]) == ask("table", {"rows": ROWS[:1]})


def test_absent_and_null_are_the_same_in_any_order():
    assert ask("table", {"lactate": 4.0, "age": 55.0, "sex": "m"}) == ask("table", ROWS[2])


def test_notes_name_unseen_levels_and_numbers_outside_of_training():
    answer = ask("table", {"rows": [{}, {"sex": "x"}, {"age": 500}]})
    blank, unseen, _ = (one["probability"] for one in answer["predictions"])
    assert blank == pytest.approx(unseen, abs=1e-6)
    level, number = answer["notes"]
    assert level["field"] == "rows[1].sex"
    assert "'x' was never seen in training; it counts as missing" in level["note"]
    assert number["field"] == "rows[2].age"
    assert "outside the range of training" in number["note"]
    notes = ask("table", {"rows": [{"sex": "x"}] * 200})["notes"]
    assert len(notes) == 51
    assert "150" in notes[-1]["note"]


@pytest.mark.parametrize(
    ("row", "level", "words"),
    [
        ({}, "nothing", "Nothing is given."),
        ({"sex": "x"}, "nothing", ""),  # counts as missing
        ({"age": 500, "lactate": 1.5}, "outside", "age = 500 is far outside training (20 to 89)"),
        ({"age": 95, "sex": "f", "lactate": 1.5}, "outside", "age = 95 is outside training"),
        ({"age": 31}, "few", "Only 1 of 5 values is given; rows of training had 4"),
        ({"age": 31, "sex": "f", "grade": 2}, "like", "3 of 5 values are given"),
    ],
)
def test_explanations_say_how_much_a_row_is_like_training(row, level, words):
    actual = ask("table", row, "/explain")["familiarity"]
    assert actual["level"] == level
    assert words in actual["sentence"]


def test_an_empty_row_is_told_the_share_of_training():
    model = copy.copy(patients())
    data = {"rows": 120, "target": {"classes": {"ill": 90, "well": 30}}}
    model.about_ = model.about_ | {"data": data}
    served = client_of(model)
    sentence = served.post("/explain?of=ill", json={}).json()["familiarity"]["sentence"]
    assert "75.0\u00a0% of 120 rows had outcome = ill" in sentence
    assert served.get("/schema").json()["training"]["rows"] == 120


def test_few_numbers_are_named_and_many_have_a_range():
    columns = {column.name: column for column in Schema.of(patients(), Limits()).columns}
    assert columns["grade"].values == [1.0, 2.0, 3.0]
    assert columns["age"].values is None
    assert columns["age"].beyond(89.0) == 0.0
    assert columns["age"].beyond(89 + 69.0) == pytest.approx(1.0)  # from 20 to 89 in training


def test_background_rows_and_costs_rank_what_to_measure_next():
    def served(**costs):
        rank = partial(
            measure_next, patients(), background=pd.concat([FRAME] * 20), costs=costs or None
        )
        answer = client_of(patients(), rank=rank).post("/explain", json=ROWS[0] | NONE)
        assert answer.status_code == 200, answer.text
        return answer.json()

    why = served()
    gains = {c["name"]: c["next"]["gain"] for c in why["columns"] if c["next"]}
    assert set(gains) == set(NONE)
    assert why["next"]["name"] == max(gains, key=gains.get)
    assert set(why["next"]) == {"name", "change", "low", "high", "gain", "cost"}
    best = why["next"]["name"]
    assert served(**{best: 1e9})["next"]["name"] != best
    never = served(**dict.fromkeys(NONE, np.inf))
    assert never["next"] is None
    assert {c["next"]["cost"] for c in never["columns"] if c["next"]} == {None}
    with pytest.raises(ParameterError, match="background"):
        ranking(patients(), None, {"age": 2.0})


def test_levels_and_classes_are_matched_as_in_files():
    """Numbers may name a level, booleans are numbers, whole classes have no decimal point."""
    frame = pd.DataFrame({"group": ["1", "1234", "x", "2"] * 10, "smokes": [True, False] * 20})
    model = GILClassifier(n_members=1, max_iter=1).fit(frame, np.array([0.0, 1.0] * 20))
    served = client_of(model)
    known, *same, gap = (
        served.post("/predict", json={"group": group, "smokes": smokes}).json()
        for group, smokes in (("1", 1), (1.0, True), ("01", 1.0), (True, 1), ("y", 1))
    )
    assert all(answer == known for answer in same)
    assert known["notes"] == []
    assert gap["notes"] != []
    (prediction,) = known["predictions"]
    assert list(prediction["probability"]) == ["0", "1"]
    assert isinstance(prediction["prediction"], int)
    assert served.get("/schema").json()["classes"] == [0, 1]
    assert served.post("/explain?of=1", json={"group": 1}).json()["of"] == 1


def test_the_schema_has_levels_and_ranges_of_training():
    frame = made.table().assign(two=[1.0, 5.0] * 30, none=np.nan)
    columns = {col.name: col for col in Schema.of(made.classifier(frame), Limits()).columns}
    assert list(columns) == [name for name in frame.columns if name != "y"]
    assert columns["code"].levels == ["1", "2", "3", "X"]
    ranges = {name: (columns[name].low, columns[name].high) for name in ("age", "two", "none")}
    age = (frame["age"].min(), frame["age"].max())
    assert ranges == {"age": age, "two": (1.0, 5.0), "none": (None, None)}
    long = made.long_table()
    series = Schema.of(made.sequence_classifier(long), Limits())
    assert [col.name for col in series.series.static] == ["age", "sex"]
    pulse = series.columns[0]
    assert (pulse.low, pulse.high) == (long["pulse"].min(), long["pulse"].max())


def test_an_array_has_numbered_columns():
    predictions = ask("array", {"rows": [{"0": 1.0, "2": -1.0}, {"1": 0.5}]})["predictions"]
    X = np.array([[1.0, np.nan, -1.0], [np.nan, 0.5, np.nan]])
    shown = [one["prediction"] for one in predictions]
    np.testing.assert_allclose(shown, numbers().predict(X), atol=1e-6)
    schema = client("array").get("/schema").json()
    assert [column["name"] for column in schema["columns"]] == ["0", "1", "2"]
    assert (schema["card"], schema["target"]) == (None, None)
    for value in (1e308, -1e308, 5e-324, 10**300):
        (one,) = ask("array", {"0": value, "1": value})["predictions"]
        assert np.isfinite(one["prediction"])


def test_explain_agrees_with_predict():
    row = {"age": 31, "lactate": 4.0}
    why = ask("table", row, "/explain?of=ill")
    prediction = ask("table", row)["predictions"][0]
    assert why["prediction"] == prediction
    assert why["of"] == "ill"
    assert why["explained"] == pytest.approx(prediction["probability"]["ill"])
    effects = {one["name"]: one["effect"] for one in why["columns"] if one["effect"] is not None}
    assert set(effects) == set(row)
    without = ask("table", {"age": 31})["predictions"][0]
    change = prediction["probability"]["ill"] - without["probability"]["ill"]
    assert effects["lactate"] == pytest.approx(change, abs=1e-6)
    coming = {one["name"]: one["next"]["change"] for one in why["columns"] if one["next"]}
    assert set(coming) == {"sex", "home.dest", "grade"}
    assert why["next"]["name"] == max(coming, key=coming.get)
    full = {"age": 31, "sex": "f", "home.dest": "here", "lactate": 1.0, "grade": 1}
    assert ask("table", full, "/explain")["next"] is None


def test_explain_takes_one_row_and_a_class():
    assert ask("table", {"rows": [{}]}, "/explain")
    answer = client("table").post("/explain", json={"rows": [{}, {}]})
    refused(answer, 422, "rows", "One row is explained at a time")
    step = {"steps": [{"hour": 0, "pulse": 90}]}
    both = [ask("series", step, f"/explain?of={label}") for label in (0, 1)]
    assert [why["of"] for why in both] == [0, 1]
    assert sum(why["explained"] for why in both) == pytest.approx(1)
    refused(client("series").post("/explain?of=2", json=step), 422, "of")
    refused(client("array").post("/explain?of=2", json={}), 422, "of", "predicts a number")


def test_series_are_predicted_and_explained_as_by_the_model():
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
    steps = [{"hour": 0, "pulse": 80}, {"hour": 0.5, "rhythm": "other"}]
    rows = [
        {"static": {"age": 40, "ward": "A"}, "steps": steps},
        {"static": None, "steps": [{"hour": 3.0, "pulse": 120, "rhythm": "sinus"}]},
    ]
    predictions = ask("series", {"rows": rows})["predictions"]
    shares = [list(one["probability"].values()) for one in predictions]
    np.testing.assert_allclose(shares, stays().predict_proba(frame), atol=1e-6)
    why = ask("series", {"static": {"age": 70}, "steps": [*steps, {"hour": 2}]}, "/explain")
    effects = {one["name"]: one["effect"] for one in why["columns"]}
    assert [name for name, effect in effects.items() if effect is None] == ["ward"]
    assert [set(step) for step in why["steps"]] == [{"pulse"}, {"rhythm"}, set()]


def test_a_series_is_ranked_by_what_its_last_step_lacks(tmp_path):
    rng, n = np.random.default_rng(0), 60
    frame = pd.DataFrame(
        {
            "patient": np.repeat(np.arange(n // 2), 2),
            "hour": np.tile([0.0, 0.5], n // 2),
            "age": np.repeat(rng.integers(20, 90, n // 2), 2),
            "ward": np.repeat(rng.choice(["A", "B"], n // 2), 2),
            "pulse": np.where(rng.random(n) < 0.3, np.nan, rng.normal(90, 10, n)),
            "rhythm": rng.choice(["sinus", "other"], n),
        }
    )
    frame.to_csv(tmp_path / "stays.csv", index=False)
    rank = ranking(stays(), tmp_path / "stays.csv", {"pulse": 1e9})
    body = {
        "static": {"age": 40},
        "steps": [{"hour": 0, "pulse": 80, "rhythm": "other"}, {"hour": 1}],
    }
    answer = client_of(stays(), rank=rank).post("/explain", json=body)
    assert answer.status_code == 200, answer.text
    gains = {c["name"]: c["next"]["gain"] for c in answer.json()["columns"] if c["next"]}
    assert set(gains) == {"pulse", "rhythm", "ward"}
    assert answer.json()["next"]["name"] == max({"rhythm", "ward"}, key=gains.get)


def test_dates_count_as_hours():
    dated = [{"hour": "2024-05-31T23:30"}, {"hour": "2024-06-01T00:00", "pulse": 90}]
    plain = [{"hour": 0}, {"hour": 0.5, "pulse": 90}]
    with_dates, without = (ask("series", {"steps": steps}) for steps in (dated, plain))
    assert with_dates["predictions"] == without["predictions"]
    assert "hours" in with_dates["notes"][0]["note"]


def test_a_model_may_predict_every_step():
    steps = [{"0": 1.0}, {"0": None, "1": 2.0}, {}]
    (prediction,) = ask("every step", {"steps": steps})["predictions"]
    array = np.array([[1.0, np.nan], [np.nan, 2.0], [np.nan, np.nan]])
    (expected,) = every_step().predict([array])
    shown = [one["prediction"] for one in prediction["steps"]]
    np.testing.assert_allclose(shown, expected, atol=1e-6)
    why = ask("every step", {"steps": steps}, "/explain")
    assert why["explained"] == pytest.approx(float(expected[-1]), abs=1e-6)


@pytest.mark.parametrize("kind", ALL)
def test_examples_of_the_schema_and_the_openapi_document_work(kind):
    served = client(kind)
    example = served.get("/schema").json()["example"]
    for path in ("/predict", "/explain"):
        assert ask(kind, example, path)["notes"] == []
    posted = served.get("/openapi.json").json()["paths"]["/predict"]["post"]["requestBody"]
    for other in posted["content"]["application/json"]["examples"].values():
        ask(kind, other["value"])


def test_the_schema_says_what_the_model_takes():
    schema = client("table").get("/schema").json()
    assert schema["target"] == "outcome"
    assert schema["classes"] == ["ill", "well"]
    assert schema["card"] == CARD
    columns = {column["name"]: column for column in schema["columns"]}
    assert columns["sex"]["levels"] == ["f", "m"]
    assert 20 <= columns["age"]["low"] < columns["age"]["high"] < 90
    assert 0 < columns["age"]["missing"] < 0.5
    series = client("series").get("/schema").json()["series"]
    assert series["id"] == "patient"
    assert series["time"] == {"name": "hour", "required": True, "unit": 0.5}
    assert [column["name"] for column in series["static"]] == ["age", "ward"]


def test_the_openapi_document_has_the_columns():
    document = client("table").get("/openapi.json").json()
    row = document["components"]["schemas"]["Row"]
    assert list(row["properties"]) == ["age", "sex", "home.dest", "lactate", "grade"]
    assert "required" not in row
    assert row["additionalProperties"] is False
    assert set(row["properties"]["age"]["type"]) == {"number", "boolean", "null"}
    assert "f, m" in row["properties"]["sex"]["description"]
    assert row["properties"]["sex"]["examples"] == ["f", "m", None]
    assert document["info"]["title"].endswith("outcome")
    parts = client("series").get("/openapi.json").json()["components"]["schemas"]
    assert list(parts["Step"]["properties"]) == ["hour", "pulse", "rhythm"]
    assert parts["Step"]["required"] == ["hour"]
    assert list(parts["Static"]["properties"]) == ["age", "ward"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["table", "series"])
def test_schemathesis_finds_no_failure(kind):
    """It tries what the OpenAPI document allows, and what it forbids."""
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    from imputefree.serve import build_app

    allowed = (
        not_a_server_error,
        checks.response_schema_conformance,
        checks.status_code_conformance,
        checks.content_type_conformance,
    )
    app = build_app(ALL[kind]())  # not the shared one: schemathesis shuts it down
    schema, statuses = schemathesis.openapi.from_asgi("/openapi.json", app), set()
    for operation in schema.get_all_operations():
        for mode in schemathesis.GenerationMode:

            @hypothesis.given(case=operation.ok().as_strategy(generation_mode=mode))
            @hypothesis.settings(
                max_examples=15 if operation.ok().method == "post" else 1,
                deadline=None,
                database=None,
                derandomize=True,
                phases=[hypothesis.Phase.generate],
                suppress_health_check=list(hypothesis.HealthCheck),
            )
            def attempt(case):
                response = case.call()
                statuses.add((case.path, response.status_code))
                case.validate_response(response, checks=allowed)

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    attempt()
                except hypothesis.errors.Unsatisfiable:
                    assert operation.ok().method == "get"  # nothing wrong can be sent there
    assert {
        (path, status) for path in ("/predict", "/explain") for status in (200, 422)
    } <= statuses


def bearer(token):
    return {"Authorization": f"Bearer {token}".encode("latin-1")}


def test_only_the_token_opens_what_is_about_the_model():
    guarded = client("array", token=TOKEN)
    for path in ("/schema", "/openapi.json"):
        refused(guarded.get(path), 401, "Authorization")
        assert guarded.get(path, headers=bearer(TOKEN)).status_code == 200
    for path in ("/predict", "/explain"):
        assert guarded.post(path, json={}, headers=bearer(TOKEN)).status_code == 200
    wrong = ("", "x", f"{TOKEN}x", TOKEN[:-1], TOKEN.lower(), "\u00e9\u00ff")
    for headers in (*map(bearer, wrong), {"Authorization": f"Basic {TOKEN}"}, {}):
        answer = guarded.post("/predict", json={}, headers=headers)
        refused(answer, 401, "Authorization")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert TOKEN not in answer.text
    for path in ("/", "/health", "/page/main.js", "/page/style.css"):
        assert guarded.get(path).status_code == 200
    document = guarded.get("/openapi.json", headers=bearer(TOKEN)).json()
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "401" in document["paths"]["/predict"]["post"]["responses"]
    assert "security" not in document["paths"]["/health"]["get"]


def test_other_host_names_are_refused():
    """A page of another site that points its own name here (DNS rebinding) reads nothing."""
    served = client("array", hosts=("localhost", "127.0.0.1", "[::1]"))
    for host in ("localhost:8000", "127.0.0.1", "LOCALHOST", "[::1]:8000"):
        assert served.get("/schema", headers={"Host": host}).status_code == 200
    odd = (
        "localhost:99999",
        "localhost:8e3",
        "localhost:",
        "localhost:80:80",
        "localhost ",
        "[::1",
    )
    names = (
        "evil.example",
        "localhost.evil.example:8000",
        "[::1].evil",
        "[::1]:80.evil",
        "evil@localhost",
    )
    for host in (*names, *odd, "", "\u00e9", "localhost\u00b2"):
        refused(served.get("/schema", headers={"Host": host.encode("latin-1")}), 400, "Host")
    twice = [(b"Host", b"localhost"), (b"Host", b"evil.example")]
    for headers in (twice, twice[::-1], twice[:1] * 2):
        refused(served.get("/schema", headers=headers), 400, "Host")


def test_every_answer_has_strict_headers():
    for path in ("/", "/schema", "/nothing"):
        headers = client("array").get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_the_page_loads_nothing_from_elsewhere():
    for file in files("imputefree.serve").joinpath("page").iterdir():
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        for part in ("http:", "https:", "//cdn", "innerHTML"):  # names of columns are never markup
            assert part not in text


def test_answers_hold_the_set_of_classes_or_the_interval():
    for make, row, keys in (
        (patients, {"age": 60}, {"coverage", "set"}),
        (numbers, {"0": 1.0}, {"coverage", "low", "high"}),
    ):
        model = copy.copy(make())
        names = model.encoder_.names
        rows = read_rows(pd.DataFrame(np.ones((40, len(names))), columns=names))
        classes = getattr(model, "classes_", None)
        predicted = np.zeros(40) if classes is None else np.full((40, 2), 0.5)
        target = np.arange(40.0) if classes is None else np.zeros(40, dtype=int)
        model.conformal_ = keep_scores(model, rows, predicted, target)
        served = client_of(model)
        prediction = served.post("/predict", json=row).json()["predictions"][0]
        assert set(prediction["within"]) == keys
        assert served.post("/explain", json=row).json()["prediction"] == prediction
        described = served.get("/openapi.json").json()["components"]["schemas"]["Prediction"]
        assert set(described["properties"]["within"]["properties"]) == keys
        if classes is None:
            within, middle = prediction["within"], prediction["prediction"]
            assert within["high"] - middle == pytest.approx(36)  # the 37th of 40 scores


def test_answers_do_not_wait_for_the_client_to_confirm_their_head():
    with listen("127.0.0.1", 0) as bound, socket.create_connection(bound.getsockname()):
        connection, _ = bound.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_schema_says_what_numbers_are():
    """Units, what is counted of dates, and which are yes or no, as the model's file was read."""
    frame = pd.DataFrame(
        {"bp": ["120 mmHg", "131 mmHg", "99 mmHg"] * 10, "day": None, "pain": True}
    )
    frame["day"] = pd.date_range("2024-01-31", periods=30).strftime("%d.%m.%Y")
    frame.loc[::2, "pain"] = False
    X, understood = read_table(frame)
    model = GILClassifier(max_iter=1, n_members=1, random_state=0).fit(X, np.arange(30) % 2)
    model.about_ = {"reading": understood.to_dict()}
    columns = {column.name: column for column in Schema.of(model, Limits()).columns}
    assert columns["bp"].unit == "mmHg"
    assert columns["day: days"].unit == "days since 2024-01-31"
    assert columns["day: weekday"].unit
    assert [name for name, column in columns.items() if column.truth] == ["pain"]
    assert columns["pain"].unit == ""
