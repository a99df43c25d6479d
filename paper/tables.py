"""Writes paper/README.md, and the docs' part on the paper, from paper/results: `make readme`.

python -m paper.tables [--check]     # --check: exit 1 if either has drifted
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pandas as pd

from imputefree.lab.report import (
    correlation_table,
    mean_ranks,
    results_table,
    runs_frame,
    what_was_cut,
)
from imputefree.lab.runs import AS_IT_COMES, PLANS, Record, Run, read_results
from paper.policy_helps import policy_helps
from paper.run import runs_of
from scripts.generated import ROOT, with_blocks, write_pages

HERE = Path(__file__).parent
# The paper's tables in its order, by study.
HEADINGS = {
    "icu": "Table 1: septic shock, on a SIMULATED cohort",
    "ophthalmic-simulated": "Table 2: diabetic retinopathy, on a SIMULATED cohort",
    "mnist": "Tables 3, 5 and 7: MNIST, masks fixed",
    "physionet2012": "Table 6: PhysioNet 2012",
}
REMARKS = {
    "icu": "- BRITS and GRU-D were not run on series of up to 121 steps, GP-VAE cannot be.\n",
    "ophthalmic-simulated": "- LightGBM and our default were not run here: 4,101 columns take them"
    " many times as long as the others.\n",
    "mnist": "- Masks are drawn once per image and stay, as real gaps do. Masks redrawn each"
    " epoch make the task easier; the paper does not say which it uses.\n",
}
INTRODUCTION = """# The paper's tables, run again

`python paper/run.py STUDY` runs a study (`mnist`, `ophthalmic-simulated`, `icu`, `physionet2012`,
`tables`) and continues where it stopped; `make readme` writes this page from `paper/results`;
`imputefree report paper/results/*.jsonl` makes a page with pictures of them. Every line of results
has its seeds, setting, versions and command. Names are those of `imputefree bench --methods`;
"network" is ordinary training of the same network (importance 1 everywhere, gaps at the column's
mean), "random" tosses a coin for importance, "gate" is the ablation of the paper's Table 7.

What the paper chose is not always known, and its figures may have been chosen on test rows; ours
are scored on the test part once. Not quite untouched: zeros without scaling, the learning rate of
1e-3 and the patience of 3 epochs were settled by hand after a look at about eight test scores on
MNIST (mask 0), before these runs. MIMIC-III and the ophthalmic images are not public: Tables 1 and
2 use simulated cohorts of the same shape, so their figures cannot be compared with the paper's.
"""


def records_of(study: str) -> list[Record]:
    """The committed lines of a study; none if it was not run."""
    path = HERE / "results" / f"{study}.jsonl"
    return read_results(path) if path.exists() else []


def study_section(study: str, records: list[Record]) -> str:
    """A study's table, with its heading and the command that produced it."""
    frame = runs_frame(records)
    run = set(frame["method"])
    methods = [name for name in PLANS[study].methods if name in run]
    table = results_table(
        frame, study, PLANS[study].metrics, methods=methods, cut=what_was_cut(records)
    )
    remark = REMARKS.get(study, "") + still_to_run(study, records)
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
            "## Eight real tables with natural gaps",
            "",
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
    """Table 4, over all studies in which hidden values are known; cut as the tables above."""
    known = pd.concat([frame for frame in frames if "imputation_error" in frame])
    heading = "## Table 4: does a smaller imputation error mean a better prediction?"
    cut = ["Runs are those of the tables above, cut as they are."]
    table = correlation_table(known, error="imputation_error", cut=cut)
    return f"{heading}\n\n{table.markdown()}"


def still_to_run(study: str, records: list[Record]) -> str:
    """A line on what is still to be run, so that no table looks finished too early."""
    done = {Run.of(record).identity for record in records}
    left = Counter(run.method for run in runs_of(study) if run.identity not in done)
    if not left:
        return ""
    names = ", ".join(f"{name} ({times})" for name, times in left.items())
    return f"- UNFINISHED: {left.total()} runs are still to be done: {names}.\n"


def made_by(records: list[Record]) -> str:
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
        f" {hours:.1f} core-hours; {made}{several}."
    )


def main() -> int:
    records = {study: records_of(study) for study in (*HEADINGS, "tables")}
    frames = {study: runs_frame(lines) for study, lines in records.items() if lines}
    sections = [study_section(s, records[s]) for s in HEADINGS if records[s]]
    sections.append(correlation_section([f for s, f in frames.items() if s != "tables"]))
    if records["tables"]:
        sections.append(tables_section(records["tables"]))
    helps = policy_helps(frames)
    page = "\n".join([INTRODUCTION, f"## Does a learned policy help?\n\n{helps}\n", *sections])
    table = study_section("mnist", records["mnist"]).split("\n", 2)[2]
    docs = ROOT / "docs" / "results-policies.md"
    blocks = with_blocks(docs, {"paper": helps, "mnist": table})
    return write_pages({HERE / "README.md": page, docs: blocks})


if __name__ == "__main__":
    sys.exit(main())
