"""Plans: what `imputefree bench STUDY` runs, and how `plan` turns requests into a list of runs.

A study is one plan in plans.toml. Its network is the paper's (one network, no dropout, no
indicator, ...) and the same for every method that has one, so that methods differ only in what
fills a gap and in what a gap may teach; the one exception is "zero+network" on MNIST. Only
"imputefree" is our default, unchanged; rivals without a network keep their defaults too. Unless a
placeholder is named, a gap is 0 in scaled units, so it teaches nothing under any policy: "gil-h"
then equals "network" to the last digit.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any

import numpy as np

from ..._rules import Rule, check_name, check_value, choice, or_the_word, whole
from ...errors import ParameterError, shorten
from ..rivals import CLASSES, KINDS, make_method
from ..studies import KNOWN, MASKS, takes
from ._protocol import OUR_NETWORKS, Run, Setting, configure, grid_settings, in_epochs

AS_IT_COMES = "imputefree"  # our default
END_TO_END = ("brits", "gru-d", "saits")  # networks that no plan configures


@dataclass(frozen=True)
class StudyPlan:
    """How a study is run by default.

    options : the study's settings, which stand side by side in the table
    methods : in the order of the table
    metrics : columns of the table
    network : setting of every method with a network
    steps : maximum number of training steps; 0 leaves it to the methods. `form_steps` is for
        individual forms of a study
    cannot : pairs (method, form) that cannot be run
    seeds : number of masks, or of splits where nothing is hidden on purpose; `paper_seeds`: in the
        paper
    method_settings : of individual methods
    quick : what `--quick` changes
    """

    options: Sequence[dict[str, Any]]
    methods: Sequence[str]
    metrics: Sequence[str]
    network: Setting = field(default_factory=dict)
    steps: int = 0
    form_steps: Mapping[str, int] = field(default_factory=dict)
    cannot: Sequence[Sequence[str]] = ()
    seeds: int = 3
    paper_seeds: int = 0
    kind: str = "table"
    method_settings: Mapping[str, Setting] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)

    def steps_in(self, option: Mapping[str, Any]) -> int:
        """Maximum number of training steps in this form of the study."""
        return self.form_steps.get(str(option.get("form")), self.steps)

    def changed(self, changes: Mapping[str, Any]) -> StudyPlan:
        """The plan with other values; those that are dicts are added to."""
        merged = {
            name: getattr(self, name) | value if isinstance(value, dict) else value
            for name, value in changes.items()
        }
        return replace(self, **merged)


_FILE = tomllib.loads(files(__package__).joinpath("plans.toml").read_text(encoding="utf-8"))
EIGHT_TABLES: list[str] = _FILE["eight_tables"]
PRESETS = ("paper", "authors")
AUTHORS: dict[str, dict[str, Setting]] = _FILE["authors"]
RATES: dict[str, list[Any]] = _FILE["rates"]
PAPER_GRIDS: dict[str, dict[str, list[Any]]] = _FILE["paper_grids"]
MOST = len(grid_settings(RATES))
COUNT: Rule = (lambda n: whole(1)[0](n) and n <= MOST, f"a whole number from 1 to {MOST}")
PLANS: dict[str, StudyPlan] = {}
for _about in _FILE["plans"]:
    _studies = _about.pop("studies")
    _plan = StudyPlan(**_about)
    if _plan.network:
        _plain = _FILE["plain"] | _FILE[f"plain_{_plan.kind}"]
        _plan = replace(_plan, network=_plain | _plan.network)
    PLANS |= dict.fromkeys(_studies, _plan)
STUDIES = tuple(PLANS)


@dataclass(frozen=True)
class Plan:
    """What to run, and the columns and rows of its table."""

    study: str
    runs: list[Run]
    metrics: Sequence[str]
    methods: Sequence[str]


def plan(
    study: str,
    *,
    methods: Sequence[str] | None = None,
    rates: Sequence[float] | None = None,
    seeds: int | None = None,
    steps: int | None = None,
    width: int | None = None,
    quick: bool = False,
    search: int | None = None,
    preset: str = "paper",
    masks: str = "fixed",
    placeholders: Sequence[float | str] | None = None,
    method_settings: Mapping[str, Setting] | None = None,
    target: str | None = None,
    drop: Sequence[str] = (),
    sheet: str | None = None,
) -> Plan:
    """The runs of a study, at the paper's size unless asked otherwise.

    Parameters
    ----------
    study : one of STUDIES, or table:NAME; "tables" are the eight of `EIGHT_TABLES`
    methods : names from `lab.rivals`; None means those of the study's plan
    rates : shares to hide, for studies that hide on purpose
    seeds : number of masks, or of splits where nothing is hidden on purpose
    steps : maximum number of training steps
    width : of hidden layers
    quick : little of everything, for a first look
    search : how many settings every network draws at random from the paper's grids, to choose from
        on validation rows. All draw the same learning rates; None means no search
    preset : "paper", or "authors": what their scripts do where the paper says nothing or otherwise
    masks : "fixed", or "redrawn" for each batch of training, for studies that hide completely at
        random; methods that would then see complete rows are left out
    placeholders : values of a gap in the networks that have no imputer, each run in turn, such as
        [0, "3max"]; None means one, that of the preset
    method_settings : of individual methods, in addition to those of the study
    target, drop, sheet : of a table: the column to predict, columns to leave out, and the sheet of
        a workbook

    >>> small = plan("mnist", methods=["gil", "zero+network"], rates=[0.9], seeds=1, steps=500)
    >>> [(run.method, run.options["rate"], run.setting["steps"]) for run in small.runs]
    [('gil', 0.9, 500), ('zero+network', 0.9, 500)]
    """
    for name, value in {"seeds": seeds, "steps": steps, "width": width}.items():
        check_value(name, value, or_the_word(None, whole(1)))
    check_value("search", search, or_the_word(None, COUNT))
    check_value("preset", preset, choice(*PRESETS))
    base, names = _study_plan(study)
    base = base.changed(base.quick) if quick else base
    chosen = tuple(dict.fromkeys(base.methods if methods is None else methods))
    for name in chosen:
        check_name(f"{base.kind} method", name, KINDS[base.kind])
    if masks == "redrawn" and methods is None:
        chosen = tuple(name for name in chosen if name in (*OUR_NETWORKS, "zero+network"))
    about_table: Any = {"target": target, "drop": [*drop], "sheet": sheet}
    options = _masked(study, _options(study, base, rates, **about_table), masks)
    masked = takes(study, "mask_seed")
    runs = [
        Run(
            name,
            method,
            options=option,
            setting=_setting(method, base, steps or base.steps_in(option), width)
            | (_authors(study, base.kind, method) if preset == "authors" else {})
            | placeholder
            | (method_settings or {}).get(method, {}),
            grid=drawn_settings(method, search) if search and has_network(method) else {},
            mask_seed=seed if masked else 0,
            split_seed=0 if masked else seed,
        )
        for name in names
        for option in options
        for seed in range(seeds or base.seeds)
        for method in chosen
        if [method, option.get("form")] not in base.cannot
        for placeholder in _placeholders(method, placeholders)
    ]
    return Plan(study, runs, base.metrics, chosen)


def drawn_settings(method: str, count: int) -> list[Setting]:
    """Settings drawn from the paper's grids, the learning rates alike for all methods.

    >>> [len(drawn_settings(method, 5)) for method in ("gil", "network")]
    [5, 5]
    >>> one, other = drawn_settings("gil", 1)[0], drawn_settings("network", 1)[0]
    >>> other.items() < one.items()
    True
    """
    rates, grid = grid_settings(RATES), PAPER_GRIDS.get(method, {})
    places = np.random.default_rng(0).permutation(len(rates))[:count]
    rng = np.random.default_rng(1)
    more = [
        {name: values[rng.integers(len(values))] for name, values in grid.items()} for _ in places
    ]
    return [rates[place] | extra for place, extra in zip(places, more, strict=True)]


def _options(
    study: str,
    base: StudyPlan,
    rates: Sequence[float] | None,
    **about_table: Any,
) -> list[dict[str, Any]]:
    """The study's settings: those of its plan, or the rates asked for."""
    about_table = {option: value for option, value in about_table.items() if value}
    if about_table and not study.startswith("table:"):
        fact = f"{shorten(list(about_table), word=str)} is given for {study!r}"
        raise ParameterError(fact, "Studies know their targets", "Leave it out, or pass table:FILE")
    if rates is None:
        return [{**option, **about_table} for option in base.options]
    if not takes(study, "mask_seed"):
        raise ParameterError(
            f"rates is set, but {study!r} hides nothing on purpose",
            "Only studies that hide entries have rates",
            "Leave rates out, or choose mnist or ophthalmic-simulated",
        )
    return [{"rate": float(rate)} for rate in rates]


