"""Files of users: CSV in any state, compressed, and Excel; read whole, and checked by `check`."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tempfile
import warnings
import zipfile
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from imputefree import read_table
from imputefree.errors import ImputefreeError
from imputefree.workflow import Request, check_problem, read_problem
from tests.io.dirty_files import dirty_files

from ._bytes import Generator, chance, damaged, pick
from ._frame import Broken, Case, Limits, Target

MB = 2**20
TOKENS = [
    *(b'"', b'""', b'"\n', b"'", b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b"\n\n", b" "),
    *(b"\0", b"\xff", b"\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x1a", b"\x1b[31m"),
    *(b"sep=;\n", b"inf", b"-inf", b"nan", b"1e400", b"-9", b"9" * 400, b"a" * 3000, b"#"),
    *("é".encode(), "é".encode("cp1252"), "имя".encode("cp1251"), "\u2028".encode()),
    *("\U0001f600".encode(), b"\xed\xa0\x80"),  # a smile; half a character, as UTF-16 has them
]
CELLS = [
    "?",
    "NA",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "-1e400",
    "1e-400",
    "0x10",
    "1_000",
    "+",
    "-",
    ".",
    ",",
    "1.2.3",
    "1,2,3",
    "1,234,567.89",
    "1.234,5",
    "<0.5",
    ">",
    "%",
    "€",
    "true",
    "FALSE",
    "yes",
    "None",
    "2024-02-30",
    "31.12.2024",
    "12/31/2024",
    "2024-01-01T00:00Z",
    "20240101",
    "99991231",
    "0001-01-01",
    "262143-01-01",
    "10:30",
    "007",
    "-0",
    "٣",
    "½",
    "１２",
    "−5",
    "=1+1",
    "=HYPERLINK(1)",
    "<script>",
    "\x7f",
    "\\",
    "5%",
]
CELLS += ["", " ", "5 %", "1 €", "01 Jan 24", "1\u00a0000", "5 mmHg", "6 kPa", "\x1b[2J"]
CELLS += ["a\u200bb", "\ufeff", "e\u0301", "x" * 300, "9" * 25, "9" * 5000, "1" + "0" * 400]
NAMES = [
    "a",
    "b",
    "c",
    "1",
    "y",
    "y",
    "date",
    "id",
    "__index_level_0__",
    "*",
    "é",
    "days",
    "nan",
    "None",
    "=1",
    "index",
    "level_0",
    "\x1b[2J",
]
NAMES += ["", " ", "a b", "Unnamed: 0", "a: days", "x" * 300]
ENCODINGS = ["utf-8"] * 4 + ["utf-8-sig", "cp1252", "latin-1", "utf-16", "utf-16-le", "utf-16-be"]
RARE = ["utf-32", "cp1251", "gb18030", "mac_roman", "utf-7"]
ENDINGS = [
    "x.csv",
    "x",
    "x.tsv",
    "x.txt",
    "x.csv.gz",
    "x.zip",
    "x.xlsx",
    "x.parquet",
    "x.bz2",
    "x.xz",
    "x.zst",
    "x.tar",
]
PLACES = ("x", "column", "sep", "decimal", "encoding", "missing", "columns", "target")  # of errors


def _zipped(content: bytes, name: str = "x.csv", more: int = 0) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(more + 1):
            archive.writestr(f"{number or ''}{name}", content)
    return packed.getvalue()


PACK = {"x.csv.gz": gzip.compress, "x.bz2": bz2.compress, "x.xz": lzma.compress, "x.zip": _zipped}


class Attack(Target):
    """Recipes: name and content (bytes as latin-1) of a file, the door, and options of it.

    size, columns : bytes and separators in the first line, before the content was compressed
    """

    name = "csv_files"
    full = 5000

    def __init__(self) -> None:
        for case in ({"door": "check", "options": {"target": "a"}}, {"door": "read_table"}):
            with suppress(ImputefreeError):  # so that no case pays for imports
                self.attack({"name": "x.csv", "content": "a,b\n1,2\n0,2\n", "options": {}} | case)

    @cached_property
    def seeds(self) -> list[bytes]:
        """Small files, honest and dirty; workbooks are damaged inside (`_workbook`)."""
        contents = [file.content for file in dirty_files()]
        return [content for content in contents if len(content) < 20_000]

    @cached_property
    def workbook(self) -> bytes:
        return next(file.content for file in dirty_files() if file.name == "book typed.xlsx")

    def make(self, rng: Generator) -> Case:
        kind = rng.random()
        if kind < 0.3:
            content = self._retyped(pick(rng, self.seeds), rng)
        elif kind < 0.45:
            content = damaged(pick(rng, self.seeds), rng, TOKENS, pick(rng, self.seeds))
        elif kind < 0.88:
            content = self._written(rng)
            if chance(rng, 0.2):
                content = damaged(content, rng, TOKENS, pick(rng, self.seeds))
        elif kind < 0.95:
            content = self._bomb(rng)
        else:
            content = self._broken_workbook(rng)
        columns = max(map(content[:100_000].partition(b"\n")[0].count, b",;\t| "))
        size, name = len(content), pick(rng, ENDINGS[: 4 if chance(rng, 0.95) else None])
        if chance(rng, 0.15):
            name = pick(rng, list(PACK))
            content = PACK[name](content)
            if chance(rng, 0.3):
                content = damaged(content, rng, other=pick(rng, self.seeds), most=2)
        case = {"name": name, "content": content.decode("latin-1"), "size": max(size, len(content))}
        case["columns"] = columns
        if chance(rng, 0.15) and size < MB:
            return case | {"door": "check", "options": {"target": self._column(content, rng)}}
        return case | {"door": "read_table", "options": self._options(content, rng)}

    # ---- making
    def _retyped(self, content: bytes, rng: Generator) -> bytes:
        """Some cells replaced by others."""
        end = b"\r\n" if b"\r\n" in content else b"\n"
        lines = content.split(end)
        sep = max([b",", b";", b"\t", b"|"], key=lines[0].count)
        for _ in range(int(rng.integers(1, 10))):
            at = int(rng.integers(chance(rng, 0.9), len(lines) + 1)) - 1
            cells = lines[at].split(sep)
            cell = pick(rng, CELLS if at else NAMES).encode().replace(sep, b"")
            cells[int(rng.integers(len(cells)))] = cell
            lines[at] = sep.join(cells)
        return end.join(lines)

    def _written(self, rng: Generator) -> bytes:
        """A file by its grammar: columns of one kind of cell each, with oddities among them."""
        n_rows, n_columns = int(rng.integers(0, 30)), int(rng.integers(1, 7))
        if chance(rng, 0.01):
            n_columns = 300
        sep, end = pick(rng, [",", ",", ";", "\t", "|", " "]), pick(rng, ["\n", "\n", "\r\n", "\r"])
        header = [pick(rng, NAMES) if chance(rng, 0.2) else f"c{j}" for j in range(n_columns)]
        columns = [self._cells(rng, n_rows) for _ in header]
        rows = [header, *map(list, zip(*columns, strict=True))]
        if chance(rng, 0.1) and n_rows:
            row = pick(rng, rows)
            row[:] = row[:-1] if chance(rng, 0.5) else [*row, pick(rng, CELLS)]
        if chance(rng, 0.05):
            rows.insert(int(rng.integers(n_rows + 1)), header)
        quote = pick(rng, ['"', '"', "'", ""])
        quoted = pick(rng, [0.0, 0.1, 1.0])
        lines = [sep.join(self._quoted(cell, sep, quote, rng, quoted) for cell in r) for r in rows]
        text = pick(rng, ["", "", "", "sep=;\n", "\n\n", "# a comment\n"]) + end.join(lines)
        text += pick(rng, ["", end, end * 3])
        encoding = pick(rng, RARE if chance(rng, 0.1) else ENCODINGS)
        return text.encode(encoding, pick(rng, ["replace", "ignore"]))

    def _cells(self, rng: Generator, n: int) -> list[str]:
        match int(rng.integers(7)):
            case 0:
                cells = [repr(v) for v in rng.normal(size=n).round(3).tolist()]
            case 1:
                cells = [str(v) for v in rng.integers(-9, 99, n).tolist()]
            case 2:
                cells = [pick(rng, ["a", "b", "c d"]) for _ in range(n)]
            case 3:
                style = pick(rng, ["{0}.{1}.20{2}", "20{2}-{1}-{0}", "{1}/{0}/{2}", "20{2}{1}{0}"])
                cells = [
                    style.format(*map("{:02}".format, rng.integers(1, 33, 3))) for _ in range(n)
                ]
            case 4:
                style = pick(
                    rng, ["{} mmHg", "${}", "{} %", "{},5", "1.{}", "<{}", "{}e3", "{},000"]
                )
                cells = [style.format(v) for v in rng.integers(0, 999, n).tolist()]
            case 5:
                cells = [pick(rng, CELLS)] * n
            case _:
                cells = [pick(rng, CELLS) for _ in range(n)]
        odd = pick(rng, [0.0, 0.0, 0.1])
        return [pick(rng, CELLS) if chance(rng, odd) else cell for cell in cells]

    def _quoted(self, cell: str, sep: str, quote: str, rng: Generator, share: float) -> str:
        needed = sep in cell and not chance(rng, 0.02)
        if quote and (needed or chance(rng, share)):
            return quote + cell.replace(quote, 2 * quote) + quote
        return cell.replace(sep, "") if needed else cell

    def _bomb(self, rng: Generator) -> bytes:
        """Much of something, up to 5 MB."""
        unit = pick(rng, [b"a", b"\0", b'"', b'"\n', b"1,2\n", b"\n", b",", b"\r", b'x,"', b"\xff"])
        begin = pick(rng, [b"", b"a,b\n", b'a,b\n1,"', b'"', b"a;b\n1;2\n", b"\xff\xfe"])
        return begin + unit * (int(10 ** rng.uniform(3, 6.7)) // len(unit))

    def _broken_workbook(self, rng: Generator) -> bytes:
        """A workbook with one of its parts damaged, in a sound archive."""
        made = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(self.workbook)) as book:
            parts = {name: book.read(name) for name in book.namelist()}
        name = pick(rng, list(parts))
        tokens = [b"<", b">", b'"', b"&", b"&amp;", b"&#0;", b"1e400", b"-1", b"A1048577", b"XFE1"]
        tokens += [b'<!DOCTYPE x [<!ENTITY a "aaaa">]>', b"&a;", b'r="9999999"', b't="s"', b't="d"']
        parts[name] = damaged(parts[name], rng, tokens, pick(rng, list(parts.values())))
        if chance(rng, 0.1):
            del parts[name]
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as book:
            for name, part in parts.items():
                book.writestr(name, part)
        return made.getvalue()

    def _column(self, content: bytes, rng: Generator) -> str:
        names = content[:200].decode("latin-1").splitlines()[:1] or [""]
        return pick(rng, [*names[0].replace(";", ",").split(","), "c0", "c1", "ward"])

    def _options(self, content: bytes, rng: Generator) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if chance(rng, 0.3):
            options["target"] = self._column(content, rng)
        if chance(rng, 0.05):
            options["sep"] = pick(rng, [",", ",", ";", "tab", "", "ab", "\n", "é", "\0", " ", "."])
        if chance(rng, 0.05):
            options["decimal"] = pick(rng, [".", ".", ",", ",", ";", ""])
        if chance(rng, 0.1):
            odd = ["no such", "", "hex", "rot13", "idna", "\0"]
            options["encoding"] = pick(rng, [*ENCODINGS, *RARE, *odd])
        if chance(rng, 0.1):
            column = self._column(content, rng)
            options["missing"] = pick(
                rng, [[-9], ["?", 0.5], {column: [0]}, {"*": ["a"]}, [None], []]
            )
        if chance(rng, 0.1):
            kinds = ["number", "category", "date", "drop", "key", "nonsense", {"kind": "number"}]
            kinds += [
                {"missing": [1]},
                {"kind": "date", "format": "%Q"},
                None,
                {"no": "such"},
                3,
                [],
            ]
            options["columns"] = {self._column(content, rng): pick(rng, kinds)}
        return options

    # ---- attacking
    def limits(self, case: Case) -> Limits:
        """Every file is read twice, and there are two frames; rows of two bytes take longest."""
        seconds = 2 + 8 * case["size"] / (10 * MB) + 0.02 * case.get("columns", 10)
        return Limits(seconds, memory=15 * case["size"] + 50 * MB)

    def attack(self, case: Case) -> str:
        content = case["content"].encode("latin-1")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                if case["door"] == "check":
                    self._check(case["name"], content, case["options"])
                else:
                    self._read(case["name"], content, case["options"])
        except ImputefreeError as error:
            if not any(place in str(error) for place in PLACES):
                raise Broken(f"names no place: {error}") from error
            raise
        return "answered"

    def _check(self, name: str, content: bytes, options: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(content)
            problem = read_problem(Request(path, output=Path(folder) / "m", **options))
            for trap in check_problem(problem):
                trap.to_dict()

    def _read(self, name: str, content: bytes, options: dict[str, Any]) -> None:
        frame, understood = read_table(content, name=name, **options)
        str(understood)
        if not len(frame):
            raise Broken("a frame without rows")
        for column in frame:
            check_cells(column, frame[column])
        options = {
            key: value for key, value in options.items() if key not in ("missing", "columns")
        }
        again, _ = read_table(content, name=name, columns=understood, **options)
        if not again.equals(frame):
            raise Broken("read as it was understood, the same file gives another frame")


def check_cells(name: Any, cells: Any) -> None:
    """Numbers as floats, categories as strings, gaps as NaN or None."""
    if not isinstance(name, str):
        raise Broken(f"a column is named {name!r}")
    if cells.dtype.kind in "fiub":
        return
    wrong = [
        cell for cell in cells if not isinstance(cell, str) and not (cell is None or cell != cell)
    ]
    if wrong and not all(isinstance(cell, int | float | np.number) for cell in wrong):
        raise Broken(f"column {name!r} holds {wrong[0]!r}")
