"""Plans: what `imputefree bench STUDY` runs, and how `plan` turns requests into a list of runs.

A study is one `StudyPlan` in `PLANS`. Its network is the paper's (one network, no dropout, no
indicator, ...) and the same for every method that has one, so that methods differ only in what
fills a gap and in what a gap may teach; for the one exception see MNIST_SETTINGS. Only "imputefree"
is our default, unchanged; rivals without a network keep their defaults too. A gap is 0 in scaled
units, so it teaches nothing under any policy: "gil-h" then equals "network" to the last digit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..._rules import check_value, or_the_word, whole
from ...errors import ParameterError
from ..rivals._methods import KINDS
from ..studies import KNOWN, takes
from ._protocol import Run, Setting

# The paper's networks, without what our defaults add to them.
PLAIN: Setting = {
    "n_members": 1,
    "indicator": False,
    "dropout": 0.0,
    "hide": 0.0,
    "weight_decay": 0.0,
    "weight_averaging": 0.0,
    "numeric_encoding": "plain",
    "learning_rate_init": 1e-3,
    "n_iter_no_change": 3,
}
PLAIN_TABLE: Setting = {**PLAIN, "linear_path": False}
PLAIN_SERIES: Setting = {**PLAIN, "time_since": False, "summary": False}
AS_IT_COMES = "imputefree"  # our default
END_TO_END = ("brits", "gru-d", "saits")  # networks that no plan configures
OUR_NETWORKS = ("gil", "gil-d", "gil-h", "network", "random", "meta", "gate")
EIGHT_TABLES = (
    *("horse_colic_uci", "hepatitis", "mammographic_masses", "pima_zeros_as_missing"),
    *("credit_approval", "titanic3", "framingham_chd", "congress_vote"),
)


# Appendix D of the paper: the rates of every network, and further grids of some methods.
RATES: dict[str, list[Any]] = {
    "learning_rate_init": [1e-3, 7e-4, 5e-4, 3e-4, 1e-4, 5e-5, 1e-5],
    "learning_rate_decay_steps": [1000, 750, 500],
    "learning_rate_decay": [0.95, 0.9, 0.85, 0.8],
}
PAPER_GRIDS: dict[str, dict[str, list[Any]]] = {
    "gil": {
        "policy__actor_rate": [5e-4, 1e-4, 5e-5, 1e-5],
        "policy__critic_rate": [1e-3, 5e-4, 1e-4],
    },
    "gain+network": {"imputer__alpha": [0.1, 1.0, 10.0, 100.0]},
    "miwae+network": {"imputer__learning_rate_init": [1e-3, 1e-4]},
}


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
    quick : what `--quick` changes: fields of this class, and "width"
    """

    options: tuple[dict[str, Any], ...]
    methods: tuple[str, ...]
    metrics: tuple[str, ...]
    network: Setting = field(default_factory=dict)
    steps: int = 0
    form_steps: Mapping[str, int] = field(default_factory=dict)
    cannot: frozenset[tuple[str, str]] = frozenset()
    seeds: int = 3
    paper_seeds: int = 0
    kind: str = "table"
    method_settings: Mapping[str, Setting] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)

    def steps_in(self, option: Mapping[str, Any]) -> int:
        """Maximum number of training steps in this form of the study."""
        return self.form_steps.get(str(option.get("form")), self.steps)


