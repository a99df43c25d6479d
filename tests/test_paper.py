"""The paper's tables: what is committed, what made it, and that it can be run."""

from __future__ import annotations

import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from imputefree.lab.runs import Run, plan, read_results
from paper import comparisons, run, tables, why
from paper.run import runs_of
from tests.lab.simulated import in_this_process

PAPER = Path(__file__).parent.parent / "paper"
COMMITTED = sorted((PAPER / "results").glob("*.jsonl"))
BEFORE = ("mnist", "ophthalmic-simulated", "icu", "physionet2012", "tables")  # commits were noted
every = pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)


@pytest.mark.slow
def test_pages_are_made_from_the_committed_results(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["tables", "--check"])
    assert tables.main() == 0, capsys.readouterr().err


def test_every_study_has_results():
    assert {path.stem for path in COMMITTED} >= {
        *("mnist", "ophthalmic-simulated", "icu", "physionet2012"),
    }


@every
def test_lines_say_what_made_them(path):
    for line in read_results(path):
        assert line["command"].startswith("python paper/run.py")
        assert line["versions"]["torch"]
        assert line["status"] == "done" or line["error"]
        if line["status"] == "done":
            assert line["simulated"] == (line["study"] in ("icu", "ophthalmic-simulated"))
        if path.stem not in BEFORE:
            assert line["commit"]
            assert not line["commit"].endswith("+")  # no code that nobody can read
            assert len(line["sources"]) == 8


@every
def test_lines_are_runs_that_the_command_makes(path):
    """Every line once, and as the plan of today would run it."""
    today = {run.identity for run in runs_of(path.stem)}
    lines = [Run.of(line).identity for line in read_results(path)]
    assert set(lines) <= today
    assert len(lines) == len(set(lines))


@pytest.mark.slow
def test_one_command_per_table(tmp_path, monkeypatch):
    """A smoke test: one cheap method of a simulated study, through the command."""
    options = ("icu", "--only", "mask_only_lightgbm", "--seed", "0", "--jobs", "1")
    monkeypatch.setattr(sys, "argv", ["run.py", *options, "--results", str(tmp_path)])
    here = partial(run.run_grid, workers=in_this_process, progress=False)
    monkeypatch.setattr(run, "run_grid", here)
    run.main()
    lines = read_results(tmp_path / "icu.jsonl")
    assert {line["method"] for line in lines} == {"mask_only_lightgbm"}
    assert {line["status"] for line in lines} == {"done"}
    assert len(lines) == len(plan("icu", methods=["mask_only_lightgbm"], seeds=1).runs)


def line(study, method, auc, split=0, **more):
    return asdict(Run(study, method, split_seed=split)) | {
        "status": "done",
        "rows": [80, 10, 10],
        "scores": {"auc": auc},
        "simulated": False,
        "command": "python paper/run.py tables",
        "seconds": 1.0,
        "versions": {"torch": "2"},
        **more,
    }


def test_the_eight_tables_rank_whoever_finished_everywhere():
    figures = {"imputefree": 0.9, "gil": 0.8, "lightgbm": 0.7}
    lines = [line(f"table:{t}", m, auc) for t in "ab" for m, auc in figures.items()]
    lines[-1] |= {"status": "failed", "scores": {}}
    made = tables.tables_section(lines)
    assert "| **imputefree**, our default | 0.9000 | 1.00 |" in made
    assert "| gil | 0.8000 | 2.00 |" in made
    assert "Not finished everywhere: lightgbm." in made


@pytest.mark.parametrize(
    ("against_plain", "against_chance", "words"),
    [
        ([], [], "not run side by side"),
        (["better"], [], "nowhere also random"),
        (["better"], ["undecided"], "nowhere also random"),
        (["better"], ["better"], "GIL helps in study 0"),
        (["worse"], [], "cannot show"),
        (["equivalent", "undecided"], [], "cannot show"),
        (["equivalent", "equivalent"], [], "no difference that matters"),
    ],
)
def test_the_sentence_follows_from_the_verdicts(against_plain, against_chance, words):
    rows = [
        (f"study {at}", "gil", against, verdict)
        for against, verdicts in (("network", against_plain), ("random", against_chance))
        for at, verdict in enumerate(verdicts)
    ]
    actual = pd.DataFrame(rows, columns=["study", "method", "against", "verdict"])
    assert words in comparisons.sentence([comparisons.Family("", "auc", actual)])


def test_tables_are_the_unit_and_real_and_simulated_are_apart():
    rng = np.random.default_rng(0)
    real = [
        line(f"table:{t}", method, auc + rng.normal(0, 1e-3), split)
        for t in "abcdef"
        for split in (0, 1)
        for method, auc in {"imputefree": 0.7, "gil": 0.8, "random": 0.8}.items()
    ]
    simulated = [
        line("icu", m, 0.5, split, simulated=True, setting={"placeholder": "3max"})
        for m in ("gil", "gil-h", "network")
        for split in (0, 1)
    ]
    first, second = comparisons.families({"tables": real, "icu-placeholders": simulated})
    assert (first.heading, second.heading) == ("Real data, AUC", "SIMULATED data, AUC")
    by = first.found.set_index(["method", "against"])
    assert by.loc[("gil", "network"), "pairs"] == 6  # tables, not tables and splits
    assert by.loc[("gil", "network"), "verdict"] == "better"
    assert by.loc[("gil", "random"), "verdict"] == "equivalent"
    assert set(second.found["study"]) == {"icu, placeholder 3·max"}
    assert set(second.found["method"]) == {"gil", "gil-h"}
    text = comparisons.markdown([first, second])
    assert "nowhere also random importance" in text
    assert "margin of equivalence 1)" in text


def test_importance_weights_the_gradient_of_the_first_layer():
    torch.manual_seed(0)
    net, x, y = why.Mlp(5, 3, 4), torch.randn(6, 5), torch.randint(3, (6,))
    a = torch.rand(6, 5)
    z = (x @ net.encoder.weight.T + net.encoder.bias).detach().requires_grad_()
    torch.nn.functional.cross_entropy(net.rest(z), y).backward()
    expected = z.grad.T @ (x * a)
    net.zero_grad()
    raw = net(x, a)
    torch.testing.assert_close(raw, net(x, torch.ones_like(x)))  # forward it has no effect
    torch.nn.functional.cross_entropy(raw, y).backward()
    torch.testing.assert_close(net.encoder.weight.grad, expected)


def test_the_lstm_is_torchs():
    torch.manual_seed(0)
    net, x = why.Lstm(3, 2, 4), torch.randn(5, 7, 3)
    lstm = torch.nn.LSTM(3, 4, batch_first=True)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(lstm, f"{name}_l0").data = getattr(net.cell, name).data
    torch.testing.assert_close(net(x, torch.rand(5, 7, 3)), net.last(lstm(x)[0][:, -1]))


def test_actions_explain_nothing_where_there_is_nothing_to_weight():
    """Zeros teach nothing whatever their importance; other values do, and steps are taken back."""
    torch.manual_seed(0)
    y, rows = torch.randint(2, (64,)), torch.arange(64)
    for x, some in ((torch.zeros(64, 3), False), (torch.randn(64, 3), True)):
        training = why.Training(why.Mlp(3, 2, 8), x, y)
        training.step(rows, why.coins(x))
        before = training.rewards(rows)
        shares = why.explained(training, rows, draws=8, own_rows=2)
        assert all((share > 0) == some for share in shares.values())
        assert all(share < 0.1 for share in shares.values())
        np.testing.assert_array_equal(training.rewards(rows), before)
