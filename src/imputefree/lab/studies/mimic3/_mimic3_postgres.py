"""MIMIC-III in a PostgreSQL database, as the public build scripts lay it out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....errors import InputError
from ._mimic3_source import BATCH, TABLES, Source, first_line, library

PATIENCE = 10  # seconds to wait for a server that does not answer


class Postgres(Source):
    """The tables of a schema, read through a server-side cursor.

    dsn : a connection string, "host=localhost dbname=mimic user=me" or "postgresql://…"
    schema : where the tables are

    Temporary tables of the session are written, so the user needs the right to make them (every
    user has it unless it was taken away); nothing else of the database is changed.
    """

    def __init__(self, dsn: str, schema: str = "mimiciii") -> None:
        self.psycopg = library("psycopg", "A PostgreSQL database")
        try:
            waits = {} if "connect_timeout" in dsn else {"connect_timeout": PATIENCE}
            self.connection = self.psycopg.connect(dsn, **waits)
        except self.psycopg.OperationalError as error:
            raise InputError(
                f"the PostgreSQL server cannot be reached ({first_line(error)})",
                "dsn must name a running server, a database and a user that may read it",
                "Try the same words with psql",
            ) from error
        except self.psycopg.Error:
            # What libpq says about a string it cannot parse may repeat a password.
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
            raise self._worded(error) from error

    def batches(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        try:
            with self.connection.cursor(name="imputefree") as cursor:
                cursor.execute(sql.encode())
                while batch := cursor.fetchmany(BATCH):
                    yield batch
        except self.psycopg.Error as error:
            raise self._worded(error) from error

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
            there = set(cursor.fetchall())
        tables = {table for table, _ in there}
        missing = [table for table in TABLES if table not in tables]
        missing += [
            f"{table}.{column}"
            for table, columns in TABLES.items()
            for column in columns
            if table in tables and (table, column) not in there
        ]
        if missing:
            what = "table of MIMIC-III" if len(missing) == len(TABLES) else ", ".join(missing)
            raise InputError(
                f"the schema {schema!r} has no {what} that this user can read",
                f"It must have {', '.join(TABLES)}",
                "Name the schema of your build by schema=, or grant SELECT on its tables",
            )

    def _worded(self, error: Exception) -> InputError:
        errors = self.psycopg.errors
        if isinstance(error, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction):
            return InputError(
                f"PostgreSQL forbids it: {first_line(error)}",
                "The user must be allowed to read the tables and to make temporary ones",
                "Grant SELECT on the schema's tables and TEMPORARY on the database",
            )
        return InputError(
            f"PostgreSQL could not answer: {first_line(error)}",
            "The tables must have the types of the public build scripts",
            "Compare them with mimic-code's postgres_create_tables.sql",
        )
