"""What the model takes and gives, said twice: in short at /schema, as OpenAPI at /openapi.json."""

from __future__ import annotations

from typing import Any

from .. import __version__
from ..errors import shorten
from ._limits import Limits
from ._model_inputs import ROWS, STATIC, STEPS, Column, Inputs
from ._refusals import WORDS

Json = dict[str, Any]
NUMBER_OR_NULL: Json = {"type": ["number", "null"]}


def describe(inputs: Inputs, limits: Limits) -> Json:
    """The answer of /schema: what the page, or a program, makes its form from."""
    return {
        "task": inputs.task,
        "target": inputs.target,
        "classes": list(inputs.classes) or None,
        "columns": [column.described() for column in inputs.columns],
        "series": _series(inputs) if inputs.series else None,
        "example": inputs.example(),
        "limits": {"rows": limits.rows, "bytes": limits.bytes, "seconds": limits.seconds},
        "card": inputs.card,
        "version": __version__,
    }


def _series(inputs: Inputs) -> Json:
    time = inputs.time
    return {
        "id": inputs.id,
        "time": time and {"name": time.name, "required": time.required, "unit": time.unit},
        "static": [column.described() for column in inputs.statics],
        "per_step": inputs.per_step,
    }


def openapi(inputs: Inputs, limits: Limits, token: bool) -> Json:
    """OpenAPI 3.1 with the model's own columns."""
    example = inputs.example()
    body = {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"anyOf": [_ref("Row"), _ref("Batch")]},
                "examples": {
                    "one": {"summary": "One row", "value": example},
                    "batch": {"summary": "Several rows", "value": {ROWS: [example, example]}},
                },
            }
        },
    }
    of = {
        "name": "of",
        "in": "query",
        "required": False,
        "description": "The class whose probability is explained; else the second of two, or the"
        " most probable.",
        "schema": {"type": "string"},
    }
    only = {"application/json": {"schema": _ref("Row"), "example": example}}
    explain = _operation(
        "explain",
        "Why one row gets its prediction, and what to measure next",
        "Explanation",
        POSTED,
        {"required": True, "content": only},
    )
    if inputs.classes:
        explain["parameters"] = [of]
    document: Json = {
        "openapi": "3.1.0",
        "info": {
            "title": f"imputefree: {inputs.target or inputs.task}",
            "version": __version__,
            "description": "Any value may be missing: send null, or leave the field out. Values"
            " that training never saw are said in `notes`.",
        },
        "paths": {
            "/predict": {
                "post": _operation(
                    "predict", "Predict one row or several", "Predictions", POSTED, body
                )
            },
            "/explain": {"post": explain},
            "/schema": {"get": _operation("schema", "The model's columns", "Schema")},
            "/health": {"get": _operation("health", "Whether the server runs", "Health")},
        },
        "components": {"schemas": _components(inputs, limits)},
    }
    if token:
        scheme = {"type": "http", "scheme": "bearer"}
        document["components"]["securitySchemes"] = {"token": scheme}
        document["security"] = [{"token": []}]
        for methods in document["paths"].values():
            for operation in methods.values():
                operation["responses"]["401"] = _failure(401)
        document["paths"]["/health"]["get"]["security"] = []
        del document["paths"]["/health"]["get"]["responses"]["401"]
    return document


POSTED = (400, 408, 413, 415, 422, 500, 503, 504)
ASKED = (400, 500)


def _operation(
    name: str,
    summary: str,
    answer: str,
    failures: tuple[int, ...] = ASKED,
    body: Json | None = None,
) -> Json:
    good = {
        "description": "Done",
        "content": {"application/json": {"schema": _ref(answer)}},
    }
    found: Json = {
        "operationId": name,
        "summary": summary,
        "responses": {"200": good} | {str(status): _failure(status) for status in failures},
    }
    return found | ({"requestBody": body} if body else {})


