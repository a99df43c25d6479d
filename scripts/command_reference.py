"""Write docs/commands.md from the command line itself; --check only says whether it has drifted.

python scripts/command_reference.py [--check]
"""

from __future__ import annotations

import html
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
TITLE = """# Commands

Made from the code by `make docs`; `imputefree COMMAND --help` says the same. Results go to stdout,
notes, progress and errors to stderr. Exit codes: 0 done; 1 it could not be done, one sentence says
why; 2 wrongly called; 130 interrupted.
"""


def reference() -> str:
    """The page as it should be."""
    command = [sys.executable, "-m", "typer", "imputefree.cli._app", "utils", "docs"]
    done = subprocess.run(
        [*command, "--name", "imputefree"], capture_output=True, text=True, check=True
    )
    text = html.unescape(done.stdout.replace("&lt;", "&amp;lt;"))  # a "<" outside code is HTML
    head, _, rest = text.partition("\n")
    assert head == "# `imputefree`", head
    return f"{TITLE}{rest.rstrip()}\n"


def main(arguments: list[str]) -> int:
    """Exit code 1 where the page is not what it should be (with --check)."""
    wanted = reference()
    if arguments == ["--check"]:
        return int(not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
