"""The model card: what a model was made from, how good it is and what its limits are."""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader

from .. import __version__
from .._printable import printable
from ..io import DROP
from ..metrics import HIGHER_IS_BETTER
from ._problem import Problem

OURS, MASK, MEAN, BOOSTING = "imputefree", "mask_only", "mean+indicator", "lightgbm"
METHODS = (OURS, MASK, MEAN, BOOSTING)  # our model, then the references
TITLES = {
    OURS: "this model",
    MASK: "mask only",
    MEAN: "mean + indicator",
    BOOSTING: "gradient boosting (LightGBM)",
}
METRICS = {
    "auc": "AUC",
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "average_precision": "average precision",
    "calibration_error": "calibration error",
    "r2": "R²",
    "mae": "MAE",
    "rmse": "RMSE",
}
CHANCE = {"auc": 0.5, "r2": 0.0}
NEARLY = 0.9  # share of our gain over chance from which mask only does nearly as well
# What Markdown would obey in a name: emphasis (a _ within a word is none), cells, links. Not
# backticks, which sentences here have around options: code is not obeyed.
OBEYED = re.compile(r"[\\*|]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])")
# Tags and entities; some readers of Markdown do not know \<.
HTML = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w+;)")
Estimate = dict[str, Any]  # as `_fitting.estimate` returns it: plain JSON


def describe(problem: Problem, date: str, estimate: Estimate | None, model: Any) -> dict[str, Any]:
    """What a model knows about itself (`about_`), as plain JSON."""
    request, y = problem.request, problem.y
    series: dict[str, Any] | None = None
    if request.id:
        series = {"id": request.id, "time": request.time, "static": problem.statics}
        series["per_step"] = request.per_step
        series["clock"] = problem.frame.attrs.get("clock")  # how the file writes times
    if problem.task == "classification":
        counts = np.bincount(problem.truth, minlength=len(problem.classes)).tolist()
        labels = map(str, problem.classes.tolist())
        target: dict[str, Any] = {"classes": dict(zip(labels, counts, strict=True))}
    else:
        numbers = {"mean": y.mean(), "sd": y.std(), "min": y.min(), "max": y.max()}
        target = {name: float(value) for name, value in numbers.items()}
    return {
        "task": problem.task,
        "target": request.target,
        "columns": {column.name: column.kind for column in problem.used},
        "left_out": {col.name: col.left_out for col in problem.columns if col.left_out},
        "series": series,
        "reading": _reading(problem),
        "data": {
            "file": problem.file,
            "rows": len(problem.frame),
            "series": problem.n_units if request.id else None,
            "missing": {column.name: column.missing for column in problem.columns},
            "target": target,
            "by_time": request.by_time,
            "notes": list(problem.notes),
        },
        "estimate": estimate,
        "blend": _blend(model),
        "trusted": _trusted(problem, model),
        "made": {
            "version": __version__,
            "date": date,
            "command": request.command,
            "random_state": request.seed,
            "estimator": type(model).__name__,
            "settings": request.settings,
            "auto": getattr(model, "settings_", {}),  # a custom model may have none
        },
    }


def _reading(problem: Problem) -> dict[str, Any] | None:
    """How columns are read, so that a model reads other files alike."""
    if problem.understood is None:
        return None
    plain = problem.understood.to_dict()
    kept = ("kind", "missing", "unit", "format", "since", "parts")
    columns = {
        name: {entry: reading[entry] for entry in kept if entry in reading}
        for name, reading in plain["columns"].items()
        if reading["kind"] != DROP
    }
    return {"file": plain["file"], "columns": columns}


def _blend(model: Any) -> dict[str, Any] | None:
    """What each family contributed to a blend; None for another model."""
    if not hasattr(model, "weights_"):
        return None
    return {
        "weights": model.weights_,
        "metric": "log_loss" if hasattr(model, "classes_") else "rmse",
        "losses": model.losses_,
        "scores": model.out_of_fold_,
    }


def _trusted(problem: Problem, model: Any) -> dict[str, Any] | None:
    """Which column marks trusted rows, how many, and the columns they distrust, if any."""
    if problem.trusted is None:
        return None
    against = model.distrusted_columns().to_dict("records")
    rows = int(problem.trusted.sum())
    return {"column": problem.request.trusted, "rows": rows, "against": against}


class Markdown(str):
    """A string that is written as it is."""


def escaped(value: Any) -> Any:
    r"""A value of a template; in strings, nothing is left that Markdown or HTML would obey.

    >>> print(escaped("<b>age</b> | body_mass <3"), escaped(3))
    &lt;b>age&lt;/b> \| body_mass <3 3
    """
    if not isinstance(value, str) or isinstance(value, Markdown):
        return value
    text = HTML.sub(lambda match: html.escape(match[0]), printable(value, one_line=True))
    return OBEYED.sub(lambda match: f"\\{match[0]}", text)


def as_code(value: str) -> Markdown:
    """A name between backticks, more of them than it holds itself.

    >>> print(as_code("age"), as_code("a`b"))
    `age` `` a`b ``
    """
    text = printable(str(value), one_line=True)
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return Markdown(f"{fence}{text}{fence}" if len(fence) == 1 else f"{fence} {text} {fence}")


def as_code_line(value: str) -> Markdown:
    """A string for a line of code."""
    return Markdown(printable(value, one_line=True))


def render(template: str, about: dict[str, Any]) -> str:
    """A text about a model, from what it knows about itself: its card, or the result of a fit."""
    environment = Environment(
        loader=PackageLoader("imputefree.workflow", "."),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=escaped if template.endswith(".md.jinja") else None,
    )
    environment.filters |= {"code": as_code, "code_line": as_code_line}
    environment.globals |= {
        "METRICS": METRICS,
        "TITLES": TITLES,
        "best_reference": best_reference,
        "cut_short": cut_short,
        "loss_text": loss_text,
        "figure_text": figure_text,
        "percent": percent,
    }
    return environment.get_template(template).render(about=about)


