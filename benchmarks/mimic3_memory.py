"""Peak memory of the MIMIC-III cohort, with a CHARTEVENTS larger than the memory allowed.

A synthetic database: --rows chart rows, half of them our items, written by DuckDB to a CSV file.
The cohort is built in a separate process with DuckDB's memory limited; what Python, torch and
pandas took before is subtracted. Exits 1 above the bound: the limit plus half a gigabyte.

    python benchmarks/mimic3_memory.py [--rows 5000000] [--limit 400] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import arguments, write

BEYOND_MB = 500  # the frames of the cohort, the parser's buffers, malloc's own
STAYS = 5_000
ITEMS = "[220045, 220052, 220210, 220277, 220179, 223761, 223835, 220181]"
# A row per minute of every stay, 8 items in turn; one stay in 20 is a case by every rule.
TABLES = {
    "patients": "SELECT i AS subject_id, TIMESTAMP '2090-01-01' AS dob FROM range({stays}) t(i)",
    "icustays": "SELECT i AS subject_id, i AS hadm_id, i AS icustay_id, TIMESTAMP '2150-01-01'"
    " AS intime, TIMESTAMP '2151-01-01' AS outtime FROM range({stays}) t(i)",
    "diagnoses_icd": "SELECT i AS hadm_id, unnest(['99592', '78552']) AS icd9_code"
    " FROM range(0, {stays}, 20) t(i)",
    "chartevents": "SELECT i AS row_id, i % {stays} AS icustay_id, CASE WHEN i % 2 = 0"
    f" THEN {ITEMS}[1 + (i // {{stays}}) % 8] ELSE 1 END AS itemid,"
    " TIMESTAMP '2150-01-01' + to_minutes(CAST(i // {stays} AS INT)) AS charttime,"
    " 60 + i % 30 AS valuenum, 0 AS error, 'a text of some length, as MIMIC has' AS value"
    " FROM range({rows}) t(i)",
    "labevents": "SELECT i AS subject_id, 50813 AS itemid, TIMESTAMP '2150-01-01 01:00' AS"
    " charttime, 3 AS valuenum FROM range({stays}) t(i)",
    "inputevents_cv": "SELECT 1 AS icustay_id, 1 AS itemid, TIMESTAMP '2150-01-01' AS charttime,"
    " 0 AS rate, '' AS stopped WHERE false",
    "inputevents_mv": "SELECT i AS icustay_id, TIMESTAMP '2150-01-01 08:00' AS starttime, TIMESTAMP"
    " '2150-01-02' AS endtime, 221906 AS itemid, 1 AS rate, '' AS statusdescription"
    " FROM range({stays}) t(i)",
}


def make(folder: Path, rows: int) -> float:
    """Write the tables; returns the size of the largest in MB."""
    import duckdb

    for table, sql in TABLES.items():
        query = sql.format(rows=rows, stays=STAYS)
        duckdb.sql(f"COPY ({query}) TO '{folder}/{table.upper()}.csv' (HEADER)")
    return (folder / "CHARTEVENTS.csv").stat().st_size / 1e6


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(folder: str, limit: int) -> None:
    """In a separate process: print what building the cohort took."""
    import duckdb

    from imputefree.lab.studies import mimic3

    duckdb.sql("SELECT 1").fetchall()
    before, began = peak_mb(), time.perf_counter()
    with mimic3.Folder(folder, memory_limit=f"{limit}MB", temp_directory=folder) as source:
        cohort = mimic3.build(source)
    figures = {
        "series": len(cohort.frames),
        "seconds": round(time.perf_counter() - began, 1),
        "before_mb": round(before),
        "cohort_mb": round(peak_mb() - before),
    }
    print(json.dumps(figures))


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000, help="chart rows")
    parser.add_argument("--limit", type=int, default=400, help="DuckDB's memory limit in MB")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.limit)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        size = make(Path(folder), options.rows)
        command = [sys.executable, __file__, "--measure", folder, "--limit", str(options.limit)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    figures = {"rows": options.rows, "csv_mb": round(size), "limit_mb": options.limit}
    figures |= json.loads(output.splitlines()[-1])
    bound = options.limit + BEYOND_MB
    print(
        f"{figures['rows']:,} chart rows ({figures['csv_mb']:,} MB csv), {figures['series']:,}"
        f" series in {figures['seconds']} s: {figures['cohort_mb']} MB beyond the"
        f" {figures['before_mb']} MB of Python and its libraries (bound {bound} MB)"
    )
    write(options.json, "duckdb pandas", **figures)
    return int(figures["cohort_mb"] > bound)


if __name__ == "__main__":
    sys.exit(main())
