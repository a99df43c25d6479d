"""How long it takes to start: importing the package, showing help, and failing on a wrong path.

python benchmarks/start_cost.py

Each is a fresh process. Prints CPU seconds (the best of five) and the ratio to `python -c pass`;
exits 1 if one takes more than 0.35 s CPU.
"""

from __future__ import annotations

import resource
import subprocess
import sys

LIMIT = 0.35  # CPU seconds
REPEATS = 5
STARTS = {
    "import imputefree": ["-c", "import imputefree"],
    "imputefree --help": ["-m", "imputefree", "--help"],
    "imputefree fit --help": ["-m", "imputefree", "fit", "--help"],
    "fit on a wrong path": ["-m", "imputefree", "fit", "no.csv", "--target", "y", "-o", "m"],
    "predict with a wrong path": ["-m", "imputefree", "predict", "no.imputefree", "no.csv"],
}


def cpu_seconds(arguments: list[str]) -> float:
    """User and system time of a fresh Python process; the best of several."""
    times = []
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(sum(after[:2]) - sum(before[:2]))  # user and system
    return min(times)


def main() -> int:
    """Exit code 1 if a start takes too long."""
    nothing = cpu_seconds(["-c", "pass"])
    print(f"{'python -c pass':<28}{nothing:>7.3f} s CPU")
    slow = False
    for title, arguments in STARTS.items():
        seconds = cpu_seconds(arguments)
        slow |= seconds > LIMIT
        print(f"{title:<28}{seconds:>7.3f} s CPU {seconds / nothing:>6.1f} times")
    print(f"limit: {LIMIT} s CPU{', exceeded' * slow}")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
