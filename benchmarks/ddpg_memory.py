"""Peak memory of a `ddpg` fit on 4,101 columns, including Python and torch.

The size of the paper's ophthalmic study: 1,148 rows, two image vectors and five columns, network
1000-1000, batch 128. Simulated values; only memory is measured, with the replay buffer full.
Exits 1 above the limit.

    python benchmarks/ddpg_memory.py [--steps 60] [--members 1] [--json FILE]
"""

from __future__ import annotations

import sys

import numpy as np
from measuring import arguments, write

from imputefree import GILClassifier
from imputefree.gil import DDPG, Transition
from imputefree.lab.runs import peak_memory_mb

LIMIT_GB, REFERENCE_GB = 1.5, 7.0  # the public TensorFlow code takes over 7 GB (METHOD.md)
ROWS, COLUMNS = 1148, 4101


class FilledDDPG(DDPG):
    """Touches the whole replay at the first step, because a long fit would fill it."""

    def learn(self, transition: Transition) -> dict[str, float]:
        if self.replay is None:
            figures = super().learn(transition)
            for part in (self.replay.rows, self.replay.halves, self.replay.reward):
                part[2:] = 0  # the first two batches are in use
            return figures
        return super().learn(transition)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--steps", type=int, default=60, help="training steps, about")
    parser.add_argument("--members", type=int, default=1, help="1 is the paper's setting")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    X[rng.random(X.shape) < 0.25] = np.nan
    y = rng.integers(0, 2, ROWS)
    clf = GILClassifier(
        policy=FilledDDPG(),
        n_members=options.members,
        hidden_layer_sizes=(1000, 1000) if options.members == 1 else (128,),
        max_iter=max(options.steps // 8, 1),
        batch_size=128,
        random_state=0,
    )
    clf.fit(X, y).predict_proba(X)
    peak = (peak_memory_mb() or 0.0) / 2**10  # getrusage would count the parent process too
    over = peak > LIMIT_GB
    print(
        f"ddpg at d = {COLUMNS}, {options.members} member(s): peak {peak:.2f} GB"
        f" (limit {LIMIT_GB}), {peak / REFERENCE_GB:.2f} of the public code's {REFERENCE_GB:g} GB"
        + ("  OVER" if over else "")
    )
    write(options.json, "torch", peak_gb=round(peak, 3), steps=clf.n_iter_ * 8)
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
