"""Writes the README's results from the committed JSON files: `make readme`.

python -m benchmarks.readme [--check]     # --check: exit 1 if the README has drifted
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import wilcoxon

from benchmarks import table_summary
from benchmarks.table_tasks import PROTOCOL
from imputefree.lab.runs import read_results
from scripts.generated import README, with_block, write_pages

RESULTS = Path(__file__).parent / "results"
LABELS = {
    "ImputeFreeSequenceClassifier()": "**`ImputeFreeSequenceClassifier()`**",
    "its network": "its network, `GILSequenceClassifier()`",
    "its trees": "its trees on summaries",
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


def tables_section() -> str:
    """Tables: all methods on twelve, table by table, and on larger ones."""
    path = RESULTS / "best_default.jsonl"
    runs = table_summary.read(path)
    return "\n\n".join(
        part
        for part in [
            "Tables with gaps. Scores are AUC (with more than two classes the mean over the classes"
            " of the test rows, each against the rest) or R². One thread per fit, every test part"
            " scored once. *Validated* rivals choose their settings inside the training rows by"
            " five folds (LightGBM above 20,000 rows by one of the five, above 500,000 on one"
            " held-out fifth). Our settings were chosen by cross-validation over tables that"
            " include these twelve: expect a slightly smaller lead elsewhere. Each of ours is"
            " ranked beside the rivals alone, and rivals beside the blend.",
            table_summary.twelve_tables(runs),
            table_summary.table_by_table(runs),
            "Larger tables: adult, flights from New York (late or not; trained on months 1 to 9, or"
            " on three quarters of the days), and a made task (simulated: smooth curves, products"
            " and corners of equal weight, 20 % missing at random; rows x columns). Rivals that"
            " would cost more than they tell are left out.",
            table_summary.larger_tasks(runs, "score", "AUC"),
            table_summary.larger_tasks(runs, "loss", "log-loss"),
            f"{PROTOCOL}. {made_by(path)}",
            fit_cost_section(),
            policy_section(),
        ]
        if part
    )


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
BLEND, RIVAL = "ImputeFreeSequenceClassifier()", "LightGBM on summaries"


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
            f"Series: {SERIES[name].format(content['stays'], content['variables'])}",
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
        f" {better['auprc'].mean():+.4f}. Settings of networks and trees were chosen on stays that"
        " are in no test part."
    )


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
    """CPU time of fits against CatBoost and LightGBM; "" until it has been measured."""
    if not (RESULTS / "fit_cost.json").exists():
        return ""
    content = read("fit_cost")
    seconds = pd.DataFrame(content["cpu_seconds"]).T
    ratio = seconds["blend"] / seconds["CatBoost"]
    fast = seconds["fast"] - 3 * seconds["LightGBM"]
    return (
        f"CPU time of a fit, one thread, on the {len(seconds)} tables: the blend takes"
        f" {ratio.min():.1f} to {ratio.max():.1f} times CatBoost's with its defaults (median"
        f" {ratio.median():.1f}; at most twice on {int((ratio <= 2).sum())} tables);"
        f' `quality="fast"` {seconds["fast"].median():.1f} s in the median, LightGBM with its'
        f" defaults {seconds['LightGBM'].median():.1f} s (at most three times that plus one second"
        f" on {int((fast <= 1).sum())} tables) (`{content['command']}`)."
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


def networks_sentence() -> str:
    """Other people's networks on PhysioNet 2012, on the splits they were run on."""
    content = read("physionet2012_networks")
    parts = [f"{run['method']} {run['auroc']:.4f} / {run['auprc']:.4f}" for run in content["runs"]]
    splits = {run["split"] for run in content["runs"]}
    ours = [run for run in read("physionet2012")["runs"] if run["split"] in splits]
    compared = [
        f"{name} {run['auroc']:.4f} / {run['auprc']:.4f}"
        for name in (BLEND, "its network", RIVAL)
        for run in ours
        if run["method"] == name
    ]
    return (
        "Networks of others (PyPOTS), AUROC / AUPRC on split"
        f" {', '.join(map(str, sorted(splits)))} alone: {', '.join(parts)}; on the same split"
        f" {', '.join(compared)} (`{content['command']}`)."
    )


def main() -> int:
    sections = [
        tables_section(),
        misleading_section(),
        *map(series_section, SERIES),
        networks_sentence(),
        imputers_section(),
        digits_section(),
        cost_section(),
        series_cost_section(),
    ]
    text = with_block(README.read_text(), "results", "\n\n".join(sections))
    return write_pages({README: text})


if __name__ == "__main__":
    sys.exit(main())
