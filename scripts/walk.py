"""Print the files that one fit walks through before its first training step, in order.

python scripts/walk.py [table | series]

Every call into the package is watched; a file is listed where it is first entered, with the first
function that was called in it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

import imputefree

PACKAGE = Path(imputefree.__file__).parent
STEP = "algorithm_1"  # the first training step begins here


def watch(fit: Any) -> dict[str, str]:
    """Call `fit`; the files it enters until the first training step, each with a function."""
    walked: dict[str, str] = {}

    def enter(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        path = Path(code.co_filename)
        if event != "call" or code.co_name.startswith("<") or not path.is_relative_to(PACKAGE):
            return
        walked.setdefault(path.relative_to(PACKAGE).as_posix(), code.co_qualname)
        if code.co_name == STEP:
            sys.setprofile(None)

    sys.setprofile(enter)
    try:
        fit()
    finally:
        sys.setprofile(None)
    return walked


def table() -> dict[str, str]:
    """The walk of a frame with numbers, strings and gaps into GILClassifier.fit."""
    frame = pd.DataFrame({"dose": [1.0, None, 3.0, 4.0] * 5, "sex": ["f", "m", None, "m"] * 5})
    model = imputefree.GILClassifier(max_iter=1, n_members=1, random_state=0)
    warm_up = imputefree.GILClassifier(max_iter=1, n_members=1).fit(frame, [0, 1, 1, 0] * 5)
    assert warm_up.n_iter_  # imports are done
    return watch(lambda: model.fit(frame, [0, 1, 1, 0] * 5))


def series() -> dict[str, str]:
    """The walk of a long frame with static columns and gaps into GILSequenceClassifier.fit."""
    patient, hour = np.repeat(np.arange(20), 3), np.tile(np.arange(3), 20)
    frame = pd.DataFrame({"patient": patient, "hour": hour, "age": 50.0 + patient})
    frame["pulse"] = np.where(hour == 1, np.nan, 70.0 + hour)
    labels = pd.Series(np.arange(20) % 2, index=np.arange(20))

    def model() -> Any:
        return imputefree.GILSequenceClassifier(
            id="patient", time="hour", static=["age"], max_iter=1, n_members=1, random_state=0
        )

    model().fit(frame, labels)  # imports are done
    return watch(lambda: model().fit(frame, labels))


if __name__ == "__main__":
    for kind in sys.argv[1:] or ("table", "series"):
        walked = {"table": table, "series": series}[kind]()
        print(f"{kind}: {len(walked)} files")
        for file, function in walked.items():
            print(f"  {file:32} {function}")
