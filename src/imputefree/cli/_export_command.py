"""`imputefree export MODEL`: a trained model as an ONNX file, checked against the model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import ModelFileError, require_extra


def export_command(
    model: Annotated[Path, typer.Argument(help="A model that `imputefree fit` or `save` wrote.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The ONNX file; else beside the model, as .onnx."),
    ] = None,
) -> None:
    """Write a model as ONNX: NaN goes straight in, and onnxruntime is all it needs.

    Scaling, categories, gaps and all networks are in the file; its metadata say what goes in. It is
    written only if it predicts what the model predicts, to 1e-5, on random rows with random gaps.
    """
    require_extra("onnx", "onnx", "onnxruntime")
    from ..onnx import export
    from ..workflow import load_model  # PyTorch takes seconds to load

    path = output or model.with_suffix(".onnx")
    if path.resolve() == model.resolve():
        raise ModelFileError(
            f"{path} is the model itself", "The export would take its place", "Name another file"
        )
    done = export(load_model(model), path, timed=True)
    for line in report(done, model.stat().st_size):
        typer.echo(line)


def report(done: Any, model_bytes: int) -> list[str]:
    """What was written, what it takes, how near it is and how fast, in lines."""
    about = done.metadata
    unit = "series" if about["layout"] is not None else "row"
    units = "series" if about["layout"] is not None else "rows"
    columns = f"{len(about['columns'])} columns"
    if about["static"]:
        columns += f" and {len(about['static'])} static ones"
    limit = "1e-5" if about["classes"] else "1e-5 of the target's spread"
    lines = [
        f"{done.path}: {about['estimator']} of {columns}, NaN for missing",
        f"Differs from the model by at most {done.difference:.1e} (limit {limit}) on"
        f" {done.compared} random {units} with gaps",
        "",
        f"{'':<12} {'size':>9} {'one ' + unit:>11} {'1,000 ' + units:>13}",
    ]
    sizes = {"onnxruntime": done.bytes, "PyTorch": model_bytes}
    for name, (one, many) in done.latencies.items():
        lines.append(
            f"{name:<12} {sizes[name] / 1e6:>6.2f} MB {one * 1e3:>8.2f} ms {many * 1e3:>10.1f} ms"
        )
    return lines