# What the data need. MICE from all of so many columns would take days.
MNIST_SETTINGS: dict[str, Setting] = {
    # Zero is a pixel like any other, so nothing is scaled: 0.72 instead of 0.69 at 90 %.
    "zero+network": {"numeric_encoding": "unscaled"},
    "mice+network": {"imputer__n_nearest_features": 20, "imputer__max_iter": 2},
    "miwae+network": {
        "imputer__decoder": "bernoulli",
        "imputer__n_latent": 20,
        "imputer__hidden_layer_sizes": [256, 256],
        "imputer__n_importance": 5,
        "imputer__n_imputation": 50,
        "imputer__batch_size": 128,
    },
    "gpvae+network": {
        "imputer__n_steps": 28,
        "imputer__batch_size": 128,
        "imputer__hidden_size": 128,
    },
}
OPHTHALMIC_SETTINGS: dict[str, Setting] = {
    "mice+network": {"imputer__n_nearest_features": 20, "imputer__max_iter": 2},
    "miwae+network": {"imputer__n_imputation": 50},
}
SERIES_SETTINGS: dict[str, Setting] = {"miwae+network": {"imputer__n_imputation": 50}}
OPHTHALMIC = StudyPlan(
    options=({"rate": 0.25}, {"rate": 0.35}),
    methods=(
        *("gil", "gil-d", "gil-h", "gain+network", "gpvae+network", "miwae+network"),
        *("mice+network", "zero+network", "mean+network", "network", "random", "meta", "gate"),
        *("lightgbm", "mask_only", AS_IT_COMES),
    ),
    metrics=("accuracy", "auc"),
    network={**PLAIN_TABLE, "hidden_layer_sizes": [1000, 1000]},
    steps=2000,
    seeds=3,
    paper_seeds=3,
    method_settings=OPHTHALMIC_SETTINGS,
    quick={"options": ({"rate": 0.35},), "steps": 60, "seeds": 1},
)
SHOCK = StudyPlan(
    options=({"form": "variable"}, {"form": "fixed"}),
    methods=(
        *("gil", "gil-d", "gil-h", "gain+network", "miwae+network", "gpvae+network", "brits"),
        *("mice+network", "mean+network", "carry_forward+network", "knn+network"),
        *("missforest+network", "em+network", "network", "random", "meta", "gate"),
        *("gru-d", "lightgbm", "mask_only_lightgbm", AS_IT_COMES),
    ),
    metrics=("accuracy", "auc"),
    network={**PLAIN_SERIES, "hidden_layer_sizes": [1024]},
    steps=2000,
    form_steps={"fixed": 4000},
    cannot=frozenset({("gpvae+network", "variable")}),  # its prior is over one number of steps
    seeds=3,
    kind="series",
    method_settings=SERIES_SETTINGS,
    quick={"options": ({"form": "fixed"},), "steps": 60, "form_steps": {}, "seeds": 1, "width": 32},
)
PLANS: dict[str, StudyPlan] = {
    "mnist": StudyPlan(
        options=({"rate": 0.5}, {"rate": 0.7}, {"rate": 0.9}, {"mechanism": "mar"}),
        methods=(
            *("gil", "gil-d", "gil-h", "gain+network", "miwae+network", "mice+network"),
            *("zero+network", "gpvae+network", "mean+network", "mixture+network", "network"),
            *("random", "meta", "gate", "naive_bayes", "mixture_per_class", "mask_only"),
        ),
        metrics=("accuracy",),
        network={**PLAIN_TABLE, "hidden_layer_sizes": [500, 500]},
        steps=10_000,
        seeds=5,
        paper_seeds=5,
        method_settings=MNIST_SETTINGS,
        quick={
            "options": ({"rate": 0.9},),
            "steps": 830,
            "seeds": 1,
            "methods": (
                *("gil", "gil-d", "gil-h", "meta", "gate", "random", "network"),
                *("zero+network", "mean+network", "gain+network", "naive_bayes", "mask_only"),
            ),
            "method_settings": {**MNIST_SETTINGS, "gain+network": {"imputer__max_steps": 200}},
        },
    ),
    "ophthalmic": OPHTHALMIC,
    "ophthalmic-simulated": OPHTHALMIC,
    "mimic3": SHOCK,
    "icu": SHOCK,
    "physionet2012": StudyPlan(
        options=({},),
        methods=(
            *("gil", "gil-h", "gain+network", "gpvae+network", "miwae+network", "brits"),
            *("mean+network", "zero+network", "network", "gru-d", "lightgbm"),
            *("mask_only_lightgbm", AS_IT_COMES),
        ),
        metrics=("accuracy", "auc", "average_precision"),
        network={**PLAIN_SERIES, "hidden_layer_sizes": [1024]},
        steps=2000,
        seeds=1,
        kind="series",
        method_settings=SERIES_SETTINGS,
        quick={"steps": 60, "seeds": 1, "width": 32},
    ),
    "tables": StudyPlan(
        options=({},),
        methods=(
            *(AS_IT_COMES, "gil", "gil-d", "gil-h", "random", "meta", "gate"),
            *("mean+network", "mean+indicator+network", "em+network", "mice+network"),
            *("logistic_regression", "random_forest", "hist_gradient_boosting", "lightgbm"),
            *("xgboost", "mask_only"),
        ),
        metrics=("auc",),
        seeds=3,
        quick={"seeds": 1, "steps": 200, "network": {"n_members": 4}},
    ),
}
STUDIES = tuple(PLANS)


