"""`imputefree next MODEL DATA`: what to measure next, per unit of cost."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import ParameterError
from ._explain import ONE_BY_ONE, check_lines_file, read_first, select
from ._options import (
    FILE,
    Command,
    ExistingPath,
    data_argument,
    file_options,
    json_option,
    model_argument,
    option,
    rows_option,
)
from ._printing import console, echo, figures_table

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from ..workflow import Marks

MOST = 10  # measurements shown per row
SHOWN = {
    "measurement": "measure",
    "step": "step",
    "gain": "gain",
    "cost": "cost",
    "gain_per_cost": "gain per cost",
    "total_cost": "total cost",
    "confidence": "confidence then",
}


def background_option(**settings: Any) -> Any:
    """The option --background, which names rows that a density of all columns learns from."""
    kind = ExistingPath()
    help = "A file of rows like those of training: they say which values are plausible in a row."
    return option("--background", metavar="FILE", type=kind, help=help, **settings)


costs_option = option(
    "--costs",
    multiple=True,
    metavar="COSTS",
    help="What measurements cost, as ct=500,pulse=1 or a CSV file of names and costs; others cost"
    " 1; inf: cannot be measured.",
)
together_option = option(
    "--together",
    multiple=True,
    metavar="PANEL",
    help="Columns that are measured together, as lab=na,k; repeat it for other panels.",
)


@click.command("next", cls=Command)
@model_argument
@data_argument
@background_option(required=True)
@costs_option
@together_option
@rows_option
@option("--id", multiple=True, help="Series to rank, separated by commas or repeated.")
@option("--budget", type=float, help="Plan several measurements that cost no more than this.")
@option("--confidence", type=float, help="Plan until a class is expected to be that probable.")
@json_option
@option("--csv", "csv_file", type=FILE, help="A file with one line per row and measurement.")
@file_options
def next_command(
    model: Path,
    data: Path,
    marks: Marks,
    background: Path,
    costs: tuple[str, ...],
    together: tuple[str, ...],
    rows: str | None,
    id: tuple[str, ...],
    as_json: bool,
    csv_file: Path | None,
    **goals: float | None,
) -> None:
    """Rank the missing values of each row by what measuring them would gain, per unit of cost.

    The gain is the expected information about the class (in nats), or the variance of the predicted
    number that the value explains; values are drawn conditionally on the rest of the row. For
    series, values that are missing at the last step, and static values, are ranked.

    With --budget or --confidence, several measurements are planned in sequence.
    """
    if csv_file is not None:
        check_lines_file(csv_file, [model, data, background])
    prices, panels = read_costs(costs), read_panels(together)
    from .. import inspection
    from ..estimators import read_inputs
    from ..io import write_frame
    from ..workflow import load_model

    fitted = load_model(model)
    _, known = read_first(fitted, background, float("inf"), marks)
    selected: Any
    kind, names, selected = select(fitted, data, rows, id, marks)
    if kind == "id":
        selected = read_inputs(fitted, selected)
        names = selected.ids.tolist()  # in its order
    settings: Any = {"background": known, "costs": prices, "together": panels or None}
    planning = any(goal is not None for goal in goals.values())
    rank: Any = inspection.plan_measurements if planning else inspection.measure_next
    lines = rank(fitted, selected, **settings, **goals if planning else {}).to_frame()
    lines["row"] = [names[row] for row in lines["row"]]
    lines = lines.rename(columns={"row": kind})
    if csv_file is not None:
        write_frame(lines, csv_file)
    if as_json:
        records = [
            {key: inspection.plain(value) for key, value in line.items()}
            for line in lines.to_dict("records")
        ]
        echo(json.dumps({f"{kind}s": names, "measurements": records}, allow_nan=False))
    elif len(names) <= ONE_BY_ONE:
        for name in names:
            show_row(lines[lines[kind] == name], f"{kind} {name}", console())
    else:
        show_all(lines, kind, len(names), console())
    if csv_file is not None:
        echo(f"Lines: {csv_file}", err=as_json)


def show_row(lines: pd.DataFrame, name: str, console: Console) -> None:
    """What to measure in one row, or series, best first."""
    from rich.markup import escape

    if lines.empty:
        console.print(f"{escape(name)}: there is nothing to measure.")
        return
    lines = lines.dropna(axis=1, how="all")
    titles = {key: title for key, title in SHOWN.items() if key in lines}
    cells = [
        [cell if isinstance(cell, str) else f"{cell:.4g}" for cell in line]
        for line in lines[list(titles)].head(MOST).to_numpy().tolist()
    ]
    title = f"{escape(name)}: measure next"
    console.print(figures_table([*titles.values()], cells, title=title, title_justify="left"))
    if len(lines) > MOST:
        console.print(f"… and {len(lines) - MOST} more; --csv and --json have all.")


def show_all(lines: pd.DataFrame, kind: str, count: int, console: Console) -> None:
    """For many rows, or series: how often each measurement comes first, and how much it gains."""
    first = lines.groupby(kind, sort=False)["measurement"].first().value_counts()
    rows = "rows" if kind == "row" else "series"
    averaged = "gain" if "gain" in lines else "step"
    by = lines.groupby("measurement", sort=False)[averaged].agg(["size", "mean"])
    by["first"] = first.reindex(by.index, fill_value=0)
    cells = [
        (str(name), f"{line['first']:.0f}", f"{line['size']:.0f}", f"{line['mean']:.4g}")
        for name, line in by.sort_values(["first", "size"], ascending=False).iterrows()
    ]
    titles = ["measure", "comes first", "listed", f"mean {averaged}"]
    title = f"{count:,} {rows}: measure next"
    console.print(figures_table(titles, cells, title=title, title_justify="left"))
    console.print(f"comes first, listed: in how many {rows}.")


def read_costs(values: tuple[str, ...]) -> dict[str, float]:
    """Costs by name, from pairs such as ct=500,pulse=1, or from CSV files of names and costs.

    >>> read_costs(("ct=500, pulse=1", "mri=inf"))
    {'ct': 500.0, 'pulse': 1.0, 'mri': inf}
    """
    costs: dict[str, float] = {}
    for value in values:
        if Path(value).is_file():
            with Path(value).open(newline="", encoding="utf-8-sig") as file:
                pairs = [line for line in csv.reader(file) if line]
            if pairs and len(pairs[0]) == 2 and _number(pairs[0][1]) is None:
                pairs = pairs[1:]  # the header
        else:
            pairs = [pair.rsplit("=", 1) for pair in value.split(",") if pair.strip()]
        for pair in pairs:
            cost = _number(pair[1]) if len(pair) == 2 else None
            if cost is None:
                rule = "Costs are pairs such as ct=500,pulse=1, or a CSV file of names and costs"
                raise ParameterError(f"--costs has {'='.join(pair)!r}", rule, "Correct it")
            costs[pair[0].strip()] = cost
    return costs


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def read_panels(values: tuple[str, ...]) -> dict[str, list[str]]:
    """Panels of columns.

    >>> read_panels(("lab=na,k",))
    {'lab': ['na', 'k']}
    """
    panels = {}
    for value in values:
        name, equals, columns = value.partition("=")
        if not equals:
            rule = "A panel is a name and its columns, such as lab=na,k"
            raise ParameterError(f"--together is {value!r}", rule, "Write it like this")
        panels[name.strip()] = [column.strip() for column in columns.split(",") if column.strip()]
    return panels
