"""The tables of docs/importance.md, from paper/results."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from imputefree.lab.report import interval, paper_figure, runs_frame
from imputefree.lab.runs import Record
from paper.comparisons import PLACEHOLDERS
from paper.pictures import with_importance
from paper.why import FILE, LEVELS, WAYS

PLACEHOLDER_PARTS = (
    *("icu-placeholders-1024", "icu-placeholders-256", "icu-placeholders"),
    "physionet2012-placeholders",
)
POLICIES = {
    "network": "`none`: importance 1",
    "gil-h": "`observed`: GIL-H",
    "random": "`random`: a coin",
    "gil": "`ddpg`: GIL",
}


def blocks(records: Mapping[str, Sequence[Record]]) -> dict[str, str]:
    """The generated blocks of the page by name."""
    figures = json.loads(FILE.read_text())
    return {
        "placeholders": placeholder_table(records),
        "variance": variance_table(figures["variance"]),
        "initial": initial_weight_table(figures["initial-weights"]),
        "learned": learned_table(records),
        "level": level_table(figures["level"]),
    }


# ---- the placeholder
def placeholder_table(records: Mapping[str, Sequence[Record]]) -> str:
    """Mean AUC of each policy at both placeholders, with its interval over splits."""
    made = [line for part in PLACEHOLDER_PARTS for line in records[part]]
    groups: dict[tuple[str, Any], list[Record]] = defaultdict(list)
    for line in made:
        groups[_place(line), line["setting"]["placeholder"]].append(line)
    rows = [
        f"| {place} | {PLACEHOLDERS[placeholder]} | {_splits(lines)} |"
        + "".join(f" {_auc(lines, policy)} |" for policy in POLICIES)
        for (place, placeholder), lines in groups.items()
    ]
    notes = [
        "AUC × 100: mean and 95 % interval over splits of the same rows (corrected for what they"
        " share). At most the paper's steps; the paper has 1,024 units.",
        "SIMULATED: icu. Its values were never measured on anybody.",
        "; ".join(f"`python paper/run.py {part}`" for part in PLACEHOLDER_PARTS if records[part])
        + f"; commit {', '.join(sorted({str(line['commit']) for line in made}))}.",
    ]
    head = f"| series | placeholder | splits | {' | '.join(POLICIES.values())} |"
    ruler = "|:--|:--|--:|" + "--:|" * len(POLICIES)
    return "\n".join([head, ruler, *rows, "", *(f"- {note}" for note in notes)])


def _place(line: Record) -> str:
    """Study, form and width."""
    mark = " (SIMULATED)" if line["simulated"] else ""
    form = line["options"].get("form", "")
    words = [f"{line['study']}{mark}", form and f"{form} length"]
    words.append(f"{line['setting']['hidden_layer_sizes'][0]:,} units")
    return ", ".join(word for word in words if word)


def _splits(lines: Sequence[Record]) -> str:
    """The number of splits behind each mean, or from how many to how many."""
    runs = Counter(line["method"] for line in lines)
    return " to ".join(map(str, dict.fromkeys((min(runs.values()), max(runs.values())))))


def _auc(lines: Sequence[Record], method: str) -> str:
    mine = [line for line in lines if line["method"] == method and line["status"] == "done"]
    if not mine:
        return "–"
    values = np.array([100 * line["scores"]["auc"] for line in mine])
    train, validation, test = mine[0]["rows"]
    low, high = interval(values, test / (train + validation))
    return f"{values.mean():.1f}" + ("" if np.isnan(low) else f" ± {(high - low) / 2:.1f}")


# ---- the reward's variance
def variance_table(figures: Mapping[str, Any]) -> str:
    """Shares by study and placeholder, over the times of training."""
    frame = pd.DataFrame(figures["runs"])
    lines = [
        "| | placeholder | all 128 actions together | a row's own action |",
        "|:--|:--|--:|--:|",
    ]
    names = {"mnist": "MNIST, 90 % missing, MLP", "icu": "icu (SIMULATED) fixed, LSTM"}
    for (study, value), part in frame.groupby(["study", "placeholder"], sort=False):
        shown = "3·max" if value == "3max" else "0"
        cells = [f"{_short(part[name].min())} to {_short(part[name].max())}" for name in SHARES]
        lines.append(f"| {names[str(study)]} | {shown} | {' | '.join(cells)} |")
    steps = ", ".join(f"{step:,}" for step in sorted(frame["steps"].unique()))
    note = (
        f"- Share of the reward's variance over rows and draws, smallest and largest after {steps}"
        f" steps. `python -m paper.why variance`, commit {figures['commit']}."
    )
    return "\n".join([*lines, "", note])


SHARES = ("all", "own")


def _short(share: float) -> str:
    mantissa, exponent = f"{share:.0e}".split("e")
    return f"{mantissa}·10^{int(exponent)}"


# ---- what importance 0 leaves in place
def initial_weight_table(figures: Mapping[str, Any]) -> str:
    """Mean test AUC by table and way, with its interval over seeds."""
    frame = pd.DataFrame(figures["runs"])
    tables = list(frame["table"].unique())
    lines = [f"| AUC × 100 | {' | '.join(tables)} |", "|:--|" + "--:|" * len(tables)]
    for way in WAYS:
        part = frame[frame["way"] == way]
        cells = []
        for table in tables:
            values = 100 * part.loc[part["table"] == table, "auc"].to_numpy()
            low, high = interval(values, 0.5)  # a third of the rows is for testing
            cells.append(f"{values.mean():.1f} ± {(high - low) / 2:.1f}")
        lines.append(f"| {way} | {' | '.join(cells)} |")
    note = (
        f"- Real tables with simulated shortcut columns, {frame['seed'].nunique()} splits each;"
        " mean and 95 % interval, corrected for the rows that splits share. `python -m paper.why"
        f" initial-weights`, commit {figures['commit']}."
    )
    return "\n".join([*lines, "", note])


# ---- what was learned
def learned_table(records: Mapping[str, Sequence[Record]]) -> str:
    """Mean importance of observed and of missing entries, and how far columns differ."""
    lines = [
        "| GIL on | observed entries | missing entries | spread over columns |",
        "|:--|--:|--:|--:|",
    ]
    for line in with_importance(records):
        observed, missing = (
            np.array([value for value in line["pictures"]["importance"][part] if value is not None])
            for part in ("observed", "missing")
        )
        spread = np.std(np.concatenate([observed, missing]))
        name = runs_frame([line])["setting"].iloc[0]
        steps = f"at most {line['setting']['steps']:,} steps"
        shown = f"{line['study']} {name}, {steps}"
        lines.append(f"| {shown} | {observed.mean():.2f} | {missing.mean():.2f} | {spread:.3f} |")
    return "\n".join(
        [
            *lines,
            "",
            "- Means over the first 512 test rows, mask 0; spread: standard"
            " deviation of a column's mean importance.",
        ]
    )


# ---- the level of accuracy on MNIST
def level_table(figures: Mapping[str, Any]) -> str:
    """Test accuracy by rate, scale of pixels and way to train, beside the paper's."""
    found = {(run["rate"], run["scaled"], run["way"]): run["accuracy"] for run in figures["runs"]}
    lines = [
        f"| missing | pixels | {' | '.join(LEVELS)} | the paper |",
        "|--:|:--|" + "--:|" * (len(LEVELS) + 1),
    ]
    for rate, scaled in dict.fromkeys((rate, scaled) for rate, scaled, _ in found):
        method, pixels = ("gil-h", "standardised") if scaled else ("zero+network", "0 to 1")
        printed = paper_figure("mnist", method, f"mcar-{100 * rate:.0f}", "accuracy")
        assert printed is not None
        values = [*(found[rate, scaled, way] for way in LEVELS), printed.mean]
        shown = " | ".join(f"{100 * value:.1f}" for value in values)
        name = "GIL-H" if scaled else "Zero"
        lines.append(f"| {100 * rate:.0f} % | {pixels} | {shown} ({name}) |")
    note = (
        "- Accuracy on test images, one run each, masks fixed. The second and third column keep the"
        " weights that are best on *test* images, as the authors' scripts do: they are no estimates"
        f" of anything, and not ours to report. `python -m paper.why level`, commit"
        f" {figures['commit']}."
    )
    return "\n".join([*lines, "", note])
