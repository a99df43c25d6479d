"""MIMIC-III as a folder of csv or csv.gz files, read by DuckDB in bounded memory."""

from __future__ import annotations

import csv
import gzip
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ....errors import InputError, ParameterError
from ._mimic3_source import BATCH, TABLES, Source, first_line, library

REPAIR = "Download it again, and compare its sum with PhysioNet's SHA256SUMS.txt"
SORTS = {"BIGINT": "a whole number", "DOUBLE": "a number", "TIMESTAMP": "a time"}


class Folder(Source):
    """The csv files of a folder; file names and headers in upper or lower case.

    memory_limit : what DuckDB may hold in memory, "2GB"; beyond that it writes to temp_directory
    temp_directory : a disk with room for about 3 GB for the whole of MIMIC-III; the system's own
        if None. What is written there is removed in the end
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        memory_limit: str = "2GB",
        temp_directory: str | os.PathLike[str] | None = None,
    ) -> None:
        self.duckdb = library("duckdb", "A folder of MIMIC-III files")
        files = _tables(Path(root))
        self.name = f"the folder {Path(os.path.abspath(root)).name}"
        columns = {table: _columns(path, table) for table, path in files.items()}
        self.spill = tempfile.mkdtemp(prefix="imputefree-mimic3-", dir=temp_directory)
        try:
            self.connection = self._connect(memory_limit)
            # Keeping the order of rows costs memory, and every query sorts what it needs sorted.
            self.run("SET preserve_insertion_order = false")
            # DuckDB takes a csv for 40 rows and would hash all of CHARTEVENTS to join it. Joined as
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
        except self.duckdb.OutOfMemoryException as error:  # less than DuckDB needs to begin
            raise self._worded(error) from error
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
            raise self._worded(error) from error

    def batches(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        self.run(sql)
        while True:
            try:
                batch = self.connection.fetchmany(BATCH)
            except self.duckdb.Error as error:
                raise self._worded(error) from error
            if not batch:
                return
            yield batch

    def close(self) -> None:
        self.connection.close()
        shutil.rmtree(self.spill, ignore_errors=True)

    def _worded(self, error: Exception) -> InputError:
        """What DuckDB says, in one sentence about a file and a line."""
        if isinstance(error, self.duckdb.OutOfMemoryException):
            return InputError(
                f"the memory limit does not suffice ({first_line(error)})",
                "DuckDB reads MIMIC-III in 2 GB if it can write the rest to a disk",
                "Raise memory_limit, or name a disk with more room by temp_directory",
            )
        text = str(error)
        file = _part(r"^\s*file = (.+)$", text)
        line = _part(r"CSV Error on Line: (\d+)", text)
        gzipped = re.search(r"GZIP stream: (.+)", text)
        if gzipped:
            return InputError(f"{gzipped[1]} is cut off, or no gzip file", "", REPAIR)
        if not (file and line):
            return InputError(f"DuckDB could not read MIMIC-III: {first_line(error)}", "", "")
        unfit = re.search(r'column "(\w+)"\. Could not convert string "(.*)" to \'(\w+)\'', text)
        if unfit:
            column, value, sort = unfit.groups()
            return InputError(
                f"{file}, line {line}: {column.upper()} is {value!r}",
                f"It must be {SORTS.get(sort, sort)} or empty",
                REPAIR,
            )
        width = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
        if width:
            return InputError(
                f"{file}, line {line} has {width[2]} columns",
                f"Every line must have {width[1]}, as the header has",
                REPAIR,
            )
        said = _part(r"CSV Error on Line: \d+\s+(?:Original Line:.*\s+)?(.+)", text)
        return InputError(f"{file}, line {line} cannot be read: {said}", "", REPAIR)


def _tables(root: Path) -> dict[str, Path]:
    """The file of every table, or one sentence on what is missing."""
    if not root.is_dir():
        raise InputError(
            f"{root} is not a folder" if root.exists() else f"{root} does not exist",
            "MIMIC-III is read from a folder of its csv or csv.gz files",
            "Correct the folder",
        )
    found = {path.name.lower(): path for path in sorted(root.iterdir())}
    files = {table: found.get(f"{table}.csv") or found.get(f"{table}.csv.gz") for table in TABLES}
    missing = [table.upper() for table, path in files.items() if path is None]
    if missing:
        what = "MIMIC-III tables" if len(missing) == len(TABLES) else ", ".join(missing)
        raise InputError(
            f"{root} has no {what}",
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
        raise InputError(f"{path} is cut off, or no gzip file", "", REPAIR) from error
    if not header:
        raise InputError(f"{path} is empty", "Its first line must name the columns", REPAIR)
    missing = [name.upper() for name in TABLES[table] if name not in header]
    if missing:
        raise InputError(
            f"{path} has no column {', '.join(missing)}",
            f"{table.upper()} must have {', '.join(TABLES[table]).upper()}",
            "Use the files as PhysioNet gives them, with their header",
        )
    types = ((name, TABLES[table].get(name, "VARCHAR")) for name in header)
    return "{" + ", ".join(f"{_quoted(name)}: '{kind}'" for name, kind in types) + "}"


def _quoted(text: str | Path) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def _part(pattern: str, text: str) -> str:
    found = re.search(pattern, text, flags=re.MULTILINE)
    return found[1].strip() if found else ""
