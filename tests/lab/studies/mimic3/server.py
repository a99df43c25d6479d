"""A temporary PostgreSQL server for tests, from Debian's package."""

from __future__ import annotations

import csv
import gzip
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from imputefree.lab.studies._mimic3_source import TABLES


def binary(name: str) -> str | None:
    """Debian keeps the server's programs out of the PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(debian[-1]) if debian else None)


@contextmanager
def server() -> Iterator[str]:
    """The connection string of an empty server that only listens on a socket in its own folder."""
    initdb, control = binary("initdb"), binary("pg_ctl")
    if initdb is None or control is None:
        pytest.skip("no PostgreSQL here (initdb not found): run scripts/install-postgresql")
    pytest.importorskip("psycopg", reason="no psycopg here: pip install 'imputefree[data]'")
    # Not pytest's tmp_path: only its owner may enter that, and root may not run a server.
    folder = Path(tempfile.mkdtemp(prefix="imputefree-pg-"))
    user: list[str] = []
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
        user = ["runuser", "-u", "postgres", "--"]

    def run(*command: str) -> None:
        done = subprocess.run(
            [*user, *command], cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    data = str(folder / "data")
    try:
        run(initdb, "-D", data, "-U", "tester", "-A", "trust", "--no-sync", "-E", "UTF8")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        # A log file, because a server that inherits our pipes would keep them open.
        run(control, "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"host={folder} dbname=postgres user=tester"
        finally:
            run(control, "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fill(dsn: str, schema: str, files: Path) -> None:
    """Load csv files by COPY, with the types of `TABLES`."""
    import psycopg

    with psycopg.connect(dsn) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE SCHEMA {schema}")
        for path in sorted(files.iterdir()):
            table = path.name.lower().split(".")[0]
            if table not in TABLES:
                continue
            opener = gzip.open if path.suffix == ".gz" else open
            with opener(path, "rt", newline="") as text:
                header = [name.lower() for name in next(csv.reader(text))]
            types = {name: TABLES[table].get(name, "TEXT") for name in header}
            columns = ", ".join(f"{name} {kind}" for name, kind in types.items())
            cursor.execute(f"CREATE UNLOGGED TABLE {schema}.{table} ({columns})")
            copy = f"COPY {schema}.{table} FROM STDIN (FORMAT csv, HEADER)"
            with opener(path, "rb") as rows, cursor.copy(copy) as into:
                while block := rows.read(1 << 20):
                    into.write(block)
