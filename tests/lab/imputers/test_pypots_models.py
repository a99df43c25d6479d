"""The adapter to PyPOTS, and what the networks that impute have in common."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch

from imputefree.errors import ImputefreeError, ParameterError
from imputefree.lab.imputers import make_imputer
from imputefree.lab.imputers._pypots_models import (
    Scale,
    last_seen,
    make_network,
    padded,
    plain,
    since_observed,
    two_ways,
)
from tests.lab.imputers.made import hide
from tests.lab.imputers.panels import smooth
from tests.refusals import check_error

NAMES = ["brits", "saits", "gpvae"]
PADDING = ["brits", "saits"]  # take series of unequal length
every = pytest.mark.parametrize("name", NAMES)
every_padding = pytest.mark.parametrize("name", PADDING)


def make(name, **options):
    return make_imputer(name, **{"random_state": 0, "max_iter": 2, "hidden_size": 8, **options})


def gappy(seed=0, n=12, steps=5, d=3, rate=0.4):
    return hide(smooth(seed, n, steps, d), rate, seed)[0]


def tensor(seed=0):
    return torch.from_numpy(gappy(seed).astype(np.float32))


# --- the adapter


def test_nothing_is_imported_printed_or_written_without_need(tmp_path):
    script = """
import sys
import numpy as np
import imputefree.lab.rivals._series_networks
from imputefree.imputers import make_imputer
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
    with pytest.raises(ImputefreeError) as caught:
        make("brits").fit(gappy())
    assert str(caught.value) == (
        "BRITS needs PyPOTS, which cannot be imported here (import of pypots.imputation halted;"
        " None in sys.modules). The deep models of series come from PyPOTS, an optional package."
        " Install it with pip install 'imputefree[bench]'."
    )


def test_the_logger_of_pypots_is_put_back(capfd):
    import logging

    make_network("imputation", "BRITS", n_steps=2, n_features=2, rnn_hidden_size=2)
    logger = logging.getLogger("PyPOTS running log")
    assert not logger.disabled
    assert capfd.readouterr() == ("", "")


def test_brits_sees_what_pypots_would_show_it():
    from pypots.imputation.brits.data import DatasetForBRITS

    x = tensor()
    made = two_ways(x)
    theirs = DatasetForBRITS({"X": x}, return_X_ori=False, return_y=False).processed_data
    for way in ("forward", "backward"):
        assert torch.equal(made[way]["X"], theirs[way]["X"])
        assert torch.equal(made[way]["missing_mask"], theirs[way]["missing_mask"])
        assert torch.equal(made[way]["deltas"], theirs[way]["delta"])


def test_gru_d_sees_what_pypots_would_show_it():
    from pypots.classification.grud.data import DatasetForGRUD

    x = tensor()
    x[:, 0] = 1.0  # before the first observation PyPOTS looks ahead, the paper does not
    made, theirs = last_seen(x), DatasetForGRUD({"X": x, "y": torch.zeros(len(x))})
    assert torch.equal(made["X"], theirs.X)
    assert torch.equal(made["missing_mask"], theirs.missing_mask)
    assert torch.equal(made["deltas"], theirs.deltas)
    assert torch.equal(made["X_filledLOCF"], theirs.X_filledLOCF)
    assert (made["empirical_mean"] == 0).all()


def test_last_seen_is_the_mean_before_the_first_observation():
    x = torch.tensor([torch.nan, 2.0, torch.nan, 3.0]).view(1, 4, 1)
    assert last_seen(x)["X_filledLOCF"].flatten().tolist() == [0.0, 2.0, 2.0, 3.0]


def test_plain_marks_gaps():
    seen = plain(torch.tensor([1.0, torch.nan]).view(1, 2, 1))
    assert seen["X"].flatten().tolist() == [1.0, 0.0]
    assert seen["missing_mask"].flatten().tolist() == [1.0, 0.0]


def test_since_observed_of_one_step():
    assert since_observed(torch.zeros(2, 1, 3)).abs().sum() == 0


def test_padded_places():
    places = np.array([[True, False], [True, True]])
    made = padded(np.array([[1.0], [2.0], [3.0]]), places)[:, :, 0]
    assert np.array_equal(made, [[1.0, np.nan], [2.0, 3.0]], equal_nan=True)
    assert made.dtype == torch.float32


def test_scale_there_and_back():
    steps = np.array([[1.0, 5.0, np.nan], [3.0, 5.0, np.nan], [np.nan, 5.0, np.nan]])
    scale = Scale.of(steps)
    scaled = scale(steps)
    assert np.array_equal(scaled[:2, :2], [[-1.0, 0.0], [1.0, 0.0]])
    assert np.isnan(scaled[:, 2]).all()
    seen = ~np.isnan(steps)
    np.testing.assert_allclose(scale.back(scaled)[seen], steps[seen])
    assert (scale.back(np.full((1, 3), 2.0))[:, 2] == 0).all()


def test_scale_knows_its_columns():
    scale = Scale.of(pd.DataFrame({"a": [1.0], "b": [2.0]}))
    check_error(lambda: scale(pd.DataFrame({"b": [1.0], "a": [2.0]})))


# --- the imputers


