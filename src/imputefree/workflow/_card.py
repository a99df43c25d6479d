"""The model card: what a model was made from, how good it is and what its limits are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .. import __version__
from ..metrics import HIGHER_IS_BETTER
from ._problem import Problem
from ._request import CARD_TITLE, Request

OURS, MASK, MEAN = "imputefree", "mask_only", "mean+indicator+network"
BOOSTING = ("lightgbm", "hist_gradient_boosting")
TITLES = {
    OURS: "this model",
    MASK: "mask only",
    MEAN: "mean + indicator",
    BOOSTING[0]: "gradient boosting (LightGBM)",
    BOOSTING[1]: "gradient boosting (scikit-learn)",
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
FEW, FEW_OF_A_CLASS, RARE = 200, 50, 0.1
Estimate = dict[str, Any]  # as `_fitting.estimate` returns it: plain JSON


def describe(
    problem: Problem, request: Request, date: str, estimate: Estimate | None, estimator: str
) -> dict[str, Any]:
    """What a model knows about itself (`about_`), as plain JSON."""
    series: dict[str, Any] | None = None
    if problem.id:
        series = {"id": problem.id, "time": problem.time, "static": problem.statics}
        series["clock"] = problem.frame.attrs.get("clock")  # how the file writes times
    y = problem.y
    if problem.task == "classification":
        counts = np.bincount(problem.truth, minlength=len(problem.classes)).tolist()
        labels = map(str, problem.classes.tolist())
        target: dict[str, Any] = {"classes": dict(zip(labels, counts, strict=True))}
    else:
        numbers = {"mean": y.mean(), "sd": y.std(), "min": y.min(), "max": y.max()}
        target = {name: float(value) for name, value in numbers.items()}
    return {
        "task": problem.task,
        "target": problem.target,
        "columns": {column.name: column.kind for column in problem.used},
        "left_out": {col.name: col.left_out for col in problem.columns if col.left_out},
        "series": series,
        "data": {
            "file": problem.file,
            "rows": len(problem.frame),
            "series": len(y) if problem.id else None,
            "missing": {column.name: column.missing for column in problem.columns},
            "target": target,
            "notes": list(problem.notes),
        },
        "estimate": estimate,
        "made": {
            "version": __version__,
            "date": date,
            "command": request.command,
            "random_state": request.seed,
            "estimator": estimator,
            "cut_short": request.epochs,
        },
    }


def write_card(about: dict[str, Any]) -> str:
    """The card of a model as Markdown, from what it knows about itself."""
    data, made, estimate = about["data"], about["made"], about["estimate"]
    unit = "each series" if about["series"] else "each row"
    kind = "class" if about["task"] == "classification" else "number"
    parts = [
        f"{CARD_TITLE}{about['target']} from {data['file']}",
        f"Predicts the {kind} `{about['target']}` of {unit} from {len(about['columns'])} columns,"
        " any of which may be missing. Nothing is imputed: gaps go into the network as gaps.",
    ]
    if estimate is None:
        parts.append("**WARNING** This model was not scored (`--no-estimate`).")
    else:
        parts += [f"**WARNING** {sentence}" for sentence in estimate["warnings"]]
        parts.append(_scores(estimate, data["target"]))
    parts += [
        _data(about),
        _columns(about),
        "\n".join(["## Limits", "", *(f"- {sentence}" for sentence in _limits(about))]),
        f"## How it was made\n\n    {made['command']}\n\n{made['estimator']} of imputefree"
        f" {made['version']}, {made['date']}, random state {made['random_state']}.",
    ]
    return "\n\n".join(parts) + "\n"


def _scores(estimate: Estimate, target: dict[str, Any]) -> str:
    metrics = list(estimate["scores"][OURS])
    rows = [["", *(METRICS[metric] for metric in metrics)], ["---"] * (len(metrics) + 1)]
    for name, scores in estimate["scores"].items():
        rows.append([TITLES[name], *(figure_text(scores[metric]) for metric in metrics)])
    best = best_reference(estimate)
    if best:
        differences = estimate["differences"][best]
        figures = (figure_text(differences[metric], True) for metric in metrics)
        rows.append([f"difference from {TITLES[best]}", *figures])
    interval = estimate["interval"]
    lines = ["## How good it is", "", f"By {estimate['how']}; {estimate['tested']:,} scored.", ""]
    lines += [_row(cells) for cells in rows]
    for name, reason in estimate["failed"].items():
        lines += ["", f"{TITLES[name]} failed: {reason}"]
    lines += ["", *(f"{sentence}\n" for sentence in estimate["remarks"])]
    lines += [
        "Mask only is a linear model that sees where gaps are, but no value; mean + indicator is"
        " this network on columns filled with their mean, with indicators of gaps. All learned from"
        " the same rows.",
        "",
        f"In brackets: {percent(interval['level'], 0)} intervals, {interval['method']},"
        f" {interval['resamples']} resamples of the scored {interval['over']}, seed"
        f" {interval['seed']}, the same draws for all methods. They show how scores vary with what"
        " was scored. They do not cover which rows were learned from, nor data from elsewhere. The"
        " best reference was chosen by the same scores.",
        "",
        _meaning(target),
    ]
    return "\n".join(lines)


def _meaning(target: dict[str, Any]) -> str:
    if "classes" not in target:
        return (
            "R²: 1 is perfect, 0 is the mean. MAE and RMSE: in the target's units, lower is better."
        )
    of = f"of the class {list(target['classes'])[1]}"
    if len(target["classes"]) > 2:
        of = "the mean over classes, each against the rest"
    return (
        f"AUC (chance is 0.5) and average precision: {of}. Lower is better for log-loss and"
        " calibration error. The interval of the latter is biased upwards, as for any score that"
        " cannot be negative."
    )


def _data(about: dict[str, Any]) -> str:
    data, series, target = about["data"], about["series"], about["data"]["target"]
    lines = [f"File: `{data['file']}`, {data['rows']:,} rows."]
    if series:
        time = f", time `{series['time']}`" if series["time"] else ", rows in the order of the file"
        lines.append(f"{data['series']:,} series by `{series['id']}`{time}.")
        if series["static"]:
            names = ", ".join(f"`{name}`" for name in series["static"])
            lines.append(f"Constant within a series: {names}.")
    if "classes" in target:
        counts = ", ".join(f"{label}: {count:,}" for label, count in target["classes"].items())
        lines.append(f"Classes of `{about['target']}`: {counts}.")
    else:
        lines.append(
            f"`{about['target']}`: mean {target['mean']:.4g}, standard deviation"
            f" {target['sd']:.4g}, from {target['min']:.4g} to {target['max']:.4g}."
        )
    lines += data["notes"]
    return "\n".join(["## What it learned from", "", *(f"- {line}" for line in lines)])


def _columns(about: dict[str, Any]) -> str:
    missing = about["data"]["missing"]
    rows = [["column", "kind", "missing"], ["---", "---", "---:"]]
    rows += [[name, kind, percent(missing[name])] for name, kind in about["columns"].items()]
    lines = ["## Columns", "", *map(_row, rows)]
    if about["left_out"]:
        lines += ["", "Left out:", ""]
        lines += [f"- `{name}`: {reason}" for name, reason in about["left_out"].items()]
    return "\n".join(lines)


def _limits(about: dict[str, Any]) -> list[str]:
    data, estimate = about["data"], about["estimate"]
    units, word = (data["series"], "series") if data["series"] else (data["rows"], "rows")
    limits = []
    if about["made"]["cut_short"]:
        limits.append(
            f"Training was limited to {about['made']['cut_short']} epochs, as requested: with more"
            " of them the model may be better."
        )
    if units < FEW:
        limits.append(f"There are only {units} {word}: all scores are rough.")
    classes = data["target"].get("classes")
    if classes:
        label, fewest = min(classes.items(), key=lambda item: item[1])
        if fewest < FEW_OF_A_CLASS or fewest < RARE * units:
            limits.append(
                f"The class {label} is rare ({fewest:,} of {units:,}): look at AUC and log-loss,"
                " not at accuracy; always predicting the most frequent class would be right in"
                f" {percent(max(classes.values()) / units)}."
            )
    if estimate and "file" in estimate:
        limits.append(
            f"The scores are for the rows of `{estimate['file']}`, which the model never saw."
        )
    elif estimate:
        limits.append(
            "The scores are of models trained on a part of the data; the model in the file has"
            " seen all of it."
        )
        if "groups" not in estimate["interval"]["over"]:
            limits.append(
                f"They hold if {word} are independent. If several belong together (a patient, a"
                " site), they are too good: fit again with `--group`. They say nothing about later"
                " data."
            )
    return [
        *limits,
        "The model is for values that are missing for the same reasons as here. With other gaps"
        " (another hospital, another form) it extrapolates: score it there first, with `imputefree"
        " evaluate`.",
        "A category that training never saw counts as missing. A number far outside the range of"
        " training gets a prediction all the same.",
        "What it learned is association, not cause.",
    ]


def warnings_of(estimate: Estimate, telling: str | None = None) -> list[str]:
    """Sentences that a user must read; telling : see `most_telling_gaps`.

    >>> scores = {"imputefree": {"auc": [0.8, 0.7, 0.9]}, "mask_only": {"auc": [0.79, 0.7, 0.9]}}
    >>> sentences = warnings_of({"main": "auc", "scores": scores, "differences": {}})
    >>> sentences[0].partition(".")[0]
    "Mask only reaches 97 % of this model's gain over chance (AUC 0"
    """
    metric, scores = estimate["main"], estimate["scores"]
    value, low, _ = scores[OURS][metric]
    chance, sentences = CHANCE.get(metric), []
    if chance is not None and low is not None and low <= chance:
        sentences.append(
            f"This model is not clearly better than chance: its {METRICS[metric]} is"
            f" {value:.3f}, with an interval that reaches down to {low:.3f}; chance is {chance:g}."
        )
    if chance is not None and MASK in scores and value > chance:
        mask = scores[MASK][metric][0]
        share = (mask - chance) / (value - chance)
        if share >= NEARLY:
            sentence = (
                f"Mask only reaches {100 * share:.0f} % of this model's gain over chance"
                f" ({METRICS[metric]} {mask:.3f} against {value:.3f}; the warning starts at"
                f" {100 * NEARLY:.0f} %). Which values are missing predicts the target nearly as"
                " well as all values do: the model fails where others measure other things, or"
                " where a column is filled in only once the outcome is known."
            )
            if telling:
                sentence += f" The gaps of '{telling}' are most correlated with the target."
            sentences.append(sentence)
    for name, certain, comparison in _ahead(estimate):
        if certain:
            sentences.append(
                f"{_title(name)} is better than this model on these data ({comparison}): prefer it."
            )
    return sentences


def remarks_of(estimate: Estimate) -> list[str]:
    """Sentences worth knowing: references ahead by no more than chance explains."""
    return [
        f"{_title(name)} did as well or better ({comparison}); the difference is within what chance"
        " explains."
        for name, certain, comparison in _ahead(estimate)
        if not certain
    ]


def _title(name: str) -> str:
    return TITLES[name][0].upper() + TITLES[name][1:]


def _ahead(estimate: Estimate) -> list[tuple[str, bool, str]]:
    """References with a better main score: name, whether that is certain, and the figures."""
    metric, scores = estimate["main"], estimate["scores"]
    ours, ahead = scores[OURS][metric][0], []
    for name in (*BOOSTING, MEAN):
        if name in estimate["differences"] and better(metric, scores[name][metric][0], ours):
            value, low, high = estimate["differences"][name][metric]
            certain = low is not None and not low <= 0 <= high
            interval = "" if low is None else f", 95 % interval {low:+.3f} to {high:+.3f}"
            text = f"{METRICS[metric]} {scores[name][metric][0]:.3f} against {ours:.3f}; difference"
            ahead.append((name, certain, f"{text} {value:+.3f}{interval}"))
    return ahead


def better(metric: str, score: float, other: float) -> bool:
    """Whether the first score is the better one.

    >>> better("auc", 0.8, 0.7), better("log_loss", 0.8, 0.7)
    (True, False)
    """
    return score > other if metric in HIGHER_IS_BETTER else score < other


def best_reference(estimate: Estimate) -> str | None:
    """The reference with the best main score."""
    metric = estimate["main"]
    values = {name: estimate["scores"][name][metric][0] for name in estimate["differences"]}
    sign = -1 if metric in HIGHER_IS_BETTER else 1
    return min(values, key=lambda name: sign * values[name], default=None)


def most_telling_gaps(problem: Problem) -> str | None:
    """The column whose gaps correlate most with the target; None if all are below 0.1."""
    classes = pd.Series(problem.truth)
    regression = problem.task == "regression"
    target = problem.y[:, None] if regression else pd.get_dummies(classes).to_numpy(np.float64)
    best, highest = None, 0.1
    for column in problem.used:
        gaps = problem.frame[column.name].isna().groupby(problem.unit).mean().to_numpy()
        if np.ptp(gaps) == 0:
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            strength = max(abs(np.corrcoef(gaps, values)[0, 1]) for values in target.T)
        if strength > highest:
            best, highest = column.name, strength
    return best


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


def percent(share: float, digits: int = 1) -> str:
    """A share as a percentage.

    >>> percent(0.1234), percent(0.0004), percent(0.0)
    ('12.3 %', '<0.1 %', '0.0 %')
    """
    return "<0.1 %" if 0 < share < 0.0005 else f"{100 * share:.{digits}f} %"


def _row(cells: list[str]) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
