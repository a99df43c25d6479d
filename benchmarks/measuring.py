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


def write(path: Path | None, packages: str, **figures: Any) -> None:
    """Figures as JSON, with the command and the versions that made them; nothing if path is None.

    packages : whose versions matter besides imputefree's, separated by spaces
    """
    if path is None:
        return
    versions = {name: version(name) for name in ("imputefree", *packages.split())}
    content = {
        "command": "python " + shlex.join(sys.argv),
        "versions": {"python": platform.python_version(), **versions},
        **figures,
    }
    path.write_text(json.dumps(content, indent=1) + "\n")
