"""The OpenAPI document tells the truth: schemathesis tries what it says, and what it forbids."""

from __future__ import annotations

import warnings

import pytest

from tests.serve.made import ALL, patients, stays
from tests.serve.test_http_app import client

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
hypothesis = pytest.importorskip("hypothesis", reason="hypothesis is not installed")
EXAMPLES = 15  # of each operation


@pytest.mark.parametrize("kind", ["table", "series"])
def test_schemathesis_finds_no_failure(kind):
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.openapi import from_asgi
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    from imputefree.serve._http_app import build_app

    schema = from_asgi("/openapi.json", build_app(ALL[kind]()))
    checks = (
        not_a_server_error,
        response_schema_conformance,
        status_code_conformance,
        content_type_conformance,
    )
    statuses = set()
    for operation in schema.get_all_operations():
        for mode in GenerationMode:
            # One strategy a mode: what the document allows, and what it does not.
            @hypothesis.given(case=operation.ok().as_strategy(generation_mode=mode))
            @hypothesis.settings(
                max_examples=EXAMPLES if operation.ok().method == "post" else 1,
                deadline=None,
                database=None,
                derandomize=True,
                phases=[hypothesis.Phase.generate],
                suppress_health_check=list(hypothesis.HealthCheck),
            )
            def attempt(case):
                response = case.call()
                statuses.add((case.path, response.status_code))
                case.validate_response(response, checks=checks)

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    attempt()
                except hypothesis.errors.Unsatisfiable:
                    assert operation.ok().method == "get"  # nothing can be sent wrongly there
    for path in ("/predict", "/explain"):
        assert (path, 200) in statuses
        assert (path, 422) in statuses


def test_the_columns_of_the_model_are_typed_properties():
    document = client(patients()).get("/openapi.json").json()
    row = document["components"]["schemas"]["Row"]
    assert list(row["properties"]) == ["age", "sex", "home.dest", "lactate", "grade"]
    assert row["required"] == []
    assert row["additionalProperties"] is False
    assert set(row["properties"]["age"]["type"]) == {"number", "boolean", "null"}
    sex = row["properties"]["sex"]
    assert "string" in sex["type"]
    assert "f, m" in sex["description"]
    assert "counts as missing" in sex["description"]
    assert sex["examples"] == ["f", "m", None]
    assert document["info"]["title"].endswith("outcome")


def test_steps_of_series_have_a_time():
    parts = client(stays()).get("/openapi.json").json()["components"]["schemas"]
    assert list(parts["Step"]["properties"]) == ["hour", "pulse", "rhythm"]
    assert parts["Step"]["required"] == ["hour"]
    assert list(parts["Row"]["properties"]["static"]["properties"]) == ["age", "ward"]


@pytest.mark.parametrize("kind", ALL)
def test_examples_of_the_document_are_taken(kind):
    served = client(ALL[kind]())
    document = served.get("/openapi.json").json()
    content = document["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]
    for example in content["examples"].values():
        assert served.post("/predict", json=example["value"]).status_code == 200
    content = document["paths"]["/explain"]["post"]["requestBody"]["content"]["application/json"]
    assert served.post("/explain", json=content["example"]).status_code == 200