def _failure(status: int) -> Json:
    content = {"application/json": {"schema": _ref("Failure")}}
    return {"description": WORDS[status], "content": content}


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _components(inputs: Inputs, limits: Limits) -> Json:
    found = {
        "Batch": _object(
            {ROWS: {"type": "array", "items": _ref("Row"), "minItems": 1, "maxItems": limits.rows}},
            [ROWS],
        ),
        "Prediction": _prediction(inputs),
        "Note": _object(_texts("field", "note"), ["field", "note"]),
        "Notes": {
            "type": "array",
            "items": _ref("Note"),
            "description": "Values that count as missing, or lie beyond those of training.",
        },
        "Predictions": _object(
            {
                "predictions": {"type": "array", "items": _ref("Prediction")},
                "notes": _ref("Notes"),
            },
            ["predictions", "notes"],
        ),
        "Explanation": _explanation(inputs),
        "Schema": {"type": "object", "required": ["task", "columns", "example", "limits"]},
        "Health": _object({"status": {"const": "ok"}}, ["status"]),
        "Failure": _object({"error": _ref("Error")}, ["error"]),
        "Error": _object(
            {"field": {"type": ["string", "null"]}, **_texts("fact", "rule", "remedy")},
            ["field", "fact", "rule", "remedy"],
        ),
    }
    columns = {column.name: _property(column) for column in inputs.columns}
    if not inputs.series:
        return {"Row": _object(columns, []), **found}
    required: list[str] = []
    if inputs.time is not None:
        columns = {inputs.time.name: _time_property(inputs), **columns}
        required = [inputs.time.name] if inputs.time.required else []
    steps = {"type": "array", "items": _ref("Step"), "minItems": 1, "maxItems": limits.rows}
    row: Json = {STEPS: steps}
    if inputs.statics:
        static = _object({column.name: _property(column) for column in inputs.statics}, [])
        row = {STATIC: static | {"type": ["object", "null"]}, **row}
    return {"Row": _object(row, [STEPS]), "Step": _object(columns, required), **found}


def _object(properties: Json, required: list[str]) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _texts(*names: str) -> Json:
    return {name: {"type": "string"} for name in names}


def _property(column: Column) -> Json:
    """A column of the model, as typed as JSON allows."""
    examples = [column.typical, None] if column.typical is not None else [None]
    if column.kind == "category":
        levels = shorten(list(column.levels), 20, str) or "none"
        return {
            "type": ["string", "number", "boolean", "null"],
            "description": f"Levels of training: {levels}. Any other counts as missing.",
            "examples": [*column.levels[:3], None],
        }
    words = "A number; true and false count as 1 and 0."
    if column.low is not None and column.high is not None:
        share = "" if column.exact else "mostly "
        words = f"In training {share}{column.low:g} to {column.high:g}."
    return {"type": ["number", "boolean", "null"], "description": words, "examples": examples}


def _time_property(inputs: Inputs) -> Json:
    assert inputs.time is not None
    kinds = ["number", "string"] + ([] if inputs.time.required else ["null"])
    return {
        "type": kinds,
        "description": "When the step was, later than the one before: a number in the unit of"
        f" training (steps were usually {inputs.time.unit:g} apart), or a date such as"
        " 2024-05-31T14:00, which counts in hours.",
    }


def _prediction(inputs: Inputs) -> Json:
    if inputs.classes:
        shares = {str(one): {"type": "number"} for one in inputs.classes}
        one = _object(
            {
                "prediction": {"enum": list(inputs.classes)},
                "probability": _object(shares, list(shares)),
            },
            ["prediction", "probability"],
        )
    else:
        one = _object({"prediction": {"type": "number"}}, ["prediction"])
    if inputs.per_step:
        return _object({STEPS: {"type": "array", "items": one}}, [STEPS])
    return one


def _explanation(inputs: Inputs) -> Json:
    coming = _object(dict.fromkeys(("change", "low", "high"), NUMBER_OR_NULL), ["change"])
    best = _object({**_texts("name"), **coming["properties"]}, ["name", "change"])
    column = _object(
        {
            **_texts("name"),
            "effect": NUMBER_OR_NULL
            | {"description": "The prediction minus that without the value; null: it is missing."},
            "next": {"anyOf": [coming, {"type": "null"}]},
            "importance": NUMBER_OR_NULL,
        },
        ["name", "effect", "next", "importance"],
    )
    properties = {
        "prediction": _ref("Prediction"),
        "of": {"enum": [*inputs.classes] or [None]},
        "explained": {
            "type": "number",
            "description": "The probability of `of`, or the number: what effects add to.",
        },
        "columns": {"type": "array", "items": column},
        "next": {
            "anyOf": [best, {"type": "null"}],
            "description": "The missing value that would move the prediction most.",
        },
        "notes": _ref("Notes"),
    }
    if inputs.series:
        effects = {"type": "object", "additionalProperties": {"type": "number"}}
        properties["steps"] = {
            "anyOf": [{"type": "array", "items": effects}, {"type": "null"}],
            "description": "Effects of single values, step by step; null for very long series.",
        }
    return _object(properties, list(properties))
