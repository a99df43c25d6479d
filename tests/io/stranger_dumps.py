"""Dumps, hidden characters and things that only look like a table."""

from __future__ import annotations

import unicodedata

from tests.io.dirty_files import Dirty
from tests.io.stranger_files import (
    AGES,
    DAYS,
    GAP,
    ROWS,
    SIZES,
    csv_file,
    dates,
    text_of,
)


def dumps() -> list[Dirty]:
    """Dumps, hidden characters and things that only look like a table."""
    apart = unicodedata.normalize("NFD", "Köln")
    ages = text_of({"n": AGES, "m": SIZES}, ",")
    boxed = (
        "+---+----+-------+\n"
        + "".join(f"| {' | '.join(r.split(','))} |\n" for r in ages.splitlines())
        + "+---+----+-------+\n"
    )
    return [
        csv_file(
            "null of mysql",
            {"x": [*SIZES, "\\N"], "ward": ["B", "C", "\\N"]},
            {"x": [*SIZES, GAP], "ward": ["B", "C", None]},
            sep="\t",
        ),
        csv_file(
            "zero dates",
            {"at": [f"{d:%Y-%m-%d} 08:30:00" for d in DAYS] + ["0000-00-00 00:00:00"]},
            dates("at", [*(f"{d:%Y-%m-%d} 08:30:00" for d in DAYS), None]),
            sep=",",
        ),
        csv_file(
            "no time",
            {"at": [f"{d:%Y-%m-%d}" for d in DAYS] + ["NaT"]},
            dates("at", [*DAYS, None]),
            sep=",",
        ),
        csv_file(
            "backslash quotes",
            {"said": ['he said \\"no\\", twice', "nothing, so far", "x"], "n": AGES},
            None,
            sep=",",
            change=lambda t: t.replace('\\""', '\\"'),
            refused=("line",),
        ),
        csv_file(
            "mixed line ends",
            {"n": AGES, "m": SIZES},
            {"n": AGES, "m": SIZES},
            sep=",",
            change=lambda t: t.replace("\n", "\r\n", 9),
        ),
        csv_file(
            "line end in a cell",
            {"n": AGES, "note": ["a\rb", "c\nd", "e"]},
            {"n": AGES, "note": ["a\rb", "c\nd", "e"]},
            sep=",",
            quoted=True,
        ),
        csv_file(
            "two marks at the start",
            {"n": AGES, "m": SIZES},
            {"n": AGES, "m": SIZES},
            sep=",",
            before="\ufeff\ufeff",
        ),
        csv_file(
            "hidden characters",
            {
                "n": [f"\u200b{v}" if i % 2 else f"{v}\u200e" for i, v in enumerate(AGES)],
                "ward": ["B\u200b", "B", "C\xad", "C"],
            },
            {"n": AGES, "ward": ["B", "B", "C", "C"]},
            sep=",",
        ),
        csv_file(
            "marks of joined files",
            {
                "n": [str(v) if i != 4 else f"\ufeff{v}" for i, v in enumerate(AGES)],
                "ward": ["B", "C"],
            },
            {"n": AGES, "ward": ["B", "C"]},
            sep=",",
        ),
        csv_file(
            "two kinds of spaces",
            {"city": ["New York", "New\xa0York", "Rome", "Bonn"], "n": AGES},
            {"city": ["New York", "New York", "Rome", "Bonn"], "n": AGES},
            sep=",",
        ),
        csv_file(
            "two kinds of umlauts",
            {"city": ["Köln", apart, "Bonn"], "n": AGES},
            {"city": ["Köln", "Köln", "Bonn"], "n": AGES},
            sep=",",
        ),
        csv_file(
            "end of a dos file",
            {"n": AGES, "m": SIZES},
            {"n": AGES, "m": SIZES},
            sep=",",
            after="\x1a",
        ),
        csv_file(
            "form feeds",
            {"n": [f"\x0c{v}" if v == 57 else v for v in AGES], "m": SIZES},
            {"n": AGES, "m": SIZES},
            sep=",",
        ),
        csv_file(
            "row names of R",
            {"": [f"pat{i}" for i in range(ROWS)], "age": AGES},
            {"age": AGES},
            sep=",",
            quoted=True,
        ),
        Dirty(
            "spaces of R.txt",
            (
                '"n" "m"\n'
                + "".join(
                    f'"{i}" {v} {w}\n' for i, (v, w) in enumerate(zip(AGES, SIZES, strict=True))
                )
            ).encode(),
            refused=("--sep",),
        ),
        csv_file(
            "a comment below",
            {"n": AGES, "m": SIZES},
            None,
            sep=",",
            after="# device restarted\n30,2.5,a\n",
            refused=("line",),
        ),
        csv_file(
            "comments of matlab",
            {"n": AGES, "m": SIZES},
            {"n": AGES, "m": SIZES},
            sep=",",
            before="% made 2024\n% by lab\n",
        ),
        csv_file(
            "number sign in a name", {"#n": AGES, "m": SIZES}, {"#n": AGES, "m": SIZES}, sep=","
        ),
        csv_file(
            "a column without a name",
            {"n": AGES, "": SIZES},
            {"n": AGES, "Unnamed: 1": SIZES},
            sep=",",
        ),
        csv_file(
            "names of pandas",
            {"score": AGES, "score.1": SIZES},
            {"score": AGES, "score.1": SIZES},
            sep=",",
        ),
        csv_file(
            "names by case", {"Age": AGES, "age ": SIZES}, {"Age": AGES, "age": SIZES}, sep=","
        ),
        csv_file(
            "blanks",
            {"n": [*AGES, "   ", '""', "\xa0"], "ward": ["B", " ", "C"]},
            {"n": [*AGES, GAP, GAP, GAP], "ward": ["B", None, "C"]},
            change=lambda t: t.replace('""""""', '""'),
        ),
        csv_file(
            "apostrophes",
            {"zip": ["'00123", "'04109", "'01067"], "n": AGES},
            {"zip": ["00123", "04109", "01067"], "n": AGES},
            sep=",",
        ),
        csv_file(
            "old not a number",
            {"x": [*SIZES, "1.#QNAN", "-1.#IND"]},
            {"x": [*SIZES, GAP, GAP]},
            sep=",",
        ),
        Dirty(
            "lines in quotes.csv",
            "".join(f'"{row}"\n' for row in ages.splitlines()).encode(),
            refused=("--sep",),
        ),
        Dirty(
            "lines of json.csv",
            "".join(f'{{"n": {v}, "m": {w}}}\n' for v, w in zip(AGES, SIZES, strict=True)).encode(),
            refused=("is JSON", "Save it as"),
        ),
        Dirty("boxes.txt", boxed.encode(), refused=("drawn with lines", "Save it as")),
        Dirty(
            "markdown.md",
            (
                "| n | m | class |\n|---|---|---|\n"
                + "".join(f"| {' | '.join(r.split(','))} |\n" for r in ages.splitlines()[1:])
            ).encode(),
            refused=("drawn with lines", "Save it as"),
        ),
        csv_file(
            "one cell too many",
            {"n": AGES, "m": SIZES},
            None,
            sep=",",
            after="30,2,5,a\n",
            refused=("line", "has 4 fields"),
        ),
    ]
