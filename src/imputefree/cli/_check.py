"""`imputefree check FILE --target COLUMN`: what was understood, and traps, before any fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ._fit import fit_command, read_checked, read_request, show_columns
from ._options import TRAPPED, Command, ExistingPath, json_option, option
from ._printing import echo

# The options of `fit` that say how a file is read, and what is predicted
READING = {"data", "target", "task", "drop", "category", "columns", "sep", "decimal", "encoding"}
READING |= {"sheet", "missing", "id", "time", "static", "per_step", "join", "group"}

SOUND = (
    "No traps found: no column gives the target away, no rows are copies of others, no column"
    " looks like a repeated id, and the target varies."
)


@click.command("check", cls=Command)
@option("--test", type=ExistingPath(), metavar="FILE", help="Also look for rows shared with FILE.")
@json_option
@option("--strict", is_flag=True, help=f"Exit with code {TRAPPED} if there is a trap.")
def check_command(test: Path | None, as_json: bool, strict: bool, **choices: Any) -> None:
    """Show how a file is read, and what in it would make a model look better than it is.

    Looks for columns that predict the target almost alone, by their values or by where they have
    gaps; rows that are copies of others; columns that look like the id of a patient or customer
    with several rows; and targets that hardly vary. Takes seconds, and learns nothing.

    What it reports is suspicious, not necessarily wrong: only you know whether a column is known
    when predictions are made.
    """
    from ..workflow import advised

    request = read_request(test=test, output=Path("model.imputefree"), **choices)
    problem, _, traps = read_checked(request)
    if as_json:
        plain: dict[str, Any] = {"data": str(request.data), "target": request.target}
        plain |= {"rows": len(problem.frame), "notes": list(problem.notes)}
        echo(json.dumps(plain | {"traps": [trap.to_dict() for trap in traps]}, indent=1))
    else:
        show_columns(problem, err=False)
        for number, trap in enumerate(traps, 1):
            echo(f"Trap {number}: {trap.fact}", bold=True)
            echo(f"  {trap.remedy}")
        options = advised(traps)
        if options:
            echo(f"If they are what they look like, fit with: {options}")
        elif not traps:
            echo(SOUND)
    if strict and traps:
        raise click.exceptions.Exit(TRAPPED)


check_command.params = [p for p in fit_command.params if p.name in READING] + check_command.params
