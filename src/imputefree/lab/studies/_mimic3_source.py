"""Where MIMIC-III is read from: a folder of CSV files, or a PostgreSQL database.

A source answers SQL in what DuckDB and PostgreSQL have in common, so that the cohort is defined
once. The tables have MIMIC's names in lower case. Temporary tables hold what is used more than
once, above all the few columns and items of CHARTEVENTS that we need: its 330 million rows are read
once.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import pandas as pd

from ...errors import InputError, ParameterError, require_extra
from ...io import need_columns, open_rows
from ._data_files import packaged

ID, NUMBER = "BIGINT", "FLOAT8"
TABLES: dict[str, dict[str, str]] = tomllib.loads(packaged("mimic3_tables.toml"))
BATCH = 100_000  # rows fetched at a time
INSERTED = 1000  # rows of one INSERT
PATIENCE = 10  # seconds to wait for a server that does not answer
REPAIR = "Download it again, and compare its checksum with PhysioNet's SHA256SUMS.txt"


class Source:
    """A database with MIMIC-III's tables: a context manager that leaves nothing behind.

    name : what is read, without a path or a password
    connection, driver : the connection, and its library; subclasses open it
    """

    name: str
    connection: Any
    driver: Any

    def rows(self, sql: str) -> pd.DataFrame:
        """The rows of a query of integers and floats, with NULL as NaN."""
        raise NotImplementedError

    def _error(self, error: Exception) -> InputError:
        """The library's error as one of ours."""
        raise NotImplementedError

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except self.driver.Error as error:
            raise self._error(error) from error

    def run(self, sql: str) -> None:
        """Run a statement that returns nothing."""
        with self._errors():
            self.connection.execute(sql)

    def keep(self, name: str, sql: str) -> None:
        """Put the rows of a query into a temporary table."""
        self.run(f"CREATE TEMP TABLE {name} AS {sql}")
        self.run(f"ANALYZE {name}")  # without statistics a planner may choose nested loops

    def put(self, name: str, columns: Mapping[str, str], frame: pd.DataFrame) -> None:
        """Put these columns of a frame, all numbers, into a temporary table with these types."""
        self.run(f"CREATE TEMP TABLE {name} ({', '.join(f'{c} {t}' for c, t in columns.items())})")
        # As strings, so that each column's type reads them: a bare 1.8 would be a decimal.
        rows = frame[list(columns)].astype(object).itertuples(index=False)
        values = ["(" + ", ".join(f"'{value}'" for value in row) + ")" for row in rows]
        for first in range(0, len(values), INSERTED):
            self.run(f"INSERT INTO {name} VALUES {', '.join(values[first : first + INSERTED])}")
        self.run(f"ANALYZE {name}")

    def close(self) -> None:
        """Drop what is temporary and disconnect."""
        self.connection.close()  # without a commit

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
        self.driver = import_module("duckdb")
        self.name = f"the folder {Path(os.path.abspath(root)).name}"
        views = [_view(Path(root), table) for table in TABLES]
        self.spill = tempfile.mkdtemp(prefix="imputefree-mimic3-", dir=temp_directory)
        try:
            self._connect(memory_limit)
            # Keeping the order of rows costs memory, and every query sorts what it needs sorted.
            self.run("SET preserve_insertion_order = false")
            # DuckDB assumes 40 rows per CSV and would hash all of CHARTEVENTS to join it. Joined as
            # written (the long table first, the short one hashed), it streams.
            self.run("SET disabled_optimizers = 'join_order,build_side_probe_side'")
            for view in views:
                self.run(view)
        except BaseException:
            shutil.rmtree(self.spill, ignore_errors=True)
            raise

    def _connect(self, memory_limit: str) -> None:
        config = {"memory_limit": memory_limit, "temp_directory": self.spill}
        try:
            self.connection = self.driver.connect(config=config)
        except self.driver.OutOfMemoryException as error:  # less than DuckDB needs to start
            raise self._error(error) from error
        except self.driver.Error as error:
            raise ParameterError(
                f"memory_limit is {memory_limit!r}",
                "It must be a number and a unit: KB, MB, GB or TB",
                'Pass memory_limit="2GB"',
            ) from error

    def rows(self, sql: str) -> pd.DataFrame:
        with self._errors():
            frame: pd.DataFrame = self.connection.execute(sql).df()
        return frame

    def close(self) -> None:
        super().close()
        shutil.rmtree(self.spill, ignore_errors=True)

    def _error(self, error: Exception) -> InputError:
        """DuckDB's message as an error about a file and a line, without the line's content."""
        if isinstance(error, self.driver.OutOfMemoryException):
            return InputError(
                f"the memory limit is too low ({_first_line(error)})",
                "DuckDB reads MIMIC-III in 2 GB if it can write the rest to a disk",
                "Raise memory_limit, or set temp_directory to a disk with more room",
            )
        text = str(error)
        if gzipped := re.search(r"GZIP stream: (.+)", text):
            return InputError(f"{gzipped[1]} is truncated, or not a gzip file", "", REPAIR)
        file = re.search(r"^\s*file = (.+)$", text, re.MULTILINE)
        line = re.search(r"CSV Error on Line: (\d+)\s+(?:Original Line:.*\s+)?(.+)", text)
        if file and line:
            fact = f"{file[1]}, line {line[1]} cannot be read: {line[2].strip().rstrip('.')}"
            return InputError(fact, "", REPAIR)
        return InputError(f"DuckDB could not read MIMIC-III: {_first_line(error)}", "", "")


