"""What runs have less of than the paper's: sentences for the captions of tables.

Read off the lines of results, not off what somebody meant to run.

>>> line = {"study": "icu", "method": "gil", "mask_seed": 0, "split_seed": 0,
...         "setting": {"hidden_layer_sizes": [64], "steps": 500}}
>>> for sentence in what_was_cut([line]):
...     print(sentence)
Networks have 64 hidden units (paper: 1,024) and at most 500 training steps, in whole epochs \
(paper: 2,000).
One split.
Learning rates and decay are fixed; the paper's grids were not searched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..runs import PLANS
from ..studies import takes

IMPUTER = "imputer__"
SAME = "A gap is 0 in scaled units, so it teaches nothing either way: gil-h is network here."
RAW_ZERO = "zero+network fills 0 in the data's own units, which may be far from any value seen."


def what_was_cut(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Sentences on the runs of one study; none of a study that the paper does not have."""
    lines = list(records)
    if not lines or lines[0]["study"] not in PLANS:
        return []
    study = lines[0]["study"]
    told = [_network(lines), _seeds(lines, study), _imputers(lines)]
    methods = {line["method"] for line in lines}
    if {"gil-h", "network"} <= methods:
        told.append(SAME)
    if "zero+network" in methods and study != "mnist":
        told.append(RAW_ZERO)
    if not any(line.get("grid") for line in lines):
        told.append("Learning rates and decay are fixed; the paper's grids were not searched.")
    return [sentence for sentence in told if sentence]


def _network(lines: Sequence[Mapping[str, Any]]) -> str:
    """Sizes and steps, where they are not the paper's; and whom that does not concern."""
    paper = PLANS[lines[0]["study"]]
    whole = _sizes(paper.network.get("hidden_layer_sizes", []))
    sizes = {_sizes(line["setting"].get("hidden_layer_sizes", [])) for line in lines} - {"", whole}
    steps = {
        (line["setting"]["steps"], paper.steps_in(line.get("options", {})))
        for line in lines
        if "steps" in line["setting"]
    }
    fewer = sorted(pair for pair in steps if pair[0] != pair[1] and pair[1])
    parts = []
    if sizes and whole:
        parts.append(f"{' or '.join(sorted(sizes))} hidden units (paper: {whole})")
    if fewer:
        ours = " or ".join(f"{one:,}" for one in dict.fromkeys(one for one, _ in fewer))
        papers = " or ".join(f"{one:,}" for one in dict.fromkeys(one for _, one in fewer))
        parts.append(f"at most {ours} training steps, in whole epochs (paper: {papers})")
    if not parts:
        return ""
    free = dict.fromkeys(line["method"] for line in lines if "steps" not in line["setting"])
    rest = f" Not cut: {', '.join(free)}." if free else ""
    return f"Networks have {' and '.join(parts)}.{rest}"


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


def _sizes(sizes: int | Sequence[int]) -> str:
    return "-".join(f"{one:,}" for one in ([sizes] if isinstance(sizes, int) else sizes))
