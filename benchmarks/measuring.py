"""What benchmarks share: interleaved timing, ratios with their limits, and the record of a run.

Absolute times are unreliable on a busy machine; the ratio of medians of steps that take turns is
not.
"""

from __future__ import annotations

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
    """The command and the versions that make a figure.

    packages : whose versions matter besides imputefree's, separated by spaces
    """
    versions = {name: version(name) for name in ("imputefree", *packages.split())}
    program = sys.argv[0]
    if sys.modules["__main__"].__spec__ is not None:  # python -m benchmarks.NAME
        program = f"-m {sys.modules['__main__'].__spec__.name}"
    return {
        "command": " ".join(["python", program, *map(shlex.quote, sys.argv[1:])]),
        "versions": {"python": platform.python_version(), **versions},
    }


def commit() -> str:
    """The commit that is checked out, with a plus sign if the package differs; "" outside git."""
    from imputefree.lab import runs  # late: some benchmarks measure imports

    return runs.commit()


def between_marks(page: Path, begin: str, end: str, lines: list[str]) -> None:
    """Replace what stands between two marks of a page of the documentation."""
    before, mark, rest = page.read_text(encoding="utf-8").partition(begin)
    after = rest.partition(end)[2]
    page.write_text("\n".join([before + mark, *lines, end + after]), encoding="utf-8")


def write(path: Path | None, packages: str, **figures: Any) -> None:
    """Figures as JSON, with the command and the versions that made them; nothing if path is None.

    packages : see `provenance`
    """
    if path is not None:
        path.write_text(json.dumps({**provenance(packages), **figures}, indent=1) + "\n")
