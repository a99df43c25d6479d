"""From a study and a few wishes to a list of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace

from ..._rules import check_rules, or_the_word, whole
from ...errors import ParameterError
from ..rivals._methods import KINDS
from ..studies import KNOWN, takes
from ._protocol import Run
from ._run import grid
from ._settings import PAPER_GRIDS, RATES, Setting
from ._study_plans import EIGHT, OURS, PLANS, TRAINED_APART, StudyPlan


@dataclass(frozen=True)
class Plan:
    """What is to be run, and how its table is to look."""

    study: str
    runs: list[Run]
    metrics: tuple[str, ...]
    methods: tuple[str, ...]


STUDIES = tuple(PLANS)


def plan(
    study: str,
    *,
    methods: Sequence[str] | None = None,
    rates: Sequence[float] | None = None,
    seeds: int | None = None,
    steps: int | None = None,
    width: int | None = None,
    quick: bool = False,
    search: bool = False,
    own: Mapping[str, Setting] | None = None,
) -> Plan:
    """The runs of a study, in the paper's size where nothing else is asked for.

    Parameters
    ----------
    study : one of STUDIES, or table:NAME; "tables" are the eight of `EIGHT`
    methods : names of `bench.methods`; None means the study's own list
    rates : shares to hide, of studies that hide on purpose
    seeds : how many masks, or splits where nothing is hidden on purpose
    steps : of training, at most
    width : of hidden layers
    quick : little of everything, for a first look
    search : choose from the paper's grids on validation rows: 84 fits a run, 1,008 of "gil"
    own : settings of single methods, beside those of the study

    >>> made = plan("mnist", methods=["gil", "zero+network"], rates=[0.9], seeds=1, steps=500)
    >>> [(run.method, run.options["rate"], run.setting["steps"]) for run in made.runs]
    [('gil', 0.9, 500), ('zero+network', 0.9, 500)]
    """
    asked = SimpleNamespace(seeds=seeds, steps=steps, width=width)
    check_rules(asked, dict.fromkeys(("seeds", "steps", "width"), or_the_word(None, whole(1))))
    base, names = _of(study)
    if quick:
        less = dict(base.quick)
        usual = less.pop("width", None)
        width = width or usual
        base = replace(base, **less)
    chosen = tuple(dict.fromkeys(base.methods if methods is None else methods))
    _check_methods(chosen, base.kind, study)
    options = base.options
    if rates is not None:
        if not takes(names[0], "rate"):
            raise ParameterError(
                f"rates are given, and {study!r} hides nothing on purpose",
                "Only studies that hide entries have rates",
                "Leave rates out, or take mnist or ophthalmic-simulated",
            )
        options = tuple({"rate": float(rate)} for rate in rates)
    masked = takes(names[0], "mask_seed")
    these = range(base.seeds if seeds is None else seeds)
    grids = {name: {**RATES, **PAPER_GRIDS.get(name, {})} for name in chosen if has_network(name)}
    runs = [
        run
        for name in names
        for option in options
        for run in grid(
            name,
            [method for method in chosen if (method, option.get("form")) not in base.cannot],
            options=[option],
            mask_seeds=these if masked else (0,),
            split_seeds=(0,) if masked else these,
            settings={
                method: {
                    **_setting(method, base, steps or base.steps_in(option), width),
                    **(own or {}).get(method, {}),
                }
                for method in chosen
            },
            grids=grids if search else None,
        )
    ]
    return Plan(study, runs, base.metrics, chosen)


def has_network(method: str) -> bool:
    """Whether a plan decides on its network."""
    return method.endswith("+network") or method in OURS


def _of(study: str) -> tuple[StudyPlan, tuple[str, ...]]:
    """The plan, and the studies it runs over."""
    if study == "tables":
        return PLANS[study], tuple(f"table:{name}" for name in EIGHT)
    if study in PLANS:
        return PLANS[study], (study,)
    if str(study).startswith("table:"):
        return PLANS["tables"], (study,)
    raise ParameterError(
        f"there is no study {study!r} to run",
        f"Known are {', '.join(STUDIES)}, and table:NAME with NAME one of {', '.join(KNOWN)} or a"
        " CSV file",
        "Pass one of these",
    )


def _check_methods(methods: Sequence[str], kind: str, study: str) -> None:
    known = KINDS[kind]
    for name in methods:
        if name not in known:
            raise ParameterError(
                f"there is no method {name!r} for {study!r}",
                f"Known are {', '.join(known)}",
                "Pass names of these, separated by commas",
            )


def _setting(method: str, base: StudyPlan, steps: int, width: int | None) -> Setting:
    own = dict(base.own.get(method, {}))
    limit: Setting = {"steps": steps} if steps else {}
    if method in TRAINED_APART:
        return limit | own
    if not has_network(method):
        return own
    network = dict(base.network)
    if width is not None:
        network["hidden_layer_sizes"] = [width] * len(network.get("hidden_layer_sizes", [0, 0]))
    return network | limit | own
