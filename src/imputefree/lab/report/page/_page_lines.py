"""Lines of results made even: every key there, every run once, every method's name its own.

A page is read long after its runs, and from files of several machines and versions. What a line
does not say is empty here, so nothing after this has to ask.

>>> [line] = even([{"study": "icu", "method": "gil", "status": "failed", "error": "no memory"}])
>>> line["options"], line["scores"], line["mask_seed"]
({}, {}, 0)
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from ....errors import ParameterError
from ...runs._results import Record
from .._results_frame import setting_name
from ._html import clean

DICTS = ("options", "setting", "grid", "scores", "cost", "versions", "chosen", "pictures")
LISTS = ("notes", "warnings")
# By place, not by options: {} and {"rate": 0.5} may be the same.
RUN = ("study", "method", "place", "setting", "grid", "mask_seed", "split_seed")


def even(records: Iterable[Mapping[str, Any]]) -> list[Record]:
    """The lines with all keys, `place` (the setting of the study) added; of a run the last line.

    Where a method ran with several parameters on the same data, its name says which.
    """
    made = {}
    for record in records:
        line = _even(record)
        made[json.dumps([line[key] for key in RUN], sort_keys=True, default=str)] = line
    if not made:
        raise ParameterError(
            "there are no results to report",
            "A page needs at least one run",
            "Run the bench first, or name a file that holds results",
        )
    lines = list(made.values())
    _tell_apart(lines)
    return lines


def seeds(line: Mapping[str, Any]) -> tuple[Any, Any]:
    """What makes two runs of a method on one setting differ."""
    return line["mask_seed"], line["split_seed"]


def _even(record: Mapping[str, Any]) -> Record:
    line = dict(record)
    for key in DICTS:
        line[key] = dict(line[key]) if isinstance(line.get(key), Mapping) else {}
    for key in LISTS:
        line[key] = [str(one) for one in line[key]] if isinstance(line.get(key), list) else []
    for key in ("study", "method"):
        line[key] = clean(line.get(key) or f"unnamed {key}")
    for key in ("mask_seed", "split_seed"):
        seed = line.get(key)
        line[key] = 0 if seed is None else seed if isinstance(seed, int) else clean(seed)
    for key in ("scores", "cost"):
        line[key] = {clean(name): _number(value) for name, value in line[key].items()}
    line["status"] = line.get("status") or ("done" if line["scores"] else "failed")
    if not (isinstance(line.get("rows"), list) and len(line["rows"]) == 3):
        line["rows"] = None
    said = clean(json.dumps(line["options"], ensure_ascii=False, default=str))
    line["options"] = json.loads(said)
    line["place"] = clean(setting_name(line["study"], line["options"]))
    return line


def _number(value: Any) -> float | None:
    """A figure, or None for what is none: infinity would spoil every mean."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _tell_apart(lines: list[Record]) -> None:
    """Where runs differ by the method's parameters only, put these into its name."""
    kinds: dict[tuple[str, str], dict[str, dict[str, Any]]] = defaultdict(dict)
    seen: dict[tuple[Any, ...], int] = defaultdict(int)
    for line in lines:
        parameters = _parameters(line)
        kinds[line["study"], line["method"]][_text(parameters)] = parameters
        seen[line["study"], line["method"], line["place"], *seeds(line)] += 1
    twice = {key[:2] for key, count in seen.items() if count > 1}
    for line in lines:
        key = line["study"], line["method"]
        if key in twice:
            line["method"] += clean(_difference(_parameters(line), list(kinds[key].values())))


def _parameters(line: Record) -> dict[str, Any]:
    return {**line["setting"], **{f"{key} of": value for key, value in line["grid"].items()}}


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _difference(own: dict[str, Any], everyone: list[dict[str, Any]]) -> str:
    """What not all have, such as " [max_iter 3]"; nothing for the one that has nothing of it."""
    common = {key for key in own if all(_text(one.get(key)) == _text(own[key]) for one in everyone)}
    left = [f"{key} {own[key]}" for key in sorted(own) if key not in common]
    return f" [{', '.join(left)}]" if left else ""
