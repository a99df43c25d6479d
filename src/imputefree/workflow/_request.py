"""What a user asked `imputefree fit` for."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ParameterError

QUICK_EPOCHS = 10


@dataclass(frozen=True)
class Request:
    """Everything that decides what a fit does.

    data, output : the file to learn from, and the model's
    target : the column to predict
    id, time, static : of series: whose a row is, when, and what does not change
    task : "classification", "regression", or None: as the target looks
    drop, category : columns to leave out, and numbers that are categories
    group : rows that share this column's value stay together in folds
    test : a share to hold out, or a file to score on, or None: folds
    folds : of cross-validation; None: five, or a fifth held out if there are many rows
    estimate : whether to estimate how good the model is
    policy, max_iter, members, seed : of the estimator; None: its own
    quick : few epochs, one split

    >>> Request(Path("in/data.csv"), "died", Path("m.imputefree"), drop=("a b",)).command
    "imputefree fit data.csv --target died --drop 'a b' -o m.imputefree"
    """

    data: Path
    target: str
    output: Path
    id: str | None = None
    time: str | None = None
    static: tuple[str, ...] = ()
    task: str | None = None
    drop: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    group: str | None = None
    test: float | Path | None = None
    folds: int | None = None
    estimate: bool = True
    policy: str = "none"
    max_iter: int | None = None
    members: int | None = None
    quick: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if (self.time or self.static) and not self.id:
            raise ParameterError(
                f"{'--time' if self.time else '--static'} was given without --id",
                "Series have a column that says whose a row is",
                "Pass --id COLUMN, or leave the option out for a table",
            )
        chosen = {"--test": self.test, "--folds": self.folds, "--no-estimate": not self.estimate}
        both = [option for option, value in chosen.items() if value not in (None, False)]
        if len(both) > 1:
            raise ParameterError(
                f"{both[0]} and {both[1]} were given",
                "There is one estimate: by folds, by a test part, or none",
                "Leave one of them out",
            )

    @property
    def epochs(self) -> int | None:
        """Epochs at most, or None: the estimator's own number."""
        return self.max_iter or (QUICK_EPOCHS if self.quick else None)

    def options(self) -> dict[str, Any]:
        """What was asked beyond the data, by option; what was left open is left out."""
        test = self.test.name if isinstance(self.test, Path) else self.test
        asked: dict[str, Any] = {
            "--target": self.target,
            "--id": self.id,
            "--time": self.time,
            "--static": list(self.static),
            "--task": self.task,
            "--drop": list(self.drop),
            "--category": list(self.category),
            "--group": self.group,
            "--test": test,
            "--folds": self.folds,
            "--no-estimate": not self.estimate,
            "--policy": None if self.policy == "none" else self.policy,
            "--max-iter": self.max_iter,
            "--members": self.members,
            "--quick": self.quick,
            "--seed": self.seed or None,
        }
        return {option: value for option, value in asked.items() if value not in (None, False, [])}

    @property
    def command(self) -> str:
        """The command in its shortest form; files without their folders, which are private."""
        words = ["imputefree", "fit", self.data.name]
        for option, value in self.options().items():
            values = value if isinstance(value, list) else [value]
            words += [option] if value is True else [w for v in values for w in (option, str(v))]
        return shlex.join([*words, "-o", self.output.name])
