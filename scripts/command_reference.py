"""Write docs/commands.md from the commands' own help; --check only says whether it has drifted.

python scripts/command_reference.py [--check]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from imputefree.cli._app import app

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
TITLE = """# Commands

Generated from the code by `make docs`; `imputefree COMMAND --help` says the same, and
`imputefree --version` which version it is. Results go to stdout, notes, progress and errors to
stderr. Without a terminal, progress is a plain line every ten seconds.

| exit code | meaning |
| ---: | --- |
| 0 | success |
| 1 | failure, explained in one sentence on stderr; nothing half-written is left behind |
| 2 | wrong usage, such as an unknown option |
| 3 | `check --strict` found a trap |
| 130 | interrupted by Ctrl-C; `fit` and `bench` continue where they were |
| 143 | ended by SIGTERM, with the same care; 129 by SIGHUP |

**Completion** of commands, options and file names by the Tab key comes with the shell:

```sh
eval "$(_IMPUTEFREE_COMPLETE=bash_source imputefree)"     # in ~/.bashrc
eval "$(_IMPUTEFREE_COMPLETE=zsh_source imputefree)"      # in ~/.zshrc
_IMPUTEFREE_COMPLETE=fish_source imputefree | source      # in ~/.config/fish/config.fish
```
"""


def sections(command: click.Command, context: click.Context) -> Iterator[str]:
    """The help of a command, and of all commands in it."""
    yield f"\n## `{context.command_path}`\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
    for name, inner in getattr(command, "commands", {}).items():
        yield from sections(inner, click.Context(inner, parent=context, info_name=name))


def reference() -> str:
    """The page as it should be."""
    context = click.Context(app, info_name="imputefree", terminal_width=98)
    context.show_default = True
    return TITLE + "".join(sections(app, context))


def main(arguments: list[str]) -> int:
    """Exit code 1 where the page is not what it should be (with --check)."""
    wanted = reference()
    if arguments == ["--check"]:
        return int(not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
