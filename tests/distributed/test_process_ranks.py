"""Ranks under a real torchrun: equal to one process, refusals, and a rank that is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from imputefree import distributed
from imputefree._sealed import read_sealed, unpack_tree
from imputefree.errors import ParameterError
from imputefree.gil._checkpoint import CHECKPOINT
from tests.distributed import ranks_job
from tests.distributed.trainings import TABLES, train
from tests.refusals import check_error

JOB, ROOT = Path(ranks_job.__file__), Path(__file__).parents[2]
WORDS = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]


def torchrun(task, output, ranks=2):
    """Start ranks and wait for their end."""
    paths = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    words = [*WORDS, str(ranks), str(JOB), task, str(output)]
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=400)


def results(task, output, ranks=2):
    """What each rank returned."""
    done = torchrun(task, output, ranks)
    assert done.returncode == 0, done.stderr
    files = [output.with_suffix(f".{rank}") for rank in range(ranks)]
    return [torch.load(file, weights_only=False) for file in files]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """By number of ranks: what each of them has trained."""
    folder = tmp_path_factory.mktemp("ranks")
    return {ranks: results("trainings", folder / "out", ranks) for ranks in (2, 4)}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    return results("estimators", tmp_path_factory.mktemp("ranks") / "out")


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "members", "name"), ranks_job.TRAININGS)
def test_ranks_give_the_weights_of_one_process(trained, ranks, members, name):
    """With the whole batch of 7 rows, which two ranks cannot share evenly; double precision."""
    alone = train(members, name)
    assert len(alone["history"]["loss"]) > 2
    for rank in trained[ranks]:
        together = rank[members, name]
        assert together["history"].keys() == alone["history"].keys()
        for figure, values in alone["history"].items():
            assert together["history"][figure] == pytest.approx(values, abs=1e-10)
        for parameter, weight in alone["weights"].items():
            assert (together["weights"][parameter] - weight).abs().max() < 1e-10


@pytest.mark.slow
def test_the_trainings_compared_are_different():
    """Or equality would show nothing: dropout, hiding, policies and weights all matter."""
    weights = {name: train(3, name)["weights"]["layers.0.weight"] for name in TABLES}
    for name, weight in weights.items():
        others = [other for key, other in weights.items() if key != name]
        assert all((weight - other).abs().max() > 1e-6 for other in others)


@pytest.mark.slow
def test_every_rank_returns_the_plain_estimator_of_one_process(fitted):
    X, y = ranks_job.example()
    network, blend = ranks_job.network().fit(X, y), ranks_job.blend().fit(X[:, 1:], y)
    for rank in fitted:
        np.testing.assert_allclose(rank["network"], network.predict_proba(X), atol=1e-3)
        assert rank["history"]["loss"] == pytest.approx(network.history_["loss"], abs=1e-4)
        assert rank["parameters"] == network.get_params()
        np.testing.assert_allclose(rank["blend"], blend.predict(X[:, 1:]), atol=1e-3)
        assert rank["weights"] == pytest.approx(blend.weights_, abs=1e-3)
    for name in ("network", "blend", "limited"):
        assert (fitted[0][name] == fitted[1][name]).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("learning policy", "the policy learns"),
        ("tiny batch", "2 ranks would share batches of 1"),
        ("other rows", "not all ranks have the same rows"),
        ("no seed", "random_state is None"),
    ],
)
def test_all_ranks_refuse_together(fitted, name, words):
    for rank in fitted:
        assert words in rank[name]


@pytest.mark.slow
def test_a_killed_rank_ends_the_job_with_a_sentence_and_the_checkpoint_goes_on(tmp_path, fitted):
    output = tmp_path / "out"
    done = torchrun("killed", output)
    assert done.returncode != 0
    assert "rank 0 of 2" in done.stderr
    assert "with a checkpoint it continues" in done.stderr
    assert "SIGKILL" in done.stderr  # torchrun's own report of rank 1
    checkpoint = output.with_suffix(".checkpoint")
    states = unpack_tree(*read_sealed(checkpoint, CHECKPOINT))["state"]
    assert states[0]["epoch"] == states[1]["epoch"] < 59
    again = results("killed", output)
    assert not checkpoint.exists()
    for rank, uninterrupted in zip(again, fitted, strict=True):  # bit for bit
        assert rank["history"] == uninterrupted["long"]["history"]
        assert (rank["network"] == uninterrupted["long"]["network"]).all()


def test_a_process_that_torchrun_did_not_start_is_refused(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    X, y = ranks_job.example()
    run = lambda: distributed.fit(ranks_job.network(), X, y)  # noqa: E731
    check_error(run, "not started by torchrun", kind=ParameterError)
