"""What runs have less of than the paper's: sentences for the captions of tables.

Read off the lines of results, not off what somebody meant to run.

>>> line = {"study": "icu", "method": "gil", "mask_seed": 0, "split_seed": 0,
...         "setting": {"hidden_layer_sizes": [64], "steps": 500}}
>>> for sentence in what_was_cut([line]):
...     print(sentence)
Networks have 64 hidden units (paper: 1,024) and at most 500 training steps (paper: 2,000).
One split.
Learning rates and decay are fixed; the paper's grids were not searched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..datasets import takes
from .study_plans import PLANS

IMPUTER = "imputer__"


def what_was_cut(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Sentences on the runs of one study; none of a study that the paper does not have."""
    lines = list(records)
    if not lines or lines[0]["study"] not in PLANS:
        return []
    study = lines[0]["study"]
    told = [_network(lines), _seeds(lines, study), _imputers(lines)]
    if not any(line.get("grid") for line in lines):
        told.append("Learning rates and decay are fixed; the paper's grids were not searched.")
    return [sentence for sentence in told if sentence]


def _network(lines: Sequence[Mapping[str, Any]]) -> str:
    paper = PLANS[lines[0]["study"]]
    sizes = {tuple(line["setting"].get("hidden_layer_sizes", ())) for line in lines} - {()}
    steps = {line["setting"].get("steps") for line in lines} - {None}
    parts = []
    whole = list(paper.network.get("hidden_layer_sizes", []))
    if sizes and whole and sizes != {tuple(whole)}:
        parts.append(
            f"{' or '.join(map(_sizes, sorted(sizes)))} hidden units (paper: {_sizes(whole)})"
        )
    if steps and paper.steps and steps != {paper.steps}:
        text = " or ".join(f"{one:,}" for one in sorted(steps))
        parts.append(f"at most {text} training steps (paper: {paper.steps:,})")
    return f"Networks have {' and '.join(parts)}." if parts else ""


def _seeds(lines: Sequence[Mapping[str, Any]], study: str) -> str:
    what = "mask" if takes(study, "mask_seed") else "split"
    of: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for line in lines:
        of[line["method"]].add((line["mask_seed"], line["split_seed"]))
    most = max(map(len, of.values()))
    fewer = [method for method, seeds in of.items() if len(seeds) < most]
    text = f"One {what}" if most == 1 else f"{most} {what}s"
    if fewer:
        text += f" (fewer: {', '.join(fewer)})"
    paper = PLANS[study].paper_seeds
    return text + (f"; the paper has {paper}." if paper else ".")


def _imputers(lines: Sequence[Mapping[str, Any]]) -> str:
    told = {}
    for line in lines:
        own = {
            k.removeprefix(IMPUTER): v for k, v in line["setting"].items() if k.startswith(IMPUTER)
        }
        if own:
            told[line["method"]] = ", ".join(f"{name} {value}" for name, value in own.items())
    if not told:
        return ""
    return f"Imputers were given: {'; '.join(f'{name}: {text}' for name, text in told.items())}."


def _sizes(sizes: Sequence[int]) -> str:
    return "-".join(f"{one:,}" for one in sizes)