def _view(root: Path, table: str) -> str:
    """SQL for a view of a table's file, with all types given: nothing is guessed from a sample."""
    paths = {path.name.lower(): path for path in sorted(root.glob("*"))}
    path = paths.get(f"{table}.csv") or paths.get(f"{table}.csv.gz")
    if path is None:
        raise InputError(
            f"{root} has no {table.upper()}",
            f"{', '.join(TABLES).upper()} must be there, as .csv or .csv.gz",
            "Get them from physionet.org (mimiciii), or correct the folder",
        )
    with open_rows(path) as reader:
        header = [name.lower() for name in reader.names]
    need_columns(header, list(TABLES[table]), path)
    types = ((name, TABLES[table].get(name, "VARCHAR")) for name in header)
    columns = ", ".join(f"{_quoted(name)}: '{kind}'" for name, kind in types)
    return (
        f"CREATE VIEW {table} AS SELECT * FROM read_csv({_quoted(path)}, header = true,"
        " auto_detect = false, delim = ',', quote = '\"', escape = '\"',"
        f" columns = {{{columns}}})"
    )


def _quoted(text: str | Path) -> str:
    return "'" + str(text).replace("'", "''") + "'"


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
        self.driver = import_module("psycopg")
        try:
            options = {} if "connect_timeout" in dsn else {"connect_timeout": PATIENCE}
            self.connection = self.driver.connect(dsn, **options)
        except self.driver.OperationalError as error:
            raise InputError(
                f"the PostgreSQL server cannot be reached ({_first_line(error)})",
                "dsn must name a running server, a database and a user that may read it",
                "Try the same string with psql",
            ) from error
        except self.driver.Error:
            # libpq's message about a string that it cannot parse may repeat a password.
            raise InputError(
                "dsn is not a connection string",
                'It must look like "host=localhost dbname=mimic user=me" or "postgresql://…"',
                "Correct dsn",
            ) from None
        self.schema = schema
        self.name = f"the database {self.connection.info.dbname}, schema {schema}"
        try:
            path = self.driver.sql.Identifier(schema)
            self.run(self.driver.sql.SQL("SET search_path TO {}").format(path))
            for table, columns in TABLES.items():  # all are there, and this user may read them
                self.run(f"SELECT {', '.join(columns)} FROM {table} LIMIT 0")
        except BaseException:
            self.connection.close()
            raise

    def rows(self, sql: str) -> pd.DataFrame:
        with self._errors(), self.connection.cursor(name="imputefree") as cursor:
            cursor.execute(sql)
            names = [column[0] for column in cursor.description]
            frames = [pd.DataFrame(columns=names, dtype=float)]
            while batch := cursor.fetchmany(BATCH):
                frames.append(pd.DataFrame(batch, columns=names))
        return pd.concat(frames[1:] or frames, ignore_index=True)

    def _error(self, error: Exception) -> InputError:
        errors = self.driver.errors
        if isinstance(error, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction):
            return InputError(
                f"PostgreSQL refused: {_first_line(error)}",
                "The user must be allowed to read the tables and to create temporary ones",
                "Grant SELECT on the schema's tables and TEMPORARY on the database",
            )
        return InputError(
            f"PostgreSQL could not answer: {_first_line(error)}",
            f"The schema {self.schema!r} must have the tables of the public build scripts",
            "Pass the schema of your build as schema=, or compare its tables with mimic-code's"
            " postgres_create_tables.sql",
        )
