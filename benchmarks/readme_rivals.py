"""The README's results about rivals, from the committed JSON files; `readme.py` puts them in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import wilcoxon

RESULTS = Path(__file__).parent / "results"


def read(name: str) -> dict[str, Any]:
    """A committed record."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def versions(content: dict[str, Any]) -> str:
    """What made it, in words."""
    return ", ".join(f"{name} {version}" for name, version in content["versions"].items())


def imputers_section() -> str:
    """RMSE of the imputers on tables, and reconstruction of digits."""
    tables, digits = read("table_imputers"), read("mnist_imputers")
    runs = pd.DataFrame(tables["runs"])
    wide = runs.pivot_table(index="method", columns="table", values="rmse")
    wide = wide.sort_values(str(wide.columns[0]))
    names = {"breast": "RMSE, breast cancer", "crime": "RMSE, communities and crime"}
    lines = [
        "| imputer | " + " | ".join(names.get(str(one), str(one)) for one in wide) + " |",
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


def strong_section() -> str:
    """Rivals that choose their settings, and imputers before our network, on the eight tables."""
    strong, ours = read("strong_rivals"), read("default_tables")
    default = [run for run in ours["runs"] if run["method"] == "GILClassifier()"]
    runs = pd.DataFrame(strong["runs"] + default)
    means = runs.groupby("method").agg(auc=("auc", "mean"), log_loss=("log_loss", "mean"))
    wide = runs.pivot_table(index="table", columns="method", values="auc")
    lines = ["| method | mean AUC | mean log-loss | ours ahead on |", "|---|---:|---:|---:|"]
    for method, row in means.sort_values("auc", ascending=False).iterrows():
        ahead = int((wide["GILClassifier()"] > wide[method]).sum())
        label, shown = str(method), f"{ahead} of {len(wide)} tables"
        if method == "GILClassifier()":
            label, shown = "**`GILClassifier()`**", ""
        lines.append(f"| {label} | {row.auc:.4f} | {row.log_loss:.4f} | {shown} |")
    rivals = wide.drop(columns="GILClassifier()")
    tests = []
    for method in rivals.mean().sort_values(ascending=False).index[:2]:
        difference = wide["GILClassifier()"] - wide[method]
        p = wilcoxon(difference).pvalue
        tests.append(f"{method} {difference.mean():+.4f} (p = {p:.2f})")
    return "\n".join(
        [
            "The same tables and folds, against rivals that choose their settings by validation"
            " inside the training folds, and against imputers before the very same network"
            " (`imputefree.lab`):",
            "",
            *lines,
            "",
            f"`{strong['command']}`; {versions(strong)}. Ours against the two best of these, mean"
            f" difference in AUC, Wilcoxon's test over the tables: {'; '.join(tests)}.",
        ]
    )


def mixture_section() -> str:
    """The rival that imputes nothing either."""
    content = read("mnist_mixture")
    runs = sorted(content["runs"], key=lambda run: run["rate"])
    shown = ", ".join(
        f"{run['accuracy']:.3f} at {run['rate']:.0%} (naive Bayes"
        f" {run['naive_bayes_accuracy']:.3f})"
        for run in runs
    )
    return (
        "A rival that imputes nothing either: one mixture of Bernoullis a class, missing pixels"
        f" integrated out, on MNIST with fixed masks, test accuracy {shown}"
        f" (`{content['command']}`). No claim about high missing rates is worth anything without"
        " this line beside it."
    )


def networks_sentence() -> str:
    """Recurrent networks of others on PhysioNet 2012, on the splits they were run on."""
    content = read("physionet2012_networks")
    parts = [f"{run['method']} {run['auroc']:.4f} / {run['auprc']:.4f}" for run in content["runs"]]
    splits = {run["split"] for run in content["runs"]}
    ours = [run for run in read("physionet2012")["runs"] if run["split"] in splits]
    beside = [
        f"{name} {run['auroc']:.4f} / {run['auprc']:.4f}"
        for name in ("mask-only LightGBM", "GILSequenceClassifier()", "LightGBM on summaries")
        for run in ours
        if run["method"] == name
    ]
    return (
        "Networks of others (PyPOTS), AUROC / AUPRC on split"
        f" {', '.join(map(str, sorted(splits)))} alone: {', '.join(parts)}; on the same split"
        f" {', '.join(beside)} (`{content['command']}`)."
    )
