"""What a user asks `imputefree fit` for."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..errors import InputError, ModelFileError, ParameterError
from ..io import CATEGORY, DROP, read_yaml

QUICK_EPOCHS = 10
TRUSTING = "meta"  # the policy that reads trusted rows
CARD_TITLE = "# Model card: "  # how cards begin


@dataclass(frozen=True)
class Marks:
    """How a file is written, where it is not to be found by itself.

    sep, decimal, encoding : of a CSV file
    sheet : of a workbook
    missing : cells that mean "missing" besides those of training, by column, * for all
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    missing: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def of_rows(self) -> dict[str, Any]:
        """Options of functions that read the cells of a file."""
        return {"sep": self.sep, "encoding": self.encoding, "sheet": self.sheet}

    @property
    def of_file(self) -> dict[str, Any]:
        """Options of functions that read a file."""
        return {**self.of_rows, "decimal": self.decimal}


NO_MARKS = Marks()


@dataclass(frozen=True)
class Request:
    """Everything that decides what a fit does: the options of `imputefree fit`, named alike.

    task : "classification", "regression", or None: inferred from the target
    join : other files of the same series: of steps, or with one row per series
    per_step : whether the target is one of every step, not of a series
    by_time : column by which the latest are held out, instead of a random part
    test : a share to hold out, or a file to score on, or None: folds
    folds : of cross-validation; None: five, or a fifth held out if there are many rows
    model : "blend", or one family alone: "network", "trees", "forest", "density" or
        "linear"
    quality, time_limit : of a blend; None: its default
    policy, max_iter, members : of a network; None: its default
    trusted : column of 0 and 1 that marks rows which judge what other rows teach a network
    missingness : "use", or "ignore": the model does not use which values are missing
    quick : one split, and trees alone or few epochs
    larger_than_memory : read a file once, or the files of a folder, and train from the disk
    intervals : what `predict --coverage` will need: "by_missingness" or "mask"
    sep, decimal, encoding : how a CSV file is written; None: found by themselves
    sheet : of Excel workbooks; None: the first with a table
    missing : cells that mean "missing", as CODE or COLUMN=CODE
    columns : a YAML file that says what columns are

    >>> Request(Path("in/data.csv"), "died", Path("m.imputefree"), drop=("a b",)).command
    "imputefree fit data.csv --target died --drop 'a b' -o m.imputefree"
    """

    data: Path
    target: str
    output: Path
    id: str | None = None
    time: str | None = None
    static: tuple[str, ...] = ()
    join: tuple[Path, ...] = ()
    per_step: bool = False
    task: str | None = None
    drop: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    group: str | None = None
    by_time: str | None = None
    test: float | Path | None = None
    folds: int | None = None
    estimate: bool = True
    model: str = "blend"
    quality: str | None = None
    time_limit: float | None = None
    policy: str | None = None
    max_iter: int | None = None
    members: int | None = None
    trusted: str | None = None
    missingness: str = "use"
    quick: bool = False
    intervals: str = "by_missingness"
    seed: int = 0
    larger_than_memory: bool = False
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    missing: tuple[str, ...] = ()
    columns: Path | None = None

    def __post_init__(self) -> None:
        self._check_series()
        self._check_estimate()
        self._check_model()

    def _check_series(self) -> None:
        """Refuse options of series for a table."""
        of_series: dict[str, Any] = {"--time": self.time, "--static": self.static}
        of_series |= {"--join": self.join, "--per-step": self.per_step}
        named = [option for option, value in of_series.items() if value]
        if named and not self.id:
            fact = f"{named[0]} was given without --id"
            remedy = "Pass --id COLUMN, or leave the option out for a table"
            raise ParameterError(fact, "Series have a column that identifies them", remedy)

    def _check_estimate(self) -> None:
        """Refuse several ways to estimate how good the model is."""
        chosen = {"--test": self.test, "--folds": self.folds, "--no-estimate": not self.estimate}
        both = [option for option, value in chosen.items() if value not in (None, False)]
        if len(both) > 1:
            rule = "There is one estimate: by folds, by a test part, or none"
            raise ParameterError(f"{both[0]} and {both[1]} were given", rule, "Leave one out")
        if self.by_time and (self.folds or not self.estimate or isinstance(self.test, Path)):
            fact = "--by-time was given with --folds, --no-estimate or a file to score on"
            rule = "It holds out the latest part of the data"
            remedy = "Leave one out; --test 0.3 says how large that part is"
            raise ParameterError(fact, rule, remedy)

    def _check_model(self) -> None:
        """Refuse options that the model does not have."""
        if self.per_step and (self.model not in ("blend", "network") or self.intervals == "mask"):
            option = "--intervals mask" if self.intervals == "mask" else f"--model {self.model}"
            fact, rule = f"{option} was given with --per-step", "Steps are predicted by networks"
            raise ParameterError(fact, rule, "Leave it out")
        if self.trusted and (self.id or self.model != "network"):
            where = "for series" if self.id else f"with --model {self.model}"
            rule = "Only networks for tables learn from trusted rows"
            remedy = "Leave it out" if self.id else "Add --model network, or leave it out"
            raise ParameterError(f"--trusted was given {where}", rule, remedy)
        if self.trusted and self.policy not in (None, TRUSTING):
            fact = f"--trusted was given with --policy {self.policy}"
            rule = f"Only the policy {TRUSTING} learns from trusted rows"
            raise ParameterError(fact, rule, "Leave one of them out")
        owner, foreign = "networks", ["policy", "max_iter", "members"]
        if self.trains_networks:
            owner, foreign = "blends", ["quality", "time_limit"]
        for name in (name for name in foreign if getattr(self, name) is not None):
            fact = f"--{name.replace('_', '-')} was given with --model {self.model}"
            rule = f"It is an option of {owner}"
            raise ParameterError(fact, rule, "Leave it out, or choose another --model")
        if self.model == "density" and self.id:
            rule = "Densities are for tables"
            remedy = "Choose --model blend, trees, forest, linear or network"
            raise ParameterError("--model density was given for series", rule, remedy)

    @property
    def trains_networks(self) -> bool:
        """Whether the model is networks alone, as for labels per step, not a blend."""
        return self.model == "network" or self.per_step

    @property
    def card(self) -> Path:
        """Where the card is written: next to the model."""
        return self.output.with_suffix(".md")

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the estimator that were asked for."""
        asked: dict[str, Any] = {"random_state": self.seed}
        if self.missingness != "use":
            asked["missingness"] = self.missingness
        if self.per_step:
            asked["per_step"] = True
        if self.trains_networks:
            epochs = self.max_iter or (QUICK_EPOCHS if self.quick else None)
            policy = TRUSTING if self.trusted else self.policy
            asked |= {"policy": policy, "max_iter": epochs, "n_members": self.members}
        else:
            asked["quality"] = self.quality or ("fast" if self.quick else None)
            asked["time_limit"] = self.time_limit
            asked["families"] = None if self.model == "blend" else [self.model]
        return {name: value for name, value in asked.items() if value is not None}

    @property
    def marks(self) -> Marks:
        """How the files are written, where it is not to be found by itself."""
        return Marks(self.sep, self.decimal, self.encoding, self.sheet, codes_of(self.missing))

    @property
    def roles(self) -> dict[str, Any]:
        """How to read columns: options of `read_table`."""
        columns = {} if self.columns is None else dict(read_yaml(self.columns)["columns"])
        columns |= dict.fromkeys(self.drop, DROP)
        for name in self.category:
            entries = columns.get(name)
            columns[name] = (entries if isinstance(entries, dict) else {}) | {"kind": CATEGORY}
        keys = [name for name in (self.time, self.group, self.by_time, self.trusted) if name]
        return {"target": self.target, "id": self.id, "keys": keys, "columns": columns}

    def units(self, count: int) -> str:
        """A count of rows, or of series, in words."""
        return f"{count:,} series" if self.id else f"{count:,} row{'s' * (count != 1)}"

    def labels(self, count: int) -> str:
        """A count of what has a label: rows, series or steps, in words."""
        return f"{count:,} step{'s' * (count != 1)}" if self.per_step else self.units(count)

    def options(self) -> dict[str, Any]:
        """What was requested besides the data, by option; defaults are left out."""
        options: dict[str, Any] = {}
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name in ("data", "output") or value == option.default:
                continue
            if option.name == "join":
                value = tuple(path.name for path in value)
            value = value.name if isinstance(value, Path) else value
            if option.name == "estimate":
                options["--no-estimate"] = True
            else:
                options[f"--{option.name.replace('_', '-')}"] = value
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
    inputs = [request.data, *request.join]
    inputs += [request.test] if isinstance(request.test, Path) else []
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


def split_names(values: Sequence[str] | None, columns: Sequence[str] = ()) -> tuple[str, ...]:
    """Column names by commas, repeated options or both, each once; a name may hold a comma.

    >>> split_names(["age, sex", "ward", "age"])
    ('age', 'sex', 'ward')
    >>> split_names(["pixel 0,1"], columns=["pixel 0,1"])
    ('pixel 0,1',)
    """
    names: list[str] = []
    for value in values or ():
        names += [value] if value in columns else [part.strip() for part in value.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))


def codes_of(values: Sequence[str]) -> dict[str, list[str]]:
    """Cells that mean "missing", by column, from options; * means all columns.

    >>> codes_of(["-9, unknown", "bmi=0"])
    {'*': ['-9', 'unknown'], 'bmi': ['0']}
    """
    codes: dict[str, list[str]] = {}
    for item in split_names(values):
        name, equals, code = item.rpartition("=")
        codes.setdefault(name.strip() if equals and name else "*", []).append(code.strip())
    return codes
