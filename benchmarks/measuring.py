"""What benchmarks share: options, interleaved timing, ratios with their limits, and records.

Absolute times are unreliable on a busy machine; the ratio of medians of steps that take turns is
not.
"""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

Step = Callable[[], None]


def arguments(about: str | None, json: Path | None = None) -> argparse.ArgumentParser:
    """A parser that shows the first line of a docstring and has the option --json."""
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    help = "write the figures here; finished runs in it are kept"
    parser.add_argument("--json", type=Path, default=json, metavar="FILE", help=help)
    return parser


def medians(
    steps: Mapping[str, Step],
    rounds: int,
    warm_up: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Median seconds of each step, all taking turns."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for round_ in range(-warm_up, rounds):
        for name, step in steps.items():
            start = clock()
            step()
            if round_ >= 0:
                times[name].append(clock() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def judge(ratios: Mapping[str, float], limits: Mapping[str, float], default: str) -> bool:
    """Print every ratio with its limit; True if one is over."""
    failed = False
    for name, ratio in ratios.items():
        limit = limits.get(name)
        over = limit is not None and ratio > limit
        failed |= over
        shown = f"{name} (policy {default!r})" if name == "default" else name
        print(
            f"{shown} {ratio:.2f}x of a plain step"
            + (f" (limit {limit})" if limit else "")
            + ("  OVER" if over else "")
        )
    return failed


def provenance(packages: str) -> dict[str, Any]:
    """The command, the commit and the versions that make a figure.

    packages : whose versions matter besides imputefree's, separated by spaces
    """
    versions = {name: version(name) for name in ("imputefree", *packages.split())}
    program = sys.argv[0]
    if sys.modules["__main__"].__spec__ is not None:  # python -m benchmarks.NAME
        program = f"-m {sys.modules['__main__'].__spec__.name.removesuffix('.__main__')}"
    return {
        "command": " ".join(["python", program, *map(shlex.quote, sys.argv[1:])]),
        "commit": commit(),
        "versions": {"python": platform.python_version(), **versions},
    }


def commit() -> str:
    """The commit that is checked out, with a plus sign if the package differs; "" outside git."""
    from imputefree.lab import runs  # late: some benchmarks measure imports

    return runs.commit()


def between_marks(page: Path, begin: str, end: str, lines: list[str]) -> None:
    """Replace what stands between two marks of a page of the documentation."""
    text = with_lines(page.read_text(encoding="utf-8"), begin, end, lines)
    page.write_text(text, encoding="utf-8")


def with_lines(text: str, begin: str, end: str, lines: list[str]) -> str:
    """The text with these lines between two marks."""
    before, mark, rest = text.partition(begin)
    return "\n".join([before + mark, *lines, end + rest.partition(end)[2]])


def write(path: Path | None, packages: str, **figures: Any) -> None:
    """Figures as JSON, with what made them and a line per run, whole or not at all.

    path : None: nothing is written
    packages : see `provenance`
    """
    if path is None:
        return
    runs = figures.pop("runs", None)
    text = json.dumps({**provenance(packages), **figures}, indent=1)
    if runs is not None:
        lines = ",\n".join(json.dumps(run) for run in runs)
        text = f'{text[:-2]},\n "runs": [\n{lines}\n ]\n}}'
    part = path.with_suffix(".part")
    part.write_text(text + "\n")
    part.replace(path)


class Runs(list[dict[str, Any]]):
    """Runs of a benchmark: those of its file from the start, and new ones, written at once.

    path : None: nothing is read or written
    keys : what tells runs apart, separated by spaces
    packages : see `provenance`
    about : other entries of the file; `before` holds those that it had
    """

    def __init__(self, path: Path | None, keys: str, packages: str, **about: Any) -> None:
        self.before: dict[str, Any] = {}
        if path is not None and path.exists():
            self.before = json.loads(path.read_text())
        super().__init__(self.before.pop("runs", []))
        self.path, self.keys, self.packages, self.about = path, keys.split(), packages, about

    def has(self, *values: Any) -> bool:
        """Whether there is a run with these values of its keys."""
        return any(tuple(run[key] for key in self.keys) == values for run in self)

    def add(self, run: dict[str, Any]) -> None:
        """Add a run, and write all of them."""
        self.append(run | {"commit": commit()})
        self.write()

    def write(self) -> None:
        """Write all runs, and what is known about them."""
        note = {name: text for name, text in self.before.items() if name == "note"}
        write(self.path, self.packages, **self.about, **note, runs=self)
