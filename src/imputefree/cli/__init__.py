"""The command line; one file per command."""

from ._app import main

__all__ = [
    "main",
]
