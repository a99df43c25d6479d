"""The command line, also as `python -m imputefree`; each group is a file of `commands`.

Exit codes: 0 done; 1 it could not be done, one sentence on stderr says why; 2 wrongly called;
130 a bench was interrupted.
"""

from __future__ import annotations

import sys

import typer

from .commands import data
from .commands.bench import EPILOG, bench_command
from .commands.evaluate import evaluate_command
from .commands.explain import explain_command
from .commands.predict import predict_command
from .commands.report import report_command
from .commands.serve import serve_command
from .errors import ImputefreeError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Train neural networks directly on incomplete tables and series.",
)
app.add_typer(data.app, name="data")
app.command("bench", epilog=EPILOG)(bench_command)
app.command("report")(report_command)
app.command("serve")(serve_command)
app.command("explain")(explain_command)
app.command("predict")(predict_command)
app.command("evaluate")(evaluate_command)


def main(arguments: list[str] | None = None) -> None:
    """Run a command and leave with its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        app(args=words, prog_name="imputefree", obj=words)  # obj: a bench writes down how it ran
    except ImputefreeError as error:
        # Rich would wrap it and colour it; a log wants one plain line.
        print(f"imputefree: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
