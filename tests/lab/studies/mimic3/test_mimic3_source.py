"""Files and databases of MIMIC-III: the same cohort from both, and one sentence for each error."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from imputefree import InputError
from imputefree.lab.studies import mimic3
from imputefree.lab.studies._mimic3_source import TABLES
from tests.lab.studies.mimic3.mini import Mini, assert_same
from tests.lab.studies.mimic3.server import fill, server


@pytest.fixture
def few(tmp_path):
    mini = Mini()
    mini.case("one")
    mini.control("other", range(9))
    return mini.write(tmp_path / "files")


def sentence(folder=None, **options):
    with pytest.raises(InputError) as caught:
        mimic3.load(folder, **options)
    return str(caught.value)


def test_the_environment_names_the_folder(few, tmp_path, monkeypatch):
    monkeypatch.setenv("IMPUTEFREE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    assert f" {tmp_path}/mimic3 (IMPUTEFREE_DATA), " in sentence(None)
    assert "imputefree data get mimic3" in sentence(None)
    few.rename(tmp_path / "mimic3_demo")
    assert mimic3.load().y.sum() == 1


def test_missing_tables(few, tmp_path, monkeypatch):
    """A folder that is named and holds a part is not passed over for another one."""
    whole = tmp_path / "elsewhere" / "mimic3"
    whole.parent.mkdir()
    shutil.copytree(few, whole)
    monkeypatch.setenv("IMPUTEFREE_DATA", str(whole.parent))
    (few / "labevents.csv").unlink()
    (few / "icustays.csv").unlink()
    assert sentence(few).startswith(
        f"{few} has no ICUSTAYS.csv, LABEVENTS.csv. MIMIC-III needs CHARTEVENTS.csv (or"
    )


def test_a_column_is_missing(few):
    path = few / "chartevents.csv"
    path.write_text(path.read_text().replace("valuenum", "number"))
    assert sentence(few).startswith(f"{path} has no column 'valuenum'. ")


REPAIR = "Download it again, and compare its checksum with PhysioNet's SHA256SUMS.txt."


def test_garbage_where_a_number_or_a_time_should_be(few):
    path = few / "chartevents.csv"
    good = path.read_text().splitlines()
    fields = good[4].split(",")
    for column, value, kind in [
        ("valuenum", "abc", "DOUBLE"),
        ("charttime", "yesterday", "TIMESTAMP"),
        ("itemid", "2.5e", "BIGINT"),
    ]:
        bad = list(fields)
        bad[good[0].split(",").index(column)] = value
        path.write_text("\n".join([*good[:4], ",".join(bad), *good[5:]]))
        assert sentence(few) == (
            f'{path}, line 5 cannot be read: Error when converting column "{column}". Could not'
            f" convert string \"{value}\" to '{kind}'. {REPAIR}"
        )


def test_files_cut_off(few):
    path = few / "chartevents.csv"
    text = path.read_text()
    path.write_text(text[:-6])
    assert sentence(few) == (
        f"{path}, line {len(text.splitlines())} cannot be read: Expected Number of Columns: 15"
        f" Found: 11. {REPAIR}"
    )
    path.write_text("")
    assert sentence(few).startswith(f"{path} is empty. ")


@pytest.mark.parametrize("left", [0.6, 0.02])
def test_a_gzip_file_cut_off(few, left):
    path = few / "labevents.csv"
    lines = path.read_text().splitlines()
    whole = gzip.compress("\n".join([lines[0], *lines[1:] * 20000]).encode(), compresslevel=1)
    (few / "labevents.csv.gz").write_bytes(whole[: max(int(left * len(whole)), 15)])
    path.unlink()
    assert sentence(few).startswith(f"{path}.gz is truncated")


def test_no_gzip_at_all(few):
    (few / "patients.csv").rename(few / "patients.csv.gz")
    assert sentence(few).startswith(f"{few}/patients.csv.gz is truncated or corrupted")


def test_nothing_is_left_behind(few, tmp_path):
    spill = tmp_path / "spill"
    spill.mkdir()
    with mimic3.Folder(few, temp_directory=spill) as opened:
        assert os.listdir(spill)
        mimic3.build(opened)
    assert not os.listdir(spill)


def test_importing_needs_no_database_library():
    for path in Path(mimic3.__file__).parent.glob("*.py"):
        assert not re.search(r"^\s*(import|from) (duckdb|psycopg)", path.read_text(), re.MULTILINE)


def hashed(plan):
    """Everything that some hash join holds in memory: its second child, and what is below."""
    found = []
    for at, child in enumerate(plan["children"]):
        below = [child, *child["children"]]
        found += hashed(child)
        if plan["name"].strip() == "HASH_JOIN" and at == 1:
            while below:
                step = below.pop()
                found.append(step["name"].strip())
                below += step["children"]
    return found


@pytest.mark.parametrize("left_to_duckdb", [False, True])
def test_no_csv_file_is_hashed_as_a_whole(files, monkeypatch, left_to_duckdb):
    with mimic3.Folder(files) as source:
        if left_to_duckdb:  # as long as this hashes, our setting is needed
            source.run("SET disabled_optimizers = ''")
        monkeypatch.setattr(source, "keep", lambda name, sql: None)
        stays = source.rows(mimic3._query("stays"))
        mimic3._keep_measurements(source, stays.fillna(0))
        explained = f"EXPLAIN (FORMAT json) {mimic3._query('measurements')}"
        plan = json.loads(source.connection.execute(explained).fetchall()[0][1])
    assert ("READ_CSV" in hashed({"name": "all", "children": plan})) == left_to_duckdb


@pytest.fixture(scope="module")
def dsn(files):
    with server() as dsn:
        fill(dsn, "mimiciii", files)
        yield dsn


def built_from(source):
    with source:
        return mimic3.build(source, seed=3)


def test_the_same_cohort_from_files_and_from_the_database(files, dsn):
    assert_same(built_from(mimic3.Folder(files)), built_from(mimic3.Postgres(dsn)))
    study = mimic3.load(dsn=dsn, form="fixed")
    assert study.X.shape == (22, 8, 14)
    assert study.notes[1] == "Read from the database postgres, schema mimiciii."


@pytest.mark.slow
def test_the_same_cohort_of_the_demo(dsn):
    root = os.environ.get("IMPUTEFREE_DATA")
    demo = Path(root or "") / "mimic3_demo"
    if not root or not demo.is_dir():
        pytest.skip("IMPUTEFREE_DATA names no folder with mimic3_demo/")
    fill(dsn, "demo", demo)
    one, other = built_from(mimic3.Folder(demo)), built_from(mimic3.Postgres(dsn, "demo"))
    assert len(one.frames) == 10
    assert_same(one, other)


def test_nothing_is_left_in_the_database(dsn):
    psycopg = pytest.importorskip("psycopg")
    built_from(mimic3.Postgres(dsn))
    with psycopg.connect(dsn) as connection:
        found = connection.execute(
            "SELECT relname FROM pg_class WHERE relname IN ('stays', 'measurements')"
        )
        assert found.fetchall() == []


def test_a_schema_without_the_tables(dsn):
    assert sentence(dsn=dsn, schema="other").startswith(
        "PostgreSQL could not answer: relation \"patients\" does not exist. The schema 'other' must"
        " have the tables of the public build scripts. Pass the schema of your build as schema=, or"
    )


def test_a_table_without_a_column(dsn):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE SCHEMA partly")
        connection.execute("CREATE TABLE partly.patients (subject_id INT)")
        for table in TABLES:
            if table != "patients":
                connection.execute(f"CREATE TABLE partly.{table} (LIKE mimiciii.{table})".encode())
    assert sentence(dsn=dsn, schema="partly").startswith(
        'PostgreSQL could not answer: column "dob" does not exist. '
    )


def test_columns_of_other_types(dsn):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE SCHEMA odd")
        for table in TABLES:
            connection.execute(f"CREATE TABLE odd.{table} AS TABLE mimiciii.{table}".encode())
        connection.execute("ALTER TABLE odd.icustays ALTER intime TYPE TEXT")
    assert sentence(dsn=dsn, schema="odd").startswith("PostgreSQL could not answer: ")


def test_a_user_who_may_not(dsn):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE USER reader")
        refused = sentence(dsn=dsn.replace("tester", "reader"))
        assert refused.startswith('PostgreSQL could not answer: relation "patients" does not exist')
        connection.execute("GRANT USAGE ON SCHEMA mimiciii TO reader")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA mimiciii TO reader")
        assert mimic3.load(dsn=dsn.replace("tester", "reader")).y.sum() == 11
        connection.execute("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
        message = sentence(dsn=dsn.replace("tester", "reader"))
        connection.execute("GRANT TEMPORARY ON DATABASE postgres TO PUBLIC")
    assert message == (
        "PostgreSQL refused: permission denied to create temporary tables in database"
        ' "postgres".'
        " The user must be allowed to read the tables and to create temporary ones."
        " Grant SELECT on the schema's tables and TEMPORARY on the database."
    )


def test_no_server_or_no_connection_string():
    pytest.importorskip("psycopg")
    message = sentence(dsn="host=/nowhere dbname=mimic user=me password=hunter2")
    assert message.startswith("the PostgreSQL server cannot be reached (")
    assert message.endswith(
        "). dsn must name a running server, a database and a user that may read it."
        " Try the same string with psql."
    )
    assert "hunter2" not in message
    assert sentence(dsn="hunter2") == (
        'dsn is not a connection string. It must look like "host=localhost dbname=mimic user=me" or'
        ' "postgresql://…". Correct dsn.'
    )
