"""Predict from incomplete tables and series without imputing: NaN in, prediction out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .data import Panel
    from .errors import ImputefreeError, InputError, ModelFileError, ParameterError
    from .estimators import (
        GILClassifier,
        GILRegressor,
        GILSequenceClassifier,
        GILSequenceRegressor,
        ImputeFreeClassifier,
        ImputeFreeRegressor,
        ImputeFreeSequenceClassifier,
        ImputeFreeSequenceRegressor,
    )
    from .inspection import (
        MaskConformalClassifier,
        MaskConformalRegressor,
        audit_missingness,
        explain_rows,
        measure_next,
        plan_measurements,
    )
    from .io import ColumnReading, FileFormat, Understood, read_table

__all__ = [
    "ColumnReading",
    "FileFormat",
    "GILClassifier",
    "GILRegressor",
    "GILSequenceClassifier",
    "GILSequenceRegressor",
    "ImputeFreeClassifier",
    "ImputeFreeRegressor",
    "ImputeFreeSequenceClassifier",
    "ImputeFreeSequenceRegressor",
    "ImputefreeError",
    "InputError",
    "MaskConformalClassifier",
    "MaskConformalRegressor",
    "ModelFileError",
    "Panel",
    "ParameterError",
    "Understood",
    "audit_missingness",
    "explain_rows",
    "measure_next",
    "plan_measurements",
    "read_table",
]


INSPECTION = (
    "MaskConformalClassifier",
    "MaskConformalRegressor",
    "audit_missingness",
    "explain_rows",
    "measure_next",
    "plan_measurements",
)
FILES = ("ColumnReading", "FileFormat", "Understood", "read_table")


def __getattr__(name: str) -> Any:
    """Public names on first use (PEP 562): importing the package does not import PyTorch."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    homes = {"Panel": "data"} | dict.fromkeys(INSPECTION, "inspection") | dict.fromkeys(FILES, "io")
    home = homes.get(name, "errors" if name.endswith("Error") else "estimators")
    globals()[name] = value = getattr(import_module(f".{home}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
