"""Who dies in hospital? PhysioNet 2012, all 12,000 stays, on an hourly grid with 80 % gaps.

Methods and protocol: `series_benchmark.py`. Here are also variants of our network, and networks of
others, which hold out the validation part.

    IMPUTEFREE_DATA=../shared/data python benchmarks/physionet2012.py \
        [--splits 0 1 2 3 4] [--methods M …] [--stays 12000] [--json FILE]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
from series_benchmark import METHODS, Method, SplitTask, boosted, compare, some

from imputefree import GILClassifier, GILSequenceClassifier, Panel
from imputefree.data import summarise, summarise_mask
from imputefree.lab.rivals import BRITSClassifier, GRUDClassifier, SAITSClassifier
from imputefree.lab.studies import load

PAPER = {  # one plain LSTM on scaled values, as the paper trains it, but narrower than its 1,024
    "cell": "lstm",
    "weight_decay": 0.0,
    "learning_rate_init": 1e-3,
    "learning_rate_decay": 0.95,
    "n_members": 1,
    "summary": False,
    "time_since": False,
    "indicator": False,
    "hidden_layer_sizes": (64,),
    "dropout": 0.0,
    "weight_averaging": 0.0,
}


def stays(count: int) -> tuple[Panel, np.ndarray]:
    study = load("physionet2012", sets="a" if 0 < count <= 4000 else "abc")
    return some(study.inputs, study.y, count)


def held_out(name: str, model: Any, prepare: Any = None) -> Method:
    """A method that stops early on the validation part."""

    def method(task: SplitTask) -> dict[str, np.ndarray]:
        panel = task.panel if prepare is None else prepare(task.panel)
        chosen = np.arange(len(task.rest)) >= len(task.train)
        fitted = model.set_params(random_state=task.seed).fit(
            panel[task.rest], task.y[task.rest], held_out=chosen
        )
        return {name: fitted.predict_proba(panel[task.test])[:, 1]}

    return method


def without_recurrence(task: SplitTask) -> dict[str, np.ndarray]:
    """Does it take a recurrent network at all? GILClassifier() on the summaries."""
    table = summarise(task.panel)
    model = GILClassifier(random_state=task.seed).fit(table.rows(task.rest), task.y[task.rest])
    return {"without recurrence": model.predict_proba(table.rows(task.test))[:, 1]}


def units_as_columns(panel: Panel) -> Panel:
    """The type of unit, a code, as four static columns of 0 and 1."""
    statics = panel.statics
    assert statics is not None
    frame = pd.DataFrame(dict(zip(statics.names, statics.arrays, strict=True)))
    static = pd.get_dummies(frame, columns=["ICUType"], dtype=float)
    cube = np.column_stack(panel.steps.arrays).reshape(len(panel), -1, len(panel.steps.names))
    return Panel.from_array(cube, static=static)


VARIANTS = {
    "without summary": {"summary": False},
    "without ensemble": {"n_members": 1},
    "quick look": {"n_members": 1, "max_iter": 2},
    "the paper's network": PAPER,
    **{f"policy {name}": {"policy": name} for name in ("observed", "random", "ddpg", "meta")},
}
RIVALS = {"GRU-D": GRUDClassifier, "BRITS": BRITSClassifier, "SAITS": SAITSClassifier}
ALL: dict[str, Method] = {
    **METHODS,
    "mask-only LightGBM": lambda task: {"mask-only LightGBM": boosted(task, summarise_mask)},
    "without recurrence": without_recurrence,
    **{
        name: held_out(name, GILSequenceClassifier(**options)) for name, options in VARIANTS.items()
    },
    **{name: held_out(name, rival(), units_as_columns) for name, rival in RIVALS.items()},
}


def main() -> int:
    usual = ("mask-only", "mask-only LightGBM", *list(METHODS)[1:])
    return compare("PhysioNet 2012, in-hospital death", stays, ALL, usual)


if __name__ == "__main__":
    sys.exit(main())
