"""Columns of times of day and of durations, which are numbers of hours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ._cell_values import clock_time
from ._distinct_cells import MOSTLY, Cells
from ._understood import CLOCK, DROP, NUMBER, SPAN, SPANS, ColumnReading
from ._written_times import DAY_HOURS, ClockTime

NOON = 12.0


def learn_clock(look: Cells, reading: ColumnReading) -> ColumnReading | None:
    """How times of day or durations are read; None if the column does not hold them.

    Durations of two parts among some of three are dropped: 59:10 may be minutes and seconds.
    """
    times = {
        j: time for j, cell in enumerate(look.distinct) if (time := clock_time(cell)) is not None
    }
    if not times or look.share(np.isin(np.arange(len(look.distinct)), [*times])) < MOSTLY:
        return None
    found = list(times.values())
    if _are_ratios(look, [*times], found):
        return None
    zones = {time.zone for time in found}
    example = look.strings[next(iter(times))]
    if len(zones) > 1:
        note = f"times such as {example!r} in more than one zone: write them in one, without it"
        return replace(reading, kind=DROP, note=note, loud=True)
    parts, within = {time.parts for time in found}, all(time.hours <= DAY_HOURS for time in found)
    of_day = any(time.of_day for time in found)
    padded = any(time.padded for time in found) and max(time.hours for time in found) >= NOON
    if len(parts) > 1 and not (of_day and within):
        pair = [
            next(look.strings[j] for j, time in times.items() if time.parts == n) for n in (2, 3)
        ]
        note = f"times such as {pair[0]!r} and {pair[1]!r}: write all of them as h:mm:ss"
        return replace(reading, kind=DROP, note=note, loud=True)
    form = CLOCK if within and (of_day or padded) else SPAN if parts == {2} else SPANS
    what = CLOCK if form == CLOCK else "hours, or minutes" if form == SPAN else "hours"
    note = f"{what}: {example!r} is read as {found[0].hours:.4g}"
    more: Any = {"format": form, "unit": zones.pop(), "note": note, "loud": form != CLOCK}
    return replace(reading, kind=NUMBER, **more)


def _are_ratios(look: Cells, places: list[int], times: list[ClockTime]) -> bool:
    """Whether all begin with 1, as titers such as 1:20 do."""
    return all(look.strings[j].startswith("1:") for j in places) and all(
        time.parts == 2 and not time.of_day for time in times
    )
