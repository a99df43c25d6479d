"""Attacks on every promise of the package; `python -m attacks --minutes 30` runs them.

A target is one module of this package, named in `TARGETS`, with a class `Attack` (a subclass of
`Target`). CONTRIBUTING.md explains the rest.
"""

from __future__ import annotations

from importlib import import_module

from ._frame import Broken, Case, Limits, Target, run_case
from ._runs import CORPUS, Runner, corpus_files, read_case

__all__ = [
    "CORPUS",
    "TARGETS",
    "Broken",
    "Case",
    "Limits",
    "Runner",
    "Target",
    "corpus_files",
    "load_target",
    "read_case",
    "run_case",
]

TARGETS = (  # modules of this package, each with an `Attack`
    "checkpoints",
    "csv_files",
    "estimator_inputs",
    "http_bodies",
    "kills",
    "model_files",
    "parquet_files",
    "result_lines",
)


def load_target(name: str) -> Target:
    """The target of this name, imported when it is asked for."""
    return import_module(f"{__name__}.{name}").Attack()
