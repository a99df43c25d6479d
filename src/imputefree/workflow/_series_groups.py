"""Whole series out of pieces of a file that cut through them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from ..errors import InputError
from ..io import BadRows
from ._chunks import Chunk


class SeenIds:
    """Which ids have been before, in 8 bytes each: their hashes, in sorted arrays.

    Two of five million ids share a hash once in a million files; then one is refused that is new.

    >>> seen = SeenIds()
    >>> seen.add(np.array(["a", "b"], dtype=object))
    >>> seen.has(np.array(["b", "c"], dtype=object))
    array([ True, False])
    """

    def __init__(self) -> None:
        self._sorted: list[np.ndarray] = []

    def has(self, ids: np.ndarray) -> np.ndarray:
        """(n,) -> (n,) bool."""
        keys, found = _hashes(ids), np.zeros(len(ids), dtype=bool)
        for known in self._sorted:
            at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            found |= known[at] == keys
        return found

    def add(self, ids: np.ndarray) -> None:
        """Remember these; (n,)."""
        new = np.sort(_hashes(ids))
        # Arrays of like size are merged, so that there are few and each id moves seldom.
        while self._sorted and len(self._sorted[-1]) < 2 * len(new):
            new = np.sort(np.concatenate([self._sorted.pop(), new]))
        if len(new):
            self._sorted.append(new)


def _hashes(ids: np.ndarray) -> np.ndarray:
    return pd.util.hash_array(ids.astype(object), categorize=False)


def whole_series(
    chunks: Iterable[Chunk], id: str, time: str | None, bad: BadRows, in_memory: bool = False
) -> Iterator[Chunk]:
    """Chunks that hold all rows of their series, and say which row is of which series.

    id, time : names of columns of the inputs; time: of which a series has each value once
    in_memory : take all chunks at once, so that rows of a series may stand anywhere
    """
    if in_memory:
        chunks = list(chunks)
        if chunks:
            yield _numbered(Chunk.joined(chunks), id, time, bad)
        return
    seen, waiting = SeenIds(), list[Chunk]()
    for chunk in chunks:
        ids = chunk.inputs[id].to_numpy(dtype=object)
        starts = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
        if waiting and ids[0] == waiting[-1].inputs[id].iloc[-1]:
            starts = starts[1:]
        _refuse_returns(ids[starts], chunk.lines[starts], seen, id, bad)
        seen.add(ids[starts])
        if not len(starts):  # all of it goes on with the series before
            waiting.append(chunk)
            continue
        last = int(starts[-1])
        if waiting or last:
            before = [chunk.rows(slice(0, last))] if last else []
            yield _numbered(Chunk.joined([*waiting, *before]), id, time, bad)
        waiting = [chunk.rows(slice(last, None))]
    if waiting:
        yield _numbered(Chunk.joined(waiting), id, time, bad)


def _refuse_returns(
    ids: np.ndarray, lines: np.ndarray, seen: SeenIds, name: str, bad: BadRows
) -> None:
    """No series begins twice; ids (runs,) of the runs of equal ids, and their lines."""
    again = np.flatnonzero(seen.has(ids) | pd.Series(ids, dtype=object).duplicated().to_numpy())
    if len(again):
        at = again[0]
        raise InputError(
            f"{bad.path}, {bad.word} {lines[at]}: the series {str(ids[at])!r} comes back after rows"
            " of others",
            "Rows of one series must stand together where a file is read piece by piece",
            f"Sort the file by {name!r}, or read all of it at once with --in-memory",
        )


def _numbered(chunk: Chunk, id: str, time: str | None, bad: BadRows) -> Chunk:
    """Series in the order of appearance; a second row at the same time is a bad one."""
    codes, _ = pd.factorize(chunk.inputs[id].to_numpy(dtype=object))
    if time:
        twice = chunk.inputs.assign(**{id: codes}).duplicated([id, time]).to_numpy()
        if twice.any():
            again = chunk.inputs[twice]
            words = zip(chunk.lines[twice].tolist(), again[id], again[time], strict=True)
            bad.report(
                {
                    line: f"the series {str(whose)!r} has a row at time {when} already"
                    for line, whose, when in words
                }
            )
            chunk, codes = chunk.rows(~twice), codes[~twice]
    return replace(chunk, series=codes)
