"""Writes paper/README.md and the documentation's pages on the paper: `make readme`.

python -m paper.tables [--check]     # --check: exit 1 if one of them has drifted

From the lines in paper/results; the text above the tables is in paper/introduction.md.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from imputefree.lab.report import (
    correlation_table,
    mean_ranks,
    results_table,
    runs_frame,
    what_was_cut,
)
from imputefree.lab.runs import AS_IT_COMES, PAPER_BATCH, PLANS, Record, Run, read_results
from paper import comparisons, pictures, reasons
from paper.run import PARTS, runs_of
from scripts.generated import ROOT, with_blocks, write_pages

HERE = Path(__file__).parent
DOCS = ROOT / "docs"
# Studies of the paper with every method, by results file.
HEADINGS = {
    "icu": "Every method",
    "ophthalmic-simulated": "Every method, and Table 7's ablation",
    "mnist": "Every method, masks fixed, and Tables 5 and 7",
    "physionet2012": "Every method",
}
# The pages of the documentation, in the paper's order.
PAGES = {
    "table-1": "Table 1: septic shock, on a SIMULATED cohort",
    "table-2": "Table 2: diabetic retinopathy, on a SIMULATED cohort",
    "table-3": "Tables 3, 5 and 7: MNIST",
    "table-4": "Table 4: does a smaller imputation error mean a better prediction?",
    "table-6": "Table 6: PhysioNet 2012",
    "eight-tables": "Eight real tables with natural gaps",
}
MNIST = ("mnist-fixed", "mnist-redrawn")
REMARKS = {
    "icu": "- BRITS and GRU-D were not run on series of up to 121 steps, GP-VAE cannot be.\n",
    "ophthalmic-simulated": "- LightGBM and our default were not run here: 4,101 columns take them"
    " many times as long as the others.\n",
    "mnist": "- Masks are drawn once per image and stay, as real gaps do.\n",
    "physionet2012": "- Ours: all 37 variables and 5 statics; the paper has 35 variables (without"
    ' ventilation and weight) and no statics: `attributes="paper"`.\n',
}


def records_of(study: str) -> list[Record]:
    """The committed lines of a study; none if it was not run."""
    path = HERE / "results" / f"{study}.jsonl"
    return read_results(path) if path.exists() else []


def longest(records: Sequence[Record]) -> list[Record]:
    """Each run once: the one with the most steps, of those that differ in nothing else."""
    found: dict[tuple[str, ...], Record] = {}
    for line in sorted(records, key=lambda line: line["setting"].get("steps", 0)):
        names = ("method", "options", "mask_seed", "split_seed")
        found[tuple(str(line[name]) for name in names)] = line
    return list(found.values())


def ended_by_limit(records: Sequence[Record]) -> str:
    """How many of the runs with fewer steps than the paper used them up."""
    cut = [
        line
        for line in records
        if line["setting"].get("steps", math.inf) < PLANS[line["study"]].steps_in(line["options"])
        if line.get("pictures", {}).get("curves")
    ]
    if not cut:
        return ""
    reached = sum(
        len(line["pictures"]["curves"]["loss"])
        >= line["setting"]["steps"] // math.ceil(line["rows"][0] / PAPER_BATCH)
        for line in cut
    )
    return (
        f"- Of {len(cut)} runs with fewer steps whose curves are kept, {reached} took them all;"
        " the others stopped earlier, because the loss on validation rows no longer fell.\n"
    )


def study_section(study: str, records: Sequence[Record], uncut: Sequence[Record] = ()) -> str:
    """A study's table, with its heading and the command that produced it.

    uncut : more lines, some of which replace those of the same runs with fewer steps
    """
    left, records = still_to_run([study], records), longest([*records, *uncut])
    frame = runs_frame(records)
    run = set(frame["method"])
    methods = [name for name in PLANS[study].methods if name in run]
    table = results_table(
        frame, study, PLANS[study].metrics, methods=methods, cut=what_was_cut(records)
    )
    remark = REMARKS.get(study, "") + ended_by_limit(records) + left
    return f"## {HEADINGS[study]}\n\n{table.markdown()}{remark}{made_by(records)}\n"


def tables_section(records: list[Record]) -> str:
    """The eight tables: mean AUC and mean rank of methods that finished everywhere."""
    frame = runs_frame(records)
    places = frame.groupby("method").agg(done=("auc", "count"), asked=("auc", "size"))
    whole = places.index[places["done"] == places["done"].max()]
    ranks = mean_ranks(frame[frame["method"].isin(whole)], "auc")
    means = frame.groupby(["method", "study"])["auc"].mean().groupby("method").mean()
    lines = ["| method | mean AUC | mean rank |", "|:--|--:|--:|"]
    for line in ranks.to_dict("records"):
        name = line["method"]
        label = f"**{name}**, our default" if name == AS_IT_COMES else name
        lines.append(f"| {label} | {means[name]:.4f} | {line['mean_rank']:.2f} |")
    left = [name for name in places.index if name not in whole]
    tests = sorted({record["rows"][2] for record in records if "rows" in record})
    return "\n".join(
        [
            *lines,
            "",
            f"- Mean over {frame['study'].nunique()} tables and {frame['split'].nunique()} splits;"
            f" test parts have {tests[0]} to {tests[-1]} rows. Rank 1 is the best. GIL and its"
            " variants, and the network behind imputers, are our default with that policy or"
            " imputer." + (f" Not finished everywhere: {', '.join(left)}." if left else ""),
            made_by(records),
            "",
        ]
    )


def correlation_section(frames: list[pd.DataFrame]) -> str:
    """Table 4, over all studies in which hidden values are known; cut as they are."""
    known = pd.concat([frame for frame in frames if "imputation_error" in frame])
    cut = ["Runs are those of the other tables, cut as they are."]
    return correlation_table(known, error="imputation_error", cut=cut).markdown()


def still_to_run(parts: Sequence[str], records: Sequence[Record]) -> str:
    """A line on what these files still lack, so that no table looks finished too early."""
    done = {Run.of(record).identity for record in records}
    runs = [run for part in parts for run in runs_of(part)]
    left = Counter(run.method for run in runs if run.identity not in done)
    if not left:
        return ""
    names = ", ".join(f"{name} ({times})" for name, times in left.items())
    return f"- Not run yet, of {len(runs)} runs: {names}.\n"


def made_by(records: Sequence[Record]) -> str:
    """One line: command, versions, hours."""
    commands = sorted({record["command"] for record in records})
    versions = {tuple(sorted(record["versions"].items())) for record in records}
    newest = dict(sorted(versions)[-1])
    several = "" if len(versions) == 1 else " (and others, see the lines)"
    hours = sum(record["seconds"] or 0 for record in records) / 3600
    made = ", ".join(f"{name} {version}" for name, version in newest.items())
    failed = sum(record["status"] == "failed" for record in records)
    failures = f", {failed} failed" if failed else ""
    return (
        f"- {'; '.join(f'`{command}`' for command in commands)}: {len(records)} runs{failures},"
        f" {hours:.1f} hours, one thread each; {made}{several}."
    )


def mnist_section(records: Sequence[Record]) -> str:
    """Table 3 at the paper's steps, under both protocols of masks."""
    # With placeholder 0, GIL-H is ordinary training to the last digit.
    same = [line | {"method": "gil-h"} for line in records if line["method"] == "network"]
    lines = sorted([*records, *same], key=lambda line: (line["options"]["rate"], _redrawn(line)))
    frame = runs_frame(lines)
    have = set(frame["method"])
    methods = [name for name in PLANS["mnist"].methods if name in have]
    table = results_table(frame, "mnist", methods=methods, cut=what_was_cut(lines))
    notes = (
        "- At most 10,000 steps of 128 rows, the paper's number, which is 24 epochs; training ends"
        " earlier when the loss on validation rows has not fallen for 3 epochs: with fixed masks"
        f" after {_epochs(records, False)} epochs, with redrawn masks after"
        f" {_epochs(records, True)}.\n"
        "- Masks fixed: each image has its gaps once. Redrawn: other pixels are hidden in every"
        " batch of training, at the same rate; validation and test images keep theirs. The paper"
        " does not say which it has.\n"
        "- zero+network sees pixels between 0 and 1, and 0 for a gap; the others see pixels scaled"
        " to mean 0 and variance 1, and 0, the mean, for a gap.\n"
    )
    heading = "## At the paper's size, masks fixed and redrawn"
    left = still_to_run(MNIST, records)
    parts = [heading, "", within_a_point(frame), "", table.markdown() + notes + left]
    return "\n".join([*parts[:-1], parts[-1] + made_by(list(records)), ""])


