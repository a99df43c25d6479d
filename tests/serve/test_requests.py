"""Requests that are refused: the right status, one shape, and the name of the field."""

from __future__ import annotations

import json
import time

import numpy as np
import pandas as pd
import pytest

from imputefree import GILSequenceRegressor
from tests.serve.models import ALL, client, client_of, numbers, refused

pytest.importorskip("starlette", reason="needs the extra serve")
JSON = {"Content-Type": "application/json"}


def post(text, path="/predict", kind="table"):
    return client(kind).post(path, content=text, headers=JSON)


@pytest.mark.parametrize("path", ["/predict", "/explain"])
@pytest.mark.parametrize(
    "text", ["", "{", "nul", '{"age": 1,}', "[1", '{"age" 1}', "\ufeff{}", "{}{}", "'age'"]
)
def test_malformed_json_is_a_bad_request(path, text):
    refused(post(text.encode(), path), 400, None, "JSON")


def test_bytes_that_are_not_utf8_are_a_bad_request():
    refused(post(b'{"sex": "\xff\xfe"}'), 400, None, "byte 9", "UTF-8")


@pytest.mark.parametrize("depth", [10, 100_000])
@pytest.mark.parametrize("ends", ["[]", ('{"age":', "}")])
def test_deep_nesting_is_refused(depth, ends):
    text = ends[0] * depth + "1" + ends[1] * depth
    for kind in ("table", "series"):
        assert post(text.encode(), kind=kind).status_code in {400, 422}


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
def test_numbers_that_are_not_finite_are_named(text, word):
    body = f'{{"rows": [{{}}, {{"age": {text}}}]}}'
    refused(post(body.encode()), 422, "rows[1].age", word, "must be finite")
    refused(post(f'{{"age": {text}}}'.encode(), "/explain"), 422, "age", word)
    step = f'{{"steps": [{{"hour": {text}}}]}}'
    refused(post(step.encode(), kind="series"), 422, "steps[0].hour", word)
    for body in (text, f"[{text}]", f'{{"rows": {text}}}', f'{{"rows": [{text}]}}'):
        assert post(body.encode()).status_code == 422


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({"rows": [{"Age": 31}]}, "rows[0].Age", "not a column|'lactate'|Write 'age'"),
        ({"age": "31"}, "age", "the string '31'"),
        ({"age": ""}, "age", "the string ''"),
        ({"age": [31]}, "age", "a list"),
        ({"age": {"years": 31}}, "age", "an object"),
        ({"sex": ["f"]}, "sex", "a list"),
        ({"sex": {}}, "sex", "an object"),
        (1, None, "GET /schema"),
        ("text", None, "GET /schema"),
        (None, None, "null"),
        ([{}], None, "a list"),
        ({"rows": []}, "rows", "empty"),
        ({"rows": {}}, "rows", "an object|list"),
        ({"rows": None}, "rows", "null"),
        ({"rows": [{}], "age": 3}, "age", "'age'"),
        ({"rows": [{}, 7]}, "rows[1]", "7"),
        ({"rows": [{}, [1]]}, "rows[1]", "a list"),
    ],
)
def test_rows_must_fit_the_columns(body, field, words):
    refused(post(json.dumps(body)), 422, field, *words.split("|"))


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({}, "steps", "missing"),
        ({"steps": []}, "steps", "empty"),
        ({"steps": 3}, "steps", "is 3"),
        ({"steps": [3]}, "steps[0]", "is 3"),
        ({"steps": [{}]}, "steps[0].hour", "missing"),
        ({"steps": [{"hour": 0}, {"hour": None}]}, "steps[1].hour", "is null"),
        ({"steps": [{"hour": 1}, {"hour": 1}]}, "steps[1].hour", "strictly increasing"),
        ({"steps": [{"hour": 1}, {"hour": 0.5}]}, "steps[1].hour", "strictly increasing"),
        ({"steps": [{"hour": "soon"}]}, "steps[0].hour", "date such as"),
        ({"steps": [{"hour": 1}, {"hour": "2024-01-01"}]}, "steps[1].hour", "all dates"),
        ({"steps": [{"hour": []}]}, "steps[0].hour", "a list"),
        ({"steps": [{"hour": 0, "age": 1}]}, "steps[0].age", "not a column"),
        ({"steps": [{"hour": 0, "puls": 1}]}, "steps[0].puls", "Write 'pulse'"),
        ({"steps": [{"hour": 0}], "static": {"pulse": 1}}, "static.pulse", "not a column"),
        ({"steps": [{"hour": 0}], "static": {"age": "old"}}, "static.age", "the string"),
        ({"steps": [{"hour": 0}], "static": [1]}, "static", "a list"),
        ({"steps": [{"hour": 0}], "age": 3}, "age", "not a field"),
        ({"rows": [{"steps": [{"hour": 0}]}, {"steps": [{}]}]}, "rows[1].steps[0].hour", ""),
        ({"rows": [3]}, "rows[0]", "an object"),
    ],
)
def test_series_must_have_their_shape(body, field, words):
    refused(client("series").post("/predict", json=body), 422, field, words)


