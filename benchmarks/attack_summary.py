"""The blocks of docs/limits.md: how many attacks there were, which faults no test noticed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
SCRIPTS = Path(__file__).parents[1] / "scripts"
PLACE = ("file", "code", "change")
WHAT = {
    "model_files": "model files, damaged or forged and signed again",
    "checkpoints": "checkpoints, damaged or forged and signed again",
    "result_lines": "files of results",
    "csv_files": "CSV and Excel files",
    "parquet_files": "Parquet files",
    "http_bodies": "HTTP requests",
    "estimator_inputs": "inputs of estimators",
    "kills": "commands killed by a signal",
}


def attacks_section() -> str:
    """How many cases each target had, and what came of them."""
    content: dict[str, Any] = json.loads((RESULTS / "attacks.json").read_text())
    lines = ["| attacked | cases | answered | refused | broken promises | commit |"]
    lines.append("|---|---|---|---|---|---|")
    for name, what in WHAT.items():
        if counts := content["targets"].get(name):
            figures = (counts[key] for key in ("cases", "answered", "refused", "broken"))
            cells = [what, *(f"{figure:,}" for figure in figures), ", ".join(counts["commits"])]
            lines.append(f"| {' | '.join(cells)} |")
    versions = ", ".join(f"{name} {version}" for name, version in content["versions"].items())
    source = f"`{content['command']}`; {versions}."
    return "\n".join([*lines, "", source])


def mutants_section() -> str:
    """The share of faults that the tests noticed, by sample, and the others."""
    lines = map(json.loads, (RESULTS / "mutants.jsonl").read_text().splitlines())
    equal = json.loads((SCRIPTS / "equivalent_mutants.json").read_text())
    reasons = {tuple(one[key] for key in PLACE): one["reason"] for one in equal}
    samples: dict[int, dict[Any, list[dict[str, Any]]]] = {}
    last: dict[Any, dict[str, Any]] = {}
    for line in lines:  # a mutant that was tried again, or is in two samples, has several
        place = (*(line[key] for key in PLACE), line["line"], line["column"])
        samples.setdefault(line["seed"], {}).setdefault(place, []).append(line)
        last[place] = line
    text, others = [], []
    for seed, sample in samples.items():
        at_first = sum(tries[0]["killed_by"] is not None for tries in sample.values())
        alive = {place: last[place] for place in sample if last[place]["killed_by"] is None}
        same = [place for place in alive if place[:3] in reasons]
        count, killed = len(sample), len(sample) - len(alive)
        sentence = f"Seed {seed}, commit {next(iter(sample.values()))[0]['commit']}:"
        if any(len(tries) > 1 for tries in sample.values()):
            sentence += f" at first sight {at_first} of {count} were noticed"
            sentence += f" ({at_first / count:.1%}), after tests for the survivors"
        sentence += f" {killed} of {count}"
        sentence += "" if "first sight" in sentence else " were noticed"
        sentence += f" ({killed / count:.1%}); without {len(same)} that change nothing,"
        text += [f"{sentence} {killed / (count - len(same)):.1%}.", ""]
        for place, line in alive.items():
            reason = f" ({reasons[place[:3]]})" if place[:3] in reasons else ""
            code = f"`{line['code'][:60]}`: {line['change']}{reason}"
            others.append(f"- `{line['file']}`, line {line['line']}, {code}")
    return "\n".join(
        [*text, "The others, with the reason if a change changes nothing:", "", *others]
    )
