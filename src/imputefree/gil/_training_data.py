"""What networks learn from, and how a batch of it is put together: rows of a table, or series.

Series lie flat, step after step, so a step of a series is to the method what a row is to a table.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """What K networks see at once: B rows, or the steps of B series padded to T steps.

    Shapes, with R = B for a table and R = B·T for series: values (K, R, D), observed (K, R, D) or
    None where nobody needs it, steps (K, R) the place of each in the training data, labelled
    (K, B) or (K, R) the place of each label, lengths (K, B) and valid (K, R) only for series;
    a padded step repeats the last valid one and is False in valid.
    """

    values: Tensor
    observed: Tensor | None
    steps: Tensor
    labelled: Tensor
    lengths: Tensor | None = None
    valid: Tensor | None = None


@dataclass(frozen=True)
class TrainingData:
    """Training rows: values (n, D) filled, observed (n, D), target (n,), weight (n,) or None.

    The first `entries` inputs hold entries of the table, the others are indicators and the like
    (None: all are entries). `columns` says of the first inputs which of `n_columns` columns of the
    table they belong to, and `blank` what they hold where that column is missing; they are needed
    only to hide entries.

    Series have `lengths` (N,): n then counts the steps of all series together, and target and
    weight are one a series or, with `per_step`, one a step.

    >>> values = torch.arange(5.0)[:, None]                    # a series of 2 and one of 3 steps
    >>> data = TrainingData(values, values > -1, torch.tensor([0, 1]), lengths=torch.tensor([2, 3]))
    >>> data.batch(torch.tensor([[0, 1]])).values.flatten()    # the first is padded
    tensor([0., 1., 1., 2., 3., 4.])
    """

    values: Tensor
    observed: Tensor
    target: Tensor
    weight: Tensor | None = None
    entries: int | None = None
    columns: Tensor | None = None
    n_columns: int = 0
    blank: Tensor | None = None
    lengths: Tensor | None = None
    per_step: bool = False

    def to(self, device: torch.device) -> TrainingData:
        """The same on another device."""
        moved: dict[str, Any] = {
            field.name: value.to(device)
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), Tensor)
        }
        return replace(self, **moved)

    @property
    def n_rows(self) -> int:
        """Rows of the table, or series."""
        return len(self.values if self.lengths is None else self.lengths)

    @cached_property
    def starts(self) -> Tensor:
        """Where each series begins; (N,)."""
        assert self.lengths is not None
        return self.lengths.cumsum(0) - self.lengths

    def batch(self, rows: Tensor, with_observed: bool = False) -> Batch:
        """Gather row (or series) numbers (K, B)."""
        rows = rows.to(self.values.device)
        if self.lengths is None:
            observed = self.observed[rows] if with_observed else None
            return Batch(self.values[rows], observed, rows, rows)
        lengths = self.lengths[rows]
        t = torch.arange(int(lengths.max()), device=rows.device)
        steps = self.starts[rows][..., None] + torch.minimum(t, lengths[..., None] - 1)
        steps = steps.flatten(1)
        return Batch(
            self.values[steps],
            self.observed[steps] if with_observed else None,
            steps,
            steps if self.per_step else rows,
            lengths,
            (t < lengths[..., None]).flatten(1),
        )

    def weights(self, batch: Batch) -> Tensor | None:
        """How much each labelled place of a batch counts; None: all the same."""
        weight = None if self.weight is None else self.weight[batch.labelled]
        if self.per_step and batch.valid is not None:  # padding carries no loss
            valid = batch.valid.to(self.values.dtype)
            return valid if weight is None else weight * valid
        return weight
