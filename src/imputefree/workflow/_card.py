"""The model card: what a model was made of, how good it is and where it ends, as Markdown."""

from __future__ import annotations

from typing import Any

from ._estimate import best_reference
from ._references import TITLES
from ._verdict import METRICS

TITLE = "# Model card: "
FEW, FEW_OF_A_CLASS, RARE = 200, 50, 0.1


def write_card(about: dict[str, Any]) -> str:
    """A card from what a model knows about itself (`about_`)."""
    parts = [
        _head(about),
        _warnings(about["estimate"]),
        _figures(about),
        _data(about),
        _columns(about),
        _limits(about),
        _made(about),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(about: dict[str, Any]) -> str:
    data, series = about["data"], about["series"]
    what = "the class" if about["task"] == "classification" else "the number"
    unit = "each series" if series else "each row"
    return (
        f"{TITLE}{about['target']} from {data['file']}\n\n"
        f"Predicts {what} `{about['target']}` of {unit} from {len(about['columns'])} columns, any"
        " of which may be missing. Nothing is imputed: gaps go into the network as gaps."
    )


def _warnings(found: dict[str, Any] | None) -> str:
    if found is None:
        return "**WARNING** How good this model is was not estimated (`--no-estimate`)."
    return "\n\n".join(f"**WARNING** {sentence}" for sentence in found["warnings"])


def _figures(about: dict[str, Any]) -> str:
    found = about["estimate"]
    if found is None:
        return ""
    metrics = list(found["scores"]["imputefree"])
    lines = ["## How good it is", "", f"By {found['how']}; {found['tested']:,} scored.", ""]
    lines += _row(["", *(METRICS[metric] for metric in metrics)])
    lines += _row(["---"] * (len(metrics) + 1))
    for name, own in found["scores"].items():
        lines += _row([TITLES[name], *(figure_text(own[metric]) for metric in metrics)])
    best = best_reference(found)
    if best:
        own = found["differences"][best]
        lines += _row(
            [f"difference to {TITLES[best]}", *(figure_text(own[m], True) for m in metrics)]
        )
    for name, why in found["failed"].items():
        lines += ["", f"{TITLES[name]} failed: {why}"]
    inside = found["interval"]
    lines += ["", *(f"{sentence}\n" for sentence in found["remarks"])]
    lines += [
        "Mask only is a linear model that sees where gaps are and no value; mean + indicator is"
        " this network on columns filled with their mean, told where gaps were. All learned from"
        " the same rows.",
        "",
        f"In brackets: {percent(inside['level'], 0)} intervals, {inside['method']},"
        f" {inside['resamples']} resamples of the scored {inside['over']}, seed {inside['seed']},"
        " the same draws for all methods. They show how figures vary with what was scored. They do"
        " not cover which rows were learned from, nor data from elsewhere. The best reference was"
        " chosen by the same figures.",
        "",
        _meaning(about["data"]["target"]),
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
        " calibration error; the latter's interval leans upwards, as resamples of a figure that"
        " cannot be negative do."
    )


def figure_text(figure: list[float | None], signed: bool = False) -> str:
    """A figure with its interval.

    >>> figure_text([0.8123, 0.79, 0.83]), figure_text([25000.0, 24000.0, 26000.0])
    ('0.812 [0.790, 0.830]', '25,000 [24,000, 26,000]')
    """
    value, low, high = figure
    if value is None:
        return "not defined"
    large = max(abs(value), abs(low or 0), abs(high or 0)) >= 1000
    form = "+,.0f" if large and signed else ",.0f" if large else "+.3f" if signed else ".3f"
    if low is None or high is None:
        return format(value, form)
    return f"{value:{form}} [{low:{form}}, {high:{form}}]"


def _data(about: dict[str, Any]) -> str:
    data, series = about["data"], about["series"]
    lines = ["## What it learned from", "", f"- File: `{data['file']}`, {data['rows']:,} rows."]
    if series:
        time = f", time `{series['time']}`" if series["time"] else ", rows in the order of the file"
        lines.append(f"- {data['series']:,} series by `{series['id']}`{time}.")
        if series["static"]:
            lines.append(f"- Do not change within a series: {_names(series['static'])}.")
    target = data["target"]
    if "classes" in target:
        counts = ", ".join(f"{label}: {count:,}" for label, count in target["classes"].items())
        lines.append(f"- Classes of `{about['target']}`: {counts}.")
    else:
        lines.append(
            f"- `{about['target']}`: mean {target['mean']:.4g}, standard deviation"
            f" {target['sd']:.4g}, from {target['min']:.4g} to {target['max']:.4g}."
        )
    return "\n".join(lines + [f"- {note}" for note in data["notes"]])


def _columns(about: dict[str, Any]) -> str:
    missing = about["data"]["missing"]
    lines = ["## Columns", "", *_row(["column", "kind", "missing"]), *_row(["---", "---", "---:"])]
    for name, kind in about["columns"].items():
        lines += _row([name, kind, percent(missing[name])])
    if about["left_out"]:
        lines += ["", "Left out:", ""]
        lines += [f"- `{name}`: {why}" for name, why in about["left_out"].items()]
    return "\n".join(lines)


def _limits(about: dict[str, Any]) -> str:
    data, found = about["data"], about["estimate"]
    units = data["series"] or data["rows"]
    word = "series" if data["series"] else "rows"
    said = []
    if about["made"]["cut_short"]:
        said.append(
            f"Training ended after {about['made']['cut_short']} epochs at most, as asked: with more"
            " of them the model may be better."
        )
    if units < FEW:
        said.append(f"There are only {units} {word}: all figures are rough.")
    classes = data["target"].get("classes")
    if classes:
        label, fewest = min(classes.items(), key=lambda item: item[1])
        if fewest < FEW_OF_A_CLASS or fewest < RARE * units:
            said.append(
                f"The class {label} is rare ({fewest:,} of {units:,}): look at AUC and log-loss,"
                f" not at accuracy; always naming the commonest class would be right in"
                f" {percent(max(classes.values()) / units)}."
            )
    if found:
        said.append(
            "The figures are of models trained on a part of the data; the model in the file has"
            " seen all of it."
            if "file" not in found
            else f"The figures are for the rows of `{found['file']}`, which the model never saw."
        )
        if "groups" not in found["interval"]["over"] and "file" not in found:
            said.append(
                f"They hold if {word} are independent. Where several belong together (a patient, a"
                " site), they are too good: fit again with `--group`. They do not tell how it does"
                " on later data."
            )
    said += [
        "They hold where values are missing for the same reasons as here. With other gaps (another"
        " hospital, another form) the model extrapolates: score it there first, with `imputefree"
        " evaluate`.",
        "A category that training never saw counts as missing. A number far outside the range of"
        " training gets a prediction all the same.",
        "What it learned is association, not cause.",
    ]
    return "\n".join(["## Limits", "", *(f"- {sentence}" for sentence in said)])


def _made(about: dict[str, Any]) -> str:
    made = about["made"]
    return "\n".join(
        [
            "## How it was made",
            "",
            f"    {made['command']}",
            "",
            f"{made['estimator']} of imputefree {made['version']}, {made['date']}, random state"
            f" {made['random_state']}.",
        ]
    )


def percent(share: float, digits: int = 1) -> str:
    """A share for people.

    >>> percent(0.1234), percent(0.0004), percent(0.0)
    ('12.3 %', '<0.1 %', '0.0 %')
    """
    return "<0.1 %" if 0 < share < 0.0005 else f"{100 * share:.{digits}f} %"


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _row(cells: list[str]) -> list[str]:
    """A line of a Markdown table, in a list."""
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"]
