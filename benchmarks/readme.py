"""Writes the README's results from the committed JSON files: `make readme`.

python benchmarks/readme.py [--check]     # --check: exit 1 when the README has drifted
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
START, END = (
    "<!-- results: made by `make readme` from benchmarks/results -->",
    "<!-- end of results -->",
)
LABELS = {"GILClassifier()": "**`GILClassifier()`** (policy none)"}


def tables_section() -> str:
    """The eight tables: mean AUC by method, best first, and the policies beside each other."""
    content = json.loads((HERE / "results" / "default_tables.json").read_text())
    runs = pd.DataFrame(content["runs"])
    by_method = runs.groupby("method").agg(
        auc=("auc", "mean"), log_loss=("log_loss", "mean"), seconds=("seconds", "max")
    )
    by_method = by_method.sort_values("auc", ascending=False)
    lines = ["| method | mean AUC | mean log-loss | longest fold, s |", "|---|---:|---:|---:|"]
    for method, row in by_method.iterrows():
        label = LABELS.get(str(method), str(method))
        lines.append(f"| {label} | {row.auc:.4f} | {row.log_loss:.4f} | {row.seconds:.1f} |")
    versions = ", ".join(f"{name} {version}" for name, version in content["versions"].items())
    seeds = ", ".join(str(seed) for seed in sorted(runs["seed"].unique()))
    return "\n".join(
        [
            "Eight real tables with natural gaps (155 to 4,240 rows), five folds, nobody tuned;",
            "every test fold scored once. One core a fit.",
            "",
            *lines,
            "",
            f"`{content['command']}`; {content['protocol']}; seeds {seeds}; {versions}.",
            "",
            policy_sentence(runs),
        ]
    )


def policy_sentence(runs: pd.DataFrame) -> str:
    """Does a learned policy help? Paired over tables and folds, from the same runs."""
    wide = runs.pivot_table(index=["table", "fold"], columns="method", values="auc")
    parts = []
    for policy in ("observed", "random", "ddpg", "meta"):
        difference = wide[f"policy {policy}"] - wide["GILClassifier()"]
        by_table = difference.groupby("table").mean()
        wins = int((by_table > 0).sum())
        parts.append(f"`{policy}` {difference.mean():+.4f} (higher on {wins} of {len(by_table)})")
    return (
        "Against `none`, all else equal, the mean AUC differs by: "
        + ", ".join(parts)
        + ". On these tables a learned importance does not change the result beyond chance,"
        " which is why the default is `none`."
    )


def cost_section() -> str:
    """Cost of a step and memory, from their result files."""
    cost = json.loads((HERE / "results" / "step_cost.json").read_text())
    memory = json.loads((HERE / "results" / "ddpg_memory.json").read_text())
    ratios = ", ".join(f"`{name}` {ratio:.2f}×" for name, ratio in cost["ratios"].items())
    return (
        "A training step against an ordinary PyTorch step of the same network (784-500-500-10,"
        f" batch 128, `{cost['command']}`): {ratios}. A `ddpg` fit on 4,101 columns peaks at"
        f" {memory['peak_gb']:.2f} GB, torch included (`{memory['command']}`)."
    )


def main() -> int:
    text = README.read_text()
    before, rest = text.split(START)
    _, after = rest.split(END)
    made = f"{before}{START}\n{tables_section()}\n\n{cost_section()}\n{END}{after}"
    if "--check" in sys.argv:
        return int(made != text)
    README.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
