"""What a rank does in the tests: `torchrun … ranks_job.py TASK OUTPUT`."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import torch

from imputefree import GILClassifier, ImputeFreeRegressor
from imputefree._ranks import together
from imputefree.distributed import fit
from imputefree.distributed._process_ranks import joined
from imputefree.errors import ImputefreeError
from imputefree.gil._checkpoint import Checkpoint
from tests.distributed.trainings import SERIES, TABLES, train

FEW = ("hide and dropout", "early stopping", "series")
# Ranks, members and names. Two share rows, or have two members each; of four, two share the rows of
# one member.
TRAININGS = [(2, 3, name) for name in TABLES | SERIES] + [(2, 4, name) for name in TABLES | SERIES]
TRAININGS += [(4, 2, name) for name in FEW]
RANK = int(os.environ.get("RANK", "0"))


def example(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.7).astype(int)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


def network(**options):
    return GILClassifier(**{"random_state": 0, "max_iter": 8, "n_members": 2} | options)


def blend(**options):
    return ImputeFreeRegressor(random_state=0, **options)


def failure(run):
    """The sentence of the error that `run` raises."""
    try:
        run()
    except ImputefreeError as error:
        return str(error)
    return None


def trainings(output):
    with joined(60) as ranks, together(ranks):
        mine = [(members, name) for size, members, name in TRAININGS if size == ranks.size]
        return {key: train(*key) for key in mine}


def estimators(output):
    X, y = example()
    with joined(60):  # one group for all fits
        fitted = fit(network(), X, y)
        numbers = fit(blend(), X[:, 1:], y)
        return {
            "long": long_fit(),
            "network": fitted.predict_proba(X),
            "history": fitted.history_,
            "parameters": fitted.get_params(),
            "blend": numbers.predict(X[:, 1:]),
            "weights": numbers.weights_,
            "limited": fit(blend(time_limit=3), X[:, 1:], y).predict(X[:, 1:]),
            "learning policy": failure(lambda: fit(network(policy="ddpg"), X, y)),
            "tiny batch": failure(lambda: fit(network(batch_size=1, n_members=1), X, y)),
            "other rows": failure(lambda: fit(network(), *example(seed=RANK))),
            "no seed": failure(lambda: fit(network(random_state=None), X, y)),
        }


def long_fit(checkpoint=None):
    X, y = example()
    settings = {"max_iter": 60, "n_iter_no_change": 60}
    fitted = fit(network(**settings), X, y, checkpoint=checkpoint)
    return {"network": fitted.predict_proba(X), "history": fitted.history_}


def killed(output):
    """Rank 1 is killed once there is a checkpoint, unless there was one at the start."""
    checkpoint = output.with_suffix(".checkpoint")
    Checkpoint.__init__.__defaults__ = (0.0,)  # write after every epoch

    def kill_when_written():
        while not checkpoint.exists():
            time.sleep(0.01)
        time.sleep(0.2)  # some more epochs
        os.kill(os.getpid(), signal.SIGKILL)

    if RANK == 1 and not checkpoint.exists():
        threading.Thread(target=kill_when_written, daemon=True).start()
    return long_fit(checkpoint)


if __name__ == "__main__":
    output = Path(sys.argv[2])
    result = globals()[sys.argv[1]](output)
    torch.save(result, output.with_suffix(f".{RANK}"))