def placeholder_section(records: Mapping[str, Sequence[Record]]) -> str:
    """All policies at both placeholders, on series."""
    heading = "## What stands for a gap in a series"
    parts = reasons.PLACEHOLDER_PARTS
    left = still_to_run(parts, [line for part in parts for line in records[part]])
    return f"{heading}\n\n{reasons.placeholder_table(records)}\n{left}"


def _epochs(records: Sequence[Record], redrawn: bool) -> str:
    """How many epochs training took, of the runs that kept their curves."""
    curves = [
        line.get("pictures", {}).get("curves") for line in records if _redrawn(line) == redrawn
    ]
    counts = sorted({len(curve["loss"]) for curve in curves if curve})
    return " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))


def _redrawn(line: Record) -> bool:
    return line["options"].get("masks") == "redrawn"


def within_a_point(frame: pd.DataFrame) -> str:
    """Where the paper's figures of GIL, GIL-H and Zero are met within a point of accuracy."""
    names, met, missed = ("gil", "gil-h", "zero+network"), [], []
    table = results_table(frame, "mnist", methods=[n for n in names if n in set(frame["method"])])
    for row in table.rows:
        for column, head in enumerate(table.head):
            if head == "ours - paper" and row[column] != "–":
                what = f"{row[0]} at {table.head[column - 2].removesuffix(' Acc.')} ({row[column]})"
                (met if abs(float(row[column])) <= 1 else missed).append(what)
    return (
        f"Within one point of the paper's figure: {'; '.join(met) or 'none'}."
        f" Not: {'; '.join(missed) or 'none'}."
    )


