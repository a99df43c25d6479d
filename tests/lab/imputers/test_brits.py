"""BRITS and SAITS: how well they fill, and what padding is to them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from imputefree.errors import ParameterError
from imputefree.lab.imputers._brits import BRITSImputer
from imputefree.lab.imputers._saits import SAITSImputer
from tests.lab.imputers.panels import relative_error, smooth
from tests.refusals import check_error


def test_brits_is_far_better_than_the_mean():
    imputer = BRITSImputer(hidden_size=16, learning_rate_init=0.02, max_iter=12, random_state=0)
    assert relative_error(imputer) < 0.5


def test_saits_is_far_better_than_the_mean():
    imputer = SAITSImputer(hidden_size=32, learning_rate_init=0.01, max_iter=15, random_state=0)
    assert relative_error(imputer) < 0.5


@pytest.mark.parametrize("cls", [BRITSImputer, SAITSImputer])
def test_weights_kept_are_the_best_on_hidden_entries(cls):
    imputer = cls(hidden_size=8, max_iter=6, random_state=0).fit(smooth(0, n=40, steps=4, d=3))
    assert imputer.validation_error_ == min(imputer.history_["validation_error"])


def test_a_padded_step_is_a_missing_step():
    x = smooth(0, n=10, steps=4, d=3)
    imputer = BRITSImputer(hidden_size=8, max_iter=2, random_state=0).fit(x)
    longer = x.copy()
    longer[:, 2:] = np.nan
    x[:, 1, 0] = longer[:, 1, 0] = np.nan
    short = imputer.transform(x[:, :2])
    assert np.array_equal(short, imputer.transform(longer)[:, :2])


def test_saits_hides_observed_entries_while_it_learns():
    imputer = SAITSImputer()
    x = torch.ones(50, 6, 4)
    x[:, 0] = torch.nan
    shown = imputer._training_inputs(x, torch.Generator().manual_seed(0))
    hidden, seen = shown["indicating_mask"], shown["missing_mask"]
    assert (hidden[:, 0] == 0).all()
    assert ((hidden + seen)[:, 1:] == 1).all()
    assert abs(float(hidden[:, 1:].mean()) - 0.2) < 0.03
    assert (shown["X"] == seen).all()
    assert (shown["X_ori"][:, 1:] == 1).all()


def test_saits_refuses_widths_that_its_heads_cannot_share():
    check_error(
        lambda: SAITSImputer(hidden_size=30).fit(smooth(0, n=4)),
        "hidden_size is 30. It must be a whole number, a multiple of 4.",
        kind=ParameterError,
    )
