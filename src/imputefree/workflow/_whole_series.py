"""Chunks of a file put together so that they hold whole series."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ..errors import InputError
from ._chunks import Chunk, Chunks, roles_of


class SeenIds:
    """Ids that have appeared, in 8 bytes each: their hashes, in sorted arrays.

    In one of a million files with five million ids two share a hash; then a new one is refused.

    >>> seen = SeenIds()
    >>> seen.add(np.array(["a", "b"], dtype=object))
    >>> seen.has(np.array(["b", "c"], dtype=object))
    array([ True, False])
    """

    def __init__(self) -> None:
        self._sorted: list[np.ndarray] = []

    def has(self, ids: np.ndarray) -> np.ndarray:
        """(n,) -> (n,) bool."""
        keys, known = _hashes(ids), np.zeros(len(ids), dtype=bool)
        for hashes in self._sorted:
            at = np.minimum(np.searchsorted(hashes, keys), len(hashes) - 1)
            known |= hashes[at] == keys
        return known

    def add(self, ids: np.ndarray) -> None:
        """Remember these; (n,)."""
        new = np.sort(_hashes(ids))
        # Arrays of similar size are merged, so that there are few and each id moves rarely.
        while self._sorted and len(self._sorted[-1]) < 2 * len(new):
            new = np.sort(np.concatenate([self._sorted.pop(), new]))
        if len(new):
            self._sorted.append(new)


def _hashes(ids: np.ndarray) -> np.ndarray:
    return pd.util.hash_array(ids.astype(object), categorize=False)


def whole_series(chunks: Chunks, in_memory: bool = False) -> Iterator[Chunk]:
    """Chunks that hold all rows of their series, and say which row belongs to which series.

    in_memory : take all chunks at once, so that rows of a series may be anywhere
    """
    bad, id = chunks.bad, roles_of(chunks.model)["id"]
    if in_memory:
        every = list(chunks)
        if every:
            yield _numbered(every, chunks)
        return
    seen, waiting = SeenIds(), list[Chunk]()
    for chunk in chunks:
        ids = chunk.inputs[id].to_numpy(dtype=object)
        starts = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
        if waiting and ids[0] == waiting[-1].inputs[id].iloc[-1]:
            starts = starts[1:]
        begun = ids[starts]
        reappears = seen.has(begun) | pd.Series(begun, dtype=object).duplicated().to_numpy()
        if reappears.any():
            row = int(starts[reappears.argmax()])
            raise InputError(
                f"{bad.path}, {bad.word} {chunk.inputs.index[row]}: the series {str(ids[row])!r}"
                " reappears after rows of other series",
                "Rows of one series must be adjacent when a file is read piece by piece",
                f"Sort the file by {id!r}, or read all of it at once with --in-memory",
            )
        seen.add(begun)
        if not len(starts):  # all of it belongs to the series before
            waiting.append(chunk)
            continue
        last = int(starts[-1])
        if waiting or last:
            before = [chunk.rows(slice(0, last))] if last else []
            yield _numbered([*waiting, *before], chunks)
        waiting = [chunk.rows(slice(last, None))]
    if waiting:
        yield _numbered(waiting, chunks)


def _numbered(parts: list[Chunk], chunks: Chunks) -> Chunk:
    """Number series in order of appearance; a second row at the same time is a bad one."""
    chunk, roles = Chunk.joined(parts), roles_of(chunks.model)
    id, time = roles["id"], roles.get("time")
    codes, _ = pd.factorize(chunk.inputs[id].to_numpy(dtype=object))
    if time and "variable" not in roles:
        repeated = chunk.inputs.assign(**{id: codes}).duplicated([id, time]).to_numpy()
        wrong = {}
        for row in np.flatnonzero(repeated).tolist():
            series, when = chunk.inputs[id].iloc[row], chunk.inputs[time].iloc[row]
            fact = f"the series {str(series)!r} already has a row at time {when}"
            wrong[int(chunk.inputs.index[row])] = fact
        chunks.bad.report(wrong)
        if wrong:
            chunk, codes = chunk.rows(~repeated), codes[~repeated]
    return chunk._replace(series=codes)
