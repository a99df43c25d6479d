"""What a user asked `imputefree fit` for, and whether its results can be written."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..errors import InputError, ModelFileError, ParameterError

QUICK_EPOCHS = 10
CARD_TITLE = "# Model card: "  # how cards begin


@dataclass(frozen=True)
class Request:
    """Everything that decides what a fit does: the options of `imputefree fit`, named alike.

    task : "classification", "regression", or None: inferred from the target
    test : a share to hold out, or a file to score on, or None: folds
    folds : of cross-validation; None: five, or a fifth held out if there are many rows
    policy, max_iter, members, seed : of the estimator; None: its default

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
                "Series have a column that identifies them",
                "Pass --id COLUMN, or leave the option out for a table",
            )
        chosen = {"--test": self.test, "--folds": self.folds, "--no-estimate": not self.estimate}
        both = [option for option, value in chosen.items() if value not in (None, False)]
        if len(both) > 1:
            rule = "There is one estimate: by folds, by a test part, or none"
            raise ParameterError(f"{both[0]} and {both[1]} were given", rule, "Leave one out")

    @property
    def card(self) -> Path:
        """Where the card is written: next to the model."""
        return self.output.with_suffix(".md")

    @property
    def epochs(self) -> int | None:
        """Maximum number of epochs, or None: the estimator's default."""
        return self.max_iter or (QUICK_EPOCHS if self.quick else None)

    def units(self, count: int) -> str:
        """A count of rows, or of series, in words."""
        return f"{count:,} series" if self.id else f"{count:,} row{'s' * (count != 1)}"

    def options(self) -> dict[str, Any]:
        """What was requested besides the data, by option; defaults are left out."""
        options: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("data", "output") or value == field.default:
                continue
            value = value.name if isinstance(value, Path) else value
            if field.name == "estimate":
                options["--no-estimate"] = True
            else:
                options[f"--{field.name.replace('_', '-')}"] = value
        return options

    @property
    def command(self) -> str:
        """The command in its shortest form; files without their folders, which are private."""
        words = ["imputefree", "fit", self.data.name]
        for option, value in self.options().items():
            values = value if isinstance(value, tuple) else (value,)
            words += [option] if value is True else [w for v in values for w in (option, str(v))]
        return shlex.join([*words, "-o", self.output.name])


def check_output(request: Request) -> None:
    """Refuse outputs that cannot be written, before anything is computed."""
    output, card = request.output, request.card
    remedy = "Name another file, such as -o model.imputefree"
    inputs = [request.data, *([request.test] if isinstance(request.test, Path) else [])]
    if any(path.resolve() in (output.resolve(), card.resolve()) for path in inputs):
        raise InputError(f"-o {output} would overwrite the data", "A model is a new file", remedy)
    if output.is_dir() or not output.name or card == output:
        fact = f"{output} is {'a folder' if output.is_dir() else 'the name of a card'}"
        raise ModelFileError(fact, "A model is a file, with a card that ends in .md", remedy)
    if not output.parent.is_dir():
        fact = f"the folder {output.parent} does not exist"
        raise ModelFileError(fact, "A model is saved into an existing folder", "Create it first")
    if card.exists() and not card.read_text(errors="replace").startswith(CARD_TITLE):
        rule = "The card is written next to the model, but never over another file"
        raise InputError(f"{card} exists and is not a model card", rule, remedy)
