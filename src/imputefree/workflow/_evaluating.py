"""How well a model does on a file that has the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from ..data import Levels, parse_numbers
from ..errors import InputError, ParameterError, shorten
from ..io import BadRows
from ..metrics import intervals
from ._chunks import Chunk, Chunks
from ._loaded_model import is_of_series, roles_of, static_names
from ._predicting import by_step, class_labels, class_names, predict_chunks

MUCH = 0.15  # difference of shares missing that is worth a note
FEWEST = 30  # rows to say that of


@dataclass(frozen=True)
class Evaluation:
    """What was found.

    unit : what is counted: "row", "series" or "step"
    count, without : those with an answer, and those without
    bad_rows : how many rows of the file could not be read and were left out
    missing : by input column, the share without a value
    figures : by name the figure ("value") and its 95% interval ("low", "high")
    """

    task: str
    target: str
    unit: str
    count: int
    without: int
    bad_rows: int
    missing: dict[str, float]
    figures: dict[str, dict[str, float | None]]
    notes: list[str]

    @property
    def share_missing(self) -> float:
        """Of all input cells."""
        return float(np.mean(list(self.missing.values())))


def target_of(model: Any, given: str | None) -> str:
    """The column with the answers: as given, or as the model knows it."""
    target = given or _about(model).get("target")
    if not target:
        raise ParameterError(
            "the model does not say which column it predicts",
            "Models saved from Python know no name for their target",
            "Pass --target COLUMN",
        )
    return str(target)


def evaluate(
    model: Any, chunks: Chunks, target: str, bad: BadRows, in_memory: bool = False
) -> Evaluation:
    """Predict all of a file and hold it against the answers; rows without one are left out."""
    answers, missing = _Answers(model, target, bad), _Missing(model)
    truth, found, without = [], [], 0
    for chunk, prediction in predict_chunks(model, chunks, bad, in_memory):
        values, known, gaps = answers.read(chunk)
        truth.append(values[known])
        found.append(prediction[known])
        without += gaps
        missing.add(chunk)
    every_truth = np.concatenate(truth) if truth else np.empty(0)
    if not len(every_truth):
        raise InputError(
            f"{bad.path} has no row with an answer in {target!r}",
            "A model is held against answers",
            "Name the column of the answers with --target",
        )
    every_found = np.concatenate(found)
    task = "classification" if is_classifier(model) else "regression"
    scores, _ = intervals(task, every_truth, {"imputefree": every_found})
    return Evaluation(
        task=task,
        target=target,
        unit=answers.unit,
        count=len(every_truth),
        without=without,
        bad_rows=bad.count,
        missing=missing.shares,
        figures={name: one._asdict() for name, one in scores["imputefree"].items()},
        notes=[
            *_training_note(model, bad, len(every_truth), answers.unit),
            *_missing_notes(model, missing.shares, len(every_truth)),
        ],
    )


class _Answers:
    """Reads the answers as the model names them."""

    def __init__(self, model: Any, target: str, bad: BadRows) -> None:
        self.target, self.bad = target, bad
        self.per_series = is_of_series(model) and not by_step(model)
        self.unit = "series" if self.per_series else "step" if is_of_series(model) else "row"
        self.levels: Levels | None = None
        if is_classifier(model):
            classes = class_names(model)
            known = {name: number for number, name in enumerate(classes)}
            if class_labels(model).dtype.kind == "b":
                known |= {str(int(name == "True")): number for name, number in known.items()}
            self.levels, self.words = Levels(known), shorten(classes, limit=8)

    def read(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray, int]:
        """Classes as numbers 0, 1, … or numbers; which are known; and how many are gaps."""
        cells = chunk.beside[self.target].reset_index(drop=True)
        if self.levels is None:
            numbers, odd = parse_numbers(cells)
            what = "which is no number"
        else:
            found, odd = self.levels.match(cells)
            numbers = np.array([np.nan if one is None else one for one in found], dtype=float)
            what = f"which is none of the classes {self.words}"
        self.bad.report(
            {
                int(chunk.lines[row]): f"the target {self.target!r} holds {cells[row]!r}, {what}"
                for row in np.flatnonzero(odd).tolist()
            }
        )
        numbers[odd] = np.nan
        if self.per_series:
            numbers, odd = self._one_a_series(numbers, odd, chunk)
        known = ~np.isnan(numbers)
        if self.levels is not None:
            numbers = np.where(known, numbers, 0).astype(np.int64)
        return numbers, known, int((~known & ~odd).sum())

    def _one_a_series(
        self, numbers: np.ndarray, odd: np.ndarray, chunk: Chunk
    ) -> tuple[np.ndarray, np.ndarray]:
        """The first known answer of each series; it must be the only one."""
        assert chunk.series is not None
        groups = pd.Series(numbers).groupby(chunk.series)
        first = groups.first().to_numpy()
        changes = np.flatnonzero((numbers != first[chunk.series]) & ~np.isnan(numbers))
        if len(changes):
            raise InputError(
                f"{self.bad.path}, {self.bad.word} {chunk.lines[changes[0]]}: the target"
                f" {self.target!r} changes within a series",
                "A series has one answer",
                "Name a column with one value a series",
            )
        return first, np.zeros(len(first), dtype=bool)


class _Missing:
    """Counts gaps by column; of static columns, by series."""

    def __init__(self, model: Any) -> None:
        self._static, self._roles = static_names(model), set(roles_of(model).values())
        self._gaps: dict[str, int] = {}
        self._cells: dict[str, int] = {}

    def add(self, chunk: Chunk) -> None:
        for name in chunk.inputs.columns:
            cells = chunk.inputs[name]
            if name in self._roles:
                continue
            if name in self._static and chunk.series is not None:
                cells = cells.groupby(chunk.series).first()
            self._gaps[str(name)] = self._gaps.get(str(name), 0) + int(cells.isna().sum())
            self._cells[str(name)] = self._cells.get(str(name), 0) + len(cells)

    @property
    def shares(self) -> dict[str, float]:
        return {name: gaps / self._cells[name] for name, gaps in self._gaps.items()}


def _about(model: Any) -> dict[str, Any]:
    """What a model made by `imputefree fit` knows about itself."""
    return getattr(model, "about_", None) or {}


def _training_note(model: Any, bad: BadRows, count: int, unit: str) -> list[str]:
    """Whether the file looks like the one the model learned from."""
    data = _about(model).get("data") or {}
    learned = data.get("series") if unit == "series" else data.get("rows")
    if data.get("file") != bad.path.name or learned != count:
        return []
    return [
        f"{bad.path.name} has the name and the size of the file that the model learned from: on"
        " rows it has seen, figures are too good."
    ]


def _missing_notes(model: Any, shares: dict[str, float], count: int) -> list[str]:
    """Columns that have many more, or fewer, gaps than in training."""
    before = (_about(model).get("data") or {}).get("missing") or {}
    far = sorted(
        (name for name in shares if name in before and abs(shares[name] - before[name]) > MUCH),
        key=lambda name: -abs(shares[name] - before[name]),
    )
    if not far or count < FEWEST:
        return []

    def then_and_now(name: str) -> str:
        return f"{name!r} {before[name]:.0%} then, {shares[name]:.0%} now"

    told = shorten(far, word=then_and_now)
    return [f"Other shares are missing than in training: {told}."]
