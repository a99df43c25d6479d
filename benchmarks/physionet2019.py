"""Who gets sepsis? PhysioNet 2019, hospital B: 19,777 stays of 1 to 336 hours, 81 % gaps.

Stays end before their label turns (see the study). Methods and protocol: `series_benchmark.py`.

    IMPUTEFREE_DATA=../shared/data python benchmarks/physionet2019.py \
        [--splits 0 1 2 3 4] [--methods M …] [--stays 19777] [--json FILE]
"""

from __future__ import annotations

import sys

import numpy as np
from series_benchmark import compare, some

from imputefree import Panel
from imputefree.lab.studies import load


def stays(count: int) -> tuple[Panel, np.ndarray]:
    study = load("physionet2019")
    return some(study.inputs, study.y, count)


def main() -> int:
    return compare("PhysioNet 2019, hospital B, sepsis", stays)


if __name__ == "__main__":
    sys.exit(main())