def _masked(study: str, options: list[dict[str, Any]], masks: str) -> list[dict[str, Any]]:
    """The study's settings under this protocol of masks."""
    check_value("masks", masks, choice(*MASKS))
    if masks == "fixed":
        return options
    if not takes(study, "masks"):
        raise ParameterError(
            f"masks is {masks!r}, and {study!r} has one draw of its gaps",
            "Only masks that are drawn completely at random can be redrawn",
            "Leave masks out, or choose mnist",
        )
    return [option | {"masks": masks} for option in options if "mechanism" not in option]


def _authors(study: str, kind: str, method: str) -> Setting:
    """What the authors' scripts add to the setting of a method."""
    setting: Setting = {}
    for part in (AUTHORS[kind], AUTHORS.get(study, {})):
        if has_network(method):
            setting |= part.get("network", {})
        setting |= part.get(method, {})
    if method not in OUR_NETWORKS:  # behind an imputer there is no gap
        setting.pop("placeholder", None)
    return setting


def _placeholders(method: str, values: Sequence[float | str] | None) -> list[Setting]:
    if values is None or method not in OUR_NETWORKS:
        return [{}]
    return [{"placeholder": value} for value in values]


def has_network(method: str) -> bool:
    """Whether the plan configures the network of this method."""
    return method.endswith("+network") or method in OUR_NETWORKS


