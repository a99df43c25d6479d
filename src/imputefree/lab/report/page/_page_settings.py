"""Which runs a picture of one setting is made of: one of each method, all on the same data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...runs._results import Record
from ._page_lines import seeds


def by_place(lines: Sequence[Record], kind: str) -> Iterator[tuple[str, list[Record]]]:
    """Setting -> its lines that carry this kind of picture, one a method.

    Methods are shown side by side, so they must have had the same gaps and rows: taken are the
    seeds that most methods have, of equals the first.

    >>> line = {"place": "mar", "split_seed": 0, "pictures": {"digits": {"shape": [28, 28]}}}
    >>> lines = [line | {"method": name, "mask_seed": seed} for name, seed in
    ...          [("mean", 0), ("mean", 1), ("gain", 1)]]
    >>> [(name, [one["method"] for one in chosen]) for name, chosen in by_place(lines, "digits")]
    [('mar, mask 1, split 0', ['mean', 'gain'])]
    """
    places: dict[str, list[Record]] = {}
    for line in lines:
        if line["pictures"].get(kind):
            places.setdefault(line["place"], []).append(line)
    for place, found in places.items():
        most = Counter(seeds(line) for line in found).most_common(1)[0][0]
        chosen = {line["method"]: line for line in found if seeds(line) == most}
        yield f"{place}, mask {most[0]}, split {most[1]}", list(chosen.values())
