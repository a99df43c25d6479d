"""The tables of docs/importance.md, from paper/results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from imputefree.lab.report import interval, runs_frame
from imputefree.lab.runs import Record
from paper.pictures import with_importance
from paper.why import FILE, WAYS

PLACEHOLDER_PARTS = ("icu-placeholders", "physionet2012-placeholders")
POLICIES = {
    "network": "`none`: importance 1",
    "gil-h": "`observed`: GIL-H",
    "random": "`random`: a coin",
    "gil": "`ddpg`: GIL",
}
SHOWN = {0: "placeholder 0", "3max": "placeholder 3·max"}


def blocks(records: Mapping[str, Sequence[Record]]) -> dict[str, str]:
    """The generated blocks of the page by name."""
    figures = json.loads(FILE.read_text())
    return {
        "placeholders": placeholder_table(records),
        "variance": variance_table(figures["variance"]),
        "initial": initial_weight_table(figures["initial-weights"]),
        "learned": learned_table(records),
    }


# ---- the placeholder
def placeholder_table(records: Mapping[str, Sequence[Record]]) -> str:
    """Mean AUC of each policy at both placeholders, with its interval over splits."""
    columns: dict[str, list[str]] = {}
    counts: dict[str, str] = {}
    for part in PLACEHOLDER_PARTS:
        for place, lines in _places(records[part]).items():
            for value, name in SHOWN.items():
                cells = [_auc(lines, value, policy) for policy in POLICIES]
                if any(cells):
                    columns[f"{place}, {name}"] = [cell or "–" for cell in cells]
                    counts[place] = _splits(lines)
    head = f"| AUC × 100 | {' | '.join(columns)} |"
    rows = [
        f"| {name} | {' | '.join(cells[at] for cells in columns.values())} |"
        for at, name in enumerate(POLICIES.values())
    ]
    made = [line for part in PLACEHOLDER_PARTS for line in records[part]]
    widths = sorted({line["setting"]["hidden_layer_sizes"][0] for line in made})
    notes = [
        "Mean and 95 % interval over splits of the same rows (corrected for what they share): "
        + "; ".join(f"{place} {count}" for place, count in counts.items())
        + f". {' or '.join(map(str, widths))} units (the paper: 1,024), at most the paper's steps.",
        "SIMULATED: icu. Its values were never measured on anybody.",
        "; ".join(f"`python paper/run.py {part}`" for part in PLACEHOLDER_PARTS if records[part])
        + f"; commit {', '.join(sorted({str(line['commit']) for line in made}))}.",
    ]
    ruler = "|:--|" + "--:|" * len(columns)
    return "\n".join([head, ruler, *rows, "", *(f"- {note}" for note in notes)])


def _places(lines: Sequence[Record]) -> dict[str, list[Record]]:
    """Lines by study and form."""
    found: dict[str, list[Record]] = {}
    for line in lines:
        form = line["options"].get("form", "")
        mark = " (SIMULATED)" if line["simulated"] else ""
        found.setdefault(f"{line['study']}{mark} {form}".strip(), []).append(line)
    return found


def _splits(lines: Sequence[Record]) -> str:
    """The number of splits behind each mean, or from how many to how many."""
    runs = Counter((line["method"], str(line["setting"]["placeholder"])) for line in lines)
    fewest, most = min(runs.values()), max(runs.values())
    return str(most) if fewest == most else f"{fewest} to {most}, not the same for all"


def _auc(lines: Sequence[Record], placeholder: Any, method: str) -> str:
    mine = [
        line
        for line in lines
        if line["setting"]["placeholder"] == placeholder and line["method"] == method
        if line["status"] == "done"
    ]
    if not mine:
        return ""
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
