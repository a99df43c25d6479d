"""A real Dask cluster of two processes: fits, workers that are killed, frames in partitions."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier, GILRegressor, GILSequenceClassifier
from imputefree.distributed import fit_on_dask, predict
from imputefree.errors import ClusterError, InputError, ParameterError
from tests.distributed.ranks_job import blend, example, network
from tests.refusals import check_error

dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
distributed = pytest.importorskip("distributed", reason="Dask distributed is not installed")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def table(rows=60):
    X, y = example(rows)
    return pd.DataFrame(X, columns=list("abcde")).assign(f=np.where(y, "u", "v")), y


@pytest.mark.slow
def test_workers_fit_the_estimator_of_one_process(client):
    X, y = example(200)
    given = network()
    there = fit_on_dask(client, given, X, y)
    here = network().fit(X, y)
    assert type(there) is type(here)
    assert not hasattr(given, "predictor_")
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), atol=1e-3)
    assert there.history_["loss"] == pytest.approx(here.history_["loss"], abs=1e-4)
    trees = fit_on_dask(client, blend(families=["trees"]), X, y)  # and again, with other workers
    alone = blend(families=["trees"]).fit(X, y)
    assert (trees.predict(X) == alone.predict(X)).all()


@pytest.mark.slow
def test_dask_collections_and_errors_of_workers(client):
    X, y = table(200)
    frame, labels = dd.from_pandas(X, npartitions=3), dd.from_pandas(pd.Series(y), npartitions=3)
    there = fit_on_dask(client, network(max_iter=2), frame, labels)
    here = network(max_iter=2).fit(X, y)
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), atol=1e-3)
    check_error(lambda: fit_on_dask(client, network(), X, y[:-1]), "200", "199", kind=InputError)


@pytest.mark.slow
def test_a_worker_that_is_killed_ends_the_fit_with_a_sentence(client, tmp_path):
    X, y = example(2000)
    begun = tmp_path / "begun"
    pids = client.run(os.getpid)

    def kill():
        time.sleep(4)
        begun.touch()
        os.kill(pids[max(pids)], signal.SIGKILL)

    threading.Thread(target=kill).start()
    endless = network(max_iter=100_000, n_iter_no_change=100_000)
    start = time.monotonic()
    check_error(lambda: fit_on_dask(client, endless, X, y), "rank", "of 2", kind=ClusterError)
    assert begun.exists()
    assert time.monotonic() - start < 30
    client.wait_for_workers(2, timeout=30)  # Dask starts it again


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 4])
def test_every_row_of_a_frame_is_predicted_once_in_order(partitions):
    X, y = table()
    X.index = pd.Index(np.arange(100, 160), name="patient")
    X.loc[:119, "a"] = np.nan
    classes = np.where(y, "ill", "well")
    clf = GILClassifier(random_state=0, max_iter=2).fit(X, classes)
    reg = GILRegressor(random_state=0, max_iter=2).fit(X, y * 1.5)
    frame = dd.from_pandas(X, npartitions=partitions)
    holes = frame[frame["a"].notnull()]  # the first of four partitions is empty
    for model, method in ((clf, "predict"), (clf, "predict_proba"), (reg, "predict")):
        for source in (frame, holes):
            lazy = predict(model, source, method)
            got = lazy.compute()
            rows = source.compute()
            expected = getattr(model, method)(rows)
            if model is clf and method == "predict":
                assert (got.to_numpy() == expected).all()
            else:  # float32 products of few rows are rounded otherwise
                np.testing.assert_allclose(got.to_numpy(), expected, atol=1e-5)
            assert got.index.equals(rows.index)
            meta = lazy._meta
            if method == "predict":
                assert got.dtype == meta.dtype
            else:
                assert list(got.columns) == list(meta.columns) == ["ill", "well"]
                assert (got.dtypes == meta.dtypes).all()


@pytest.mark.slow
def test_a_cluster_predicts_a_frame(client):
    X, y = table()
    clf = GILClassifier(random_state=0, max_iter=2).fit(X, y)
    frame = dd.from_pandas(X, npartitions=5)
    got = client.compute(predict(clf, frame)).result()
    assert got.dtype == np.int64
    assert (got.to_numpy() == clf.predict(X)).all()


def test_what_cannot_be_predicted_on_a_frame_is_refused():
    X, y = table()
    frame = dd.from_pandas(X, npartitions=2)
    reg = GILRegressor(random_state=0, max_iter=1).fit(X, y * 1.5)
    run = lambda: predict(reg, frame, "predict_proba")  # noqa: E731
    check_error(run, "GILRegressor has no method 'predict_proba'", kind=ParameterError)
    series = GILSequenceClassifier(random_state=0, max_iter=1).fit(np.zeros((8, 3, 2)), [0, 1] * 4)
    check_error(lambda: predict(series, frame), "for series", kind=ParameterError)
