"""A piece of a file, read but not yet understood: what readers of CSV and Parquet hand over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class RawRows:
    """Rows of a file that have the right form.

    frame : (n, columns) as the file has them
    lines : (n,) the line in which each begins, the first line of a file being 1
    wrong : by line, what is wrong with rows that are not in the frame
    done : how far in the file, in bytes
    """

    frame: pd.DataFrame
    lines: np.ndarray
    wrong: dict[int, str] = field(default_factory=dict)
    done: int = 0


class Reader(Protocol):
    """An open file."""

    names: list[str]  # of its columns
    twins: set[str]  # names that more than one column has
    word: str  # what its rows are counted in
    size: int | None  # bytes

    def rows(self, kinds: Mapping[str, str]) -> Iterator[RawRows]:
        """Its rows in order, once; kinds: by column "number", "category" or "text"."""
        ...
