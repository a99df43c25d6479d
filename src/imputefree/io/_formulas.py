r"""Strings in CSV files that a spreadsheet would take for formulas, marked when written.

A spreadsheet computes a cell that begins with =, +, -, @, a tab or a carriage return, whoever wrote
it: `=HYPERLINK(…)` as the name of a class would become a link. Such a string is written with an
apostrophe before it, which spreadsheets show and do not compute, and read without it again.
Numbers, also as strings such as "-1", are written as they are.
"""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

_BEGINS = "[=+\\-@\t\r\uff1d\uff0b\uff0d\uff20]"  # the last four: wide forms, computed in Japan
_FORMULA = re.compile(f"'*{_BEGINS}")
_NUMBER = re.compile(r"[+-][\d.,]+([eE][+-]?\d+)?%?")
_MARKED = re.compile(f"'+{_BEGINS}")
_DIGITS = re.compile(r"'+\d[\d.,]*")  # '007, which a spreadsheet keeps as a string
_STRING = re.compile(r'="([^"]*)"')
_PERHAPS_MARKED = re.compile(rb"""'[=+\-@\t\r\xef\d]|="|=''""")


def mark_formula(cell: Any) -> Any:
    """A cell, or the name of a column, as it is written; all but strings as they are.

    >>> [mark_formula(cell) for cell in ("=1+1", "-none", "'=x", "-1", "+1.5e-3", "a-b", -1)]
    ["'=1+1", "'-none", "''=x", '-1', '+1.5e-3', 'a-b', -1]
    """
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    if _FORMULA.match(cell) or _DIGITS.fullmatch(cell):
        return f"'{cell}"
    return cell


def unmark_formula(cell: Any) -> Any:
    """The inverse of `mark_formula`.

    Also the string of a formula such as ="007" or '007, by which exports keep zeros.

    >>> [unmark_formula(cell) for cell in ("'=1+1", "''=x", "'tis", "-1", '="007"', "'007")]
    ['=1+1', "'=x", "'tis", '-1', '007', '007']
    """
    if not isinstance(cell, str):
        return cell
    kept = _STRING.fullmatch(cell)
    marked = _MARKED.match(cell) or _DIGITS.fullmatch(cell)
    return kept[1] if kept else cell[1:] if marked else cell


def mark_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """A table as it is written."""
    names = [mark_formula(name) for name in frame.columns]
    return _of_strings(frame, mark_formula).set_axis(names, axis=1)


def unmark_formulas(frame: pd.DataFrame, text: bytes = b"'=") -> pd.DataFrame:
    """The cells of a table as they are meant; text : that it was read from, in UTF-8."""
    return _of_strings(frame, unmark_formula) if _PERHAPS_MARKED.search(text) else frame


def _of_strings(frame: pd.DataFrame, change: Any) -> pd.DataFrame:
    """With each string changed."""
    columns = []
    for _, column in frame.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = column.cat.rename_categories(change)
        elif not pd.api.types.is_numeric_dtype(column.dtype) and column.dtype.kind not in "Mm":
            column = pd.Series(map(change, column), column.index, column.dtype, column.name)
        columns.append(column)
    return pd.concat(columns, axis=1) if columns else frame
