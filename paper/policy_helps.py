"""The honest sentences: does importance that is learned beat importance that is not?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from imputefree.bench.stats import compare, compare_over_studies
from imputefree.bench.study_plans import AS_IT_COMES

LEARNED = ("gil", "meta")
CONTROLS = {
    "network": "ordinary training",
    "gil-h": "GIL-H",
    "random": "random importance",
    "zero+network": "zeros",
}
SURE = 0.05


def policy_helps(frames: dict[str, pd.DataFrame]) -> str:
    """Sentences from paired tests; frames by study, as of `frame_of`."""
    runs = pd.concat([_alike(name, frame) for name, frame in frames.items()])
    lines = ["| | against | studies | better / equal / worse | mean difference | p (Wilcoxon) |"]
    lines.append("|:--|:--|--:|--:|--:|--:|")
    sure = {}
    for method in LEARNED:
        for control, words in CONTROLS.items():
            pair = runs[runs["method"].isin([method, control])]
            found = compare_over_studies(pair, "score", control, higher_is_better=True)
            found = found[found["method"] == method]
            if found.empty or found.iloc[0]["studies"] == 0:
                continue  # they were not run side by side
            line = found.iloc[0]
            sure[method, control] = line["p"] < SURE, line["difference"]
            counts = f"{line['better']} / {line['equal']} / {line['worse']}"
            lines.append(
                f"| {method} | {control} ({words}) | {line['studies']} | {counts} |"
                f" {100 * line['difference']:+.2f} | {line['p']:.3f} |"
            )
    return "\n".join(
        [
            _sentence(sure),
            "",
            *lines,
            "",
            f"- A study is one pair: the mean over its settings and seeds. Accuracy in per cent of"
            f" MNIST, AUC × 100 elsewhere. p is two-sided and not corrected for {len(sure)} tests.",
            f"- On MNIST alone, GIL minus ordinary training: {_mnist(frames)}.",
        ]
    )


def _alike(study: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with one column "score", and ordinary training under one name."""
    metric = "accuracy" if study == "mnist" else "auc"
    frame = frame.assign(score=frame[metric])
    if study == "tables":  # where our default is ordinary training
        frame = frame.assign(method=frame["method"].replace(AS_IT_COMES, "network"))
    keep = ["study", "setting", "method", "mask_seed", "split", "score", "n_train", "n_test"]
    return frame.loc[frame["method"].isin([*LEARNED, *CONTROLS]), keep]


def _sentence(sure: dict[tuple[str, str], tuple[bool, float]]) -> str:
    plain, chance = (sure.get(("gil", name), (False, 0.0)) for name in ("network", "random"))
    if plain[0] and plain[1] > 0 and chance[0] and chance[1] > 0:
        return (
            "**The learned policy (GIL) helps here**: it beats both ordinary training and random"
            " importance beyond chance."
        )
    if plain[0] and plain[1] > 0:
        return (
            "**GIL beats ordinary training here, but not random importance**: what helps is noise"
            " in the gradient, not what the policy has learned."
        )
    if plain[0]:
        return (
            "**The learned policy (GIL) does not help here**: it is worse than ordinary training."
        )
    return (
        "**We cannot show that the learned policy (GIL) helps**: its difference from ordinary"
        " training of the same network is within chance."
    )


def _mnist(frames: dict[str, pd.DataFrame]) -> str:
    frame = frames["mnist"]
    pair = frame[frame["method"].isin(["gil", "network"])]
    found = compare(pair, "accuracy", "network")
    found = found[found["method"] == "gil"]
    order = {str(name): at for at, name in enumerate(frame["setting"].unique())}
    found = found.sort_values("setting", key=lambda names: names.map(order))
    return ", ".join(
        f"{line['setting']} {100 * line['difference']:+.2f}"
        f" ({_p(line['p'])}, corrected resampled t-test, {line['pairs']} masks)"
        for line in found.to_dict("records")
        if line["pairs"]
    )


def _p(value: float) -> str:
    return "no p" if np.isnan(value) else f"p {value:.2f}"
