"""Our methods against the best rival, in words: the difference, its interval, and the chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from scipy.stats import t as student

from ....errors import ImputefreeError
from ....metrics import HIGHER_IS_BETTER
from ...rivals._methods import OURS
from ...runs import PLANS
from .._result_tables import PERCENT
from .._stats import compare, compare_over_studies
from ._html import Html, tag
from ._page_tables import NAMES
from ._parts import notes, plain_table

LEVEL = 0.95
SMALL = 0.05
HOW = (
    "The rival is the best of all that are not ours, picked by these very figures. Runs are paired "
    "by masks and splits; interval and p are of the corrected resampled t-test, which knows that "
    "runs share training rows. With two or three runs, intervals are wide. Better or worse without "
    "more words is p < 0.05, two-sided, not corrected for the number of comparisons."
)


def compared(runs: pd.DataFrame, metric: str) -> Html | None:
    """A line a setting and method; None where no method of ours has two runs beside a rival's.

    metric : accuracy is taken for AUC where the study's own table has that, see `decisive`
    """
    if metric == "accuracy":
        metric = decisive(runs)
    ours = _ours(runs)
    if not ours:
        return None
    try:
        found = compare(runs, metric, ours=ours)
    except ImputefreeError as error:  # such as sizes of the test part that nobody wrote down
        return tag("p", f"There is no comparison: {error}", class_="note")
    rows = [
        [line["setting"], line["method"], *_cells(line, metric)]
        for line in found.to_dict("records")
        if line["method"] in ours and line["against"] is not None and line["pairs"] >= 2
    ]
    if not rows:
        return None
    unit = "points" if metric in PERCENT else metric.replace("_", " ")
    head = [
        "setting",
        "ours",
        "against the best rival",
        f"difference, {unit}",
        "95 % interval",
        "p",
        "best rival",
        "pairs",
    ]
    made = plain_table(head, rows, f"Our methods against the best rival by {metric}")
    by = f"Compared by {NAMES.get(metric, metric)}."
    return tag("figure", made, tag("figcaption", notes([by, HOW])))


def decisive(runs: pd.DataFrame) -> str:
    """What classifiers of a study are compared by: AUC where its plan has it, else accuracy.

    Accuracy says little where nearly all rows are of one class, as in physionet2012.

    >>> scores = {"accuracy": [0.87], "auc": [0.8]}
    >>> [decisive(pd.DataFrame({"study": [name], **scores})) for name in ("mnist", "icu")]
    ['accuracy', 'auc']
    """
    names = set(runs["study"])
    plan = PLANS.get(names.pop()) if len(names) == 1 else None
    planned = "auc" in plan.metrics if plan is not None else False
    return "auc" if planned and "auc" in runs and runs["auc"].notna().any() else "accuracy"


def compared_over(runs: pd.DataFrame, metric: str) -> Html | None:
    """Over several studies, a study the unit; None where there are fewer than two."""
    ours = _ours(runs)
    if not ours or runs["study"].nunique() < 2:
        return None
    try:
        found = compare_over_studies(runs, metric, ours=ours)
    except ImputefreeError as error:
        return tag("p", f"There is no comparison: {error}", class_="note")
    rows = [
        [
            line["method"],
            f"{line['better']} better, {line['equal']} equal, {line['worse']} worse",
            _signed(line["difference"], metric),
            _p(line["p"]),
        ]
        for line in found.to_dict("records")
        if line["method"] in ours and line["studies"] >= 2
    ]
    if not rows:
        return None
    head = ["ours", "tables, against the best rival of each", "mean difference, points", "p"]
    how = (
        "p: Wilcoxon's signed-rank test, a table the unit, two-sided, not corrected for the number "
        "of comparisons; the rival is the best of each table."
    )
    made = plain_table(head, rows, f"Our methods over all tables by {metric}")
    return tag("figure", made, tag("figcaption", notes([how])))


def verdict(difference: float, p: float, metric: str) -> str:
    """
    >>> verdict(0.02, 0.01, "accuracy"), verdict(0.02, 0.4, "log_loss"), verdict(0.0, 1.0, "auc")
    ('better', 'worse, may be chance', 'no difference')
    """
    if difference == 0:
        return "no difference"
    word = "better" if (difference > 0) == (metric in HIGHER_IS_BETTER) else "worse"
    if math.isnan(p):
        return f"{word}, by the same in every run"
    return word if p < SMALL else f"{word}, may be chance"


def _cells(line: Mapping[Any, Any], metric: str) -> list[str]:
    difference, t, pairs = line["difference"], line["t"], line["pairs"]
    interval = "–"
    if math.isfinite(t) and t != 0:  # t is the difference over its standard error
        half = float(student.ppf((1 + LEVEL) / 2, pairs - 1)) * difference / t
        ends = (_signed(difference - half, metric), _signed(difference + half, metric))
        interval = f"{ends[0]} to {ends[1]}"
    return [
        verdict(difference, line["p"], metric),
        _signed(difference, metric),
        interval,
        _p(line["p"]),
        str(line["against"]),
        str(pairs),
    ]


def _signed(value: float, metric: str) -> str:
    if math.isnan(value):
        return "–"
    shown = f"{100 * value:+.2f}" if metric in PERCENT else f"{value:+.3g}"
    return shown.replace("-", "−")


def _p(p: float) -> str:
    return "–" if math.isnan(p) else ("<0.001" if p < 0.001 else f"{p:.3f}")


def _ours(runs: pd.DataFrame) -> Sequence[str]:
    """Ours under any parameters: "gil [max_iter 3]" is ours, too."""
    return [name for name in runs["method"].unique() if str(name).split(" [")[0] in OURS]
