"""Strings for a terminal: control characters are shown, never obeyed.

Names of columns, classes and files come from others. A terminal obeys some of their characters: it
moves its cursor, hides text or sets the title of its window.
"""

from __future__ import annotations

import re

_CONTROLS = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # all but tab and line feed
    r"\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # reorder or break a line
    r"\ud800-\udfff"  # halves of pairs, which cannot be encoded
)
_ANYWHERE, _IN_A_LINE = re.compile(f"[{_CONTROLS}]"), re.compile(f"[{_CONTROLS}\n\t]")


def printable(text: str, one_line: bool = False) -> str:
    r"""A string with its control characters written as escapes.

    one_line : also tabs and line feeds

    >>> printable("name\x1b[2J\tand more", one_line=True)
    'name\\x1b[2J\\tand more'
    """
    pattern = _IN_A_LINE if one_line else _ANYWHERE
    return pattern.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
