"""What `imputefree fit` shows: what columns were taken for, and how the methods compare."""

from __future__ import annotations

from typing import Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..workflow import (
    CATEGORY,
    METRICS,
    NUMBER,
    TITLES,
    Problem,
    best_reference,
    figure_text,
    percent,
    summary,
)

WIDTH = len("0.768–0.930")
MOST = 25  # columns shown a line each; of more, those with something to say


def show_columns(problem: Problem) -> None:
    """What the file was taken for, on stderr: it is no result yet."""
    console = Console(stderr=True, highlight=False)
    classes = problem.task == "classification"
    what = f"{len(problem.classes)} classes" if classes else "a number"
    console.print(
        escape(
            f"{problem.file}: {problem.units(len(problem.y))}, target '{problem.target}' taken for"
            f" {what} ({problem.task}); columns: {summary(problem.columns)}."
        ),
        soft_wrap=True,
    )
    shown = problem.columns
    if len(shown) > MOST:
        shown = [one for one in shown if one.left_out or (one.note and one.kind == NUMBER)]
    table = Table()
    table.add_column("column", overflow="fold")
    table.add_column("taken for")
    table.add_column("missing", justify="right")
    table.add_column("note", overflow="fold")
    for column in shown:
        kind = f"{column.kind}{', static' * column.static}" if column.kind else "left out"
        note = column.left_out or column.note
        table.add_row(escape(column.name), kind, percent(column.missing), escape(note))
    if shown:
        console.print(table)
    for kind, title in ((NUMBER, "numbers"), (CATEGORY, "categories")):
        others = [one.name for one in problem.used if one.kind == kind and one not in shown]
        if others:
            console.print(escape(f"Taken for {title}: {', '.join(others)}"), soft_wrap=True)
    for note in problem.notes:
        console.print(escape(note), soft_wrap=True)


def show_result(about: dict[str, Any]) -> None:
    """How good the model is, on stdout."""
    found = about["estimate"]
    if found is None:
        typer.echo("How good the model is was not estimated.")
        return
    metrics = list(found["scores"]["imputefree"])
    title = f"{about['target']}, by {found['how'].replace('`', '')}"
    table = Table(title=escape(title), box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", overflow="fold")
    for metric in metrics:
        table.add_column(METRICS[metric], justify="right", min_width=WIDTH)
    for name, own in found["scores"].items():
        table.add_row(TITLES[name], *(_cell(own[metric]) for metric in metrics))
    Console(highlight=False).print(table)
    best = best_reference(found)
    if best:
        own = found["differences"][best]
        figures = ", ".join(f"{METRICS[one]} {figure_text(own[one], True)}" for one in metrics)
        typer.echo(f"Difference to {TITLES[best]}, the best reference: {figures}")
    inside = found["interval"]
    typer.echo(
        f"Below figures and in brackets: {percent(inside['level'], 0)} intervals by"
        f" {inside['resamples']} bootstrap resamples of the {found['tested']:,} scored"
        f" {inside['over']}."
    )
    if about["made"]["cut_short"]:
        typer.echo(
            f"Training ended after {about['made']['cut_short']} epochs at most, as asked: with more"
            " of them this model may be better."
        )
    for name, why in found["failed"].items():
        typer.echo(f"{TITLES[name]} failed: {why}")
    for sentence in found["remarks"]:
        typer.echo(sentence)
    for sentence in found["warnings"]:
        typer.echo(f"WARNING: {sentence}")


def _cell(figure: list[float | None]) -> str:
    """The figure above its interval: five columns of both side by side are too wide."""
    text = figure_text(figure)
    if "[" not in text:
        return text
    value, _, interval = text.rstrip("]").partition(" [")
    return f"{value}\n{interval.replace(', ', '–')}"
