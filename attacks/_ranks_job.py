"""What each rank of `kills` does: python -m torch.distributed.run … _ranks_job.py MODEL."""

from __future__ import annotations

import os
import sys

import numpy as np

from imputefree import GILClassifier
from imputefree.distributed import fit


def main(path: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.7).astype(int)
    X[rng.random(X.shape) < 0.2] = np.nan
    model = GILClassifier(random_state=0, max_iter=20, n_members=2)
    fit(model, X, y, checkpoint=f"{path}.checkpoint")
    if os.environ["RANK"] == "0":
        model.save(path)


if __name__ == "__main__":
    main(sys.argv[1])
