"""The command line, also as `python -m imputefree`.

Commands import what takes long to load (PyTorch, pandas, the lab) only when they run, so that help
and errors about paths appear immediately.

Exit codes: 0 success; 1 failure, explained in one sentence on stderr; 2 wrong usage; 3 a trap found
by `check --strict`; 130 interrupted; 143 ended by SIGTERM.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from .. import __version__
from ..errors import ImputefreeError
from ._audit_command import audit_command
from ._bench import bench_command, report_command
from ._check import check_command
from ._data import data_group
from ._explain import explain_command
from ._export_command import export_command
from ._fit import fit_command
from ._next import next_command
from ._predict import evaluate_command, predict_command
from ._printing import complain, echo, printable_warnings
from ._serve import serve_command
from ._signals import INTERRUPTED, ending_cleanly

YOUR_DATA = [
    check_command,
    fit_command,
    predict_command,
    evaluate_command,
    explain_command,
    audit_command,
    next_command,
    export_command,
    serve_command,
]
STUDIES = [data_group, bench_command, report_command]
SECTIONS: dict[str, Sequence[click.Command]] = {"Your own data": YOUR_DATA, "Studies": STUDIES}


class Commands(click.Group):
    """The commands, listed in two sections."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(str(cmd.name), cmd.get_short_help_str(90)) for cmd in commands]
                )


@click.group(
    cls=Commands,
    commands=[*YOUR_DATA, *STUDIES],
    context_settings={"show_default": True, "max_content_width": 100},
)
@click.version_option(__version__, message="imputefree %(version)s")
def app() -> None:
    """Predict from incomplete tables and series without imputing."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and exit with its code."""
    words = sys.argv[1:] if arguments is None else arguments
    if sys.stdout is None:
        _fail("standard output is closed. Results are printed there. Leave it open.")
    try:
        with ending_cleanly(), printable_warnings():
            try:  # obj: bench records the command
                code = app.main(words, "imputefree", standalone_mode=False, obj=words)
            finally:
                sys.stdout.flush()  # here, where a full disk can still be reported
    except click.UsageError as error:
        shown = io.StringIO()  # and not obeyed: it repeats what was typed
        error.show(shown)
        echo(shown.getvalue(), err=True, nl=False)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):  # the latter before signals are handled
        sys.exit(INTERRUPTED)
    except (ImputefreeError, click.ClickException) as error:
        _fail(str(error))
    except OSError as error:
        if sys.stdout is sys.__stdout__:  # or Python would try to write the rest at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, BrokenPipeError):  # `| head` has read enough
            sys.exit(1)
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{error.strerror or error}.")
    sys.exit(code or 0)


def _fail(sentence: str) -> NoReturn:
    complain(sentence)
    sys.exit(1)


if __name__ == "__main__":
    main()
