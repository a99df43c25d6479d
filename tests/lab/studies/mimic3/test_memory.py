"""CHARTEVENTS streams: benchmarks/mimic3_memory.py measures it, here DuckDB's plan is read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from imputefree.lab.studies import mimic3
from imputefree.lab.studies.mimic3 import _mimic3_cohort as cohort
from imputefree.lab.studies.mimic3 import _mimic3_queries as queries

SCRIPT = Path(__file__).parents[4] / "benchmarks" / "mimic3_memory.py"


def hashed(plan):
    """Everything that some hash join holds in memory: its second child, and what is below."""
    found = []
    for at, child in enumerate(plan["children"]):
        below = [child, *child["children"]]
        found += hashed(child)
        if plan["name"].strip() == "HASH_JOIN" and at == 1:
            while below:
                one = below.pop()
                found.append(one["name"].strip())
                below += one["children"]
    return found


@pytest.mark.parametrize("left_to_duckdb", [False, True])
def test_no_csv_file_is_hashed_as_a_whole(files, monkeypatch, left_to_duckdb):
    with mimic3.Folder(files) as source:
        if left_to_duckdb:  # as long as this hashes, our setting is needed
            source.run("SET disabled_optimizers = ''")
        monkeypatch.setattr(source, "keep", lambda name, sql: None)
        stays = source.rows(queries.STAYS, queries.STAYS_COLUMNS)
        cohort._keep_measurements(source, stays.fillna(0))
        explained = f"EXPLAIN (FORMAT json) {queries.MEASUREMENTS}"
        plan = json.loads(source.connection.execute(explained).fetchall()[0][1])
    assert ("READ_CSV" in hashed({"name": "all", "children": plan})) == left_to_duckdb


def test_the_benchmark_starts_and_judges(tmp_path):
    options = ["--rows", "100000", "--json", str(tmp_path / "out.json")]
    command = [sys.executable, str(SCRIPT), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["cohort_mb"] < 900
