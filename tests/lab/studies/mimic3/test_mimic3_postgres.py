"""PostgreSQL, on a real server: the same cohort as from files; errors in one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from imputefree import InputError
from imputefree.lab.studies import mimic3
from tests.lab.studies.mimic3.expected import assert_same
from tests.lab.studies.mimic3.mini import planted
from tests.lab.studies.mimic3.server import fill, server


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return planted().write(tmp_path_factory.mktemp("mini"), upper=True, gz=True)


@pytest.fixture(scope="module")
def dsn(files):
    with server() as dsn:
        fill(dsn, "mimiciii", files)
        yield dsn


def cohort(source):
    with source:
        return mimic3.build(source, seed=3)


def test_the_same_cohort_from_files_and_from_the_database(files, dsn):
    assert_same(cohort(mimic3.Folder(files)), cohort(mimic3.Postgres(dsn)))
    study = mimic3.load(dsn=dsn, form="fixed")
    assert study.X.shape == (22, 8, 14)
    assert study.notes[1] == "Read from the database postgres, schema mimiciii."


def test_the_same_cohort_of_the_demo(dsn):
    root = os.environ.get("IMPUTEFREE_DATA")
    demo = Path(root or "") / "mimic3_demo"
    if not root or not demo.is_dir():
        pytest.skip("IMPUTEFREE_DATA names no folder with mimic3_demo/")
    fill(dsn, "demo", demo)
    one, other = cohort(mimic3.Folder(demo)), cohort(mimic3.Postgres(dsn, "demo"))
    assert len(one.frames) == 10
    assert_same(one, other)


def test_nothing_is_left_in_the_database(dsn):
    import psycopg

    cohort(mimic3.Postgres(dsn))
    with psycopg.connect(dsn) as connection:
        found = connection.execute(
            "SELECT relname FROM pg_class WHERE relname IN ('stays', 'measurements')"
        )
        assert found.fetchall() == []


def sentence(**options):
    with pytest.raises(InputError) as caught:
        mimic3.load(**options)
    return str(caught.value)


def test_a_schema_without_the_tables(dsn):
    assert sentence(dsn=dsn, schema="other") == (
        "the schema 'other' has no table of MIMIC-III that this user can read. It must have"
        " patients, icustays, diagnoses_icd, chartevents, labevents, inputevents_cv,"
        " inputevents_mv. Name the schema of your build by schema=, or grant SELECT on its tables."
    )


def test_a_table_without_a_column(dsn):
    import psycopg

    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE SCHEMA partly")
        connection.execute("CREATE TABLE partly.patients (subject_id INT)")
        for table in mimic3.source.TABLES:
            if table != "patients":
                connection.execute(f"CREATE TABLE partly.{table} (LIKE mimiciii.{table})".encode())
    assert sentence(dsn=dsn, schema="partly").startswith(
        "the schema 'partly' has no patients.dob that this user can read. "
    )


def test_a_user_who_may_not(dsn):
    import psycopg

    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE USER reader")
        assert "has no table of MIMIC-III that this user can read" in sentence(
            dsn=dsn.replace("tester", "reader")
        )
        connection.execute("GRANT USAGE ON SCHEMA mimiciii TO reader")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA mimiciii TO reader")
        assert mimic3.load(dsn=dsn.replace("tester", "reader")).y.sum() == 11
        connection.execute("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
        told = sentence(dsn=dsn.replace("tester", "reader"))
        connection.execute("GRANT TEMPORARY ON DATABASE postgres TO PUBLIC")
    assert told == (
        "PostgreSQL forbids it: permission denied to create temporary tables in database"
        ' "postgres".'
        " The user must be allowed to read the tables and to make temporary ones."
        " Grant SELECT on the schema's tables and TEMPORARY on the database."
    )


def test_columns_of_other_types(dsn):
    import psycopg

    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE SCHEMA odd")
        for table in mimic3.source.TABLES:
            connection.execute(f"CREATE TABLE odd.{table} AS TABLE mimiciii.{table}".encode())
        connection.execute("ALTER TABLE odd.icustays ALTER intime TYPE TEXT")
    assert sentence(dsn=dsn, schema="odd").startswith("PostgreSQL could not answer: ")


def test_no_server():
    pytest.importorskip("psycopg")
    told = sentence(dsn="host=/nowhere dbname=mimic user=me password=hunter2")
    assert told.startswith("the PostgreSQL server cannot be reached (")
    assert told.endswith(
        "). dsn must name a running server, a database and a user that may read it."
        " Try the same words with psql."
    )
    assert "hunter2" not in told


def test_no_connection_string():
    pytest.importorskip("psycopg")
    assert sentence(dsn="hunter2") == (
        'dsn is not a connection string. It must look like "host=localhost dbname=mimic user=me" or'
        ' "postgresql://…". Correct dsn.'
    )
