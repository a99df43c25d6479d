"""The command line; one file per command.

To add a command, write a file like `_export_command.py`, and add the command to a section in
`_app.py`.
"""

from ._app import main

__all__ = [
    "main",
]
