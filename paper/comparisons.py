"""Does learned importance beat importance that is not learned? Tables of paired differences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from imputefree.lab.report import MARGINS, holm, p_value, paired_differences, runs_frame, verdicts
from imputefree.lab.runs import AS_IT_COMES, Record

CONTROLS = {"network": "ordinary training", "random": "random importance"}
METHODS = ("gil", "meta", "gil-h")
KINDS = {  # simulated, metric -> heading
    (False, "accuracy"): "Real data, accuracy",
    (False, "auc"): "Real data, AUC",
    (True, "auc"): "SIMULATED data, AUC",
}
PLACEHOLDERS = {0: "0", "3max": "3·max"}


class Family(NamedTuple):
    """Comparisons that are corrected together, with their verdicts."""

    heading: str
    metric: str
    found: pd.DataFrame


def label(part: str, line: Record) -> str:
    """What a reader calls the runs of a line: those of a label differ in method and seed alone."""
    if part == "tables":
        return "eight tables"
    words = [line["study"]]
    if part != line["study"]:  # one of the parts with a protocol of their own
        words += [line["options"].get("form", "")]
        words += ["masks redrawn"] if line["options"].get("masks") == "redrawn" else []
    steps = line["setting"].get("steps")
    words += [f"at most {steps:,} steps"] if steps and line["study"] == "mnist" else []
    if "placeholder" in line["setting"]:
        words += [f"{units:,} units" for units in line["setting"].get("hidden_layer_sizes", ())]
        words.append(f"placeholder {PLACEHOLDERS[line['setting']['placeholder']]}")
    return ", ".join(word for word in words if word)


def families(records: Mapping[str, Sequence[Record]]) -> list[Family]:
    """The comparisons of all results files: real and simulated apart, accuracy and AUC apart."""
    groups: dict[tuple[bool, str, str], list[Record]] = defaultdict(list)
    for part, lines in records.items():
        for line in lines:
            if line["method"] in (*METHODS, *CONTROLS, AS_IT_COMES):
                metric = "accuracy" if line["study"] == "mnist" else "auc"
                groups[bool(line.get("simulated")), metric, label(part, line)].append(line)
    found = []
    for (simulated, metric), heading in KINDS.items():
        rows = [
            _compare(lines, name, metric)
            for (is_simulated, of_metric, name), lines in groups.items()
            if (is_simulated, of_metric) == (simulated, metric)
        ]
        table = pd.concat(rows) if rows else pd.DataFrame()
        if len(table):
            table = table.assign(
                p=holm(table["p"].to_numpy()),
                p_equivalent=holm(table["p_equivalent"].to_numpy()),
                verdict=verdicts(table),
            )
            found.append(Family(heading, metric, table))
    return found


def _compare(lines: Sequence[Record], name: str, metric: str) -> pd.DataFrame:
    """The differences of every method from every control that ran beside it."""
    frame, ratio = runs_frame(lines), None
    if name == "eight tables":  # the unit is a table, and tables share no rows
        frame = frame.assign(
            method=frame["method"].replace(AS_IT_COMES, "network"),
            mask_seed=frame["study"],
            setting="split " + frame["split"].astype(str),
            split=0,
        )
        ratio = 0.0
    frame = frame[frame["method"].isin([*METHODS, *CONTROLS])].assign(study=name)
    if name.endswith("placeholder 0") or name == "eight tables" or "placeholder" not in name:
        frame = frame[frame["method"] != "gil-h"]  # equal to ordinary training, to the last digit
    rows = [
        paired_differences(
            frame[frame["method"].isin([*METHODS, control])],
            metric,
            control,
            margin=MARGINS[metric],
            test_to_train=ratio,
        )
        for control in CONTROLS
        if control in set(frame["method"]) and len(set(frame["method"]) - {control})
    ]
    return pd.concat(rows) if rows else pd.DataFrame()


def sentence(found: Sequence[Family]) -> str:
    """Whether GIL helps, as far as the tests can tell."""
    rows = pd.concat([family.found for family in found]) if found else pd.DataFrame()
    if not len(rows) or not ((rows["method"] == "gil") & (rows["against"] == "network")).any():
        return "GIL and ordinary training were not run side by side."
    gil = rows[rows["method"] == "gil"].pivot(index="study", columns="against", values="verdict")
    plain = gil["network"].value_counts()
    random = gil["random"] if "random" in gil else pd.Series(index=gil.index, dtype=object)
    helps = gil.index[(gil["network"] == "better") & (random == "better")]
    counts = ", ".join(f"{word} in {count}" for word, count in plain.items())
    told = f"of {plain.sum()} comparisons with ordinary training, GIL is {counts}"
    if len(helps):
        return (
            f"**GIL helps in {', '.join(helps)}**: it beats both ordinary training and random"
            f" importance beyond chance; {told}."
        )
    if plain.get("better"):
        return (
            "**GIL beats ordinary training somewhere, and nowhere also random importance**:"
            f" {told}. So it is not shown that learning is what helps."
        )
    if plain.get("equivalent") == plain.sum():
        return f"**Learned importance makes no difference that matters here**: {told}."
    return f"**We cannot show that the learned policy (GIL) helps**: {told}."


def markdown(found: Sequence[Family]) -> str:
    """The sentence, and a table for each family."""
    parts = [sentence(found), ""]
    for family in found:
        scale = 100 * MARGINS[family.metric]
        unit = "points of accuracy" if family.metric == "accuracy" else "AUC × 100"
        parts += [
            f"**{family.heading}** ({unit}; margin of equivalence {scale:g})",
            "",
            "| runs | method | against | pairs | difference | 95 % interval | p | p of equivalence"
            " | verdict |",
            "|:--|:--|:--|--:|--:|--:|--:|--:|:--|",
            *(_row(line) for line in family.found.to_dict("records")),
            "",
        ]
    return "\n".join([*parts, *(f"- {note}" for note in NOTES)])


NOTES = (
    "A difference is the method's mean minus that of its control, paired by mask and split; rates"
    " and forms are averaged first. For the eight tables, a pair is a table.",
    "Intervals and p are those of Nadeau and Bengio's corrected t-test; p of equivalence is that of"
    " two one-sided tests against the margin. Both are corrected by Holm's method within a table."
    " The margins were chosen before any of these comparisons was made.",
    "With one pair there is no interval; with two or three it is wide, and the verdict undecided"
    " means no more than that.",
)


def _row(line: dict[str, object]) -> str:
    difference, low, high, p, same = (
        float(str(line[name])) for name in ("difference", "low", "high", "p", "p_equivalent")
    )
    interval = "–" if np.isnan(low) else f"{100 * low:+.2f} to {100 * high:+.2f}"
    control = f"{line['against']} ({CONTROLS[str(line['against'])]})"
    return (
        f"| {line['study']} | {line['method']} | {control} | {line['pairs']} |"
        f" {100 * difference:+.2f} | {interval} | {p_value(p)} | {p_value(same)} |"
        f" {line['verdict']} |"
    )
