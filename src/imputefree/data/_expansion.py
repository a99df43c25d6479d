"""From coded columns to network inputs, all columns at once, in two stages.

*Codes* (n, C) are the columns as numbers: a category is the number of its level, NaN is missing.
They become *parts*, at most four numbers per column: the scaled value, its normal score, its
position among the bins, and the number of its level. Parts fan out into *inputs*: one position
fills dozens of bins. The second stage is cheap, so that training applies it batch by batch and
keeps the parts, a few per cent of the size of the inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ._column_plans import KINDS, UNSCALED_LIMIT, Number, columns_by_kind, scale
from ._few_rows import Lines, stacked
from ._row_store import BLOCK, RowStore

CPU = torch.device("cpu")
FEW = 2**13  # rows of which parts are made at once: there are some twenty arrays on the way


class Expansion:
    """What is known of parts and inputs once each column has its plan.

    plans : per column
    indicators : columns that have an indicator
    n_others : how many columns of `parts`, at their end, are inputs as they are (times of series)

    columns : (D,) the column of each input, without the others
    part_columns : (M,) the column of each part
    n_entries : how many inputs hold entries of the table; then come indicators and others

    >>> from imputefree.data import Category
    >>> plans = [Number.learn("age", np.array([20.0, 40.0])), Category("sex", levels=["f", "m"])]
    >>> expansion = Expansion(plans, indicators=[0])
    >>> parts = expansion.parts(np.array([[20.0, 1.0], [np.nan, 0.0]]))
    >>> parts
    tensor([[-0.9487,  1.0000],
            [    nan,  0.0000]])
    >>> expansion.inputs(parts)
    tensor([[-0.9487,  0.0000,  1.0000,  0.0000],
            [ 0.0000,  1.0000,  0.0000,  1.0000]])
    """

    def __init__(self, plans: Sequence[Any], indicators: Sequence[int], n_others: int = 0) -> None:
        self.n_others, columns = n_others, columns_by_kind(plans)
        self._columns = {kind: torch.tensor(of, dtype=torch.long) for kind, of in columns.items()}
        of_parts = [j for kind in KINDS for j in columns[kind]]
        self.part_columns = torch.tensor(of_parts, dtype=torch.long)
        first = [of_parts.index(j) for j in range(len(plans))]  # tells whether a column is missing
        self._first = torch.tensor(first, dtype=torch.long)
        self._scaled = all(plans[j].scaled for j in columns["value"])  # all of them, or none
        self._center, self._spread = (
            np.array([getattr(plans[j], name) for j in columns["value"]], dtype=np.float64)
            for name in ("center", "spread")
        )
        scored, binned = ([plans[j] for j in columns[kind]] for kind in ("score", "bin"))
        self._scores = Lines([plan.knots for plan in scored], [plan.scores for plan in scored])
        edges = [plan.edges for plan in binned]  # the position at the third edge is 2
        self._positions = Lines(edges, [range(len(some)) for some in edges])
        counted = [i for i, j in enumerate(columns["level"]) if isinstance(plans[j], Number)]
        self._levelled = counted  # numbers, among the columns with levels
        levels = [plans[columns["level"][i]].levels for i in counted]
        self._levels = torch.from_numpy(stacked(levels))
        counts = {kind: [len(plans[j].inputs[kind]) for j in columns[kind]] for kind in KINDS}
        self._centers = _each_input([np.arange(count) + 0.5 for count in counts["bin"]])
        bin_sizes = [plans[j].bin_size for j in columns["bin"]]
        self._bin_sizes = _each_input([*map(np.repeat, bin_sizes, counts["bin"])])
        self._numbers = _each_input([np.arange(count) for count in counts["level"]])
        level_sizes = [getattr(plans[j], "level_size", 1.0) for j in columns["level"]]
        self._level_sizes = _each_input([*map(np.repeat, level_sizes, counts["level"])])
        per_part = [count for kind in KINDS for count in counts[kind]]
        sources = np.repeat(np.arange(len(of_parts)), per_part)
        self.n_entries = len(sources)
        self._switches_at = slice(self.n_entries - sum(counts["level"]), self.n_entries)
        self._bins_at = slice(self._switches_at.start - sum(counts["bin"]), self._switches_at.start)
        self._indicators_at = slice(self.n_entries, self.n_entries + len(indicators))
        entries = self.part_columns[torch.from_numpy(sources)].tolist()
        self.columns = torch.tensor([*entries, *indicators], dtype=torch.long)
        others = range(len(of_parts), len(of_parts) + n_others)
        of_inputs = [*sources.tolist(), *(first[j] for j in indicators), *others]
        self._sources = torch.tensor(of_inputs, dtype=torch.long)  # the part of each input

    @property
    def n_inputs(self) -> int:
        """How many inputs there are, others included."""
        return len(self.columns) + self.n_others

    def to(self, device: torch.device) -> Expansion:
        """The same with its tensors on another device."""
        moved = object.__new__(Expansion)
        moved.__dict__ = {
            name: value.to(device) if isinstance(value, Tensor) else value
            for name, value in self.__dict__.items()
        }
        return moved

    # ---- codes -> parts
    def parts(self, codes: np.ndarray) -> Tensor:
        """Parts of coded columns; (n, C) float64 -> (n, M) float32, NaN where missing."""
        kinds, columns = [], codes.T
        of = {
            kind: torch.from_numpy(columns.take(j.numpy(), 0)).T
            for kind, j in self._columns.items()
            if len(j)
        }
        if "value" in of:
            values = of["value"]
            if self._scaled:
                values = torch.from_numpy(scale(values.numpy(), self._center, self._spread))
            kinds.append(values.clamp(-UNSCALED_LIMIT, UNSCALED_LIMIT))
        for kind, lines in (("score", self._scores), ("bin", self._positions)):
            if kind in of:
                kinds.append(torch.from_numpy(lines(of[kind].numpy())))
        if "level" in of:
            levels = of["level"]
            if self._levelled:  # categories are coded by their level already
                numbers = _level_numbers(self._levels, levels[:, self._levelled])
                levels[:, self._levelled] = numbers.mT
            kinds.append(levels)
        return torch.cat([kind.float() for kind in kinds], 1)

    # ---- parts -> inputs
    def inputs(self, parts: Tensor, placeholder: float = 0.0) -> Tensor:
        """What networks read: parts (…, M) and others -> (…, D), the placeholder where missing."""
        inputs = _picked(parts, self._sources)
        bins, switches = inputs[..., self._bins_at], inputs[..., self._switches_at]
        # Position 3.4 fills bins 0, 1 and 2, four tenths of bin 3 and none of the others.
        bins.sub_(self._centers).clamp_(-0.5, 0.5).mul_(self._bin_sizes)
        gaps = switches.isnan() if placeholder else None
        switches.eq_(self._numbers).mul_(self._level_sizes)  # 0 where missing
        if gaps is not None:
            switches.masked_fill_(gaps, placeholder)
        indicators = inputs[..., self._indicators_at]
        indicators.ne_(indicators)  # only NaN is not equal to itself
        return inputs.nan_to_num_(nan=placeholder)

    def observed(self, parts: Tensor) -> Tensor:
        """Which inputs are observed, indicators and others always; (…, M) -> (…, D) bool."""
        entries = ~self.missing(parts)[..., self.columns[: self.n_entries]]
        rest = self.n_inputs - self.n_entries
        return torch.nn.functional.pad(entries, (0, rest), value=True)

    def missing(self, parts: Tensor) -> Tensor:
        """Which columns are missing; (…, M) -> (…, C) bool."""
        return _picked(parts, self._first).isnan()

    def hidden(self, parts: Tensor, columns: Tensor) -> Tensor:
        """The same parts without some entries; columns (…, C) bool, True = hide."""
        gaps = columns.index_select(-1, self.part_columns)
        if self.n_others:
            gaps = torch.nn.functional.pad(gaps, (0, self.n_others))
        return parts.masked_fill(gaps, torch.nan)


class RowParts:
    """Parts of a large table, (n, M) float32, made of the rows that are asked for.

    To a network it is what a tensor of all parts would be.

    store : read as codes
    """

    dtype = torch.float32

    def __init__(self, expansion: Expansion, store: RowStore, device: torch.device = CPU) -> None:
        self.expansion, self.store, self.device = expansion, store, device
        self.shape = torch.Size((store.n_rows, len(expansion.part_columns)))
        self._read = 0  # rows since the last release

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Tensor | slice) -> Tensor:
        """The parts of these rows; (…) -> (…, M)."""
        if isinstance(rows, slice):
            rows = torch.arange(*rows.indices(len(self)))
        every = rows.flatten().cpu().numpy()
        pieces = [every[begin : begin + FEW] for begin in range(0, max(len(every), 1), FEW)]
        parts = torch.cat([self.expansion.parts(self.store.read(some)) for some in pieces])
        self._read += len(parts)
        if self._read >= BLOCK:
            self.store.release()
            self._read = 0
        return parts.view(*rows.shape, self.shape[1]).to(self.device)

    def blocks(self) -> Iterator[Tensor]:
        """All rows in order, a block at a time."""
        return (self[begin : begin + BLOCK] for begin in range(0, len(self), BLOCK))

    def new_empty(self, *shape: int) -> Tensor:
        """A tensor of this kind, on this device."""
        return torch.empty(*shape, dtype=self.dtype, device=self.device)

    def to(self, device: torch.device) -> RowParts:
        """The same for networks on another device; rows are made here and moved there."""
        return RowParts(self.expansion, self.store, device)


def _each_input(rows: Sequence[np.ndarray]) -> Tensor:
    """The figures of the inputs of one part after the other; (inputs,) float32."""
    return torch.from_numpy(np.concatenate([np.empty(0), *rows]).astype(np.float32))


def _picked(table: Tensor, columns: Tensor) -> Tensor:
    """Some of the last dimension; PyTorch is faster at that with two dimensions."""
    flat = table.reshape(-1, table.shape[-1]).index_select(1, columns)
    return flat.view(*table.shape[:-1], len(columns))


def _level_numbers(levels: Tensor, values: Tensor) -> Tensor:
    """Which of its column's levels each value is, -1 if none, NaN if missing; -> (C, n)."""
    values = values.mT.contiguous()
    place = torch.searchsorted(levels, values).clamp_(max=levels.shape[1] - 1)
    number = torch.where(levels.gather(1, place) == values, place.double(), -1.0)
    return torch.where(values.isnan(), torch.nan, number)
