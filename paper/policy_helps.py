"""Does learned importance beat importance that is not learned? Sentences from paired tests."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imputefree.lab.report import compare, compare_over_studies
from imputefree.lab.runs import AS_IT_COMES

LEARNED = ("gil", "meta")
# GIL-H is ordinary training here, to the last digit: a gap is 0 in scaled units.
CONTROLS = {"network": "ordinary training, and GIL-H", "random": "random importance"}
SURE = 0.05
Found = dict[tuple[str, str], "pd.Series[float]"]


def policy_helps(frames: dict[str, pd.DataFrame]) -> str:
    """Sentences from paired tests; frames by study, as `runs_frame` returns them."""
    runs = pd.concat([_alike(name, frame) for name, frame in frames.items()])
    simulated = sorted(runs.loc[runs["simulated"].eq(True), "study"].unique())
    found = _found(runs)
    lines = [
        "| | against | studies | better / equal / worse | mean difference | p (Wilcoxon) |",
        "|:--|:--|--:|--:|--:|--:|",
    ]
    for (method, control), line in found.items():
        lines.append(
            f"| {method} | {control} ({CONTROLS[control]}) | {line['studies']:.0f} |"
            f" {line['better']:.0f} / {line['equal']:.0f} / {line['worse']:.0f} |"
            f" {100 * line['difference']:+.2f} | {line['p']:.3f} |"
        )
    notes = [
        "A study is one pair: the mean over its settings and seeds. Accuracy in per cent for MNIST,"
        f" AUC × 100 elsewhere. p is two-sided and not corrected for {len(found)} tests.",
        f"SIMULATED among them: {', '.join(simulated)}." if simulated else "",
        f"On MNIST alone, accuracy in per cent, GIL minus ordinary training: {_mnist(frames)}.",
    ]
    return "\n".join([sentence(found), "", *lines, "", *(f"- {note}" for note in notes if note)])


def sentence(found: Found) -> str:
    """Whether GIL helps, as far as the tests can tell."""
    plain, chance = found.get(("gil", "network")), found.get(("gil", "random"))
    if plain is None:
        return "GIL and ordinary training were not run side by side."
    beats = plain["p"] < SURE and plain["difference"] > 0
    if plain["p"] < SURE and not beats:
        return (
            "**The learned policy (GIL) does not help here**: it is worse than ordinary training."
        )
    if not beats:
        least = 2.0 ** (1 - plain["better"] - plain["worse"])
        short = (
            f" With so few studies the test could not show more (its smallest p: {least:.2g})."
            if least >= SURE
            else ""
        )
        return (
            "**We cannot show that the learned policy (GIL) helps**: its difference from ordinary"
            f" training of the same network is within chance.{short}"
        )
    if chance is not None and chance["p"] < SURE and chance["difference"] > 0:
        return (
            "**The learned policy (GIL) helps here**: it beats both ordinary training and random"
            " importance beyond chance."
        )
    return (
        "**GIL beats ordinary training here**, but it is not shown to beat random importance, so"
        " it is not shown that learning is what helps."
    )


def _found(runs: pd.DataFrame) -> Found:
    """The test over studies for each pair that was run side by side."""
    found: Found = {}
    for method in LEARNED:
        for control in CONTROLS:
            if {method, control} <= set(runs["method"]):
                pair = runs[runs["method"].isin([method, control])]
                table = compare_over_studies(pair, "score", control, higher_is_better=True)
                line = table[table["method"] == method].iloc[0]
                if line["studies"]:
                    found[method, control] = line
    return found


def _alike(study: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with one column "score", and ordinary training under one name."""
    metric = "accuracy" if study == "mnist" else "auc"
    frame = frame.assign(score=frame[metric])
    if study == "tables":  # where our default is ordinary training
        frame = frame.assign(method=frame["method"].replace(AS_IT_COMES, "network"))
    keep = ["study", "setting", "method", "mask_seed", "split", "score", "n_train", "n_test"]
    return frame.loc[frame["method"].isin([*LEARNED, *CONTROLS]), [*keep, "simulated"]]


def _mnist(frames: dict[str, pd.DataFrame]) -> str:
    frame = frames["mnist"]
    found = compare(frame[frame["method"].isin(["gil", "network"])], "accuracy", "network")
    found = found[(found["method"] == "gil") & (found["pairs"] > 0)]
    return "; ".join(
        f"{line['setting']} {100 * line['difference']:+.2f} ({line['pairs']} masks,"
        f" {'no p' if np.isnan(line['p']) else 'p ' + format(line['p'], '.2f')})"
        for line in found.sort_values("setting").to_dict("records")
    )
