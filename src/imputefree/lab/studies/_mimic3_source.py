"""Where MIMIC-III is read from: a folder of CSV files, or a PostgreSQL database.

A source answers SQL in what DuckDB and PostgreSQL have in common, so that the cohort is defined
once. The tables have MIMIC's names in lower case. Temporary tables hold what is used more than
once, above all the few columns and items of CHARTEVENTS that we need: its 330 million rows are read
once.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import pandas as pd

from ...errors import InputError, ParameterError, require_extra

ID, NUMBER, TIME, TEXT = "BIGINT", "FLOAT8", "TIMESTAMP", "VARCHAR"
# fmt: off
TABLES = {  # the tables and columns that are read
    "patients": {"subject_id": ID, "dob": TIME},
    "icustays": {
        "subject_id": ID, "hadm_id": ID, "icustay_id": ID, "intime": TIME, "outtime": TIME},
    "diagnoses_icd": {"hadm_id": ID, "icd9_code": TEXT},
    "chartevents": {
        "icustay_id": ID, "itemid": ID, "charttime": TIME, "valuenum": NUMBER, "error": ID},
    "labevents": {"subject_id": ID, "itemid": ID, "charttime": TIME, "valuenum": NUMBER},
    "inputevents_cv": {
        "icustay_id": ID, "itemid": ID, "charttime": TIME, "rate": NUMBER, "stopped": TEXT},
    "inputevents_mv": {
        "icustay_id": ID, "itemid": ID, "starttime": TIME, "endtime": TIME, "rate": NUMBER,
        "statusdescription": TEXT},
}
# fmt: on
BATCH = 100_000  # rows fetched at a time
INSERTED = 1000  # rows of one INSERT
PATIENCE = 10  # seconds to wait for a server that does not answer
REPAIR = "Download it again, and compare its checksum with PhysioNet's SHA256SUMS.txt"
KINDS = {"BIGINT": "an integer", "DOUBLE": "a number", "TIMESTAMP": "a time"}


class Source(ABC):
    """Something that runs SQL: a context manager that leaves nothing behind."""

    name: str  # what is read, without a path or a password

    @abstractmethod
    def run(self, sql: str) -> None:
        """Run a statement that returns nothing."""

    @abstractmethod
    def batches(self, sql: str) -> Iterator[pd.DataFrame]:
        """The rows of a query of numbers, at most BATCH at a time; the last frame is empty."""

    @abstractmethod
    def close(self) -> None:
        """Drop what is temporary and disconnect."""

    def rows(self, sql: str) -> pd.DataFrame:
        """The rows of a query of integers and floats, with NULL as NaN."""
        *frames, empty = self.batches(sql)
        return pd.concat(frames, ignore_index=True) if frames else empty.astype("float64")

    def keep(self, name: str, sql: str) -> None:
        """Put the rows of a query into a temporary table."""
        self.run(f"CREATE TEMP TABLE {name} AS {sql}")
        self.run(f"ANALYZE {name}")  # without statistics a planner may choose nested loops

    def put(self, name: str, columns: Mapping[str, str], rows: Iterable[Iterable[Any]]) -> None:
        """Put rows of numbers into a temporary table with columns of these types."""
        self.run(f"CREATE TEMP TABLE {name} ({', '.join(f'{c} {t}' for c, t in columns.items())})")
        # As strings, so that each column's type reads them: a bare 1.8 would be a decimal.
        values = ["(" + ", ".join(f"'{value}'" for value in row) + ")" for row in rows]
        for first in range(0, len(values), INSERTED):
            self.run(f"INSERT INTO {name} VALUES {', '.join(values[first : first + INSERTED])}")
        self.run(f"ANALYZE {name}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _frames(cursor: Any) -> Iterator[pd.DataFrame]:
    """The rows of a DB-API cursor, in frames; the last one is empty."""
    names = [column[0] for column in cursor.description]
    while batch := cursor.fetchmany(BATCH):
        yield pd.DataFrame(batch, columns=names)
    yield pd.DataFrame(columns=names)


class Folder(Source):
    """A folder of CSV files, read by DuckDB in bounded memory; names in upper or lower case.

    memory_limit : what DuckDB may hold in memory, "2GB"; beyond that it writes to temp_directory
    temp_directory : a disk with room for about 3 GB for the whole of MIMIC-III; by default the
        system's. What is written there is removed in the end
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        memory_limit: str = "2GB",
        temp_directory: str | os.PathLike[str] | None = None,
    ) -> None:
        require_extra("data", "duckdb")
        self.duckdb = import_module("duckdb")
        files = _tables(Path(root))
        self.name = f"the folder {Path(os.path.abspath(root)).name}"
        columns = {table: _columns(path, table) for table, path in files.items()}
        self.spill = tempfile.mkdtemp(prefix="imputefree-mimic3-", dir=temp_directory)
        try:
            self.connection = self._connect(memory_limit)
            # Keeping the order of rows costs memory, and every query sorts what it needs sorted.
            self.run("SET preserve_insertion_order = false")
            # DuckDB assumes 40 rows per CSV and would hash all of CHARTEVENTS to join it. Joined as
            # written (the long table first, the short one hashed), it streams.
            self.run("SET disabled_optimizers = 'join_order,build_side_probe_side'")
            for table, path in files.items():
                self.run(
                    f"CREATE VIEW {table} AS SELECT * FROM read_csv({_quoted(path)}, header = true,"
                    " auto_detect = false, delim = ',', quote = '\"', escape = '\"',"
                    f" columns = {columns[table]})"
                )
        except BaseException:
            shutil.rmtree(self.spill, ignore_errors=True)
            raise

    def _connect(self, memory_limit: str) -> Any:
        config = {"memory_limit": memory_limit, "temp_directory": self.spill}
        try:
            return self.duckdb.connect(config=config)
        except self.duckdb.OutOfMemoryException as error:  # less than DuckDB needs to start
            raise self._error(error) from error
        except self.duckdb.Error as error:
            raise ParameterError(
                f"memory_limit is {memory_limit!r}",
                "It must be a number and a unit: KB, MB, GB or TB",
                'Pass memory_limit="2GB"',
            ) from error

    def run(self, sql: str) -> None:
        try:
            self.connection.execute(sql)
        except self.duckdb.Error as error:
            raise self._error(error) from error

    def batches(self, sql: str) -> Iterator[pd.DataFrame]:
        self.run(sql)
        try:
            yield from _frames(self.connection)
        except self.duckdb.Error as error:
            raise self._error(error) from error

    def close(self) -> None:
        self.connection.close()
        shutil.rmtree(self.spill, ignore_errors=True)

    def _error(self, error: Exception) -> InputError:
        """DuckDB's message as an error about a file and a line."""
        if isinstance(error, self.duckdb.OutOfMemoryException):
            return InputError(
                f"the memory limit is too low ({_first_line(error)})",
                "DuckDB reads MIMIC-III in 2 GB if it can write the rest to a disk",
                "Raise memory_limit, or set temp_directory to a disk with more room",
            )
        text = str(error)
        gzipped = re.search(r"GZIP stream: (.+)", text)
        if gzipped:
            return InputError(f"{gzipped[1]} is truncated, or not a gzip file", "", REPAIR)
        file = _match(r"^\s*file = (.+)$", text)
        line = _match(r"CSV Error on Line: (\d+)", text)
        if not (file and line):
            return InputError(f"DuckDB could not read MIMIC-III: {_first_line(error)}", "", "")
        wrong = re.search(r'column "(\w+)"\. Could not convert string "(.*)" to \'(\w+)\'', text)
        if wrong:
            column, value, kind = wrong.groups()
            fact = f"{file}, line {line}: {column.upper()} is {value!r}"
            return InputError(fact, f"It must be {KINDS.get(kind, kind)} or empty", REPAIR)
        width = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
        if width:
            fact = f"{file}, line {line} has {width[2]} columns"
            return InputError(fact, f"Every line must have {width[1]}, as the header has", REPAIR)
        reason = _match(r"CSV Error on Line: \d+\s+(?:Original Line:.*\s+)?(.+)", text)
        return InputError(f"{file}, line {line} cannot be read: {reason}", "", REPAIR)