def pages(records: Mapping[str, Sequence[Record]]) -> dict[str, str]:
    """What the page of each table says, below its title."""
    uncut = {
        study: [line for more in ("uncut", "second") for line in records.get(f"{study}-{more}", ())]
        for study in HEADINGS
    }
    study = {
        part: study_section(part, records[part], uncut.get(part, ()))
        for part in HEADINGS
        if records[part]
    }
    frames = [runs_frame(longest([*records[part], *uncut.get(part, ())])) for part in study]
    mnist = mnist_section([line for part in MNIST for line in records[part]])
    placeholders = placeholder_section(records)
    return {
        "table-1": f"{placeholders}\n{study['icu']}",
        "table-2": study["ophthalmic-simulated"],
        "table-3": f"{mnist}\n{study['mnist']}\n{pictures.captions()}",
        "table-4": correlation_section(frames),
        "table-6": f"{study['physionet2012']}\n{placeholders}",
        "eight-tables": tables_section(list(records["tables"])),
    }


def page(name: str, content: str) -> str:
    """A page of the documentation; no column of contents beside its wide tables."""
    back = "[All tables](../paper.md). Written from the lines in `paper/results` by `make readme`."
    return f"---\nhide: [toc]\n---\n\n# {PAGES[name]}\n\n{back}\n\n{content.rstrip()}\n"


def contents(folder: str) -> str:
    """Links to the pages."""
    return "\n".join(f"- [{title}]({folder}/{name}.md)" for name, title in PAGES.items())


def main() -> int:
    records = {part: records_of(part) for part in PARTS}
    found = comparisons.families(records)
    introduction = (HERE / "introduction.md").read_text()
    index, policies, importance = (
        DOCS / f"{name}.md" for name in ("paper", "results-policies", "importance")
    )
    answer = f"## The tables\n\n{comparisons.sentence(found)}\n\n{contents('../docs/paper')}\n"
    return write_pages(
        {
            HERE / "README.md": f"{introduction}\n{answer}",
            index: with_blocks(
                index, {"answer": comparisons.sentence(found), "tables": contents("paper")}
            ),
            policies: with_blocks(policies, {"paper": comparisons.markdown(found)}),
            importance: with_blocks(importance, reasons.blocks(records)),
        }
        | {DOCS / "paper" / f"{name}.md": page(name, text) for name, text in pages(records).items()}
    )


if __name__ == "__main__":
    sys.exit(main())
