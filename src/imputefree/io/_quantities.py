"""Numbers as people write them: "145 mmHg", "2,370", "1.234,5", "<0.5", "$ 1,200", "45 %"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

SPACES = " \u00a0\u2009\u202f"
GROUPS = f"'’{SPACES}"  # between thousands, besides the mark that is not for decimals
SIGNS = "$€£¥₹₽₺₩₪₫"
MONEY = r"(?:CHF|EUR|USD|GBP|SEK|NOK|DKK|PLN|CZK|INR|JPY|BRL|ZAR|AUD|CAD|TRY|Fr\.?|Rs\.?|[Kk]r\.?|"
MONEY += r"US\$|R\$|A\$|C\$)(?=[\s\d])"
QUANTITY = re.compile(
    rf"""(?P<open>\()?(?P<bound>[<>≤≥]=?|~)?[{SPACES}]*
    (?P<sign>[-+−–])?(?P<money>[{SIGNS}]|{MONEY})?[{SPACES}]*(?P<inner>[-−])?
    (?P<digits>\d(?:[\d.,'’{SPACES}]*[\d.,])?|[.,]\d+)(?P<power>[eE][-+−]?\d+)?(?P<even>[.,/][-–—])?(?P<after>(?<=\d)[-−](?=$|[*!]))?[*!]?
    [{SPACES}]*(?P<unit>[^\W\d_][^\s\d<>=;:,]*(?:[ ^/·*.-]*[^\s<>=;:,]{{1,12}}){{0,2}}
    |[%‰°²³{SIGNS}]\S{{0,8}})?
    (?P<more>\+)?(?P<close>\))?""",
    re.VERBOSE,
)
THOUSANDS = ("k", "tsd", "mio", "mn", "bn", "mrd")  # a number with one is not like one without
LONGEST = 40  # characters of a quantity


class Quantity(NamedTuple):
    """A number that was written with a unit, with marks between thousands or as a bound."""

    value: float
    unit: str = ""
    bound: bool = False  # "<0.5", which is read as 0.5, and "3+"


def unit_name(unit: str) -> str:
    """A unit by which others are compared: in lower case and in the singular.

    >>> [unit_name(unit) for unit in ("mmHg", "Days", "day", "ms")]
    ['mmhg', 'day', 'day', 'ms']
    """
    name = unit.casefold()
    plural = len(name) > 2 and name.isalpha() and name.endswith("s")
    return name[:-1] if plural else name


def read_quantity(text: str, decimal: str = ".") -> Quantity | None:
    """A number as people write it, or None.

    decimal : the mark before decimals; the other one may stand between thousands

    >>> read_quantity("145 mmHg"), read_quantity("<0.5"), read_quantity("-2,370")
    (Quantity(value=145.0, unit='mmHg', bound=False), Quantity(value=0.5, unit='', bound=True), \
Quantity(value=-2370.0, unit='', bound=False))
    >>> read_quantity("1.234,5", decimal=","), read_quantity("3,5"), read_quantity("1 or 2, or 3")
    (Quantity(value=1234.5, unit='', bound=False), None, None)
    """
    text = text.strip()
    match = QUANTITY.fullmatch(text) if len(text) <= LONGEST else None
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    if match["open"] and (match["sign"] or match["inner"] or match["bound"] or match["unit"]):
        return None
    if match["inner"] and (match["sign"] or not match["money"]):
        return None
    if match["after"] and (match["sign"] or match["inner"] or decimal not in match["digits"]):
        return None  # 4- and 4+ are grades
    number = _plain_digits(match["digits"], decimal)
    if number is None:
        return None
    minus = (match["sign"] or match["inner"] or "+") in "-−–"
    minus |= bool(match["open"] or match["after"])
    value = float(f"{'-' * minus}{number}{(match['power'] or '').replace('−', '-')}")
    unit = (match["money"] or "") + (match["unit"] or "").strip()
    return Quantity(value, unit, bool(match["bound"] or match["more"]))


def _plain_digits(digits: str, decimal: str) -> str | None:
    """Digits as Python reads them; None if marks are not where they should be.

    >>> _plain_digits("1.234.567,8", ","), _plain_digits("12,34", "."), _plain_digits("1 200", ".")
    ('1234567.8', None, '1200')
    """
    other = "," if decimal == "." else "."
    whole, mark, part = digits.partition(decimal)
    if mark and not part.isdigit() and part:
        return None
    if not whole.isdigit() and whole:
        marks = set(whole) - set("0123456789")
        first, *groups = re.split(rf"[{other}{GROUPS}]", whole)
        sizes = {len(group) for group in groups[:-1]}  # 3, or 2 as in 12,34,567 of India
        if len(marks) > 1 or not 1 <= len(first) <= 3 or len(groups[-1]) != 3:
            return None
        if sizes - {3} and (sizes != {2} or marks != {","} or len(first) > 2):
            return None
        if not all(group.isdigit() for group in (first, *groups)):
            return None
        whole = first + "".join(groups)
    return f"{whole or '0'}.{part}" if part else whole or None


def decimal_marks(strings: Iterable[str]) -> tuple[set[str], str | None]:
    """Which marks these numbers show to be before decimals, and one that may be either or None.

    "3,5" shows a comma, "1.234,5" too; "1,234,567" shows a point. "1,234" alone may be either, but
    not among whole numbers that all have three digits or fewer.

    >>> decimal_marks(["3,5", "4"]), decimal_marks(["1,234"]), decimal_marks(["1,234", "2.5"])
    (({','}, None), (set(), '1,234'), ({'.'}, None))
    >>> decimal_marks(["1,234", "880", "12,600", "940", "730"])
    ({'.'}, None)
    """
    shown: set[str] = set()
    either: dict[str, str] = {}  # by mark, a number that shows nothing
    whole = []
    for text in strings:
        match = QUANTITY.fullmatch(text.strip()) if len(text) <= LONGEST else None
        if match is None:
            continue
        digits = match["digits"].strip(SPACES)
        marks = [mark for mark in digits if mark in ".,"]
        if not marks:
            if digits.isdigit():
                whole.append(int(digits))
            continue
        last, other = marks[-1], "," if marks[-1] == "." else "."
        before, _, after = digits.rpartition(last)
        if not after:  # "5." and "5.-"
            continue
        if len(marks) > 1:
            if len(set(marks)) == 1:  # 1,234,567
                last, other = other, last
            if _plain_digits(digits, last) is not None:
                shown.add(last)
        elif len(after) == 3 and 1 <= len(before) <= 3 and not before.startswith("0"):
            either.setdefault(last, text)
        elif before.isdigit() or not before or _plain_digits(digits, last) is not None:
            shown.add(last)
    for mark in list(either):
        if len(whole) >= 3 and 100 <= max(whole) < 1000 and not shown:
            shown.add("," if mark == "." else ".")
    return shown, None if shown else next(iter(either.values()), None)
