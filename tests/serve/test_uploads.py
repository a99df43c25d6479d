"""Uploaded files: read as `imputefree predict` reads them, and nothing larger than allowed."""

from __future__ import annotations

import gzip
import io
import zipfile

import pandas as pd
import pytest

from imputefree.serve import Limits
from imputefree.workflow import predict_file
from tests.serve.models import client, patients, refused, stays

pytest.importorskip("starlette", reason="needs the extra serve")
LINES = 'who,age,sex,lactate,home.dest,grade\n"=1+1",31,f,1.5,"no, where",\nBob,NA,m,2,here,1\n'
STEPS = "patient,hour,age,ward,pulse\n7,1,40,A,90\n7,0,40,A,80\n8,0,50,,\n"
RHYTHM = STEPS.replace("hour,", "rhythm,hour,").replace("7,", "7,sinus,").replace("8,", "8,,")
FILE = {"Content-Type": "application/octet-stream"}


def upload(kind, content, name="a.csv", sheet="", **options):
    content = content.encode() if isinstance(content, str) else content
    return client(kind, **options).post(
        "/read", params={"name": name, "sheet": sheet}, content=content, headers=FILE
    )


def test_rows_are_those_of_the_file():
    answer = upload("table", LINES).json()
    first, second = answer["rows"]
    assert (answer["title"], first["name"], answer["unused"]) == ("line", "2", ["who"])
    assert (first["kept"], second["kept"]) == (["=1+1"], ["Bob"])
    row = {"age": 31.0, "sex": "f", "lactate": 1.5, "home.dest": "no, where", "grade": None}
    assert first["row"] == row
    assert second["row"]["age"] is None
    assert any("who" in note for note in answer["notes"])


def test_the_sheet_that_is_named_is_read():
    pytest.importorskip("openpyxl")
    book = io.BytesIO()
    with pd.ExcelWriter(book) as sheets:
        for month, age in (("May", 31), ("June", 42)):
            frame = pd.read_csv(io.StringIO(LINES)).assign(age=age, who="A")
            frame.to_excel(sheets, sheet_name=month, index=False)
    june = upload("table", book.getvalue(), "a.xlsx", "June").json()
    assert [row["row"]["age"] for row in june["rows"]] == [42.0, 42.0]
    refused(upload("table", book.getvalue(), "a.xlsx", "July"), 422, None, "'May', 'June'")
    other = io.BytesIO()
    pd.DataFrame({"a": [1, 2], "b": [3, 4]}).to_excel(other, index=False, sheet_name="Notes")
    refused(upload("table", other.getvalue(), "a.xlsx"), 422, None, "'Notes'", "another sheet")


@pytest.mark.parametrize(
    ("kind", "model", "lines"), [("table", patients, LINES), ("series", stays, RHYTHM)]
)
def test_predictions_are_those_of_the_command(kind, model, lines, tmp_path):
    path, written = tmp_path / "a.csv", []
    path.write_text(lines)
    predict_file(model(), path, written.append, in_memory=True)
    rows = [row["row"] for row in upload(kind, lines).json()["rows"]]
    answer = client(kind).post("/predict", json={"rows": rows}).json()
    shares = [one["probability"] for one in answer["predictions"]]
    expected = pd.concat(written)[[f"p_{label}" for label in shares[0]]]
    assert pd.DataFrame(shares).to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-6)


def test_series_have_their_steps_in_order_and_what_changes_is_told():
    answer = upload("series", STEPS + "8,1,51,,70\n8,1,50,,71\n").json()
    seven, eight = answer["rows"]
    assert (answer["title"], seven["name"]) == ("patient", "7")
    assert seven["row"]["static"] == {"age": 40.0, "ward": "A"}
    assert [step["hour"] for step in seven["row"]["steps"]] == [0.0, 1.0]
    assert [step["pulse"] for step in eight["row"]["steps"]] == [None, 70.0]
    notes = " ".join(answer["notes"])
    assert "rhythm" in notes  # not in the file
    assert "age must not change within a series: 1 series has several values" in notes
    assert "already has a row at time 1" in notes


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_any_format_gives_the_same_rows(ending):
    frame = pd.DataFrame(
        {"age": [31.5, None, 40], "sex": ["f", "m", None], "who": ["Zoë", "b", "c"]}
    )
    buffer = io.BytesIO()
    if ending == "csv":
        frame.to_csv(buffer, index=False, sep=";", decimal=",", encoding="latin-1")
    elif ending == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(buffer, index=False)
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet(buffer, index=False)
    answer = upload("table", buffer.getvalue(), f"a.{ending}").json()
    assert [row["row"]["age"] for row in answer["rows"]] == [31.5, None, 40.0]
    assert [row["row"]["sex"] for row in answer["rows"]] == ["f", "m", None]
    assert [row["kept"] for row in answer["rows"]] == [["Zoë"], ["b"], ["c"]]
    if ending == "csv":
        assert "semicolons" in answer["notes"][0]
        assert "decimal commas" in answer["notes"][0]


def test_files_that_cannot_be_read_are_refused():
    refused(upload("table", "a,b\n1,2\n"), 422, None, "none of the model's columns", "'lactate'")
    refused(upload("table", ""), 422, None, "is empty")
    refused(upload("table", "age\n"), 422)
    refused(upload("table", "age,age\n1,2\n"), 422, None, "'age'")
    refused(upload("series", "hour,pulse\n0,80\n"), 422, None, "patient")
    refused(upload("table", LINES, "a.csv.gz"), 422, None, "corrupted")
    refused(upload("table", b"\x00\x01\x02" * 99, "a.xlsx"), 422)
    answer = client("table").post("/read", content=LINES, headers={"Content-Type": "text/csv"})
    refused(answer, 415, "Content-Type", "application/octet-stream")


def test_large_files_are_refused_before_they_are_unpacked():
    small = {"limits": Limits(rows=3, bytes=10_000)}
    refused(upload("table", "age\n" + "1\n" * 9, **small), 413, None, "more than 3 rows")
    refused(upload("table", "age\n" + "1\n" * 9000, **small), 413)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/worksheets/sheet1.xml", b"0" * 5_000_000)
    assert len(packed.getvalue()) < 10_000
    answer = upload("table", packed.getvalue(), "a.xlsx", **small)
    refused(answer, 413, None, "when it is unpacked")
    packed = gzip.compress(b"age\n" + b" " * 5_000_000)
    refused(upload("table", packed, "a.csv.gz", **small), 413, None, "when it is unpacked")