def _study_plan(study: str) -> tuple[StudyPlan, Sequence[str]]:
    """The plan, and the studies that it runs over."""
    if study == "tables":
        return PLANS[study], [f"table:{name}" for name in EIGHT_TABLES]
    if study in PLANS:
        return PLANS[study], [study]
    if str(study).startswith("table:"):
        return PLANS["tables"], [study]
    raise ParameterError(
        f"there is no study {study!r} to run",
        f"Studies are {', '.join(STUDIES)}, and table:NAME with NAME one of {', '.join(KNOWN)} or a"
        " CSV file",
        "Pass one of these",
    )


def _setting(method: str, base: StudyPlan, steps: int, width: int | None) -> Setting:
    special = base.method_settings.get(method, {})
    limit: Setting = {"steps": steps} if steps else {}
    if method in END_TO_END:
        return limit | special
    if not has_network(method):
        return dict(special)
    network = dict(base.network)
    if width is not None:
        network["hidden_layer_sizes"] = [width] * len(network.get("hidden_layer_sizes", [0, 0]))
    return network | limit | special


def preset(
    name: str,
    study: str,
    n_rows: int,
    *,
    method: str = "gil",
    form: str | None = None,
    random_state: int | None = 0,
) -> Any:
    """An unfitted estimator with the setting of a study: what `bench` would fit.

    All of it is in the estimator's parameters, so that `clone`, grid searches and files keep it.

    Parameters
    ----------
    name : "paper", or "authors": what their scripts do where the paper says nothing or otherwise
    study : such as "mnist", "ophthalmic", "mimic3" or "physionet2012"
    n_rows : number of training rows (or series), since the paper counts steps and not epochs
    method : a method of the study, such as "gil", "gil-d", "gil-h" or "network"
    form : "variable" or "fixed", for studies of series that have both; the default is the first

    >>> preset("paper", "mnist", n_rows=52_500).hidden_layer_sizes
    [500, 500]
    >>> gil = preset("authors", "mimic3", n_rows=3000)
    >>> gil.placeholder, gil.policy.batch_size, gil.policy.per_batch
    ('3max', 128, True)
    """
    check_value("study", study, choice(*PLANS))
    check_value("n_rows", n_rows, whole(1))
    runs = plan(study, methods=[method], seeds=1, preset=name).runs
    forms = [run.options.get("form") for run in runs]
    check_value("form", form, or_the_word(None, choice(*filter(None, forms))))
    setting = runs[forms.index(form) if form else 0].setting
    model = make_method(method, CLASSES, PLANS[study].kind, random_state)
    return configure(model, in_epochs(model, setting, n_rows))
