"""How figures were made: the command, versions, dates, seeds and parameters of each method.

Runs that differ in seeds and settings of the study only are one entry; what entries share (the
command, versions) is said once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ....errors import counted
from ...runs._results import Record
from ._html import Html, tag, text
from ._parts import plain_table

SHARED = ("command", "versions")


def how_made(lines: Sequence[Record]) -> Html:
    """A box to open, for the figures of these lines."""
    return tag("details", tag("summary", "How these figures were made"), *_made(lines))


def _made(lines: Sequence[Record]) -> list[Html]:
    groups: dict[str, list[Record]] = {}
    for line in lines:
        key = [line.get(name) for name in (*SHARED, "method", "setting", "grid", "chosen")]
        groups.setdefault(json.dumps(key, sort_keys=True, default=str), []).append(line)
    made: dict[str, list[list[Record]]] = {}
    for group in groups.values():
        shared = [group[0].get(name) for name in SHARED]
        made.setdefault(json.dumps(shared, sort_keys=True, default=str), []).append(group)
    return [part for entries in made.values() for part in _by_one_command(entries)]


def _by_one_command(entries: list[list[Record]]) -> list[Html]:
    first = entries[0][0]
    versions = ", ".join(f"{name} {value}" for name, value in first["versions"].items())
    rows = [
        [
            group[0]["method"],
            ", ".join(dict.fromkeys(line["place"] for line in group)),
            _parameters(group[0]),
            _numbers([line["mask_seed"] for line in group]),
            _numbers([line["split_seed"] for line in group]),
            _span([line.get("seconds") for line in group]),
            text(_dates([str(line.get("finished") or "") for line in group])),  # never folded
        ]
        for group in entries
    ]
    head = ["method", "setting", "parameters", "mask seeds", "split seeds", "seconds", "finished"]
    command = str(first.get("command") or "not written down")
    return [
        tag("p", "Command: ", tag("code", command), class_="command"),
        tag("p", f"Versions: {versions or 'not written down'}.", class_="command"),
        plain_table(head, rows, f"Runs of {counted(len(entries), 'entry')}: how they were made"),
    ]


def _parameters(line: Record) -> str:
    said = [f"{key} {value}" for key, value in line["setting"].items()]
    if line["grid"]:
        said += [f"{key} of {value}" for key, value in line["grid"].items()]
        said += [f"chosen: {key} {value}" for key, value in line["chosen"].items()]
    return ", ".join(said) or "as they come"


def _numbers(values: list[Any]) -> str:
    """Seeds, runs of them shortened.

    >>> _numbers([0, 1, 2, 4]), _numbers([0, 0])
    ('0–2, 4', '0')
    """
    if not all(isinstance(value, int) for value in values):
        return ", ".join(dict.fromkeys(str(value) for value in values))
    spans: list[list[int]] = []
    for value in sorted(set(values)):
        if spans and value == spans[-1][1] + 1:
            spans[-1][1] = value
        else:
            spans.append([value, value])
    return ", ".join(f"{a}" if a == b else f"{a}–{b}" for a, b in spans)


def _span(values: list[Any]) -> str:
    """
    >>> _span([1.2, 30.0, None]), _span([None])
    ('1.2 to 30', '–')
    """
    known = sorted(
        {f"{value:.3g}": value for value in values if isinstance(value, int | float)}.values()
    )
    if not known:
        return "–"
    return f"{known[0]:.3g}" if len(known) == 1 else f"{known[0]:.3g} to {known[-1]:.3g}"


def _dates(values: list[str]) -> str:
    known = sorted({value.replace("T", " ").replace("+00:00", "")[:16] for value in values} - {""})
    if not known:
        return "–"
    return f"{known[0]} UTC" if len(known) == 1 else f"{known[0]} to {known[-1]} UTC"
