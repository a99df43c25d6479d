"""Where MIMIC-III is: one small interface, so that the cohort is defined once for every source.

A source answers SQL in what DuckDB and PostgreSQL have in common. The tables go by MIMIC's names in
lower case. Temporary tables hold what is asked more than once, above all the few columns and items
of CHARTEVENTS that we need: its 330 million rows are read once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Self

import numpy as np
import pandas as pd

from ....errors import InputError

ID, NUMBER, TIME, TEXT = "BIGINT", "FLOAT8", "TIMESTAMP", "VARCHAR"
# The tables and columns that are read.
TABLES = {
    "patients": {"subject_id": ID, "dob": TIME},
    "icustays": {
        "subject_id": ID,
        "hadm_id": ID,
        "icustay_id": ID,
        "intime": TIME,
        "outtime": TIME,
    },
    "diagnoses_icd": {"hadm_id": ID, "icd9_code": TEXT},
    "chartevents": {
        "icustay_id": ID,
        "itemid": ID,
        "charttime": TIME,
        "valuenum": NUMBER,
        "error": ID,
    },
    "labevents": {"subject_id": ID, "itemid": ID, "charttime": TIME, "valuenum": NUMBER},
    "inputevents_cv": {
        "icustay_id": ID,
        "itemid": ID,
        "charttime": TIME,
        "rate": NUMBER,
        "stopped": TEXT,
    },
    "inputevents_mv": {
        "icustay_id": ID,
        "itemid": ID,
        "starttime": TIME,
        "endtime": TIME,
        "rate": NUMBER,
        "statusdescription": TEXT,
    },
}
BATCH = 100_000  # rows fetched at a time
INSERTED = 1000  # rows of one INSERT


class Source(ABC):
    """Runs SQL; a context manager that leaves nothing behind."""

    name: str  # what is read, in words that give away neither a path nor a password

    @abstractmethod
    def run(self, sql: str) -> None:
        """A statement without an answer."""

    @abstractmethod
    def batches(self, sql: str) -> Iterable[list[tuple[Any, ...]]]:
        """The rows of a query of numbers, at most BATCH at a time."""

    @abstractmethod
    def close(self) -> None:
        """Drop what is temporary and hang up."""

    def rows(self, sql: str, columns: Sequence[str]) -> pd.DataFrame:
        """The rows of a query of whole numbers and floats, with NULL as NaN."""
        parts = [pd.DataFrame(batch, columns=list(columns)) for batch in self.batches(sql)]
        if not parts:
            return pd.DataFrame(columns=list(columns), dtype=np.float64)
        return pd.concat(parts, ignore_index=True)

    def keep(self, name: str, sql: str) -> None:
        """Hold the rows of a query in a temporary table."""
        self.run(f"CREATE TEMP TABLE {name} AS {sql}")
        self.run(f"ANALYZE {name}")  # a planner without figures may choose nested loops

    def put(self, name: str, columns: Mapping[str, str], rows: Iterable[Iterable[Any]]) -> None:
        """Hold rows of our own numbers in a temporary table."""
        self.run(f"CREATE TEMP TABLE {name} ({', '.join(f'{c} {t}' for c, t in columns.items())})")
        # As text, because each column's type reads its own: a bare 1.8 would be a decimal.
        texts = ["(" + ", ".join(f"'{value}'" for value in row) + ")" for row in rows]
        for first in range(0, len(texts), INSERTED):
            values = ", ".join(texts[first : first + INSERTED])
            self.run(f"INSERT INTO {name} VALUES {values}")
        self.run(f"ANALYZE {name}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def library(name: str, what: str) -> Any:
    """An optional package, or one sentence on how to get it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(
            f"{name} is not installed",
            f"{what} is read with it",
            "Install it with pip install 'imputefree[data]'",
        ) from error


def seconds(column: str) -> str:
    """SQL for a time as whole seconds since 1970: the same number from every source."""
    return f"CAST(EXTRACT(EPOCH FROM {column}) AS BIGINT)"


def first_line(error: Exception) -> str:
    """What a library says, without its advice."""
    lines = str(error).strip().splitlines()
    return lines[0].strip().rstrip(".") if lines else type(error).__name__
