"""How the cost of a fit grows with rows and with columns, and a picture of it.

Simulated rows (`MadeWorld`), one thread, all fits in one process: CPU-seconds of a default
`GILClassifier` for one epoch (`max_iter=1`), and of `ImputeFreeClassifier(quality="fast")`.
Settings follow the size of a table: how many networks there are, of which width, and in which
batches; how many trees and of which size. So a network's time is also given per row, network and
epoch, and the trees' per row and tree. Linear growth is a slope of 1 between the logarithms of size
and time. Exits 1 if that over the last decade is above 1.1.

    python -m benchmarks.cost_growth [--rows 1000 10000 100000 1000000] [--columns 3 30 300]
        [--json FILE] [--picture FILE.svg]

Figures that the JSON file already has are not measured again.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import pairwise, product
from math import log10
from pathlib import Path
from typing import Any

import torch

from benchmarks.measuring import arguments, provenance
from benchmarks.table_tasks import MadeWorld

COLUMNS, ROWS = 30, 10_000  # of tables that vary in the other
STEEPEST = 1.1
TITLES = {"network": "default network, one epoch", "fast": 'blend, quality="fast"'}


def measure(model: str, rows: int, columns: int) -> dict[str, Any]:
    """CPU-seconds of a fit, and what they went into."""
    from imputefree import GILClassifier, ImputeFreeClassifier

    X, y = MadeWorld(columns).draw(rows, stream=0)
    if model == "network":
        estimator: Any = GILClassifier(max_iter=1, random_state=0)
    else:
        estimator = ImputeFreeClassifier(quality="fast", random_state=0)
    begun = time.process_time()
    estimator.fit(X, y)
    seconds = time.process_time() - begun
    if model == "network":
        units = estimator.predictor_.members
        detail = {"networks": units, "inputs": len(estimator.encoder_.input_names)}
    else:
        units = len(estimator.families_["trees"].trees.splits)
        detail = {"trees": units}
    each = 1e6 * seconds / (rows * units)
    return {"seconds": round(seconds, 3), "microseconds_per_row_and_unit": round(each, 3), **detail}


def slopes(points: list[tuple[int, float]]) -> list[float]:
    """The growth between neighbours: 1 is linear."""
    return [
        round((log10(t2) - log10(t1)) / (log10(n2) - log10(n1)), 2)
        for (n1, t1), (n2, t2) in pairwise(points)
    ]


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """Time by rows and by columns, on logarithmic axes, beside lines of linear growth."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "imputefree"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True)
    for axis, by, fixed in (
        (axes[0], "rows", {"columns": COLUMNS}),
        (axes[1], "columns", {"rows": ROWS}),
    ):
        sizes: list[int] = []
        for model, marker in (("network", "o"), ("fast", "s")):
            points = of(results, model, by, fixed)
            sizes += [size for size, _ in points]
            axis.plot(*zip(*points, strict=True), marker=marker, label=TITLES[model])
        ends = min(sizes), max(sizes)
        last = max(of(results, m, by, fixed)[-1][1] for m in TITLES)
        axis.plot(ends, [last * n / ends[1] for n in ends], ":", color="grey", label="linear")
        axis.set(xscale="log", yscale="log", xlabel=by)
        axis.set_title(", ".join(f"{count:,} {name}" for name, count in fixed.items()), size=10)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("CPU-seconds of a fit")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def of(
    results: list[dict[str, Any]], model: str, by: str, fixed: dict[str, int]
) -> list[tuple[int, float]]:
    """Sizes and seconds of a model, by rows or by columns."""
    chosen = [r for r in results if r["model"] == model]
    chosen = [r for r in chosen if all(r[name] == count for name, count in fixed.items())]
    return sorted((r[by], r["seconds"]) for r in chosen)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[3, 30, 300])
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    record: dict[str, Any] = {"protocol": __doc__.split("\n\n    python")[0], "results": []}
    if options.json and options.json.exists():
        record = json.loads(options.json.read_text())
    results = record["results"]
    known = {(r["model"], r["rows"], r["columns"]) for r in results}
    sizes = [(rows, COLUMNS) for rows in options.rows] + [(ROWS, c) for c in options.columns]
    wanted = [(model, *size) for size, model in product(sorted(set(sizes)), TITLES)]
    wanted = [fit for fit in wanted if fit not in known]
    for model in {model for model, *_ in wanted}:
        measure(model, 500, 3)  # loads what is loaded on first use
    for model, rows, columns in wanted:
        figures = measure(model, rows, columns)
        results.append({"model": model, "rows": rows, "columns": columns, **figures})
        print(json.dumps(results[-1]), flush=True)
        if options.json:
            record |= provenance("torch lightgbm")
            options.json.write_text(json.dumps(record, indent=1) + "\n")
    over = False
    for by, fixed in (("rows", {"columns": COLUMNS}), ("columns", {"rows": ROWS})):
        for model in TITLES:
            steep = slopes(of(results, model, by, fixed))
            over |= bool(steep) and steep[-1] > STEEPEST
            print(
                f"{model}, by {by}: slopes {steep} (1 is linear){'  OVER' * (steep[-1] > STEEPEST)}"
            )
    if options.picture:
        draw(results, options.picture)
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
