"""`imputefree audit MODEL DATA`: what happens when other things go missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from .._files import saving
from .._progress import byte_progress
from ._options import (
    FILE,
    PICTURES,
    POSITIVE,
    Command,
    answers_option,
    check_file,
    data_argument,
    file_options,
    json_option,
    model_argument,
    option,
)
from ._printing import console, echo, figures_table


@click.command("audit", cls=Command)
@model_argument
@data_argument
@answers_option
@option("--group", metavar="COLUMN", help="Compare groups, such as hospitals.")
@option("--repeats", "n_repeats", type=POSITIVE, default=5, help="How often gaps are drawn.")
@option(
    "--max-rows",
    type=click.IntRange(20),
    default=2000,
    help="Use at most this many, drawn at random.",
)
@option("--seed", "random_state", type=click.IntRange(0), default=0, help="Same seed, same audit.")
@json_option
@option("--out", "--output", "-o", "out", metavar="FILE", type=FILE,
        help="A page (.html), numbers (.json) or a picture (.png, .pdf, .svg).")  # fmt: skip
@file_options
def audit_command(
    model: Path,
    data: Path,
    as_json: bool,
    out: Path | None,
    **options: Any,
) -> None:
    """Show how a model depends on which values are missing.

    DATA holds rows with answers that the model did not learn from. The model predicts them without
    each column in turn, with more gaps, and with the gaps of other rows. In the latter the mask
    carries no information, so the loss in score is what the model gains from who gets measured.
    Scores have 95% intervals (bootstrap over rows, or series).
    """
    if out is not None:
        check_file(out, [model, data], (".html", ".json", *PICTURES), "--out")
    from ..workflow import audit_file, load_model

    fitted = load_model(model)
    with byte_progress(data.name) as progress:
        audit, notes = audit_file(fitted, data, progress=progress, **options)
    for note in notes:
        echo(note, err=True)
    plain = {"model": str(model), "data": str(data)} | audit.to_dict()
    if out is not None:  # files first: they are complete even if stdout is closed early
        kind = out.suffix[1:].lower()
        with saving(out) as place:
            if kind == "html":
                place.write_text(audit.to_html(), encoding="utf-8")
            elif kind == "json":
                place.write_text(json.dumps(plain, indent=1, allow_nan=False) + "\n")
            else:
                audit.draw(place, kind)
    if as_json:
        echo(json.dumps(plain, allow_nan=False))
    else:
        _show(plain["table"], plain["metric"])
        echo(audit.summary())
    if out is not None:
        echo(f"Audit: {out}", err=as_json)


def _show(lines: list[dict[str, Any]], metric: str) -> None:
    from ..workflow import METRICS

    titles = ["", "scenario", "rows", "missing"]
    titles += [METRICS[metric], "95% interval", "change", "95% interval"]
    cells = [
        (
            line["kind"] if line["kind"] != "as it is" else "",
            line["scenario"],
            f"{line['rows']:,}",
            f"{line['missing']:.0%}",
            _number(line["score"]),
            _interval(line["low"], line["high"]),
            _number(line["change"], "+"),
            _interval(line["change_low"], line["change_high"], "+"),
        )
        for line in lines
    ]
    console().print(figures_table(titles, cells, n_names=2))


def _number(value: float | None, sign: str = "") -> str:
    return "" if value is None else f"{value:{sign}.3f}"


def _interval(low: float | None, high: float | None, sign: str = "") -> str:
    return f"{_number(low, sign)} to {_number(high, sign)}" if low is not None else ""