def verdict(estimate: Estimate, telling: str | None = None) -> dict[str, list[str]]:
    """What a user must read ("warnings") and may want to ("remarks"), in sentences.

    telling : see `most_telling_gaps`

    >>> scores = {"imputefree": {"auc": [0.8, 0.7, 0.9]}, "mask_only": {"auc": [0.79, 0.7, 0.9]}}
    >>> sentences = verdict({"main": "auc", "scores": scores, "differences": {}})["warnings"]
    >>> sentences[0].partition(".")[0]
    "Mask only reaches 97 % of this model's gain over chance (AUC 0"
    """
    metric, scores = estimate["main"], estimate["scores"]
    title, chance = METRICS[metric], CHANCE.get(metric)
    value, low, _ = scores[OURS][metric]
    warnings, remarks = [], []
    if chance is not None and low is not None and low <= chance:
        warnings.append(
            f"This model is not clearly better than chance: its {title} is"
            f" {value:.3f}, with an interval that reaches down to {low:.3f}; chance is {chance:g}."
        )
    if chance is not None and MASK in scores and value > chance:
        mask = scores[MASK][metric][0]
        share = (mask - chance) / (value - chance)
        if share >= NEARLY:
            most = f" The gaps of '{telling}' are most correlated with the target."
            warnings.append(
                f"Mask only reaches {100 * share:.0f} % of this model's gain over chance"
                f" ({title} {mask:.3f} against {value:.3f}; the warning starts at"
                f" {100 * NEARLY:.0f} %). Which values are missing predicts the target nearly as"
                " well as all values do: the model fails where others measure other things, or"
                f" where a column is filled in only once the outcome is known."
                + most
                * bool(telling)
            )
    for name in (BOOSTING, MEAN):
        if name not in estimate["differences"]:
            continue
        difference, low, high = estimate["differences"][name][metric]
        other = scores[name][metric][0]
        if _sign(metric) * other <= _sign(metric) * value:
            continue
        reference = TITLES[name][0].upper() + TITLES[name][1:]
        figures = f"{title} {other:.3f} against {value:.3f}; difference {difference:+.3f}"
        if low is not None:
            figures += f", 95 % interval {low:+.3f} to {high:+.3f}"
        if low is not None and not low <= 0 <= high:
            warnings.append(
                f"{reference} is better than this model on these data ({figures}): prefer it."
            )
        else:
            remarks.append(
                f"{reference} did as well or better ({figures}); the difference is within what"
                " chance explains."
            )
    return {"warnings": warnings, "remarks": remarks}


def best_reference(estimate: Estimate) -> str | None:
    """The reference with the best main score."""
    metric, scores, names = estimate["main"], estimate["scores"], estimate["differences"]
    return max(names, key=lambda name: _sign(metric) * scores[name][metric][0], default=None)


def _sign(metric: str) -> int:
    return 1 if metric in HIGHER_IS_BETTER else -1


def most_telling_gaps(problem: Problem) -> str | None:
    """The column whose gaps correlate most with the target; None if all are below 0.1."""
    names = [column.name for column in problem.used]
    gaps = problem.frame[names].isna()
    if problem.steps is not None:
        gaps = gaps.iloc[problem.steps].reset_index(drop=True)
    else:
        gaps = gaps.groupby(problem.unit).mean()
    target = pd.DataFrame({"y": problem.y})
    if problem.task == "classification":
        target = pd.get_dummies(pd.Series(problem.truth), dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):  # columns whose gaps are constant
        strength = pd.DataFrame({k: gaps.corrwith(y).abs() for k, y in target.items()}).max(axis=1)
    return str(strength.idxmax()) if strength.max() > 0.1 else None


def figure_text(figure: list[float | None], signed: bool = False) -> str:
    """A score with its interval.

    >>> figure_text([0.8123, 0.79, 0.83]), figure_text([25000.0, 24000.0, 26000.0])
    ('0.812 [0.790, 0.830]', '25,000 [24,000, 26,000]')
    """
    value, low, high = figure
    if value is None:
        return "not defined"
    large = max(abs(value), abs(low or 0), abs(high or 0)) >= 1000
    form = ("+" if signed else "") + (",.0f" if large else ".3f")
    if low is None or high is None:
        return format(value, form)
    return f"{value:{form}} [{low:{form}}, {high:{form}}]"


def loss_text(loss: float | None) -> str:
    """A loss without an interval, which may not be known."""
    return "" if loss is None else figure_text([loss, None, None])


def cut_short(settings: dict[str, Any]) -> str:
    """What kept training short, as a sentence; "" if nothing did.

    >>> cut_short({"max_iter": 10})
    'Training was kept short, as requested (10 epochs). With more training the model may be better.'
    """
    forms = {"max_iter": "{} epochs", "time_limit": "{:g} seconds"}
    limits = [form.format(settings[name]) for name, form in forms.items() if name in settings]
    limits += ["fast quality"] * (settings.get("quality") == "fast")
    fact = f"Training was kept short, as requested ({', '.join(limits)})"
    return f"{fact}. With more training the model may be better." if limits else ""


def percent(share: float, digits: int = 1) -> str:
    """A share as a percentage.

    >>> percent(0.1234), percent(0.0004), percent(0.0)
    ('12.3 %', '<0.1 %', '0.0 %')
    """
    return "<0.1 %" if 0 < share < 0.0005 else f"{100 * share:.{digits}f} %"
