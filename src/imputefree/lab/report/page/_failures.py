"""What failed, with its sentence, and what methods warned of."""

from __future__ import annotations

from collections.abc import Sequence

from ....errors import counted
from ...runs._results import Record
from ._html import Html, tag
from ._parts import plain_table


def failures(lines: Sequence[Record]) -> list[Html]:
    """A line a method and reason; the same reason at several seeds counts once."""
    groups: dict[tuple[str, ...], list[Record]] = {}
    for line in lines:
        if line["status"] != "done":
            why = str(line.get("error") or "it left no sentence")
            groups.setdefault((line["study"], line["method"], line["place"], why), []).append(line)
    if not groups:
        return [tag("p", "No run failed.")]
    rows = [
        [method, why, study, place, counted(len(found), "run")]
        for (study, method, place, why), found in groups.items()
    ]
    total = sum(len(found) for found in groups.values())
    words = f"{counted(total, 'run')} failed. In tables they are counted, never guessed."
    head = ["method", "why", "study", "setting", "runs"]
    return [tag("p", words), plain_table(head, rows, "Runs that failed")]


def warned(lines: Sequence[Record]) -> list[Html]:
    """A line a warning: who warned, and in how many runs."""
    groups: dict[str, list[Record]] = {}
    for line in lines:
        for words in line["warnings"]:
            groups.setdefault(words, []).append(line)
    if not groups:
        return [tag("p", "No run warned of anything.")]
    rows = [
        [
            words,
            ", ".join(dict.fromkeys(line["method"] for line in found)),
            ", ".join(dict.fromkeys(line["study"] for line in found)),
            str(len(found)),
        ]
        for words, found in groups.items()
    ]
    return [plain_table(["warning", "methods", "studies", "runs"], rows, "Warnings")]