def _tables(root: Path) -> dict[str, Path]:
    """The file of every table."""
    if not root.is_dir():
        raise InputError(
            f"{root} is not a folder" if root.exists() else f"{root} does not exist",
            "MIMIC-III is read from a folder of its csv or csv.gz files",
            "Correct the folder",
        )
    paths = {path.name.lower(): path for path in sorted(root.iterdir())}
    files = {table: paths.get(f"{table}.csv") or paths.get(f"{table}.csv.gz") for table in TABLES}
    missing = [table.upper() for table, path in files.items() if path is None]
    if missing:
        tables = "MIMIC-III tables" if len(missing) == len(TABLES) else ", ".join(missing)
        raise InputError(
            f"{root} has no {tables}",
            f"{', '.join(table.upper() for table in TABLES)} must be there, as .csv or .csv.gz",
            "Get them from physionet.org (mimiciii), or correct the folder",
        )
    return {table: path for table, path in files.items() if path is not None}


def _columns(path: Path, table: str) -> str:
    """DuckDB's type of every column in the file, so that nothing is guessed from a sample."""
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8", errors="replace", newline="") as file:
            header = [name.strip().lower() for name in next(csv.reader(file), [])]
    except (OSError, EOFError, csv.Error) as error:
        raise InputError(f"{path} is truncated, or not a gzip file", "", REPAIR) from error
    if not header:
        raise InputError(f"{path} is empty", "Its first line must name the columns", REPAIR)
    missing = [name.upper() for name in TABLES[table] if name not in header]
    if missing:
        raise InputError(
            f"{path} has no column {', '.join(missing)}",
            f"{table.upper()} must have {', '.join(TABLES[table]).upper()}",
            "Use the files as PhysioNet provides them, with their header",
        )
    types = ((name, TABLES[table].get(name, "VARCHAR")) for name in header)
    return "{" + ", ".join(f"{_quoted(name)}: '{kind}'" for name, kind in types) + "}"


