"""The most memory that this process held since a run began."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET = "5"  # what Linux wants to hear


def begin() -> None:
    """Forget earlier peaks. A process does many runs, and each is to answer for itself."""
    with suppress(OSError):
        CLEAR.write_text(RESET)


def megabytes() -> float | None:
    """Peak resident memory in MB (2**20 bytes): libraries, the loaded study and the run.

    On Linux since `begin`. Elsewhere `getrusage` knows only the peak since the process began, so
    that a small run after a large one shows the large one's. None on Windows, which has neither.

    >>> megabytes() > 1
    True
    """
    with suppress(OSError):
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 2**10
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
