"""Excel workbooks: the sheet that is named, or the first that holds a table."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from ..errors import InputError, closest, require_extra, shorten
from ._file_rows import NAMES_AGAIN, RawRows, Reader, are_names, column_names, unreadable
from ._not_data import MOST_ABOVE, are_title, said_above
from ._understood import FileFormat

OLD = b"\xd0\xcf\x11\xe0"  # how .xls files begin
# A sheet has at most so many cells, empty ones among filled ones included, as files of some bytes
# can say that their only cell is the last one of a million rows.
CHARACTERS = 100  # of a sheet's text per cell, as far as it is looked at
MERGED = re.compile(rb'<mergeCell [^>]*ref="([A-Z]+[0-9]+:[A-Z]+([0-9]+))"')
UNCOMPUTED = re.compile(
    rb'<c r="([A-Z]+[0-9]+)"[^>]*>\s*<f[^>]*(?:/>|>[^<]{0,99}</f>)\s*(?:<v\s*/>|<v></v>|</c>)'
)
FEWEST_CELLS, CELLS_PER_BYTE = 2**21, 10
NO_CELLS = "has no sheet with cells"


def is_workbook(raw: IO[bytes]) -> bool:
    """Whether a file is an Excel workbook, whatever its name says."""
    if not raw.seekable():
        return False
    begin = raw.read(4)
    raw.seek(0)
    if begin == OLD:
        return True
    if begin != b"PK\x03\x04":
        return False
    try:
        names = zipfile.ZipFile(raw).namelist()
    except zipfile.BadZipFile:
        names = []
    raw.seek(0)
    return any(name.startswith("xl/") for name in names)


class ExcelRows(Reader):
    """One sheet of a workbook: the one named, or the first that shows and holds a table.

    Rows are counted as in Excel. Cells have the types of Excel: numbers, strings, truth values and
    dates.
    """

    def __init__(self, path: Path, raw: IO[bytes], sheet: str | None = None) -> None:
        require_extra("excel", "openpyxl")
        import openpyxl

        try:
            book = openpyxl.load_workbook(raw, read_only=True, data_only=True)
            most = FEWEST_CELLS + CELLS_PER_BYTE * raw.seek(0, io.SEEK_END)
            sheets = {each.title: _rows_of(each, most) for each in _wanted(book, sheet, path)}
            filled = {title: rows for title, rows in sheets.items() if rows}
        except InputError:
            raise
        except Exception as error:  # whatever a damaged or an old workbook leads to
            fact = f"is not an Excel workbook that can be read ({error})"
            raise unreadable(path, fact, "Save it as .xlsx or as CSV") from None
        if not filled:
            raise unreadable(path, f"has no cells in sheet {sheet!r}" if sheet else NO_CELLS)
        tables = [title for title, rows in filled.items() if len(rows) > 1 and len(rows[0]) > 1]
        title = next(iter([*tables, *filled]))
        rows = filled[title]
        rest = [other for other in filled if other != title]
        others = f"other sheets not read: {shorten(rest, 3)} (--sheet)" * bool(rest)
        first = next(i for i, row in enumerate(rows) if any(_known(row)))
        width, begin = len(rows[first]), first
        while first < len(rows) - 1 and are_title(rows[first], width):
            first += 1
        names, cells = rows[first], rows[first + 1 :]
        if first - begin > MOST_ABOVE or are_title(names, width):
            fact = f"has {sum(_known(rows[begin]))} of {width} column names in row {begin + 1}"
            remedy = "Remove what is above the row of column names"
            raise unreadable(path, f"{fact} of sheet {title!r}", remedy)
        _refuse_odd_cells(book[title], first + 1, CHARACTERS * most, path)
        unread = ", ".join(filter(None, (said_above(first - begin, "row"), others)))
        form = FileFormat(path.name, "Excel", sheet=title, unread=unread)
        super().__init__(path, column_names("" if n is None else str(n) for n in names), form)
        lines = {i: row for i, row in enumerate(cells, first + 2) if any(_known(row))}
        again = [i for i, row in lines.items() if row == names] if are_names(self.names) else []
        self._wrong = {i: NAMES_AGAIN for i in again if lines.pop(i)}
        self._lines, self._cells = np.array([*lines], dtype=int), [*lines.values()]

    def rows(self, kinds: Mapping[str, str]) -> Iterator[RawRows]:
        """All rows, once."""
        numbers = {name: j for j, name in enumerate(self.names)}
        columns = {name: [row[numbers[name]] for row in self._cells] for name in kinds}
        frame = pd.DataFrame(columns, index=range(len(self._cells)), dtype=object)
        frame = frame.where(frame.notna() & (frame != ""), None)
        yield RawRows(frame, self._lines, self._wrong)


def _wanted(book: Any, title: str | None, path: Path) -> list[Any]:
    """The sheet of this title, or all that show; hidden ones if there are no others."""
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if title is None:
        return [s for s in sheets.values() if s.sheet_state == "visible"] or [*sheets.values()]
    if title not in sheets:
        fact, rule = f"{path} has no sheet {title!r}", f"Its sheets are {shorten([*sheets], 20)}"
        raise InputError(fact, rule, closest(title, [*sheets]) or "Name one of them (--sheet)")
    return [sheets[title]]


def _refuse_odd_cells(sheet: Any, header: int, most: int, path: Path) -> None:
    """Refuse cells below the names that hold no value of their own: merged or never computed.

    openpyxl does not tell them: they are in the sheet's own text, of which at most so many bytes
    are looked at.
    """
    area = formula = rest = b""
    done = 0
    with sheet._get_source() as text:
        while done < most and (new := text.read(2**20)):
            piece, done = rest + new, done + len(new)
            areas = (m[1] for m in MERGED.finditer(piece) if int(m[2]) > header)
            cells = (c[1] for c in UNCOMPUTED.finditer(piece) if b't="str"' not in c[0])
            area, formula = area or next(areas, b""), formula or next(cells, b"")
            rest = piece[-200:]
    of_sheet = f"of sheet {sheet.title!r}"
    if area:
        fact = f"has merged cells below the column names, such as {area.decode()} {of_sheet}"
        raise unreadable(path, fact, "Unmerge them, and fill each cell")
    if formula:
        fact = f"has formulas that were never computed, such as in {formula.decode()} {of_sheet}"
        raise unreadable(path, fact, "Open it in a spreadsheet program, and save it")


def _rows_of(sheet: Any, most: int) -> list[tuple[Any, ...]]:
    """The rows of a sheet up to the last that holds anything, as tuples of one length.

    More cells than `most` are a ValueError.
    """
    sheet.reset_dimensions()  # they may be wrong
    rows, width, last, cells = [], 0, 0, 0
    for row in sheet.iter_rows(values_only=True):
        rows.append(row)
        filled = [j for j, known in enumerate(_known(row), 1) if known]
        if filled:
            width, last = max(width, filled[-1]), len(rows)
        cells += 1 + len(row)
        if max(cells, width * last) > most:
            raise ValueError(f"sheet {sheet.title!r} has more than {most:,} cells")
    return [(*row[:width], *[None] * (width - len(row))) for row in rows[:last]]


def _known(row: tuple[Any, ...]) -> list[bool]:
    return [cell is not None and cell != "" for cell in row]