def _quoted(text: str | Path) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def _match(pattern: str, text: str) -> str:
    match = re.search(pattern, text, flags=re.MULTILINE)
    return match[1].strip() if match else ""


def _first_line(error: Exception) -> str:
    """A library's message without its advice."""
    lines = str(error).strip().splitlines()
    return lines[0].strip().rstrip(".") if lines else type(error).__name__


class Postgres(Source):
    """A schema as the public build scripts create it, read through a server-side cursor.

    dsn : a connection string, "host=localhost dbname=mimic user=me" or "postgresql://…"
    schema : where the tables are

    Temporary tables of the session are written, so the user needs the right to create them (the
    default); nothing else in the database is changed.
    """

    def __init__(self, dsn: str, schema: str = "mimiciii") -> None:
        require_extra("data", "psycopg")
        self.psycopg = import_module("psycopg")
        try:
            options = {} if "connect_timeout" in dsn else {"connect_timeout": PATIENCE}
            self.connection = self.psycopg.connect(dsn, **options)
        except self.psycopg.OperationalError as error:
            raise InputError(
                f"the PostgreSQL server cannot be reached ({_first_line(error)})",
                "dsn must name a running server, a database and a user that may read it",
                "Try the same string with psql",
            ) from error
        except self.psycopg.Error:
            # libpq's message about a string that it cannot parse may repeat a password.
            raise InputError(
                "dsn is not a connection string",
                'It must look like "host=localhost dbname=mimic user=me" or "postgresql://…"',
                "Correct dsn",
            ) from None
        try:
            self._check(schema)
            self.name = f"the database {self.connection.info.dbname}, schema {schema}"
            path = self.psycopg.sql.Identifier(schema)
            with self.connection.cursor() as cursor:
                cursor.execute(self.psycopg.sql.SQL("SET search_path TO {}").format(path))
        except BaseException:
            self.connection.close()
            raise

    def run(self, sql: str) -> None:
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(sql.encode())
        except self.psycopg.Error as error:
            raise self._error(error) from error

    def batches(self, sql: str) -> Iterator[pd.DataFrame]:
        try:
            with self.connection.cursor(name="imputefree") as cursor:
                cursor.execute(sql.encode())
                yield from _frames(cursor)
        except self.psycopg.Error as error:
            raise self._error(error) from error

    def close(self) -> None:
        self.connection.close()  # without a commit: the temporary tables go too

    def _check(self, schema: str) -> None:
        """Every table and column must be there, and visible to this user."""
        with self.connection.cursor() as cursor:
            cursor.execute(
                "SELECT table_name, column_name FROM information_schema.columns"
                " WHERE table_schema = %s",
                [schema],
            )
            columns = set(cursor.fetchall())
        tables = {table for table, _ in columns}
        missing = [table for table in TABLES if table not in tables]
        missing += [
            f"{table}.{name}"
            for table, names in TABLES.items()
            for name in names
            if table in tables and (table, name) not in columns
        ]
        if missing:
            names = "table of MIMIC-III" if len(missing) == len(TABLES) else ", ".join(missing)
            raise InputError(
                f"the schema {schema!r} has no {names} that this user can read",
                f"It must have {', '.join(TABLES)}",
                "Pass the schema of your build as schema=, or grant SELECT on its tables",
            )

    def _error(self, error: Exception) -> InputError:
        errors = self.psycopg.errors
        if isinstance(error, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction):
            return InputError(
                f"PostgreSQL refused: {_first_line(error)}",
                "The user must be allowed to read the tables and to create temporary ones",
                "Grant SELECT on the schema's tables and TEMPORARY on the database",
            )
        return InputError(
            f"PostgreSQL could not answer: {_first_line(error)}",
            "The tables must have the types of the public build scripts",
            "Compare them with mimic-code's postgres_create_tables.sql",
        )
