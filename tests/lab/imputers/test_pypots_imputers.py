"""The adapter to PyPOTS, and what the imputers with its networks do beyond the contract."""

from __future__ import annotations

import logging
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from imputefree.errors import ImputefreeError
from imputefree.lab.imputers import GPVAEImputer, SAITSImputer, make_imputer
from imputefree.lab.imputers._pypots_models import Scale, last_seen, make_network, two_ways
from tests.lab.imputers.made import hide, low_rank, relative_error, scaled_rmse, smooth
from tests.refusals import check_error

pytestmark = pytest.mark.slow  # PyPOTS takes long to import
QUICK = {"random_state": 0, "max_iter": 2, "hidden_size": 8}
every = pytest.mark.parametrize("name", ["brits", "saits", "gpvae"])
padding = pytest.mark.parametrize("name", ["brits", "saits"])  # take series of unequal length


def make(name, **options):
    return make_imputer(name, **{**QUICK, **options})


def gappy(seed=0, n=12, steps=5, d=3, rate=0.4):
    return hide(smooth(seed, n, steps, d), rate, seed)[0]


def test_pypots_is_imported_on_first_use_and_prints_and_writes_nothing(tmp_path):
    script = """
import sys
import numpy as np
import imputefree.lab.rivals
from imputefree.lab.imputers import make_imputer
assert not any(name.startswith("pypots") for name in sys.modules)
make_imputer("gpvae", max_iter=1).fit_transform(np.array([[[1.0], [np.nan]], [[2.0], [3.0]]]))
assert "pypots" in sys.modules
"""
    environment = {**os.environ, "HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not list(tmp_path.glob("[!.]*"))


def test_without_pypots(monkeypatch):
    monkeypatch.setitem(sys.modules, "pypots.imputation", None)
    with pytest.raises(ImputefreeError, match=r"BRITS needs PyPOTS.*imputefree\[bench\]"):
        make("brits").fit(gappy())


def test_the_logger_of_pypots_is_restored(capfd):
    make_network("imputation", "BRITS", n_steps=2, n_features=2, rnn_hidden_size=2)
    assert not logging.getLogger("PyPOTS running log").disabled
    assert capfd.readouterr() == ("", "")


def test_inputs_are_those_of_pypots():
    from pypots.classification.grud.data import DatasetForGRUD
    from pypots.imputation.brits.data import DatasetForBRITS

    x = torch.from_numpy(gappy().astype(np.float32))
    ours = two_ways(x)
    theirs = DatasetForBRITS({"X": x}, return_X_ori=False, return_y=False).processed_data
    for way in ("forward", "backward"):
        assert torch.equal(ours[way]["X"], theirs[way]["X"])
        assert torch.equal(ours[way]["missing_mask"], theirs[way]["missing_mask"])
        assert torch.equal(ours[way]["deltas"], theirs[way]["delta"])
    x[:, 0] = 1.0  # before the first observation PyPOTS looks ahead, the paper does not
    ours, theirs = last_seen(x), DatasetForGRUD({"X": x, "y": torch.zeros(len(x))})
    for part in ("X", "missing_mask", "deltas", "X_filledLOCF"):
        assert torch.equal(ours[part], getattr(theirs, part))
    x = torch.tensor([torch.nan, 2.0, torch.nan, 3.0]).view(1, 4, 1)
    assert last_seen(x)["X_filledLOCF"].flatten().tolist() == [0.0, 2.0, 2.0, 3.0]


def test_scaling_is_undone():
    steps = np.array([[1.0, 5.0, np.nan], [3.0, 5.0, np.nan], [np.nan, 5.0, np.nan]])
    scale = Scale.of(steps)
    scaled = scale(steps)
    assert np.array_equal(scaled[:2, :2], [[-1.0, 0.0], [1.0, 0.0]])
    assert np.isnan(scaled[:, 2]).all()
    seen = ~np.isnan(steps)
    np.testing.assert_allclose(scale.back(scaled)[seen], steps[seen])
    assert (scale.back(np.full((1, 3), 2.0))[:, 2] == 0).all()


@pytest.mark.parametrize(
    ("name", "options", "bound"),
    [
        ("brits", {"hidden_size": 16, "learning_rate_init": 0.02, "max_iter": 12}, 0.5),
        ("saits", {"hidden_size": 32, "learning_rate_init": 0.01, "max_iter": 15}, 0.5),
        ("gpvae", {"hidden_size": 64, "learning_rate_init": 0.01, "max_iter": 20}, 0.6),
    ],
)
def test_far_better_than_the_mean(name, options, bound):
    imputer = make(name, **options)
    assert relative_error(imputer) < bound
    assert imputer.validation_error_ == min(imputer.history_["validation_error"])
    assert not imputer.network_.training


@every
def test_a_column_without_training_entries_is_ignored(name):
    train, test = gappy(0), gappy(1)
    train[:, :, 1] = np.nan
    imputer = make(name).fit(train)
    other = test.copy()
    other[:, :, 1] *= 5
    filled = imputer.transform(test)[:, :, [0, 2]]
    assert np.array_equal(imputer.transform(other)[:, :, [0, 2]], filled)


@every
def test_shorter_series_are_filled_alone_as_together(name):
    imputer = make(name).fit(gappy())
    members = [one[:steps] for one, steps in zip(gappy(1), [5, 1, 3, 4, 2], strict=False)]
    for one, together in zip(members, imputer.transform(members), strict=True):
        assert not np.isnan(together).any()
        np.testing.assert_allclose(imputer.transform([one])[0], together, rtol=1e-5)


@padding
def test_longer_series_are_refused(name):
    imputer = make(name).fit(gappy(steps=4))
    check_error(
        lambda: imputer.transform(gappy(steps=6)),
        "series 0 has 6 steps, the longest in training had 4",
        f"{type(imputer).__name__} takes at most as many steps as in training",
    )


@padding
def test_a_padded_step_is_a_missing_step(name):
    x = smooth(0, n=10, steps=4, d=3)
    imputer = make(name).fit(x)
    longer = x.copy()
    longer[:, 2:] = np.nan
    x[:, 1, 0] = longer[:, 1, 0] = np.nan
    assert np.array_equal(imputer.transform(x[:, :2]), imputer.transform(longer)[:, :2])


def test_saits_hides_observed_entries_while_it_learns():
    x = torch.ones(50, 6, 4)
    x[:, 0] = torch.nan
    shown = SAITSImputer()._training_inputs(x, torch.Generator().manual_seed(0))
    hidden, seen = shown["indicating_mask"], shown["missing_mask"]
    assert (hidden[:, 0] == 0).all()
    assert ((hidden + seen)[:, 1:] == 1).all()
    assert abs(float(hidden[:, 1:].mean()) - 0.2) < 0.03
    assert (shown["X"] == seen).all()
    assert (shown["X_ori"][:, 1:] == 1).all()


def test_gpvae_learns_from_series_of_equal_length_only():
    x = gappy(steps=6)
    check_error(
        lambda: make("gpvae").fit(x, lengths=[6, 2] * 6),
        "the training series have between 2 and 6 steps",
        "use 'brits' or 'saits'",
    )
    x[:, 4:] = np.inf
    filled = make("gpvae").fit_transform(x, lengths=[4] * 12)
    assert (filled[:, 4:] == np.inf).all()
    assert np.isfinite(filled[:, :4]).all()


def test_gpvae_fills_series_of_any_length_with_windows_of_any_width():
    for window_size in (1, 2, 8):
        imputer = make("gpvae", window_size=window_size, max_iter=1).fit(gappy())
        assert np.isfinite(imputer.transform(gappy(1, steps=9))).all()


def test_gpvae_rows_is_gpvae_on_the_lines_of_an_image():
    """Filled entries are those of GP-VAE on the same values, cut into steps by hand."""
    x, _ = hide(low_rank(0, 30, 6), 0.3, 0)
    imputer = make("gpvae_rows", n_steps=3)
    filled = imputer.fit_transform(x)
    seed = imputer.imputer_.random_state
    by_hand = GPVAEImputer(**QUICK | {"random_state": seed}).fit_transform(x.reshape(30, 3, 2))
    np.testing.assert_allclose(filled, by_hand.reshape(30, 6), rtol=1e-12)


def test_gpvae_rows_pads_a_width_that_is_not_a_multiple():
    x, _ = hide(low_rank(0, 30, 5), 0.3, 0)
    imputer = make("gpvae_rows", n_steps=2).fit(x)
    assert imputer.imputer_.n_features_in_ == 3
    assert np.isfinite(imputer.transform(x)).all()


@pytest.mark.slow
def test_gpvae_rows_beats_the_mean():
    x = low_rank(0, 200, 8)
    gappy, missing = hide(x, 0.3, 0)
    options = {"n_steps": 1, "hidden_size": 32, "max_iter": 15, "learning_rate_init": 0.02}
    error = scaled_rmse(make("gpvae_rows", **options).fit_transform(gappy), x, missing)
    assert error < 0.8 * scaled_rmse(make_imputer("mean").fit_transform(gappy), x, missing)
