"""Results files: a line that is not as it was written is never taken for a result."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np

from imputefree.lab.runs import ResultsFile, Run, read_results

from ._forging import ODD, change_content, change_text, damaged
from ._frame import Broken, Target, scratch

RUNS = [Run("icu", method, mask_seed=seed) for method in ("gil", "brits") for seed in range(3)]


class Attack(Target):
    """Files of six lines after an accident, or with lines without checksums that somebody wrote."""

    name = "result_lines"
    full = 30_000

    def __init__(self) -> None:
        self.place = scratch() / "results.jsonl"
        self.records: list[dict[str, Any]] = [
            {**asdict(run), "status": "done", "scores": {"auc": 0.5 + n / 100}}
            for n, run in enumerate(RUNS)
        ]
        with ResultsFile(self.place) as file:
            for record in self.records:
                file.append(record)
        self.whole = self.place.read_bytes()

    def make(self, rng: np.random.Generator) -> bytes:
        """The bytes of a file."""
        if rng.random() < 0.6:
            return damaged(self.whole, self.whole[::-1], rng)
        lines: list[str] = []
        for record in self.records:
            line = json.loads(json.dumps(record))
            if rng.random() < 0.5:
                change_content(line, {"odd": ODD[rng.integers(len(ODD))]}, rng)
            text = json.dumps(line)
            lines.append(change_text(text, rng) if rng.random() < 0.2 else text)
        return "\n".join(lines).encode(errors="replace") + b"\n" * int(rng.integers(2))

    def attack(self, case: bytes) -> str:
        """Read it, and go on writing it."""
        self.place.write_bytes(case)
        records = read_results(self.place)
        checked = b'{"crc32": "' in case[:11]
        if checked and any(record not in self.records for record in records):
            raise Broken("a damaged line was taken for a result")
        with ResultsFile(self.place) as file:
            before = len(file.records)
            file.append(self.records[0])
        if len(read_results(self.place)) < min(before, len(records)):
            raise Broken("a result was lost")
        return "answered"