@dataclass(frozen=True)
class Plan:
    """What to run, and the columns and rows of its table."""

    study: str
    runs: list[Run]
    metrics: tuple[str, ...]
    methods: tuple[str, ...]


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
    method_settings: Mapping[str, Setting] | None = None,
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
    search : choose from the paper's grids on validation rows: 84 fits per run, 1,008 for "gil"
    method_settings : of individual methods, in addition to those of the study

    >>> small = plan("mnist", methods=["gil", "zero+network"], rates=[0.9], seeds=1, steps=500)
    >>> [(run.method, run.options["rate"], run.setting["steps"]) for run in small.runs]
    [('gil', 0.9, 500), ('zero+network', 0.9, 500)]
    """
    for name, value in {"seeds": seeds, "steps": steps, "width": width}.items():
        check_value(name, value, or_the_word(None, whole(1)))
    base, names = _study_plan(study)
    if quick:
        changes = dict(base.quick)
        usual_width = changes.pop("width", None)
        width = width or usual_width
        base = replace(base, **changes)
    chosen = tuple(dict.fromkeys(base.methods if methods is None else methods))
    for name in chosen:
        if name not in KINDS[base.kind]:
            raise ParameterError(
                f"there is no method {name!r} for {study!r}",
                f"Known are {', '.join(KINDS[base.kind])}",
                "Pass some of these names, separated by commas",
            )
    options = base.options
    if rates is not None:
        if not takes(names[0], "rate"):
            raise ParameterError(
                f"rates is set, but {study!r} hides nothing on purpose",
                "Only studies that hide entries have rates",
                "Leave rates out, or choose mnist or ophthalmic-simulated",
            )
        options = tuple({"rate": float(rate)} for rate in rates)
    n_seeds = base.seeds if seeds is None else seeds
    masked = takes(names[0], "mask_seed")
    runs = [
        Run(
            name,
            method,
            options=option,
            setting={
                **_setting(method, base, steps or base.steps_in(option), width),
                **(method_settings or {}).get(method, {}),
            },
            grid={**RATES, **PAPER_GRIDS.get(method, {})} if search and has_network(method) else {},
            mask_seed=seed if masked else 0,
            split_seed=0 if masked else seed,
        )
        for name in names
        for option in options
        for seed in range(n_seeds)
        for method in chosen
        if (method, option.get("form")) not in base.cannot
    ]
    return Plan(study, runs, base.metrics, chosen)


def has_network(method: str) -> bool:
    """Whether the plan configures the network of this method."""
    return method.endswith("+network") or method in OUR_NETWORKS


def _study_plan(study: str) -> tuple[StudyPlan, tuple[str, ...]]:
    """The plan, and the studies that it runs over."""
    if study == "tables":
        return PLANS[study], tuple(f"table:{name}" for name in EIGHT_TABLES)
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


def _setting(method: str, base: StudyPlan, steps: int, width: int | None) -> Setting:
    special = dict(base.method_settings.get(method, {}))
    limit: Setting = {"steps": steps} if steps else {}
    if method in END_TO_END:
        return limit | special
    if not has_network(method):
        return special
    network = dict(base.network)
    if width is not None:
        network["hidden_layer_sizes"] = [width] * len(network.get("hidden_layer_sizes", [0, 0]))
    return network | limit | special
