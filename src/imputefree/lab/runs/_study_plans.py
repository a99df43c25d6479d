"""What `imputefree bench STUDY` runs: the paper's studies with its networks, and tables.

A study is one `StudyPlan` of `PLANS`. Its networks are the paper's own (one network, no dropout,
no indicator, ...), the same for every method that has one, so that methods differ in what stands
in a gap and in what a gap may teach; but for zeros among pixels, see MNIST_OWN. "imputefree" alone
is our default as it comes, and rivals without a network are as they come, too. A gap is 0 in scaled
units, so that it teaches nothing under any policy: "gil-h" is "network" then, to the last digit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._settings import Setting

# The paper's networks: nothing that our defaults add to them.
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
AS_IT_COMES = "imputefree"  # the method that no plan configures
TRAINED_APART = ("brits", "gru-d", "saits")  # networks of their own
OURS = ("gil", "gil-d", "gil-h", "network", "random", "meta", "gate")
EIGHT = (
    *("horse_colic_uci", "hepatitis", "mammographic_masses", "pima_zeros_as_missing"),
    *("credit_approval", "titanic3", "framingham_chd", "congress_vote"),
)


@dataclass(frozen=True)
class StudyPlan:
    """How a study is run, unless somebody asks for something else.

    options : the settings, which stand side by side in the table
    methods : in the order of the table
    network : setting of every method with a network
    steps : of training at most; 0 leaves the budget to the methods. `steps_of` says it of single
        forms of a study
    cannot : (method, form) that a method cannot do, or refuses
    seeds : of masks, or of splits where nothing is hidden on purpose; `paper_seeds` the paper's
    metrics : columns of the table
    own : settings of single methods
    quick : what `--quick` has instead: fields of this class
    """

    options: tuple[dict[str, Any], ...]
    methods: tuple[str, ...]
    metrics: tuple[str, ...]
    network: Setting = field(default_factory=dict)
    steps: int = 0
    steps_of: Mapping[str, int] = field(default_factory=dict)
    cannot: frozenset[tuple[str, str]] = frozenset()
    seeds: int = 3
    paper_seeds: int = 0
    kind: str = "table"
    own: Mapping[str, Setting] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)

    def steps_in(self, option: Mapping[str, Any]) -> int:
        """Steps of training in this form of the study."""
        return self.steps_of.get(str(option.get("form")), self.steps)


# What the data want. MICE on every column of so many would take days.
MNIST_OWN: dict[str, Setting] = {
    # Zero is a pixel like any other, so nothing is to be scaled: 0.72 instead of 0.69 at 90 %.
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
OPHTHALMIC_OWN: dict[str, Setting] = {
    "mice+network": {"imputer__n_nearest_features": 20, "imputer__max_iter": 2},
    "miwae+network": {"imputer__n_imputation": 50},
}
SERIES_OWN: dict[str, Setting] = {"miwae+network": {"imputer__n_imputation": 50}}
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
    own=OPHTHALMIC_OWN,
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
    steps_of={"fixed": 4000},
    cannot=frozenset({("gpvae+network", "variable")}),  # its prior is over one number of steps
    seeds=3,
    kind="series",
    own=SERIES_OWN,
    quick={
        "options": ({"form": "fixed"},),
        "steps": 60,
        "steps_of": {},
        "seeds": 1,
        "width": 32,
    },
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
        own=MNIST_OWN,
        quick={
            "options": ({"rate": 0.9},),
            "steps": 830,
            "seeds": 1,
            "methods": (
                *("gil", "gil-d", "gil-h", "meta", "gate", "random", "network"),
                *("zero+network", "mean+network", "gain+network", "naive_bayes", "mask_only"),
            ),
            "own": {**MNIST_OWN, "gain+network": {"imputer__max_steps": 200}},
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
        own=SERIES_OWN,
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
