"""What an exported model says of itself: one JSON text among the metadata of the ONNX file.

With it, people of any language can make the inputs: names and order of the columns, which are
categories, and the levels of those in the order of their numbers.
"""

from __future__ import annotations

import json
import os
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from safetensors import safe_open

from ..data import Category, PanelEncoder, TableEncoder
from ..errors import ModelFileError
from ..io import _model_file as persist

KEY = "imputefree"
FORMAT = 1
TABLE = """X (rows, columns) double: one column each of `columns`, in that order."""
SERIES = """X (series, steps, columns) double: one column each of `columns`, in that order, padded
at the end to the longest series with anything; lengths (series,) int64: steps that are no padding;
times (series, steps) double: when each step was, rising, in the unit of training (0, 1, 2, … if it
had no times; hours if it had dates); static (series, statics) double, where there are `static`."""
VALUES = """NaN is missing. A category is the number, from 0, of its text in `levels`; a text that
is not there is NaN. Whole numbers as categories have the text of the number without a point, and so
have true and false: 1 and 0. Rows (or series) that hold infinity, a number that is no level's, or
times that do not rise come out as NaN."""
CLASSES = "Out comes probabilities ({}, classes) double, in the order of `classes`."
NUMBERS = "Out comes prediction ({}) double."


def levels_of(plan: Category) -> list[str]:
    """All levels of a category in the order of their numbers."""
    return [*plan.levels, *plan.rare_levels]


def describe(model: Any) -> dict[str, Any]:
    """Columns, classes and origin of a fitted estimator, as plain JSON types."""
    encoder = model.encoder_
    series = isinstance(encoder, PanelEncoder)
    own = encoder.steps if series else encoder
    statics = encoder.statics if series else None
    about = getattr(model, "about_", None) or {}
    classes = getattr(model, "classes_", None)
    return {
        "format": FORMAT,
        "imputefree": version("imputefree"),
        "estimator": type(model).__name__,
        "task": "regression" if classes is None else "classification",
        "target": about.get("target"),
        "classes": None if classes is None else classes.tolist(),
        "named": own.named,
        "columns": _columns(own),
        "static": None if statics is None else _columns(statics),
        "layout": getattr(model, "layout_", None) if series else None,
        "per_step": bool(series and model.predictor_.per_step),
        "inputs": explain(model),
        "sha256": checksum(model),
    }


def explain(model: Any) -> str:
    """What goes in and out, in words."""
    series = isinstance(model.encoder_, PanelEncoder)
    rows = "rows"
    if series:
        rows = "series, steps" if model.predictor_.per_step else "series"
    out = CLASSES if hasattr(model, "classes_") else NUMBERS
    return " ".join(f"{SERIES if series else TABLE} {VALUES} {out.format(rows)}".split())


def checksum(model: Any) -> str:
    """The SHA-256 that stands in the file of this model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        persist.save(model, path)
        with safe_open(path, framework="pt") as file:
            return file.metadata()["sha256"]


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What an exported model says of itself."""
    import onnx

    try:
        model = onnx.load(os.fspath(path))
        found = {one.key: one.value for one in model.metadata_props}
        return json.loads(found[KEY])
    except OSError as error:
        raise ModelFileError(
            f"{path} cannot be read ({error.strerror or error})", "", "Check path and permissions"
        ) from None
    except Exception:  # protobuf's own errors, or no key of ours
        raise ModelFileError(
            f"{path} is no model that imputefree exported",
            "Columns and levels are read from what `imputefree export` wrote",
            "Export the model again",
        ) from None


def _columns(encoder: TableEncoder) -> list[dict[str, Any]]:
    return [
        {"name": plan.name, "kind": "category", "levels": levels_of(plan)}
        if isinstance(plan, Category)
        else {"name": plan.name, "kind": "number"}
        for plan in encoder.plans
    ]
