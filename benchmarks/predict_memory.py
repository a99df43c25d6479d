"""Peak memory and speed of `imputefree predict` on a file larger than the memory allowed.

A synthetic table of seven numbers with gaps and a category, written piece by piece; a default model
fitted on its first rows; the command in a separate process, as a user runs it. Exits 1 above the
bound.

    python benchmarks/predict_memory.py [--rows 5000000] [--format csv] [--members 16] [--json FILE]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from measuring import arguments, write

from imputefree import GILClassifier

BOUND_MB = 1000
PIECE = 100_000  # rows written at once
TRAINING = 1000
PROTOCOL = "7 numbers and a category, 30% missing; peak resident memory of the whole process"


def piece(rows: int, seed: int) -> pd.DataFrame:
    """Some rows of the table; the label y follows two of the columns."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(rows, 7)).round(4)
    frame = pd.DataFrame(numbers, columns=[f"x{j}" for j in range(7)])
    frame["ward"] = rng.choice(["A", "B", "C d", "E"], rows)
    frame = frame.mask(rng.random(frame.shape) < 0.3)
    frame.insert(0, "id", np.arange(rows) + seed * PIECE)
    frame["y"] = (numbers[:, 0] + numbers[:, 1] > 0).astype(int)
    return frame


def make(path: Path, rows: int) -> None:
    """Write the whole file, without ever holding it in memory."""
    counts = [min(PIECE, rows - start) for start in range(0, rows, PIECE)]
    if path.suffix == ".parquet":
        import pyarrow as pa
        from pyarrow import parquet

        schema = pa.Schema.from_pandas(piece(TRAINING, 0), preserve_index=False)
        with parquet.ParquetWriter(path, schema) as file:
            for seed, count in enumerate(counts):
                file.write_table(pa.Table.from_pandas(piece(count, seed), schema=schema))
        return
    for seed, count in enumerate(counts):
        mode = "a" if seed else "w"
        piece(count, seed).to_csv(path, mode=mode, header=not seed, index=False)


# The command, and its own peak afterwards: what the system reports for a child process may be
# what its parent held when it began.
RUN = """
import sys
from imputefree.cli import main
try:
    main(sys.argv[1:])
except SystemExit as left:
    if left.code:
        raise
with open("/proc/self/status") as file:
    print(next(line for line in file if line.startswith("VmHWM")).split()[1])
"""


def run(arguments: list[str]) -> tuple[float, float]:
    """Seconds and the peak memory in MB of an imputefree command that must succeed."""
    start = time.perf_counter()
    command = [sys.executable, "-c", RUN, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"imputefree {' '.join(arguments)} failed")
    return time.perf_counter() - start, int(done.stdout.split()[-1]) / 1024


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--format", choices=["csv", "csv.gz", "parquet"], default="csv")
    parser.add_argument("--members", type=int, default=16, help="networks of the model")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model, output = Path(folder) / "model.imputefree", Path(folder) / "out.csv"
        data = Path(folder) / f"data.{options.format}"
        table = piece(TRAINING, 0)
        estimator = GILClassifier(n_members=options.members, max_iter=3, random_state=0)
        estimator.fit(table.drop(columns=["id", "y"]), table["y"]).save(model)
        make(data, options.rows)
        words = ["predict", str(model), str(data), "-o", str(output), "--keep", "id"]
        seconds, peak = run(words)
        _check_order(output, options.rows)
        figures = {
            "rows": options.rows,
            "format": options.format,
            "file_mb": round(data.stat().st_size / 1e6),
            "members": options.members,
            "rows_per_second": round(options.rows / seconds),
            "peak_mb": round(peak),
            "bound_mb": BOUND_MB,
        }
    for name, figure in figures.items():
        print(f"{name}: {figure}")
    write(options.json, "torch pandas", protocol=PROTOCOL, **figures)
    return int(peak > BOUND_MB)


def _check_order(output: Path, rows: int) -> None:
    """Exit unless every row is there once and in order."""
    at = 0
    for part in pd.read_csv(output, usecols=["id"], chunksize=PIECE):
        ids = part["id"].to_numpy()
        if not np.array_equal(ids, np.arange(at, at + len(ids))):
            sys.exit(f"rows are not in order after {at}")
        at += len(ids)
    if at != rows:
        sys.exit(f"{at} predictions for {rows} rows")


if __name__ == "__main__":
    sys.exit(main())
