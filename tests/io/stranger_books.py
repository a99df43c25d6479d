"""Workbooks and other files as strangers send them, each with what should come out of it."""

from __future__ import annotations

import datetime
import io
import zipfile
from decimal import Decimal

import numpy as np
import openpyxl
import pandas as pd
import pyarrow
from pyarrow import parquet

from tests.io.dirty_files import Dirty
from tests.io.stranger_files import AGES, DAYS, GAP, SIZES, cycled, dates, frame_of

HOURS = [8.5, 14.25, 0.0, 23.25, 6.75, 19.5, 11.0, 3.25]


def _book(*sheets: tuple[str, list], **how) -> bytes:
    """Sheets with rows; hidden: titles that do not show; merged: areas of the last sheet."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
        if title in how.get("hidden", ()):
            sheet.sheet_state = "hidden"
    for area in how.get("merged", ()):
        sheet.merge_cells(area)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _rows(columns: dict[str, list]) -> list:
    """A row of names, then the rows, with classes."""
    columns = columns | {"class": ["a", "b"]}
    return [[*columns], *map(list, zip(*map(cycled, columns.values()), strict=True))]


def _meaning(columns: dict[str, list]) -> pd.DataFrame:
    return frame_of(columns | {"class": ["a", "b"]})


def _books() -> list[Dirty]:
    plain = {"n": AGES, "m": SIZES}
    rows, frame = _rows(plain), _meaning(plain)
    notes = [["This file was made by the registry."], ["Ask the office for questions."], ["2024"]]
    clock = [datetime.time(int(h), round(h % 1 * 60)) for h in HOURS]
    spans = [datetime.timedelta(hours=h * 3) for h in HOURS]
    written = [d.to_pydatetime() if i % 3 else f"{d:%d.%m.%Y}" for i, d in enumerate(DAYS)]
    ward = [
        [*row[:2], word]
        for row, word in zip(rows, ["ward", *["B", None, None, None] * 6], strict=True)
    ]
    two = [["blood", None, "urine", None, "class"], ["Na", "K", "Na", "K", None]]
    two += [[v, v + 1, v + 2, v + 3, "ab"[v % 2]] for v in AGES]
    beside = [
        [*row, None, *other]
        for row, other in zip(
            rows, [["x", "y"], *[[v, v] for v in AGES[:9]], *[[None, None]] * 15], strict=True
        )
    ]
    formulas = [[*row, "bmi" if i == 0 else f"=B{i + 1}/A{i + 1}"] for i, row in enumerate(rows)]
    return [
        Dirty("notes first.xlsx", _book(("Read me", notes), ("Data", rows)), frame),
        Dirty(
            "hidden first.xlsx",
            _book(("old", _rows({"n": AGES[::-1]})), ("new", rows), hidden=["old"]),
            frame,
        ),
        Dirty(
            "merged cells.xlsx",
            _book(("A", ward), merged=[f"C{i}:C{i + 3}" for i in range(2, 25, 4)]),
            refused=("merged", "Unmerge"),
        ),
        Dirty(
            "two rows of names.xlsx",
            _book(("A", two), merged=["A1:B1", "C1:D1"]),
            refused=("Remove the second row",),
            whole=True,
        ),
        Dirty("clock.xlsx", _book(("A", _rows({"at": clock}))), _meaning({"at": HOURS})),
        Dirty(
            "spans.xlsx",
            _book(("A", _rows({"took": spans}))),
            _meaning({"took": [3 * h for h in HOURS]}),
        ),
        Dirty(
            "clock among strings.xlsx",
            _book(("A", _rows({"at": [*clock[:4], "06:45", "19:30", "11:00", "3:15"]}))),
            _meaning({"at": HOURS}),
        ),
        Dirty(
            "no values of formulas.xlsx",
            _book(("A", formulas)),
            refused=("formulas that were never computed", "save it"),
        ),
        Dirty(
            "errors.xlsx",
            _book(("A", _rows({"n": AGES, "m": [*SIZES[:7], "#DIV/0!"]}))),
            _meaning({"n": AGES, "m": [*SIZES[:7], GAP]}),
        ),
        Dirty(
            "dates among strings.xlsx",
            _book(("A", _rows({"day": written}))),
            _meaning(dates("day", DAYS)),
        ),
        Dirty(
            "tables side by side.xlsx",
            _book(("A", beside)),
            refused=("two tables", "Save each"),
            whole=True,
        ),
        Dirty(
            "truth.xlsx",
            _book(("A", _rows({"yes": [True, False, None, True], "n": AGES}))),
            _meaning({"yes": [1.0, 0.0, GAP, 1.0], "n": AGES}),
        ),
        Dirty(
            "strings among numbers.xlsx",
            _book(("A", _rows({"m": ["3,5", 12.25, 7, "41,5", 5.75, 18], "n": AGES}))),
            _meaning({"m": [3.5, 12.25, 7, 41.5, 5.75, 18], "n": AGES}),
        ),
        Dirty(
            "codes of cells.xlsx",
            _book(("A", _rows({"age": [*AGES[:7], -9], "m": SIZES}))),
            _meaning({"age": [*AGES[:7], GAP], "m": SIZES}),
        ),
    ]


def _parquet(columns: dict[str, pyarrow.Array]) -> bytes:
    content = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), content)
    return content.getvalue()


def _typed() -> list[Dirty]:
    """Parquet files."""
    classes = pyarrow.array(cycled(["a", "b"]))
    clock = pyarrow.array(cycled([datetime.time(int(h), round(h % 1 * 60)) for h in HOURS]))
    spans = pyarrow.array(cycled([datetime.timedelta(hours=h) for h in HOURS]))
    money = pyarrow.array(cycled([Decimal(str(v)) for v in SIZES]))
    few = pyarrow.array(cycled([1, None, 3, 4, 8])), pyarrow.array(cycled([True, None, False]))
    typed = {
        "n": few[0],
        "yes": few[1],
        "m": money,
        "ward": pyarrow.array(cycled(["B", "C", None])).dictionary_encode(),
    }
    meaning = {"n": [1, GAP, 3, 4, 8], "yes": [1, GAP, 0], "m": SIZES, "ward": ["B", "C", None]}
    return [
        Dirty(
            "times.parquet",
            _parquet({"at": clock, "took": spans, "class": classes}),
            _meaning({"at": HOURS, "took": HOURS}),
        ),
        Dirty("typed.parquet", _parquet({**typed, "class": classes}), _meaning(meaning)),
    ]


def _others() -> list[Dirty]:
    """Files that are not tables at all, or not of a kind that is read."""
    cells = "".join(
        f"<tr><td>{v}</td><td>{w}</td></tr>\n" for v, w in zip(AGES, SIZES, strict=True)
    )
    page = f"<html><head><title>x</title></head>\n<body><table>\n{cells}</table></body></html>\n"
    name = "urn:schemas-microsoft-com:office:spreadsheet"
    xml = f'<?xml version="1.0"?>\n<Workbook xmlns="{name}">\n{cells}</Workbook>\n'
    numbers = io.BytesIO()
    np.save(numbers, np.array(SIZES))
    files = {
        "page.xls": page.encode(),
        "xml.xls": xml.encode(),
        "page.csv": page.encode(),
        "calc.ods": _packed(
            {
                "mimetype": b"application/vnd.oasis.opendocument.spreadsheet",
                "content.xml": cells.encode(),
            }
        ),
        "letter.docx": _packed(
            {"[Content_Types].xml": b"<Types/>", "word/document.xml": cells.encode()}
        ),
        "paper.pdf": b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n" + bytes(range(256)) * 4,
        "study.sav": b"$FL2@(#) SPSS DATA FILE" + bytes(60) + b"\x02\x00\x00\x00" * 40,
        "study.dta": b"<stata_dta><header><release>118</release>" + bytes(300),
        "data.sqlite": b"SQLite format 3\x00" + bytes(400),
        "data.feather": b"ARROW1\x00\x00" + bytes(range(200)) * 2,
        "data.npy": numbers.getvalue(),
    }
    return [Dirty(name, content, refused=("Save it as",)) for name, content in files.items()]


def _packed(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, file in files.items():
            archive.writestr(name, file)
    return content.getvalue()


def books() -> list[Dirty]:
    """All of them."""
    return [*_books(), *_typed(), *_others()]
