"""Training of the deep imputers: hidden entries, best weights kept, no global randomness."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

from imputefree.errors import InterruptedWarning, ParameterError
from imputefree.lab.imputers import GAIN, MIWAE, _training_loop
from imputefree.lab.imputers._training_loop import dense, hide_entries, train
from tests.lab.imputers.made import hide, low_rank, scaled_rmse
from tests.refusals import check_error


@pytest.mark.parametrize("d", [1, 2, 3, 20])
@pytest.mark.parametrize("rate", [0.0, 0.4, 0.95])
def test_hidden_entries_are_observed_and_leave_enough(d, rate):
    observed = np.random.default_rng(d).random((300, d)) >= rate
    hidden = hide_entries(observed, 0.3, np.random.default_rng(0))
    assert not (hidden & ~observed).any()
    left = observed & ~hidden
    assert (left.sum(1) >= np.minimum(observed.sum(1), min(2, d - 1))).all()
    assert (left.sum(0) >= observed.sum(0) / 2).all()


def test_long_and_wide_tables_hide_entries_of_some_rows_only():
    hidden = hide_entries(np.ones((5000, 3), dtype=bool), 0.3, np.random.default_rng(0))
    assert 1000 < hidden.any(1).sum() <= _training_loop.MAX_ROWS
    wide = hide_entries(np.ones((900, 800), dtype=bool), 0.3, np.random.default_rng(0))
    rows = wide.any(1)
    assert rows.sum() == _training_loop.MAX_CELLS // 800
    assert wide[rows].mean() == pytest.approx(0.3, abs=0.005)


def test_weights_come_from_the_generator_alone():
    before = torch.random.get_rng_state()
    nets = [dense([3, 5, 2], nn.ReLU, torch.Generator().manual_seed(s)) for s in (0, 0, 1)]
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.equal(nets[0][0].weight, nets[1][0].weight)
    assert not torch.equal(nets[0][0].weight, nets[2][0].weight)
    assert [type(layer) for layer in nets[0]] == [nn.Linear, nn.ReLU, nn.Linear]


class Counter(nn.Module):
    """A weight that counts the steps taken."""

    def __init__(self):
        super().__init__()
        self.count = nn.Parameter(torch.zeros(1))
        self.rows = []

    def step(self, rows):
        self.rows.append(rows)
        with torch.no_grad():
            self.count += 1
        return {"loss": self.count.item()}


def run(judge, step=None, **settings):
    limits = {"max_steps": settings.pop("max_steps", 100)}
    limits["check_every"] = settings.pop("check_every", 10)
    defaults = {"batch_size": 4, "n_iter_no_change": 3, "weight_averaging": 0.0, "verbose": False}
    settings = SimpleNamespace(**defaults | settings)
    module = Counter()
    generator = torch.Generator().manual_seed(0)
    step = step or module.step
    options = {"rows": 10, "generator": generator, "name": "it", "settings": settings}
    return module, train(module, step, judge, **options, **limits)


def test_the_best_weights_are_kept_and_patience_ends_training():
    module, outcome = run(lambda net: abs(net.count.item() - 40))
    assert module.count.item() == 40
    assert outcome.error == 0
    assert outcome.history["step"] == [10, 20, 30, 40, 50, 60, 70]
    assert outcome.history["validation_error"][3] == 0
    assert outcome.history["loss"][0] == pytest.approx(5.5)  # a mean over the steps between


def test_the_number_of_steps_is_bounded_and_an_epoch_shows_every_row():
    module, outcome = run(lambda net: -net.count.item(), max_steps=25)
    assert outcome.history["step"] == [10, 20, 25]
    assert sorted(set(torch.cat(module.rows[:3]).tolist())) == list(range(10))


def test_without_hidden_entries_the_last_weights_are_kept(monkeypatch):
    monkeypatch.setattr(_training_loop, "STEPS_WITHOUT_JUDGE", 50)
    module, outcome = run(None)
    assert module.count.item() == 50
    assert "validation_error" not in outcome.history


def test_averaged_weights_are_a_running_mean():
    module, _ = run(
        lambda net: -net.count.item(), max_steps=50, check_every=50, weight_averaging=0.8
    )
    mean = 0.0
    for t in range(1, 51):
        pace = max(0.2, 1 / (1 + t / 2))
        mean = (1 - pace) * mean + pace * t
    assert module.count.item() == pytest.approx(mean, rel=1e-5)


def test_divergence_is_an_error():
    check_error(
        lambda: run(lambda net: 0.0, step=lambda rows: {"loss": math.nan}),
        *("the loss of it became nan within 10 steps", "must stay finite", "learning_rate_init"),
        kind=ParameterError,
    )


def test_an_interrupt_keeps_the_best_so_far():
    taken = []

    def judge(net):
        taken.append(net.count.item())
        if len(taken) == 3:
            raise KeyboardInterrupt
        return -net.count.item()

    with pytest.warns(InterruptedWarning, match="it was interrupted after 30 steps"):
        module, _ = run(judge)
    assert module.count.item() == 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("imputer", "best"),
    [
        (GAIN(alpha=(0.1, 100.0), learning_rate_init=(1e-7, 3e-3)), {"alpha": 100.0}),
        (MIWAE(learning_rate_init=(1e-7, 3e-3), n_importance=3, n_imputation=20), {}),
    ],
    ids=["GAIN", "MIWAE"],
)
def test_settings_are_chosen_on_hidden_entries(imputer, best):
    table, _ = hide(low_rank(0, n=100, d=5), 0.3, 0)
    imputer = clone(imputer).set_params(max_steps=60, check_every=20, random_state=0).fit(table)
    assert imputer.learning_rate_ == 3e-3
    assert all(getattr(imputer, f"{name}_") == value for name, value in best.items())
    alone = clone(imputer).set_params(learning_rate_init=3e-3, **best).fit(table)
    assert alone.validation_error_ == imputer.validation_error_
    assert imputer.validation_error_ == min(imputer.history_["validation_error"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("imputer", "factor"),
    [
        (GAIN(max_steps=500, random_state=0), 2),
        (MIWAE(max_steps=300, n_importance=5, n_imputation=100, random_state=0), 3),
    ],
    ids=["GAIN", "MIWAE"],
)
def test_deep_imputers_beat_the_mean(imputer, factor):
    x = low_rank(5)
    table, missing = hide(x, 0.3, 0)
    means = np.broadcast_to(np.nanmean(table, 0), x.shape)
    error = scaled_rmse(clone(imputer).fit_transform(table), x, missing)
    assert factor * error < scaled_rmse(means, x, missing)
