"""Is the default network cheaper than that of an earlier version, and at least as good?

The same training rows for both, in processes of one thread that take turns: the CPU time of
`GILClassifier(random_state=…).fit`, and the log-loss on unseen rows. A simulated task (see
table_tasks.py); limits: a half of the CPU time at 500 rows, a quarter at 10,000, an eighth at
100,000, at a log-loss that is not higher by more than its standard error. Exits 1 if one is over.

Where the new default is better than the old one, part of its time buys that. So a second figure is
printed: the CPU time of the fewest epochs (1, 2, 4 …, as `max_iter`) that reach the old log-loss on
the same rows. It is chosen by these rows, and not judged. Figures of other sizes in FILE are kept.

    git worktree add ../version-0.1.0 40324b4
    python -m benchmarks.version_cost ../version-0.1.0 [--rows 500 10000 100000] [--rounds 3]
        [--json FILE]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import arguments, provenance, write
from benchmarks.table_tasks import task

LIMITS = {500: 1 / 2, 10_000: 1 / 4, 100_000: 1 / 8}  # of the CPU time, by rows
TEST_ROWS = 20_000
WORKER = """
import json, sys, time, warnings
import numpy as np, torch
torch.set_num_threads(1)
from imputefree import GILClassifier
warnings.simplefilter("ignore")
data, seed, options = np.load(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
GILClassifier(random_state=0, max_iter=2).fit(data["X"][:60], data["y"][:60])  # loads everything
start = time.process_time()
model = GILClassifier(random_state=seed, **options).fit(data["X"], data["y"])
cpu = time.process_time() - start
shares = model.predict_proba(data["X_test"])[np.arange(len(data["y_test"])), data["y_test"]]
losses = -np.log(np.maximum(shares, 1e-12))
print(json.dumps([cpu, losses.mean(), losses.std() / len(losses) ** 0.5]))
"""


def fit(tree: Path, data: str, seed: int, **options: int) -> list[float]:
    """CPU seconds, log-loss and its standard error of a fit by the sources of a tree."""
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-c", WORKER, data, str(seed), json.dumps(options)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def compare(old: Path, rows: int, rounds: int) -> dict[str, Any]:
    """Medians over rounds of both versions, printed."""
    part, trees = task(f"made {rows}x20").part(0), {"old": old, "new": Path(__file__).parents[1]}
    results: dict[str, list[list[float]]] = {name: [] for name in trees}
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        test = {"X_test": part.X_test[:TEST_ROWS], "y_test": part.y_test[:TEST_ROWS]}
        np.savez(file, X=part.X, y=part.y, **test)
        file.flush()
        for seed in range(rounds):
            for name, tree in trees.items():
                results[name].append(fit(tree, file.name, seed))
        middle = {
            name: [*map(statistics.median, zip(*of, strict=True))] for name, of in results.items()
        }
        equal: dict[str, Any] = {}
        for epochs in (1, 2, 4, 8, 16, 32, 64):
            cpu, loss, _ = fit(trees["new"], file.name, 0, max_iter=epochs)
            if loss <= middle["old"][1]:
                equal = {"max_iter": epochs, "ratio": cpu / middle["old"][0], "log_loss": loss}
                break
    ratio, worse = (middle["new"][0] / middle["old"][0], middle["new"][1] - middle["old"][1])
    over = ratio > LIMITS.get(rows, 1.0) or worse > middle["new"][2]
    print(
        f"{rows} rows: {ratio:.3f}x the CPU time (limit {LIMITS.get(rows, 1.0):g}):"
        f" {middle['new'][0]:.1f} s, was {middle['old'][0]:.1f} s; log-loss"
        f" {middle['new'][1]:.4f}, was {middle['old'][1]:.4f}{'  OVER' * over}",
        flush=True,
    )
    if equal:
        print(
            f"  at the old log-loss: {equal['ratio']:.3f}x the CPU time, log-loss"
            f" {equal['log_loss']:.4f} after max_iter={equal['max_iter']}"
        )
    return {"rows": rows, "ratio": ratio, **middle, "over": over, "equal_loss": equal}


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("old", type=Path, help="work tree of the earlier version")
    parser.add_argument("--rows", type=int, nargs="+", default=list(LIMITS))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if not (options.old / "src" / "imputefree").is_dir():
        parser.error(f"{options.old} is not a work tree of imputefree")
    kept, made = {}, provenance("torch")
    if options.json is not None and options.json.exists():
        kept = {of["rows"]: of for of in json.loads(options.json.read_text())["results"]}
    for rows in options.rows:
        new = compare(options.old.resolve(), rows, options.rounds)
        kept[rows] = new | {name: made[name] for name in ("command", "commit")}
        write(options.json, "torch", results=[kept[rows] for rows in sorted(kept)])
    return int(any(kept[rows]["over"] for rows in options.rows))


if __name__ == "__main__":
    sys.exit(main())
