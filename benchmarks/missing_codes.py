"""Are codes for a gap found? Planted into eight real tables, and looked for where there are none.

Into every column that can hold it, one code at a time is planted at random rows: -9, -99, -999 and
9999 among numbers that do not hold it, 0 among numbers that keep away from it (their smallest is
above a third of their median), and "?", "NA", "n/a", "." and "unknown" in numbers and categories.
A code is found if `read_table` takes it for a gap or shows it as a suspect. A clean column is a
false alarm if anything is taken or shown in it. Limits: 95 % found, 1 % false alarms. Exits 1 if
one is not kept. The rules were made with these tables at hand, so expect less on others.

    IMPUTEFREE_DATA=../shared/data python -m benchmarks.missing_codes [--tables T …] [--rate 0.05]
        [--json FILE]
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measuring import arguments, write
from imputefree import read_table
from imputefree.io import read_csv

TABLES = ("framingham_chd", "chronic_kidney_disease", "ames_housing", "adult_test", "titanic3")
TABLES += ("credit_approval", "hepatitis", "communities_crime")
NUMBERS, WORDS = (-9, -99, -999, 9999, 0), ("?", "NA", "n/a", ".", "unknown")
FOUND, FALSE = 0.95, 0.01  # limits
MOST_ROWS = 3000


def table(name: str) -> pd.DataFrame:
    """A table, of many rows only some, without columns that nobody would learn from."""
    frame = read_csv(Path(os.environ["IMPUTEFREE_DATA"]) / "tabular" / f"{name}.csv")
    frame = frame.sample(min(len(frame), MOST_ROWS), random_state=0).reset_index(drop=True)
    return frame[[column for column in frame if frame[column].nunique() > 1]]


def can_hold(values: pd.Series, code: Any) -> bool:
    """Whether a code can be planted into a column."""
    known = values.dropna()
    if known.dtype.kind not in "iuf":
        return isinstance(code, str) and code not in set(known)
    if isinstance(code, str):
        return True
    if code == 0:
        return known.nunique() >= 5 and known.min() > known.median() / 3 > 0
    return not (known == code).any()


def shown(understood: Any, name: str) -> set[str]:
    """What was taken for a gap, or is suspected, in a column; words in lower case."""
    reading = understood.columns[name]
    found = {str(code).lower() for code in (*reading.missing, *reading.suspects)}
    return found | ({word for word in WORDS if f"'{word}'" in reading.note})


def plant(values: pd.Series, code: Any, rate: float, rng: np.random.Generator) -> pd.Series:
    """The column with a code in a share of its known rows."""
    rows = np.flatnonzero(values.notna())
    count = max(3, round(rate * len(rows)))
    planted = values.astype(object)
    planted.iloc[rng.choice(rows, min(count, len(rows)), replace=False)] = code
    return planted


def look(name: str, rate: float) -> dict[str, Any]:
    """One table: how many columns held each code, in how many it was found, and false alarms."""
    frame = table(name)
    kinds = {
        column: "number" if frame[column].dtype.kind in "iuf" else "category" for column in frame
    }
    rng = np.random.default_rng(0)
    _, clean = read_table(frame.astype(object).where(frame.notna(), None), columns=kinds)
    alarms = [column for column in frame if shown(clean, str(column)) - {"none"}]
    planted, found, missed = Counter[str](), Counter[str](), []
    for code in (*NUMBERS, *WORDS):
        columns = [column for column in frame if can_hold(frame[column], code)]
        if not columns:
            continue
        dirty = pd.DataFrame({column: plant(frame[column], code, rate, rng) for column in columns})
        _, understood = read_table(dirty, columns={c: kinds[c] for c in columns})
        for column in columns:
            planted[str(code)] += 1
            if str(code).lower() in {c.lower() for c in shown(understood, str(column))}:
                found[str(code)] += 1
            else:
                missed.append([str(column), str(code)])
    line = {"clean_columns": frame.shape[1], "false_alarms": alarms}
    return line | {"planted": dict(planted), "found": dict(found), "missed": missed}


def main() -> int:
    """Look at all tables, print and record, and compare with the limits."""
    parser = arguments(__doc__)
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--rate", type=float, default=0.05)
    options = parser.parse_args()
    tables = {name: look(name, options.rate) for name in options.tables}
    codes = [str(code) for code in (*NUMBERS, *WORDS)]
    print(f"{'table':24}" + "".join(f"{code:>10}" for code in codes) + "  false alarms")
    total: Counter[str] = Counter()
    for name, line in tables.items():
        cells = [f"{line['found'].get(c, 0)}/{line['planted'].get(c, 0)}" for c in codes]
        alarms = f"{len(line['false_alarms'])}/{line['clean_columns']}"
        print(f"{name:24}" + "".join(f"{cell:>10}" for cell in cells) + f"  {alarms}")
        total["found"] += sum(line["found"].values())
        total["planted"] += sum(line["planted"].values())
        total["alarms"] += len(line["false_alarms"])
        total["clean"] += line["clean_columns"]
    found, false = total["found"] / total["planted"], total["alarms"] / total["clean"]
    print(f"found {found:.1%} (limit {FOUND:.0%}), false alarms {false:.1%} (limit {FALSE:.0%})")
    record = {"rate": options.rate, "tables": tables, "found": found, "false_alarms": false}
    write(options.json, "pandas numpy", **record)
    return int(found < FOUND or false > FALSE)


if __name__ == "__main__":
    sys.exit(main())
