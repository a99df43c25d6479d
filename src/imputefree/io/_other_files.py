"""Files that are not tables, or tables of a kind that is not read, known by how they begin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ._file_rows import unreadable

BEGINS = {
    b"%PDF": "a PDF document",
    b"{\\rtf": "an RTF document",
    b"$FL2": "an SPSS file",
    b"$FL3": "an SPSS file",
    b"<stata_dta>": "a Stata file",
    b"HEADER RECORD*******": "a SAS transport file",
    b"SQLite format 3": "a database",
    b"ARROW1": "a Feather file",
    b"\x93NUMPY": "a NumPy file",
    b"\x89HDF": "an HDF5 file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}
PAGE = re.compile(rb"<(!doctype|\?xml|html|head|body|table|script|workbook)\b", re.IGNORECASE)
JSON = re.compile(rb'[\[{]\s*(["{\[]|\r?\n)')
RULED = re.compile(rb"[-+|=: ]*[-=]{3}[-+|=: ]*")  # +----+----+ and |---|---|
INSIDE_ZIP = {"word/": "a Word document", "content.xml": "an OpenDocument file"}
REMEDY = "Save it as CSV or .xlsx"


def refuse_other_kinds(path: Path, begin: bytes) -> None:
    """An InputError for a file that begins as no CSV file does."""
    kind = next((kind for mark, kind in BEGINS.items() if begin.startswith(mark)), None)
    text = begin[:2000].removeprefix(b"\xef\xbb\xbf").lstrip()
    if kind is None and PAGE.match(text):
        kind = "a page of HTML or XML"
    if kind is None and JSON.match(text):
        kind = "JSON"
    if kind is None and any(RULED.fullmatch(line.strip()) for line in text.splitlines()[:3]):
        kind = "a table drawn with lines"
    if kind is not None:
        raise unreadable(path, f"is {kind}, not CSV", REMEDY)


def refuse_documents(path: Path, members: Sequence[str]) -> None:
    """An InputError for a zip file that is a document with these members."""
    for begin, kind in INSIDE_ZIP.items():
        if any(name.startswith(begin) for name in members):
            raise unreadable(path, f"is {kind}", REMEDY)
