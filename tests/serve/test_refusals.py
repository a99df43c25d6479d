"""Requests that get no answer: a status of 400 to 499, one shape, and the field by its name."""

from __future__ import annotations

import json
import time

import pytest

from tests.serve.made import ALL, numbers, patients, stays
from tests.serve.test_http_app import client

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def table():
    return client(patients())


@pytest.fixture(scope="module")
def series():
    return client(stays())


def refused(answer, status, field=None, *parts):
    """The one shape of all errors, with this status, about this field, holding these words."""
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"}
    error = answer.json()["error"]
    assert set(error) == {"field", "fact", "rule", "remedy"}
    assert error["field"] == field
    text = " ".join(filter(None, error.values()))
    assert "Traceback" not in text
    for part in parts:
        assert part in text
    return error


def post(served, text, path="/predict"):
    return served.post(path, content=text, headers=JSON)


@pytest.mark.parametrize("path", ["/predict", "/explain"])
@pytest.mark.parametrize(
    "text", ["", "{", "nul", '{"age": 1,}', "[1", '{"age" 1}', "\ufeff{}", "{}{}", "'age'"]
)
def test_malformed_json_is_a_bad_request(table, path, text):
    refused(post(table, text.encode(), path), 400, None, "JSON")


def test_bytes_that_are_no_text_are_a_bad_request(table):
    refused(post(table, b'{"sex": "\xff\xfe"}'), 400, None, "byte 9", "UTF-8")


@pytest.mark.parametrize("depth", [10, 100_000])
@pytest.mark.parametrize("ends", ["[]", ('{"age":', "}")])
def test_deep_nesting_is_refused(table, series, depth, ends):
    text = ends[0] * depth + "1" + ends[1] * depth
    for served in (table, series):
        assert post(served, text.encode()).status_code in {400, 422}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("NaN", "NaN"),
        ("Infinity", "Infinity"),
        ("-Infinity", "-Infinity"),
        ("1e999", "1e308"),
        ("-1e999", "1e308"),
        ("1" * 350, "1e308"),
        ("1" * 5000, "1e308"),
    ],
)
def test_numbers_that_are_not_finite_are_named(table, text, word):
    body = f'{{"rows": [{{}}, {{"age": {text}}}]}}'
    refused(post(table, body.encode()), 422, "rows[1].age", word, "null stands for")
    refused(post(table, f'{{"age": {text}}}'.encode(), "/explain"), 422, "age", word)


def test_non_finite_words_elsewhere_are_refused_too(table):
    for text in ("NaN", "[NaN]", '{"rows": NaN}', '{"rows": [Infinity]}', '{"sex": NaN}'):
        assert post(table, text.encode()).status_code == 422


def test_an_unknown_column_is_named_with_the_known_ones(table):
    answer = table.post("/predict", json={"rows": [{"Age": 31}]})
    refused(answer, 422, "rows[0].Age", "no column", "'lactate'", "Write 'age'")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("age", "31", "the text '31'"),
        ("age", "", "the text ''"),
        ("age", [31], "a list"),
        ("age", {"years": 31}, "an object"),
        ("sex", ["f"], "a list"),
        ("sex", {}, "an object"),
    ],
)
def test_a_field_of_another_kind_is_named(table, field, value, words):
    refused(table.post("/predict", json={field: value}), 422, field, words)


def test_long_values_are_cut_short(table):
    error = refused(table.post("/predict", json={"age": "x" * 5000}), 422, "age")
    assert len(error["fact"]) < 120


@pytest.mark.parametrize("body", [1, "text", None, True, [], [{}]])
def test_a_body_is_an_object(table, body):
    refused(post(table, json.dumps(body)), 422, None, "GET /schema")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"rows": []}, "rows"),
        ({"rows": {}}, "rows"),
        ({"rows": None}, "rows"),
        ({"rows": [{}], "age": 3}, "age"),
        ({"rows": [{}, 7]}, "rows[1]"),
        ({"rows": [{}, [1]]}, "rows[1]"),
    ],
)
def test_a_batch_is_a_list_of_rows(table, body, field):
    refused(table.post("/predict", json=body), 422, field)


def test_a_field_given_twice_is_refused(table):
    refused(post(table, b'{"age": 31, "age": 32}'), 422, "age", "twice")


def test_texts_without_utf8_come_back_as_they_came(table):
    answer = post(table, b'{"sex": "\\ud800"}')
    assert answer.status_code == 200
    assert "ud800" in answer.text
    refused(post(table, b'{"\\ud800": 1}'), 422, "\ud800")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/jsonx"},
    ],
)
def test_another_content_type_is_unsupported(table, headers):
    refused(table.post("/predict", content=b"{}", headers=headers), 415, "Content-Type")


