"""`fit_on_dask` and `predict`: on the workers of a Dask cluster that is there."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pandas as pd
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from .._ranks import together
from ..errors import ClusterError, ParameterError, require_extra
from ..workflow import is_of_series
from ._process_ranks import AGAIN, TIMEOUT, Estimator, check_seed, joined

LOOK = 0.2  # seconds between two looks at the ranks
GRACE = 3.0  # seconds after the first error, for the one that caused it
METHODS = ("predict", "predict_proba")


def fit_on_dask(
    client: Any,
    estimator: Estimator,
    X: Any,
    y: Any,
    *,
    timeout: float = TIMEOUT,
    **options: Any,
) -> Estimator:
    """Fit an estimator with one rank per worker of a Dask cluster; returns the fitted estimator.

    Every worker gets all rows, and computes its share of each batch. The model is that of
    `estimator.fit(X, y)`, up to rounding.

    Parameters
    ----------
    client : distributed.Client
    estimator, timeout, options : as for `fit`
        A `checkpoint` is a file of the first worker, by address.
    X, y : as for `estimator.fit`, or Dask collections
    """
    require_extra("cluster", "distributed")
    from distributed import Variable

    check_seed(estimator)
    workers = sorted(client.nthreads())
    if not workers:
        rule, remedy = "Each rank is one of its workers", "Start workers, and wait for them"
        raise ClusterError("the Dask cluster has no workers", rule, remedy)
    X, y = (client.compute(part) if hasattr(part, "__dask_graph__") else part for part in (X, y))
    task = client.scatter([(estimator, timeout, options)], broadcast=True, hash=False)[0]
    data = [
        part if hasattr(part, "status") else client.scatter([part], broadcast=True, hash=False)[0]
        for part in (X, y)
    ]
    place = Variable(f"imputefree-{uuid.uuid4()}", client=client)
    ranks = [
        client.submit(
            _fit_rank,
            *(rank, len(workers), place.name, task, *data),
            workers=[worker],
            pure=False,
            retries=0,
        )
        for rank, worker in enumerate(workers)
    ]
    try:
        _wait(client, ranks, workers)
        return ranks[0].result()
    finally:
        client.cancel(ranks)
        place.delete()


def _fit_rank(rank: int, size: int, place: str, task: Any, X: Any, y: Any) -> Any:
    """What one worker does; the first returns the estimator for all."""
    estimator, timeout, options = task

    def meeting() -> dict[str, Any]:
        return {"store": _store(rank, size, place, timeout), "rank": rank, "world_size": size}

    with joined(timeout, meeting) as ranks, together(ranks):
        estimator.fit(X, y, **options)
    return None if rank else estimator


def _store(rank: int, size: int, place: str, timeout: float) -> Any:
    """Where ranks meet. The first rank opens it on a free port, which it never lets go."""
    from distributed import Variable, get_worker
    from torch.distributed import TCPStore

    limit = timedelta(seconds=timeout)
    if rank:
        host, port = Variable(place).get(timeout=timeout)
        return TCPStore(host, port, size, is_master=False, timeout=limit)
    host = get_worker().address.rpartition("://")[2].rpartition(":")[0].strip("[]")
    store = TCPStore(host, 0, size, is_master=True, timeout=limit, wait_for_workers=False)
    Variable(place).set((host, store.port))
    return store


def _wait(client: Any, ranks: Sequence[Any], workers: Sequence[str]) -> None:
    """Until all ranks are done; raises the error that made one fail."""
    while not all(rank.status == "finished" for rank in ranks):
        gone = [worker for worker in workers if worker not in client.nthreads()]
        if gone:
            rank = f"rank {workers.index(gone[0])} of {len(ranks)}"
            raise ClusterError(
                f"the Dask worker {gone[0]} ({rank}) is gone",
                "All ranks train one model, so that none can go on without it: it was killed"
                " (often for lack of memory), or its machine was lost",
                AGAIN,
            )
        if any(rank.status in ("error", "cancelled", "lost") for rank in ranks):
            raise _cause(ranks)
        time.sleep(LOOK)


def _cause(ranks: Sequence[Any]) -> BaseException:
    """The error of the rank that failed by itself, rather than of those that lost it."""
    end, errors = time.monotonic() + GRACE, list[BaseException]()
    while time.monotonic() < end and len(errors) < len(ranks):
        errors = [rank.exception() for rank in ranks if rank.status == "error"]
        causes = [error for error in errors if not isinstance(error, ClusterError)]
        if causes:
            return causes[0]
        time.sleep(LOOK)
    lost = ClusterError("the Dask scheduler has dropped the fit", "It may have restarted", AGAIN)
    return errors[0] if errors else lost


def predict(estimator: Any, frame: Any, method: str = "predict") -> Any:
    """Predict every row of a Dask DataFrame, partition by partition; nothing is computed yet.

    Parameters
    ----------
    estimator : fitted, for tables
    frame : dask.dataframe.DataFrame
    method : {"predict", "predict_proba"}
        Gives a Series, or a DataFrame with one column per class. Index and partitions are those of
        `frame`.
    """
    require_extra("cluster", "dask")
    check_is_fitted(estimator)
    if method not in METHODS or not hasattr(estimator, method):
        raise ParameterError(
            f"{type(estimator).__name__} has no method {method!r} for a frame",
            f"It must be one of {', '.join(METHODS)}, and numbers have no probabilities",
            "Pass such a method",
        )
    if is_of_series(estimator):
        raise ParameterError(
            f"{type(estimator).__name__} is for series",
            "Partitions are predicted one by one, and may cut a series in two",
            "Call estimator.predict, or map_partitions on a frame divided between series",
        )
    from dask import delayed

    model = delayed(estimator, pure=False, traverse=False)
    meta = _like(estimator, frame._meta, method)
    return frame.map_partitions(_predict_part, model, method, meta=meta)


def _like(estimator: Any, part: pd.DataFrame, method: str) -> Any:
    """An empty prediction, with its types and the index of `part`."""
    if method == "predict_proba":
        return pd.DataFrame(columns=estimator.classes_, index=part.index[:0], dtype="float64")
    values = estimator.classes_[:0] if is_classifier(estimator) else []
    dtype = None if is_classifier(estimator) else "float64"
    return pd.Series(values, index=part.index[:0], dtype=dtype)


def _predict_part(part: pd.DataFrame, estimator: Any, method: str) -> Any:
    like = _like(estimator, part, method)
    if not len(part):
        return like
    predicted = getattr(estimator, method)(part)
    if method == "predict_proba":
        return pd.DataFrame(predicted, part.index, columns=like.columns)
    return pd.Series(predicted, part.index, dtype=like.dtype)
