"""The command line, also as `python -m imputefree`; each command is a file of `commands`.

Exit codes: 0 done; 1 it could not be done, one sentence on stderr says why; 2 wrongly called;
130 a fit or a bench was interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import typer

from ..errors import ImputefreeError
from . import _data as data
from ._bench import EPILOG as BENCH_EPILOG
from ._bench import bench_command
from ._evaluate import evaluate_command
from ._explain import explain_command
from ._export_command import export_command
from ._fit import EPILOG as FIT_EPILOG
from ._fit import fit_command
from ._predict import predict_command
from ._report import report_command
from ._serve import serve_command

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Train neural networks directly on incomplete tables and series.",
)
OWN, STUDIES = "Your own data", "Studies"
app.command("fit", epilog=FIT_EPILOG, rich_help_panel=OWN)(fit_command)
app.command("predict", rich_help_panel=OWN)(predict_command)
app.command("evaluate", rich_help_panel=OWN)(evaluate_command)
app.command("explain", rich_help_panel=OWN)(explain_command)
app.command("export", rich_help_panel=OWN)(export_command)
app.command("serve", rich_help_panel=OWN)(serve_command)
app.add_typer(data.app, name="data", rich_help_panel=STUDIES)
app.command("bench", epilog=BENCH_EPILOG, rich_help_panel=STUDIES)(bench_command)
app.command("report", rich_help_panel=STUDIES)(report_command)


def main(arguments: list[str] | None = None) -> None:
    """Run a command and leave with its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    if sys.stdout is None:
        _fail("standard output is closed. Results are printed there. Leave it open.")
    try:
        try:
            app(args=words, prog_name="imputefree", obj=words)  # obj: for the record of a bench
        finally:
            sys.stdout.flush()  # here, where a full disk can still be told
    except ImputefreeError as error:
        _fail(str(error))
    except OSError as error:
        if sys.stdout is sys.__stdout__:  # or Python would try to write the rest when it leaves
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, BrokenPipeError):  # `| head` has seen enough
            sys.exit(1)
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{error.strerror or error}.")


def _fail(sentence: str) -> NoReturn:
    # Rich would wrap it and colour it; a log wants one plain line.
    print(f"imputefree: {sentence}", file=sys.stderr)
    sys.exit(1)


if __name__ == "__main__":
    main()
