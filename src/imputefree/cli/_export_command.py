"""`imputefree export MODEL`: write a trained model as an ONNX file, checked against the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..errors import ModelFileError, require_extra
from ._options import Command, coverage_option, model_argument, output_option, refuse_overwriting
from ._printing import echo


@click.command("export", cls=Command)
@model_argument
@output_option("ONNX file; default: next to the model.")
@coverage_option("Also give the set or interval of each row, with this coverage.")
def export_command(model: Path, output: Path | None, coverage: float | None) -> None:
    """Write a model as ONNX: NaN goes straight in, and onnxruntime is all it needs.

    Scaling, categories, gaps and all families are in the file; its metadata describe the inputs.
    The file is written only if it predicts what the model predicts, to 1e-5, on random rows with
    random gaps.
    """
    path = output or model.with_suffix(".onnx")
    refuse_overwriting(path, [model], ModelFileError)
    require_extra("onnx", "onnx", "onnxruntime")
    from ..inspection import gap_bounds
    from ..onnx import export
    from ..workflow import load_model

    fitted = load_model(model)
    bounds = None if coverage is None else gap_bounds(fitted, coverage)
    done = export(fitted, path, timed=True, bounds=bounds)
    for line in report_lines(done, model.stat().st_size):
        echo(line)


def report_lines(done: Any, model_bytes: int) -> list[str]:
    """What was written, how close it is to the model, and how fast, line by line."""
    about = done.metadata
    unit, units = ("row", "rows") if about["layout"] is None else ("series", "series")
    columns = f"{len(about['columns'])} columns"
    if about["static"]:
        columns += f" and {len(about['static'])} static ones"
    limit = "1e-5" if about["classes"] else "1e-5 of the target's standard deviation"
    lines = [
        f"{done.path}: {about['estimator']} with {columns}, NaN for missing",
        f"Differs from the model by at most {done.difference:.1e} (limit {limit}) on"
        f" {done.compared} random {units} with gaps",
        "",
        f"{'':<12} {'size':>9} {'one ' + unit:>11} {'1,000 ' + units:>13}",
    ]
    sizes = {"onnxruntime": done.bytes, "Python": model_bytes}
    for name, (one, many) in done.latencies.items():
        lines.append(
            f"{name:<12} {sizes[name] / 1e6:>6.2f} MB {one * 1e3:>8.2f} ms {many * 1e3:>10.1f} ms"
        )
    return lines
