"""Few series to learn from: what linear models add to the blend, and LightGBM beside it.

Of the stays that are in no test part of `physionet2012.py` or `physionet2019.py`, the first N of a
shuffle teach and the last 3,000 are scored. Methods: the default blend, the same without linear
models, and LightGBM on summaries with settings by five-fold validation. How linear models read
summaries was chosen on the same stays, so what they add is slightly too good here.

    IMPUTEFREE_DATA=../shared/data python benchmarks/few_series.py \
        [--studies physionet2012 physionet2019] [--sizes 500 1500] [--seeds 5] [--json FILE]
"""

from __future__ import annotations

import sys
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import torch
from measuring import Runs, arguments
from series_benchmark import PACKAGES, Method, SplitTask, boosted, run_split

from imputefree import ImputeFreeSequenceClassifier, Panel
from imputefree.lab.studies import load

TEST, SPLITS = 3000, 5  # stays to score; splits of the other benchmarks
BLEND, WITHOUT, LIGHTGBM = "blend", "blend without linear models", "LightGBM on summaries"


def blend(name: str, families: list[str] | None) -> Method:
    def method(task: SplitTask) -> dict[str, np.ndarray]:
        model = ImputeFreeSequenceClassifier(families=families, random_state=task.seed)
        model.fit(task.panel[task.rest], task.y[task.rest])
        return {name: model.predict_proba(task.panel[task.test])[:, 1]}

    return method


METHODS: dict[str, Method] = {
    BLEND: blend(BLEND, None),
    WITHOUT: blend(WITHOUT, ["trees", "network"]),
    LIGHTGBM: lambda task: {LIGHTGBM: boosted(task)},
}


@cache
def stays(study: str) -> tuple[Panel, np.ndarray, np.ndarray]:
    """All stays, their labels, and which of them are in no test part of the other benchmarks."""
    data = load(study)
    tests = [SplitTask.of(data.inputs, data.y, split).test for split in range(SPLITS)]
    return data.inputs, data.y, np.setdiff1d(np.arange(len(data.y)), np.concatenate(tests))


@cache
def few(study: str, size: int, seed: int) -> SplitTask:
    """N stays to learn from, and others to score."""
    panel, y, rows = stays(study)
    if size > len(rows) - TEST:
        raise SystemExit(f"{study} has {len(rows) - TEST} stays to learn from, not {size}")
    rows = np.random.default_rng(seed).permutation(rows)
    rows = np.concatenate([rows[:size], rows[-TEST:]])
    at = np.arange(len(rows))
    return SplitTask(panel[rows], y[rows], at[:size], at[:0], at[size:], seed)


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds, by study, size and method."""
    figures = ["auroc", "auprc", "log_loss", "cpu_seconds"]
    return runs.groupby(["study", "size", "method"], sort=False)[figures].mean()


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--studies", nargs="+", default=["physionet2012", "physionet2019"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[500, 1500])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    runs = Runs(options.json, "study size seed method", PACKAGES, scored=TEST)
    for study, size, seed in product(options.studies, options.sizes, range(options.seeds)):
        for name in METHODS:
            if runs.has(study, size, seed, name):
                continue
            (line,) = run_split(METHODS[name], few(study, size, seed))
            line |= {"study": study, "size": size, "seed": line.pop("split")}
            runs.add(line)
            print(
                f"{study}, {size} stays, seed {seed}, {name}: AUROC {line['auroc']:.4f},"
                f" AUPRC {line['auprc']:.4f}, log-loss {line['log_loss']:.4f}",
                flush=True,
            )
    print(summary(pd.DataFrame(runs)).round(4).to_string())
    return 0


if __name__ == "__main__":
    sys.exit(main())
