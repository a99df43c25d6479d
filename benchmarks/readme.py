"""Writes the figures of README and docs from the committed JSON files: `make readme`.

python -m benchmarks.readme [--check]     # --check: exit 1 if a page has drifted

A block of a page stands between `<!-- NAME: … -->` and `<!-- end of NAME -->`; PAGES says which
function writes which block.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import wilcoxon

from benchmarks import attack_summary, table_summary, which_tool
from benchmarks.table_tasks import PROTOCOL
from imputefree.lab.report import interval
from imputefree.lab.runs import read_results
from scripts.generated import ROOT, with_blocks, write_pages

RESULTS = Path(__file__).parent / "results"
TABLES = RESULTS / "best_default.jsonl"
LABELS = {
    "ImputeFreeSequenceClassifier()": "**`ImputeFreeSequenceClassifier()`**",
    "its network": "its network, `GILSequenceClassifier()`",
    "its trees": "its trees on summaries",
    "its linear": "its linear models of summaries",
    "LightGBM on summaries": "LightGBM on summaries, validated",
    "without recurrence": "`GILClassifier()` on the same summaries",
    "without summary": "ours without the summary path",
    "without ensemble": "ours, one network instead of four",
    "the paper's network": "LSTM-64, one network, no summary, no indicator, no times",
}


def read(name: str) -> dict[str, Any]:
    """A committed results file."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def versions(content: dict[str, Any]) -> str:
    """The versions it was run with, in words."""
    return ", ".join(f"{name} {version}" for name, version in content["versions"].items())


def means(runs: pd.DataFrame, by: str, **figures: tuple[str, str]) -> pd.DataFrame:
    """Figures per method, the best first."""
    return runs.groupby("method").agg(**figures).sort_values(by, ascending=False)


def table_runs() -> pd.DataFrame:
    """The runs of all methods on tables."""
    return table_summary.read(TABLES)


def readme_section() -> str:
    """The README's table, and a sentence on series."""
    runs, series = table_runs(), pd.DataFrame(read("physionet2012")["runs"])
    auroc = series.groupby("method")["auroc"].mean()
    return "\n\n".join(
        [
            table_summary.front_page(runs),
            f"{blend_cost()} ([cost](docs/results-cost.md)).",
            f"Series, PhysioNet 2012 ({series['split'].nunique()} splits): AUROC"
            f" {auroc[BLEND]:.4f}, LightGBM on summaries of each series {auroc[RIVAL]:.4f}.",
        ]
    )


def larger_section() -> str:
    """Tables with more rows: score and log-loss of every method."""
    runs = table_runs()
    titles = {"score": "AUC", "loss": "log-loss"}
    return "\n\n".join(table_summary.larger_tasks(runs, *pair) for pair in titles.items())


def source_section() -> str:
    """What made the figures on tables."""
    return f"{PROTOCOL[0].upper()}{PROTOCOL[1:]}. {made_by(TABLES)}"


def made_by(path: Path) -> str:
    """Which versions made the lines of a results file, and how."""
    records = read_results(path)
    libraries = {
        name: version for record in records for name, version in record["versions"].items()
    }
    of_methods = sorted({record["version"] for record in records})
    return (
        f"`{records[-1]['command']}` and the like, line by line in `benchmarks/results/{path.name}`"
        f" with commit and seeds; {versions({'versions': libraries})}; {'; '.join(of_methods)}."
    )


SERIES = {  # what the stays of a study are, and the question
    "physionet2012": "PhysioNet 2012, {:,} stays in intensive care of 48 hourly steps of {}"
    " variables, 80 % missing: who dies in hospital?",
    "physionet2019": "PhysioNet 2019, hospital B, {:,} stays of 1 to 336 hourly steps of {}"
    " variables, 81 % missing, cut where the label turns: who gets sepsis?",
}
BLEND, NETWORK = "ImputeFreeSequenceClassifier()", "its network"
RIVAL = "LightGBM on summaries"


