"""Series of a request: what stays the same, and steps whose time goes on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ..data import Panel
from ._bodies import shown
from ._model_inputs import STATIC, STEPS, Inputs, Time
from ._refusals import RequestError
from ._request_rows import ROWS, Notes, RowReader, read_number, too_many

HOUR = 3600.0


def series_frames(
    rows: Sequence[Any], batch: bool, inputs: Inputs, notes: Notes, most: int
) -> Panel:
    """Series as the model reads them."""
    reader, statics = RowReader(inputs.columns, notes), RowReader(inputs.statics, notes)
    frames, times, static, total = [], [], [], 0
    for i, row in enumerate(rows):
        path = f"{ROWS}[{i}]" if batch else ""
        steps, fixed = _parts(row, path, inputs)
        total += len(steps)
        if total > most:
            raise too_many(total, most, "step")
        within = f"{path}.{STEPS}" if path else STEPS
        name = inputs.time.name if inputs.time else None
        lists = [
            reader.read(step, f"{within}[{j}]", "a step", name) for j, step in enumerate(steps)
        ]
        frames.append(reader.frame(lists))
        times.append(_times(steps, within, inputs.time, notes))
        static.append(statics.read(fixed, f"{path}.{STATIC}" if path else STATIC, "static"))
    table = statics.frame(static) if inputs.statics else None
    return Panel.from_list(frames, times=times, static=table)


def _parts(row: Any, path: str, inputs: Inputs) -> tuple[list[Any], Any]:
    """Steps and static values of one series."""
    place = f"{path}." if path else ""
    if not isinstance(row, dict):
        raise RequestError(
            422,
            path or None,
            f"{path or 'the body'} is {shown(row)}",
            f'A series is an object {{"{STATIC}": {{…}}, "{STEPS}": [{{…}}, …]}}',
            "GET /schema has an example",
        )
    known = [STATIC, STEPS] if inputs.statics else [STEPS]
    for name in row:
        if name not in known:
            raise RequestError(
                422,
                f"{place}{name}",
                f"{shown(name)} is no field of a series",
                f"The fields of a series are {' and '.join(known)}",
                f"Put values into the {STEPS}" + (f", or into {STATIC}" if inputs.statics else ""),
            )
    steps = row.get(STEPS)
    if not isinstance(steps, list) or not steps:
        what = "is not given" if STEPS not in row else f"is {shown(steps)}"
        raise RequestError(
            422,
            f"{place}{STEPS}",
            f"{place}{STEPS} {'is empty' if steps == [] else what}",
            "A series has at least one step (its values may all be missing)",
            f'Send {{"{STEPS}": [{{…}}, …]}}',
        )
    fixed = row.get(STATIC)
    return steps, {} if fixed is None else fixed


def _times(steps: list[Any], path: str, time: Time | None, notes: Notes) -> np.ndarray:
    """When the steps were, strictly increasing; (steps,) float64."""
    if time is None:
        return np.arange(len(steps), dtype=np.float64)
    given = [step.get(time.name) for step in steps]
    missing = [j for j, one in enumerate(given) if one is None]
    if missing and not time.required and len(missing) == len(given):
        return np.arange(len(steps), dtype=np.float64)
    if missing:
        raise RequestError(
            422,
            f"{path}[{missing[0]}].{time.name}",
            f"{path}[{missing[0]}] has no {time.name}",
            f"Every step says when it was: {time.name} is a number or a date",
            f"Send {time.name} with each step",
        )
    dated = isinstance(given[0], str)
    found = []
    for j, one in enumerate(given):
        place = f"{path}[{j}].{time.name}"
        if isinstance(one, str) != dated:
            raise RequestError(
                422,
                place,
                f"{place} is {shown(one)} where {path}[0] has {shown(given[0])}",
                "Times of a series are all numbers, or all dates",
                "Write them in one way",
            )
        found.append(_date(one, place) if dated else read_number(one, place))
        if j and not found[j] > found[j - 1]:
            raise RequestError(
                422,
                place,
                f"{place} is {shown(one)}, which does not come after {shown(given[j - 1])}",
                "Times must be strictly increasing within a series",
                "Sort the steps by time, and merge steps of equal time",
            )
    if not dated:
        return np.array(found)
    notes.add(
        f"{path}[0].{time.name}",
        "Dates count as hours since the first step; steps in training were usually"
        f" {time.unit:g} apart.",
    )
    return (np.array(found) - found[0]) / HOUR


def _date(text: str, place: str) -> float:
    """A date in ISO 8601 as seconds; without a zone it is taken for UTC."""
    try:
        when = datetime.fromisoformat(text)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise RequestError(
            422,
            place,
            f"{place} is {shown(text)}",
            "A time is a number in the unit of training, or a date such as 2024-05-31T14:00",
            "Send a number without quotes, or write the date so",
        ) from None
