"""Rows of a file that cannot be read: stop at the first, or leave them out and count them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..data import counted
from ..errors import InputError

SHOWN = 10


class BadRows:
    """Told of every bad row, by the number of its line.

    Parameters
    ----------
    path : the file, for words
    skip : leave bad rows out; otherwise the first one is an InputError
    word : what its rows are counted in: "line" of a text, the names being line 1; or "row"

    Examples
    --------
    >>> bad = BadRows(Path("a.csv"), skip=True)
    >>> bad.report({7: "has 2 fields, not 3", 4: "column 'age' holds 'old', no number"})
    >>> print(*bad.notes, sep="\\n")
    a.csv: 2 lines were left out.
      line 4: column 'age' holds 'old', no number
      line 7: has 2 fields, not 3
    """

    def __init__(self, path: Path, skip: bool = False, word: str = "line") -> None:
        self.path, self.skip, self.word = path, skip, word
        self.count = 0
        self.first: list[tuple[int, str]] = []

    def report(self, found: Mapping[int, str]) -> None:
        """found : what is wrong, by line."""
        if not found:
            return
        if not self.skip:
            line = min(found)
            raise InputError(
                f"{self.path}, {self.word} {line}: {found[line]}",
                "Every row must be as the model was trained",
                f"Correct it, or leave such {self.word}s out with --on-error skip",
            )
        self.count += len(found)
        self.first = sorted([*self.first, *found.items()])[:SHOWN]

    @property
    def notes(self) -> list[str]:
        """How many rows were left out, and what was wrong with the first ten."""
        if not self.count:
            return []
        was = "was" if self.count == 1 else "were"
        lines = [f"{self.path}: {counted(self.count, self.word)} {was} left out."]
        lines += [f"  {self.word} {line}: {what}" for line, what in self.first]
        more = self.count - len(self.first)
        return [*lines, f"  … and {more} more"] if more else lines