def test_packed_bodies_are_unsupported(table):
    answer = table.post("/predict", content=b"{}", headers=JSON | {"Content-Encoding": "gzip"})
    refused(answer, 415, "Content-Encoding", "gzip")


def test_json_with_a_charset_is_json(table):
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert table.post("/predict", content=b"{}", headers=headers).status_code == 200


def test_paths_and_methods_that_are_not_there(table):
    refused(table.get("/nothing"), 404, None, "/nothing")
    answer = table.get("/predict")
    refused(answer, 405, None, "GET")
    assert answer.headers["allow"] == "POST"
    refused(table.post("/schema", json={}), 405)
    for path in ("/docs", "/redoc", "/page/../app.py", "/page/app.py"):
        assert table.get(path).status_code == 404


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({}, "steps", "not given"),
        ({"steps": []}, "steps", "empty"),
        ({"steps": 3}, "steps", "is 3"),
        ({"steps": [3]}, "steps[0]", "is 3"),
        ({"steps": [{}]}, "steps[0].hour", "has no hour"),
        ({"steps": [{"hour": 0}, {"hour": None}]}, "steps[1].hour", "has no hour"),
        ({"steps": [{"hour": 1}, {"hour": 1}]}, "steps[1].hour", "strictly increasing"),
        ({"steps": [{"hour": 1}, {"hour": 0.5}]}, "steps[1].hour", "strictly increasing"),
        ({"steps": [{"hour": "soon"}]}, "steps[0].hour", "date such as"),
        ({"steps": [{"hour": 1}, {"hour": "2024-01-01"}]}, "steps[1].hour", "one way"),
        ({"steps": [{"hour": []}]}, "steps[0].hour", "a list"),
        ({"steps": [{"hour": 0, "age": 1}]}, "steps[0].age", "no column"),
        ({"steps": [{"hour": 0, "puls": 1}]}, "steps[0].puls", "Write 'pulse'"),
        ({"steps": [{"hour": 0}], "static": {"pulse": 1}}, "static.pulse", "no column"),
        ({"steps": [{"hour": 0}], "static": {"age": "old"}}, "static.age", "the text"),
        ({"steps": [{"hour": 0}], "static": []}, "static", "a list"),
        ({"steps": [{"hour": 0}], "age": 3}, "age", "no field of a series"),
        ({"rows": [{"steps": [{"hour": 0}]}, {"steps": [{}]}]}, "rows[1].steps[0].hour", "hour"),
        ({"rows": [3]}, "rows[0]", "A series is an object"),
    ],
)
def test_series_are_held_to_their_shape(series, body, field, words):
    refused(series.post("/predict", json=body), 422, field, words)


def test_one_nonfinite_time_is_named(series):
    refused(post(series, b'{"steps": [{"hour": NaN}]}'), 422, "steps[0].hour", "NaN")


@pytest.mark.parametrize("kind", ALL)
def test_every_refusal_has_the_same_shape(kind):
    """Whatever JSON comes, an answer or a refusal in the one shape; never a failure."""
    served = client(ALL[kind]())
    for value in (
        0,
        -1.5,
        True,
        "x",
        None,
        [],
        {},
        [[]],
        {"rows": [[]]},
        {"steps": [{"time": {}}]},
    ):
        for body in (value, {"rows": [value]}, {"0": value}, {"steps": value}, {"static": value}):
            for path in ("/predict", "/explain"):
                answer = served.post(path, content=json.dumps(body), headers=JSON)
                if answer.status_code != 200:
                    refused(answer, 422, answer.json()["error"]["field"])


def test_a_fault_of_the_server_shows_nothing_of_it(capsys, monkeypatch):
    model = numbers()
    served = client(model)

    def fail(*_, **__):
        raise RuntimeError("secret\ninside")

    monkeypatch.setattr(type(model), "predict", fail)
    answer = served.post("/predict", json={})
    refused(answer, 500)
    assert "secret" not in answer.text
    err = capsys.readouterr().err
    assert "RuntimeError: secret inside" in err
    assert err.count("\n") == 1


def test_a_hostile_body_is_refused_quickly(table):
    """Many fields, one of them twice at the end: looking for it must not take the square."""
    fields = ",".join(f'"{i}":1' for i in range(200_000))
    begun = time.process_time()
    refused(post(table, f'{{{fields},"199999":1}}'.encode()), 422, "199999", "twice")
    assert time.process_time() - begun < 10
