"""Times of day and durations that are written as strings, as numbers of hours.

"08:30" is 8.5 whether it is half past eight or eight and a half hours. Of "26:15" nobody knows
whether it is hours and minutes or minutes and seconds; either way it is 26.25 of the larger ones,
and a model does not mind which, as long as all cells of a column are written in the same way.
"""

from __future__ import annotations

import re
from typing import NamedTuple

CLOCK = re.compile(
    r"""(?:(?P<days>\d+)\ days?,?\ *)?
    (?P<first>\d{1,4})(?:(?:[:h]|\.(?=\d\d\ *uhr))(?P<second>[0-5]\d)|(?=\ *uhr))
    (?::(?P<third>[0-5]\d(?:[.,]\d+)?))?
    \ *(?P<half>[ap]\.?m\.?)?\ *(?P<word>uhr|h|hrs?|std\.?)?
    \ *(?P<zone>z|[-+]\d\d:?\d\d|(?:utc|gmt|ce?s?t|[ecmp][sd]t|bst|ist|jst)(?:[-+]\d{1,2})?)?""",
    re.VERBOSE | re.IGNORECASE,
)
LONGEST = 40  # characters
DAY_HOURS = 24.0


class ClockTime(NamedTuple):
    """A time of day, or a duration.

    hours : or minutes, if it was minutes and seconds
    parts : 2 as in 8:30, or 3 as in 8:30:00
    of_day : whether it is written as only a time of day is: 8:30 pm, 8:30 Uhr, 8:30 CET
    padded : whether it begins with a zero, as times of day do and durations may
    zone : "+01:00", "cet"; "" if there is none
    """

    hours: float
    parts: int
    of_day: bool = False
    padded: bool = False
    zone: str = ""


def read_clock(text: str) -> ClockTime | None:
    """A time of day or a duration, or None.

    >>> [read_clock(text).hours for text in ("08:30", "8:30 pm", "23:06:00", "26:15", "8h30")]
    [8.5, 20.5, 23.1, 26.25, 8.5]
    >>> [read_clock(text).hours for text in ("8.30 Uhr", "8 Uhr", "1 day, 2:30:00")]
    [8.5, 8.0, 26.5]
    >>> [read_clock(text) for text in ("1:80", "13:00 pm", "3:0", "2024-01-01 08:30")]
    [None, None, None, None]
    """
    match = CLOCK.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if match is None:
        return None
    first, half = int(match["first"]), (match["half"] or "").lower()
    if half:
        if not 1 <= first <= 12 or match["days"]:
            return None
        first = first % 12 + 12 * half.startswith("p")
    third = float((match["third"] or "0").replace(",", "."))
    hours = first + int(match["second"] or 0) / 60 + third / 3600
    zone = (match["zone"] or "").lower()
    word = (match["word"] or "").lower()
    of_day = bool(half or zone or word == "uhr")
    if match["days"]:
        hours += DAY_HOURS * int(match["days"])
        of_day = False
    if of_day and hours > DAY_HOURS:
        return None
    padded = len(match["first"]) == 2 and match["first"][0] == "0"
    return ClockTime(hours, 2 if match["third"] is None else 3, of_day, padded, zone)
