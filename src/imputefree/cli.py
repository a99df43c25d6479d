"""The command line, also as `python -m imputefree`; each group is a file of `commands`.

Exit codes: 0 done; 1 it could not be done, one sentence on stderr says why; 2 wrongly called.
"""

from __future__ import annotations

import sys

import typer

from .commands import data
from .errors import ImputefreeError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Train neural networks directly on incomplete tables and series.",
)
app.add_typer(data.app, name="data")


@app.callback()
def _group() -> None:
    """Keeps `data` a name of its own while it is the only group."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command and leave with its exit code."""
    try:
        app(args=arguments, prog_name="imputefree")
    except ImputefreeError as error:
        # Rich would wrap it and colour it; a log wants one plain line.
        print(f"imputefree: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