def test_times_are_required_if_training_had_them():
    """A model that knows times must not count steps instead, even if the index had no name."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"who": np.repeat(range(20), 3), "when": [0.0, 0.25, 1.0] * 20})
    frame["pulse"] = rng.normal(size=60)
    small = {"n_members": 1, "max_iter": 1}
    timed = GILSequenceRegressor(**small).fit(frame.set_index(["who", "when"]), range(20))
    steps = {"steps": [{"pulse": 1.0}, {"pulse": 2.0}]}
    refused(client_of(timed).post("/predict", json=steps), 422, "steps[0].time")
    counted = GILSequenceRegressor(id="who", **small).fit(frame.drop(columns="when"), range(20))
    served = client_of(counted)
    assert served.post("/predict", json=steps).status_code == 200
    refused(served.post("/predict", json={"steps": [{"time": 0}]}), 422, "steps[0].time")


def test_a_field_given_twice_is_refused():
    refused(post(b'{"age": 31, "age": 32}'), 422, "age", "twice")


def test_long_values_are_cut_short():
    error = refused(client("table").post("/predict", json={"age": "x" * 5000}), 422, "age")
    assert len(error["fact"]) < 120


def test_strings_that_are_not_unicode():
    """JSON may hold one half of a surrogate pair."""
    answer = post(b'{"sex": "\\ud800"}')
    assert answer.status_code == 200
    assert "ud800" in answer.text
    refused(post(b'{"rows": [{"\\ud800": 1}]}'), 422, "rows[0]", "not valid Unicode")


@pytest.mark.parametrize(
    ("headers", "field"),
    [
        ({}, "Content-Type"),
        ({"Content-Type": "text/plain"}, "Content-Type"),
        ({"Content-Type": "application/jsonx"}, "Content-Type"),
        (JSON | {"Content-Encoding": "gzip"}, "Content-Encoding"),
    ],
)
def test_other_content_types_are_unsupported(headers, field):
    refused(client("table").post("/predict", content=b"{}", headers=headers), 415, field)
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert client("table").post("/predict", content=b"{}", headers=headers).status_code == 200


def test_unknown_paths_and_methods():
    table = client("table")
    refused(table.get("/nothing"), 404, None, "/nothing")
    answer = table.get("/predict")
    refused(answer, 405, None, "GET")
    assert answer.headers["allow"] == "POST"
    refused(table.post("/schema", json={}), 405)
    for path in ("/docs", "/redoc", "/page/../_http_app.py", "/page/_http_app.py"):
        assert table.get(path).status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL)
def test_any_json_is_answered_or_refused_in_the_one_shape(kind):
    served = client(kind)
    deep = ([], {}, [[]], {"rows": [[]]}, {"steps": [{"time": {}}]})
    for value in (0, -1.5, True, "x", None, *deep):
        for body in (value, {"rows": [value]}, {"0": value}, {"steps": value}, {"static": value}):
            for path in ("/predict", "/explain"):
                answer = served.post(path, content=json.dumps(body), headers=JSON)
                if answer.status_code != 200:
                    refused(answer, 422, answer.json()["error"]["field"])


def test_internals_never_leak(caplog, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("secret\ninside")

    monkeypatch.setattr(type(numbers()), "predict", fail)
    answer = client("array").post("/predict", json={})
    refused(answer, 500)
    assert "secret" not in answer.text
    (line,) = caplog.messages
    assert "RuntimeError: secret inside" in line


@pytest.mark.slow
def test_a_hostile_body_is_refused_quickly():
    """Many fields, the last one twice: finding it must not take quadratic time."""
    fields = ",".join(f'"{i}":1' for i in range(200_000))
    start = time.process_time()
    refused(post(f'{{{fields},"199999":1}}'.encode()), 422, "199999", "twice")
    refused(post(f"{{{fields}}}".encode()), 422, "0", "not a column")
    assert time.process_time() - start < 10
