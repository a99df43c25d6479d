"""Small dirty files, each with the frame that should come out, or why it must be refused.

Every trap is a column, or a way to write a file. Each occurs alone, and all of them together in
every dialect.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import zipfile
from dataclasses import dataclass, field

import numpy as np
import openpyxl
import pandas as pd

N = 40
ENCODINGS = ("utf-8", "utf-8-sig", "cp1252", "latin-1", "utf-16", "utf-16-le", "utf-16-be")
SEPARATORS = {",": ".", ";": ",", "\t": ",", "|": "."}  # with the decimal mark to try beside them
GAP = np.nan
EXCEL = pd.Timestamp("1899-12-30")
MONTHS = ["", "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September"]


@dataclass
class Trap:
    """A column: how its cells are written, with points before decimals, and what they mean.

    meaning : the columns that should come out, {} if it should be dropped
    """

    cells: list[str]
    meaning: dict[str, list] = field(default_factory=dict)
    plain: bool = True  # whether marks in it are those of numbers, which dialects change


@dataclass
class Dirty:
    """A file.

    refused : words of the error that is due, in place of a frame
    whole : whether only the whole table shows it, so that it is refused before a fit
    """

    name: str
    content: bytes
    frame: pd.DataFrame | None = None
    refused: tuple[str, ...] = ()
    whole: bool = False


def _spread(seed: int, low: float, high: float, digits: int = 0) -> list:
    values = np.random.default_rng(seed).uniform(low, high, N)
    return np.round(values, digits).tolist() if digits else np.round(values).astype(int).tolist()


def _with(cells: list, word: str, every: int = 9, value=GAP) -> tuple[list[str], list[float]]:
    """Numbers of which every ninth is a word."""
    strings = [word if i % every == 4 else str(cell) for i, cell in enumerate(cells)]
    return strings, [value if i % every == 4 else float(cell) for i, cell in enumerate(cells)]


def _number(name: str, cells: list, word: str, **how) -> Trap:
    strings, values = _with(cells, word, **how)
    return Trap(strings, {name: values})


def _traps() -> dict[str, Trap]:
    days = pd.Timestamp("2024-01-15") + pd.to_timedelta(_spread(1, 0, 250), unit="D")
    parts = {
        "days": ((days - days.min()) / pd.Timedelta(days=1)).tolist(),
        "month": days.month.astype(float).tolist(),
        "weekday": days.day_of_week.astype(float).tolist(),
    }
    made = lambda name: {f"{name}: {part}": values for part, values in parts.items()}  # noqa: E731
    wards = ["Köln", "Süd", "Ost"]
    area, rest = _spread(2, 600, 9000), _spread(28, 1, 99)
    traps = {
        f"code {code}": _number(f"code {code}", _spread(3, 20, 90), code)
        for code in ("-9", "-99", "-999", "9999", "-9999", "99999")
    }
    traps |= {
        f"word {k}": _number(f"word {k}", _spread(4 + k, 1, 9, 1), word)
        for k, word in enumerate(["?", "NA", "unknown", "n/a", ".", "#N/A", "-", "NULL", "missing"])
    }
    return traps | {
        "stray": _number("stray", _spread(20, 1, 9, 1), "hemolysed", every=30),
        "unit": Trap([f"{v} mmHg" for v in _spread(21, 90, 180)], {"unit": _spread(21, 90, 180)}),
        "percent": Trap([f"{v} %" for v in _spread(22, 1, 99)], {"percent": _spread(22, 1, 99)}),
        "money": Trap([f"€{v}" for v in _spread(23, 1, 99, 2)], {"money": _spread(23, 1, 99, 2)}),
        "bound": _number("bound", _spread(24, 0.5, 9, 2), "<0.5", value=0.5),
        "area": Trap([f"{v:,}" for v in area], {"area": area}),
        "grouped": Trap([f"{v * 1000:,}" for v in area], {"grouped": [v * 1000 for v in area]}),
        "minus": Trap(
            [f"−{v}" for v in _spread(25, 1, 99)], {"minus": [-v for v in _spread(25, 1, 99)]}
        ),
        "tiny": Trap(
            [f"{v}e-3" for v in _spread(26, 1, 9)], {"tiny": [v / 1000 for v in _spread(26, 1, 9)]}
        ),
        "truth": Trap(["TRUE", "false"] * (N // 2), {"truth": [1.0, 0.0] * (N // 2)}),
        "iso": Trap([str(day.date()) for day in days], made("iso"), False),
        "german": Trap([day.strftime("%d.%m.%Y") for day in days], made("german"), False),
        "american": Trap([day.strftime("%m/%d/%Y") for day in days], made("american"), False),
        "digits": Trap([day.strftime("%Y%m%d") for day in days], made("digits"), False),
        "spelled": Trap([day.strftime("%d %b %Y") for day in days], made("spelled"), False),
        "zip": Trap(
            ["01067", "50667", "80331", "04109"] * 10,
            {"zip": ["01067", "50667", "80331", "04109"] * 10},
            False,
        ),
        "ward": Trap((wards * N)[:N], {"ward": (wards * N)[:N]}, False),
        "ward?": Trap(
            (["Köln", "Süd", "?", "n/a"] * N)[:N],
            {"ward?": (["Köln", "Süd", None, None] * N)[:N]},
            False,
        ),
        "comma": Trap(
            (["left, up", "right; down", "a|b"] * N)[:N],
            {"comma": (["left, up", "right; down", "a|b"] * N)[:N]},
            False,
        ),
        "income": Trap(
            ["<=50K", ">50K"] * (N // 2), {"income": ["<=50K", ">50K"] * (N // 2)}, False
        ),
        "spaces": Trap([f"  {v} " for v in _spread(27, 1, 99)], {"spaces": _spread(27, 1, 99)}),
        "row": Trap([str(i + 1) for i in range(N)]),
        "patient_id": Trap([str(v) for v in np.random.default_rng(5).permutation(9000)[:N]]),
        "name": Trap([f"Frau Müller {i}" for i in range(N)], plain=False),
        "story": Trap([f"came in on day {i} with pain" for i in range(N)], plain=False),
        "constant": Trap(["7"] * N),
        "empty": Trap([""] * N),
        "franc": Trap([f"CHF {v:,}.-".replace(",", "'") for v in area], {"franc": area}, False),
        "dollar": Trap([f"USD {v:,}.50" for v in area], {"dollar": [v + 0.5 for v in area]}),
        "debit": Trap([f"{v}.5-" for v in rest], {"debit": [-v - 0.5 for v in rest]}),
        "flagged": Trap([f"{v}*" if v % 2 else str(v) for v in area], {"flagged": area}),
        "mixed NA": Trap(
            ["k.A.", "n/A", "nA", "—", *map(str, area[4:])],
            {"mixed NA": [GAP] * 4 + area[4:]},
            False,
        ),
        "yes": Trap((["ja", "nein", "JA", "Nein"] * N)[:N], {"yes": ["ja", "nein"] * (N // 2)}),
        "genes": Trap(
            (["AA", "Aa", "aa", "AA"] * N)[:N], {"genes": (["AA", "Aa", "aa", "AA"] * N)[:N]}
        ),
        "kept zeros": Trap(
            (['="007"', '="012"'] * N)[:N], {"kept zeros": ["007", "012"] * (N // 2)}, False
        ),
        "excel_date": Trap([str((d - EXCEL).days) for d in days], made("excel_date"), False),
        "month": Trap([f"{d.day}. {MONTHS[d.month]} 2024" for d in days], plain=False),
        "pressure": Trap([f"{v}/{v - 40}" for v in range(100, 100 + N)], plain=False),
        "shares": Trap([f"{v}%" if v % 2 else f"0.{v}" for v in range(10, 10 + N)]),
        "account": Trap([str(10**17 + 3 * v) for v in area]),
        "units": Trap([f"{90 + i} mmHg" if i % 2 else f"{10 + i} kPa" for i in range(N)]),
        "unclear": Trap([f"0{1 + i % 9}/0{1 + i % 7}/2024" for i in range(N)], plain=False),
    }


def _write(
    traps: dict[str, Trap], sep=",", decimal=".", encoding="utf-8", quote='"', end="\n", **how
) -> bytes:
    """The columns as a file."""
    swap = str.maketrans(".,", ",.") if decimal == "," else {}
    columns = [
        [
            cell.translate(swap) if trap.plain and cell not in (".", "n/a") else cell
            for cell in trap.cells
        ]
        for trap in traps.values()
    ]
    text = io.StringIO(newline="")
    kind = csv.QUOTE_ALL if how.get("all_quoted") else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=sep, quotechar=quote, lineterminator=end, quoting=kind)
    writer.writerow(traps)
    writer.writerows(zip(*columns, strict=True))
    return (how.get("before", "") + text.getvalue() + how.get("after", "")).encode(encoding)


def _frame(traps: dict[str, Trap]) -> pd.DataFrame:
    return pd.DataFrame({name: v for trap in traps.values() for name, v in trap.meaning.items()})


def dirty_files() -> list[Dirty]:
    """All of them."""
    every = _traps()
    few = {name: every[name] for name in ("spaces", "word 0", "ward", "money")}
    latin = {name: trap for name, trap in every.items() if "−" not in "".join(trap.cells)}
    files = []
    for name, trap in every.items():  # each alone, beside columns that show the decimal mark
        traps = {**few, name: trap}
        files.append(Dirty(f"{name} alone.csv".replace("/", ""), _write(traps), _frame(traps)))
    names = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
    turn = itertools.cycle(every)
    for (sep, other), encoding in itertools.product(SEPARATORS.items(), ENCODINGS):
        wide = encoding == "utf-8" and sep in ",;"  # all traps at once; elsewhere some in turn
        fitting = every if encoding.startswith("utf") else latin
        for decimal in sorted({".", other}):
            some = every if wide else dict.fromkeys(itertools.islice(turn, 5))
            traps = few | {name: every[name] for name in some if name in fitting}
            if encoding == "latin-1":
                del traps["money"]  # has no euro
                traps["bound"] = every["bound"]
            mark = "point" if decimal == "." else "comma"
            content = _write(traps, sep, decimal, encoding)
            files.append(Dirty(f"{names[sep]} {mark} {encoding}.csv", content, _frame(traps)))
    booked = {name: trap for name, trap in every.items() if name != "kept zeros"}  # a formula
    plain, quoted = _frame(few), {**few, "comma": every["comma"]}
    files += [
        Dirty("crlf.csv", _write(few, end="\r\n"), plain),
        Dirty("old line ends.csv", _write(few, end="\r"), plain),
        Dirty("no last line end.csv", _write(few).rstrip(), plain),
        Dirty("blank lines.csv", _write(few).replace(b"\n", b"\n\n"), plain),
        Dirty("all quoted.csv", _write(quoted, all_quoted=True), _frame(quoted)),
        Dirty("single quotes.csv", _write(quoted, quote="'", all_quoted=True), _frame(quoted)),
        Dirty("sep line.csv", _write(few, ";", ",", before="sep=;\n"), plain),
        Dirty("spaces after.csv", _write(few).replace(b",", b", "), plain),
        Dirty("trailing.csv", _write(few).replace(b"\n", b",\n"), plain),
        Dirty("packed.csv.gz", gzip.compress(_write(few, ";", ",", "cp1252")), plain),
        Dirty("packed without ending", gzip.compress(_write(few)), plain),
        Dirty("wrong ending.xlsx.csv", _workbook(booked), _frame(booked)),
        Dirty("book.xlsx", _workbook(booked), _frame(booked)),
        Dirty("book typed.xlsx", _workbook(few, typed=True), plain),
    ]
    lakh = {"grouped": Trap([f"{v},20,300" for v in range(20, 20 + N)])}
    lakh["grouped"].meaning = {"grouped": [v * 10**5 + 20300 for v in range(20, 20 + N)]}
    files += [
        Dirty("lakh.csv", _write(few | lakh), _frame(few | lakh)),
        Dirty("comments.csv", _write(few, before="# of 2024\n# by lab, v2\n"), plain),
        Dirty("title.csv", _write(few, ";", ",", before="Export, 2024\n\n"), plain),
        Dirty("wide title.csv", _write(few, ";", ",", before="Export;;;\n;;;\n"), plain),
        Dirty("name in two lines.csv", _write(few).replace(b"word 0", b'"word\n0"', 1), plain),
        Dirty("packed.zip", _zip({"a.csv": _write(few), "__MACOSX/._a.csv": b"x"}), plain),
        Dirty("title.xlsx", _workbook(few, above=[["Export of 2024"], []]), plain),
    ]
    numbers = {"age": Trap([str(v) for v in _spread(30, 20, 90)])} | {"bp": every["code -9"]}
    body = _write(numbers | {"ward": every["ward"]})
    head, _, rows = body.partition(b"\n")
    sums = b"%d,99999,Gesamt\n" % sum(_spread(30, 20, 90))
    means = b"%.1f,99999,Mittelwert\n" % (sum(_spread(30, 20, 90)) / len(_spread(30, 20, 90)))
    totals = ("last row", "totals", "Remove that row")
    second = ("first row", "below the column names", "Remove the second row")
    mark = ("has one column", "--sep")
    files += [
        Dirty("total.csv", body + sums, refused=totals, whole=True),
        Dirty("mean.csv", body + means, refused=totals, whole=True),
        Dirty(
            "total.xlsx",
            _workbook(
                {"a": Trap(["1", "2", "3"] * 3 + ["18"]), "b": Trap(["4", "5", "9"] * 3 + ["54"])},
                typed=True,
            ),
            refused=totals,
            whole=True,
        ),
        Dirty("units below.csv", head + b"\nyears,mmHg,\n" + rows, refused=second, whole=True),
        Dirty("two headers.csv", b"Patient,,ward\n" + body, refused=second, whole=True),
        Dirty(
            "note below.csv",
            body + b"Quelle: Labor,,\n",
            refused=("and nothing else", "Remove"),
            whole=True,
        ),
        Dirty("spaces.txt", body.replace(b",", b" "), refused=mark),
        Dirty("colons.csv", body.replace(b",", b":"), refused=mark),
        Dirty(
            "no name for rows.csv",
            head
            + b"\n"
            + b"".join(b"%d,%s\n" % (i, row) for i, row in enumerate(rows.splitlines())),
            refused=("a name is missing",),
        ),
        Dirty(
            "two encodings.csv",
            body + "50,60,Süd\n".encode("cp1252"),
            refused=("is not UTF-8", "Correct"),
        ),
        Dirty("two.zip", _zip({"a.csv": body, "b.csv": body}), refused=("holds 2 files", "Unpack")),
        Dirty("book.zip", _zip({"a.xlsx": _workbook(few)}), refused=("is not CSV", "Unpack")),
    ]
    short = _write(few).replace(b"\n", b"\n1\n", 1)
    ward = {"ward": every["ward"]}
    alone = {"size": Trap([f"{1 + i}.{100 + i}" for i in range(N)])} | ward
    both = {"size": Trap(["3,5", "2.7"] * (N // 2), plain=False)} | ward
    bare = b"5.1,3.5,1.4\n" + b"5.0,3.4,1.5\n6.1,3.6,1.2\n" * N
    no_header = ("seems to have no column names", "Add a first row")
    cyrillic = "имя,возраст\nАнна,31\nПётр,42\n".encode("cp1251")
    mac = "prénom,âge\nZoé,31\nRené,42\nLéa,3\n".encode("mac_roman")
    unknown = ("encoding that does not show", "encoding=")
    files += [
        Dirty("short line.csv", short, refused=("line 2", "has 1 fields")),
        Dirty(
            "comma or thousands.csv",
            _write(alone, ";", ","),
            refused=("may have thousands", "decimal="),
        ),
        Dirty(
            "point or thousands.csv",
            _write(alone, ";", "."),
            refused=("may have thousands", "decimal="),
        ),
        Dirty(
            "two marks.csv",
            _write(both, ";"),
            refused=("holds '3,5' and '2.7'", "one decimal mark"),
        ),
        Dirty("no header.csv", bare, refused=no_header),
        Dirty("put together.csv", _write(few) * 2, refused=("line 42", "column names again")),
        Dirty("same names.csv", b"a,a\n1,2\n", refused=("more than one column named 'a'",)),
        Dirty("open quote.csv", b'a,b\n1,"x\n2,y\n', refused=("a quote opens",)),
        Dirty("cyrillic.csv", cyrillic, refused=unknown),
        Dirty("mac.csv", mac, refused=unknown),
        Dirty("nothing.csv", b"", refused=("is empty",)),
        Dirty("names only.csv", b"a,b\n", refused=("column names but no rows",)),
        Dirty(
            "old.xls", b"\xd0\xcf\x11\xe0" + bytes(600), refused=("not an Excel workbook", ".xlsx")
        ),
        Dirty(
            "cut.csv.gz", gzip.compress(_write(every))[:-30], refused=("truncated or corrupted",)
        ),
        Dirty("broken.parquet", b"PAR1 but not really", refused=("is not a Parquet file",)),
    ]
    return files


def _zip(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, file in files.items():
            archive.writestr(name, file)
    return content.getvalue()


def _workbook(traps: dict[str, Trap], typed: bool = False, above: list | None = None) -> bytes:
    """An Excel file, with strings as exports have them, or numbers where cells are numbers."""
    frame = pd.DataFrame({name: trap.cells for name, trap in traps.items()})
    if typed:
        frame = frame.map(lambda cell: float(cell) if cell.strip().isdigit() else cell)
    content = io.BytesIO()
    frame.to_excel(content, index=False, startrow=len(above or []))
    if above:
        book = openpyxl.load_workbook(content)
        for i, row in enumerate(above, 1):
            for j, cell in enumerate(row, 1):
                book.active.cell(i, j, cell)
        book.active.merge_cells(start_row=1, end_row=1, start_column=1, end_column=len(traps))
        book.save(content)
    return content.getvalue()