def series_section(name: str) -> str:
    """A study of series: means over the splits by method, best first."""
    content = read(name)
    runs = pd.DataFrame(content["runs"])
    by_method = means(
        runs,
        "auroc",
        auroc=("auroc", "mean"),
        spread=("auroc", "std"),
        auprc=("auprc", "mean"),
        log_loss=("log_loss", "mean"),
        calibration_error=("calibration_error", "mean"),
        splits=("split", "nunique"),
        cpu_seconds=("cpu_seconds", "mean"),
    )
    lines = [
        "| method | AUROC (sd) | AUPRC | log-loss | calibration error | splits | CPU s |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for method, row in by_method.iterrows():
        label = LABELS.get(str(method), str(method))
        spread = f" ({row.spread:.4f})" if row.splits > 1 else ""
        lines.append(
            f"| {label} | {row.auroc:.4f}{spread} | {row.auprc:.4f} |"
            f" {row.log_loss:.4f} | {row.calibration_error:.3f} | {row.splits:.0f} |"
            f" {row.cpu_seconds:.0f} |"
        )
    commits = ", ".join(sorted(set(runs["commit"])))
    source = f"{content['protocol']}; {versions(content)}; commit {commits}"
    return "\n".join(
        [
            SERIES[name].format(content["stays"], content["variables"]),
            "",
            *lines,
            "",
            f"`{content['command']}`; {source}.",
            "",
            series_sentence(runs),
        ]
    )


def series_sentence(runs: pd.DataFrame) -> str:
    """The blend against LightGBM, split by split."""
    wide = runs.pivot_table(index="split", columns="method", values=["auroc", "auprc"])
    better = {name: (wide[name][BLEND] - wide[name][RIVAL]).dropna() for name in ("auroc", "auprc")}
    ahead = int((better["auroc"] > 0).sum())
    return (
        f"Against {RIVAL} the blend is ahead on {ahead} of {len(better['auroc'])} splits; mean"
        f" difference in AUROC {better['auroc'].mean():+.4f}, in AUPRC"
        f" {better['auprc'].mean():+.4f}."
    )


def series_verdict(name: str) -> str:
    """The same for a page that has no table."""
    content = read(name)
    study = SERIES[name].partition(",")[0]
    sentence = series_sentence(pd.DataFrame(content["runs"]))
    return f"{study}: {sentence[0].lower()}{sentence[1:]}"


def policy_section() -> str:
    """Does another policy help, or an imputer? Wilcoxon's paired test over the tables."""
    path = RESULTS / "policies.jsonl"
    scores = table_summary.read(path).pivot_table(index="task", columns="method", values="score")
    none = scores.pop("policy none")
    parts, beyond = [], []
    for method in scores.mean().sort_values(ascending=False).index:
        difference = scores[method] - none
        p = wilcoxon(difference).pvalue if difference.any() else 1.0
        parts.append(f"{method} {difference.mean():+.4f} (p = {p:.2f})")
        if p < 0.05:
            beyond.append(f"{method} {'helps' if difference.mean() > 0 else 'hurts'}")
    return (
        f'The same network under other policies and behind imputers, against `policy="none"` (mean'
        f" AUC {none.mean():.4f}): mean difference in AUC over the {len(scores)} tables with two"
        f" classes, and Wilcoxon's paired test: {'; '.join(parts)}. So on these tables"
        f" {'; '.join(beyond) or 'none of them differs beyond chance'}. (`observed` equals `none`"
        f" exactly: with the placeholder 0 a gap has no weight gradient anyway.) {made_by(path)}"
    )


def fit_cost_section() -> str:
    """The same with the command that measured it."""
    return f"{fit_cost_sentence()}\n\n`{read('fit_cost')['command']}`"


def fit_seconds() -> tuple[pd.DataFrame, pd.Series]:
    """CPU time of fits by table and method, and that of the blend as a multiple of CatBoost's."""
    seconds = pd.DataFrame(read("fit_cost")["cpu_seconds"]).T
    return seconds, seconds["blend"] / seconds["CatBoost"]


def blend_cost() -> str:
    """CPU time of default fits against CatBoost."""
    _, ratio = fit_seconds()
    return (
        f"CPU time of a fit, one thread, on the {len(ratio)} tables: the blend takes"
        f" {ratio.min():.1f} to {ratio.max():.1f} times CatBoost's with its defaults (median"
        f" {ratio.median():.1f})"
    )


def fit_cost_sentence() -> str:
    """CPU time of fits against CatBoost and LightGBM."""
    seconds, ratio = fit_seconds()
    fast = seconds["fast"] - 3 * seconds["LightGBM"]
    return (
        f"{blend_cost()}: not more on {int((ratio <= 1).sum())} tables, at most twice on"
        f" {int((ratio <= 2).sum())};"
        f' `quality="fast"` {seconds["fast"].median():.2f} s in the median, LightGBM with its'
        f" defaults {seconds['LightGBM'].median():.2f} s (at most three times that plus one second"
        f" on {int((fast <= 1).sum())} tables)."
    )


def misleading_section() -> str:
    """The synthetic task with misleading columns: what each policy learns there."""
    content = read("misleading_columns")
    runs = pd.DataFrame(content["runs"]).groupby("policy", sort=False).mean(numeric_only=True)
    parts = []
    for policy, row in runs.iterrows():
        importance = (
            "" if pd.isna(row.useful) else f", {row.misleading:.2f} against {row.useful:.2f}"
        )
        parts.append(f"`{policy}` {row.test_loss:.3f}{importance}")
    return (
        "On a made-up task (simulated) in which twenty of 24 columns mislead in most rows, mean"
        " test loss over three seeds, and the importance given to misleading against useful"
        " columns:"
        f" {'; '.join(parts)} (`{content['command']}`)."
    )


def cost_section() -> str:
    """Cost of a step and memory, from their result files."""
    cost = read("step_cost")
    memory = read("ddpg_memory")
    ratios = ", ".join(f"`{name}` {ratio:.2f}×" for name, ratio in cost["ratios"].items())
    return (
        "A training step against an ordinary PyTorch step of the same network (784-500-500-10,"
        f" batch 128, `{cost['command']}`): {ratios}. A `ddpg` fit on 4,101 columns peaks at"
        f" {memory['peak_gb']:.2f} GB, torch included (`{memory['command']}`)."
    )


def series_cost_section() -> str:
    """Cost of a step on series, from its result file."""
    cost = read("sequence_step_cost")
    parts = []
    for shape, ratios in cost["ratios"].items():
        shown = ", ".join(f"`{name}` {ratio:.2f}×" for name, ratio in ratios.items())
        parts.append(f"{shape}: {shown}")
    grown = max(cost["memory_growth_mb"].values())
    return (
        "A training step on series against an ordinary PyTorch LSTM step, batch 128"
        f" (`{cost['command']}`). {'. '.join(parts)}. Memory grew by at most {grown:.1f} MB over"
        f" {cost['memory_steps']} steps."
    )


def imputers_section() -> str:
    """RMSE of the imputers on tables, and reconstruction of digits."""
    tables, digits = read("table_imputers"), read("mnist_imputers")
    runs = pd.DataFrame(tables["runs"])
    wide = runs.pivot_table(index="method", columns="table", values="rmse")
    wide = wide.sort_values(str(wide.columns[0]))
    names = {"breast": "RMSE, breast cancer", "crime": "RMSE, communities and crime"}
    lines = [
        "| imputer | " + " | ".join(names.get(str(table), str(table)) for table in wide) + " |",
        "|---|" + "---:|" * wide.shape[1],
    ]
    lines += [
        f"| {method} | " + " | ".join(f"{rmse:.4f}" for rmse in row) + " |"
        for method, row in wide.iterrows()
    ]
    pixels = ", ".join(f"{run['method']} {run['mse']:.4f}" for run in digits["runs"])
    times = ", ".join(
        f"{run['method']} {run['seconds'] / 60:.1f} minutes" for run in digits["runs"][1:]
    )
    return "\n".join(
        [
            "The imputers on complete tables (columns scaled to [0, 1]) with 20 % of the entries",
            "hidden at random: RMSE on those, mean over seeds"
            f" {', '.join(map(str, sorted(runs['seed'].unique())))}.",
            "",
            *lines,
            "",
            f"`{tables['command']}`; {versions(tables)}. On MNIST's {digits['rows']:,} training"
            f" images with half of all pixels missing, mean squared error over those: {pixels};"
            f" fit and fill together {times} (`{digits['command']}`).",
        ]
    )


def digits_section() -> str:
    """MNIST: a rival that does not impute either, and our blend."""
    content, ours = read("mnist_mixture"), read("mnist_blend")
    runs = sorted(content["runs"], key=lambda run: run["rate"])
    shown = ", ".join(
        f"{run['accuracy']:.3f} at {run['rate']:.0%} (naive Bayes"
        f" {run['naive_bayes_accuracy']:.3f})"
        for run in runs
    )
    blend = ", ".join(
        f"{run['accuracy']:.3f} at {run['rate']:.0%} (log-loss {run['log_loss']:.3f}, calibration"
        f" error {run['calibration_error']:.3f})"
        for run in sorted(ours["runs"], key=lambda run: run["rate"])
    )
    return (
        "A rival that does not impute either: one mixture of Bernoullis per class, missing pixels"
        f" integrated out, on MNIST with fixed masks, test accuracy {shown}"
        f" (`{content['command']}`). No claim about high missing rates is worth anything without"
        f" this comparison. `ImputeFreeClassifier(families={ours['families']})` on the same images"
        f" and masks: {blend} (`{ours['command']}`)."
    )


def networks_section() -> str:
    """Other people's networks on PhysioNet 2012, and ours on the splits they were run on."""
    content = read("physionet2012_networks")
    theirs = pd.DataFrame(content["runs"])
    ours = pd.DataFrame(read("physionet2012")["runs"])
    ours = ours[ours["split"].isin(theirs["split"]) & ours["method"].isin([BLEND, NETWORK, RIVAL])]
    theirs = theirs.assign(method=theirs["method"] + " (PyPOTS)")
    by_method = means(
        pd.concat([theirs, ours]), "auroc", auroc=("auroc", "mean"), auprc=("auprc", "mean")
    )
    rows = [
        [LABELS.get(str(method), str(method)), f"{row.auroc:.4f}", f"{row.auprc:.4f}"]
        for method, row in by_method.iterrows()
    ]
    splits = ", ".join(map(str, sorted(theirs["split"].unique())))
    return "\n\n".join(
        [
            f"PhysioNet 2012, split {splits} alone (`{content['command']}`):",
            table_summary.markdown(rows, ["method", "AUROC", "AUPRC"]),
        ]
    )


def few_series_section() -> str:
    """What linear models add where there are few series, with intervals over seeds."""
    content = read("few_series")
    runs = pd.DataFrame(content["runs"])
    figures = ["auroc", "auprc", "log_loss"]
    rows = []
    for (study, size), part in runs.groupby(["study", "size"]):
        wide = part.pivot_table(index="seed", columns="method", values=figures)
        for method in ("blend", "blend without linear models", RIVAL):
            ahead = wide.xs("blend", axis=1, level=1) - wide.xs(method, axis=1, level=1)
            mean = [f"{wide[figure, method].mean():.4f}" for figure in figures]
            lead = with_interval(ahead["auroc"]) if method != "blend" else ""
            rows.append([f"{study}, {size}", method, *mean, lead])
    headings = ["stays", "method", "AUROC", "AUPRC", "log-loss", "blend ahead by, AUROC (95 %)"]
    commits = ", ".join(sorted(set(runs["commit"])))
    about = (
        f"{content['scored']:,} other stays are scored, {runs['seed'].nunique()} seeds, whose"
        " stays overlap;"
        f" `{content['command']}`; {versions(content)}; commit {commits}."
    )
    return table_summary.markdown(rows, headings) + "\n\n" + about


def with_interval(differences: pd.Series) -> str:
    """Mean and 95 % interval by Student's t."""
    low, high = interval(differences.to_numpy(), test_to_train=0.0)
    return f"{differences.mean():+.4f} ({low:+.4f} to {high:+.4f})"


Block = Callable[[], str]
PAGES: dict[str, dict[str, Block]] = {
    "README.md": {"results": readme_section},
    "docs/results.md": {
        "twelve": lambda: table_summary.twelve_tables(table_runs()),
        "by_table": lambda: table_summary.table_by_table(table_runs()),
        "larger": larger_section,
        "source": source_section,
    },
    "docs/which-tool.md": {
        "tools": lambda: which_tool.tables_section(table_runs()),
        "fit": fit_cost_sentence,
        "pypots": networks_section,
    },
    "docs/when-not-to-use.md": {
        "boosting": lambda: which_tool.boosting_sentence(table_runs()),
        **{name: partial(series_verdict, name) for name in SERIES},
    },
    "docs/results-series.md": {
        **{name: partial(series_section, name) for name in SERIES},
        "few_series": few_series_section,
        "networks": networks_section,
    },
    "docs/results-policies.md": {"policies": policy_section, "misleading": misleading_section},
    "docs/results-imputers.md": {"imputers": imputers_section, "digits": digits_section},
    "docs/results-cost.md": {
        "fit": fit_cost_section,
        "step": cost_section,
        "series_step": series_cost_section,
    },
    "docs/limits.md": {
        "attacks": attack_summary.attacks_section,
        "mutants": attack_summary.mutants_section,
    },
}


def main() -> int:
    return write_pages(
        {
            ROOT / page: with_blocks(ROOT / page, {name: make() for name, make in blocks.items()})
            for page, blocks in PAGES.items()
        }
    )


if __name__ == "__main__":
    sys.exit(main())