@every
def test_all_seeds_outside_are_left_alone(name):
    random.seed(1)
    torch.manual_seed(1)
    before = random.getstate(), torch.get_rng_state()
    make(name).fit_transform(gappy())
    assert random.getstate() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])


@every
def test_the_seed_outside_does_not_matter(name):
    filled = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        filled.append(make(name).fit_transform(gappy()))
    assert np.array_equal(*filled)


@every
def test_other_seeds_other_networks(name):
    one, other = (make(name, random_state=seed).fit_transform(gappy()) for seed in (0, 1))
    assert not np.array_equal(one, other)


@every
@pytest.mark.parametrize(
    "x",
    [
        np.array([[[1.0], [np.nan]]]),  # one series
        np.array([[[1.0, np.nan]], [[np.nan, 2.0]]]),  # one step
        np.array([[[np.nan]]]),
        np.full((3, 2, 2), np.nan),
        np.array([[[1.0, 2.0], [np.nan, 3.0]], [[np.nan, np.nan], [np.nan, np.nan]]]),
    ],
)
def test_next_to_nothing(name, x):
    filled = make(name, max_iter=1).fit_transform(x)
    assert np.isfinite(filled).all()
    assert np.array_equal(filled[~np.isnan(x)], x[~np.isnan(x)])


@every
def test_a_column_without_training_entries_holds_zero_and_is_not_looked_at(name):
    train, test = gappy(0), gappy(1)
    train[:, :, 1] = np.nan
    imputer = make(name).fit(train)
    filled = imputer.transform(test)
    gaps = np.isnan(test)
    assert (filled[:, :, 1][gaps[:, :, 1]] == 0).all()
    other = test.copy()
    other[:, :, 1] *= 5
    assert np.array_equal(imputer.transform(other)[:, :, [0, 2]], filled[:, :, [0, 2]])


@every
def test_lists_are_filled_as_arrays(name):
    x = gappy()
    imputer = make(name).fit(x)
    filled = imputer.transform(list(x.astype(np.float32)))
    assert all(one.dtype == np.float32 for one in filled)
    np.testing.assert_allclose(np.stack(filled), imputer.transform(x), rtol=1e-4)


@every
def test_shorter_series_later_are_filled_alone_as_among_others(name):
    imputer = make(name).fit(gappy())
    members = [one[:steps] for one, steps in zip(gappy(1), [5, 1, 3, 4, 2], strict=False)]
    for one, among in zip(members, imputer.transform(members), strict=True):
        assert not np.isnan(among).any()
        np.testing.assert_allclose(imputer.transform([one])[0], among, rtol=1e-5)


@every_padding
def test_unequal_lengths(name):
    x, lengths = gappy(), np.array([5, 2, 1] * 4)
    members = [one[:steps] for one, steps in zip(x, lengths, strict=True)]
    from_list = make(name).fit_transform(members)
    from_array = make(name).fit_transform(x, lengths=lengths)
    for one, padded_one, steps in zip(from_list, from_array, lengths, strict=True):
        assert np.array_equal(one, padded_one[:steps])
        assert not np.isnan(one).any()


@every_padding
def test_longer_series_are_refused(name):
    imputer = make(name).fit(gappy(steps=4))
    owner = type(imputer).__name__
    check_error(
        lambda: imputer.transform(gappy(steps=6)),
        "series 0 has 6 steps, the longest of training had 4. "
        f"{owner} takes at most as many steps as in training. "
        "Cut the series, or fit on series as long.",
    )


@every
def test_extreme_values_stay_finite(name):
    imputer = make(name).fit(gappy())
    test = gappy(1)
    test[0, 0, 0] = 1e200
    assert np.isfinite(imputer.transform(test)).all()


@every
def test_other_columns_are_refused(name):
    imputer = make(name).fit(gappy())
    check_error(lambda: imputer.transform(gappy(d=2)), "X has 2 features")
    named = make(name).fit([pd.DataFrame(one, columns=list("abc")) for one in gappy()])
    swapped = [pd.DataFrame(one, columns=list("cba")) for one in gappy()]
    check_error(lambda: named.transform(swapped), "'c', 'b', 'a'", "'a', 'b', 'c'")


@every
def test_what_a_fit_leaves_behind(name):
    imputer = make(name).fit(gappy(n=20))
    assert 0 < imputer.validation_error_ < 5
    assert len(imputer.history_["loss"]) == 2
    assert not imputer.network_.training
    x = gappy(1)
    copied = pickle.loads(pickle.dumps(imputer))
    assert np.array_equal(copied.transform(x), imputer.transform(x))


@every
@pytest.mark.parametrize(
    ("option", "value", "rule"),
    [
        ("max_iter", 0, "a whole number, at least 1"),
        ("batch_size", 2.5, "a whole number, at least 1"),
        ("learning_rate_init", -1, "a number in (0, 1000]"),
        ("validation_fraction", 0.9, "a number in (0, 0.5]"),
        ("verbose", "loud", "True or False"),
    ],
)
def test_parameters(name, option, value, rule):
    check_error(
        lambda: make(name, **{option: value}).fit(gappy()),
        f"{option} is {value!r}. It must be {rule}. Pass {option}= such a value.",
        kind=ParameterError,
    )
