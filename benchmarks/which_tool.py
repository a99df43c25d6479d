"""What was measured beside each other tool, for the page "Which tool when"."""

from __future__ import annotations

import pandas as pd

from benchmarks import table_summary
from benchmarks.table_methods import RIVALS
from benchmarks.table_summary import BLEND, interval, markdown
from benchmarks.table_tasks import TWELVE

# tool: how the names of its methods begin in the results
ON_TABLES = {
    "scikit-learn's HistGradientBoosting": "HistGradientBoosting",
    "LightGBM": "LightGBM",
    "CatBoost": "CatBoost",
    "TabPFN": "TabPFN",
    "hyperimpute": "hyperimpute",
}


def beside(runs: pd.DataFrame, beginning: str) -> str:
    """Our lead over the methods of a tool, with its interval."""
    leads = []
    for method in (name for name in RIVALS if name.startswith(beginning)):
        tasks = runs.loc[runs["method"] == method, "task"].nunique()
        if tasks:
            mean, low, high = interval(runs, "score", BLEND, method)
            setting = method.removeprefix(beginning).strip() or "as it comes"
            leads.append(f"{mean:+.4f} ({low:+.4f} to {high:+.4f}), {setting}, {tasks} tables")
    return "; ".join(leads) or "not measured here"


def tables_section(runs: pd.DataFrame) -> str:
    """Our lead over each tool on the twelve tables."""
    runs = runs[runs["task"].isin(TWELVE)]
    rows = [[tool, beside(runs, beginning)] for tool, beginning in ON_TABLES.items()]
    return markdown(rows, ["tool", "we are ahead by (95 % interval)"])


def boosting_sentence(runs: pd.DataFrame) -> str:
    """How close boosting is, in a sentence."""
    mean, low, high = interval(
        runs[runs["task"].isin(TWELVE)], "score", BLEND, table_summary.BOOSTING
    )
    verdict = "which chance may explain" if low <= 0 else "beyond chance"
    return (
        f"On twelve tables with gaps our default is ahead of LightGBM with validated settings by"
        f" {mean:+.4f} ({low:+.4f} to {high:+.4f}), {verdict}."
    )
