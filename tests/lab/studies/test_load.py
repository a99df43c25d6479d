"""One front door: names, options, and what is said of names and options that do not exist."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree.errors import ParameterError
from imputefree.lab.studies import LOADERS, load
from tests.refusals import check_error


@pytest.mark.parametrize("name", ["moon", "table", "table:", "series", "icu:1", "", None])
def test_an_unknown_name_lists_the_known_ones(name):
    check_error(
        lambda: load(name),
        f"there is no study {name!r}. Studies are 'mnist', 'physionet2012', 'mimic3'",
        "'icu' and 'table:NAME', 'table:FILE.csv' or 'series:FILE.csv'",
        kind=ParameterError,
    )


def test_an_unknown_option_lists_the_known_ones():
    check_error(
        lambda: load("icu", rate=0.5),
        "'icu' has no option 'rate'. Its options are 'root', 'seed', 'n_series', 'form'.",
        kind=ParameterError,
    )


def test_every_loader_is_named_by_a_file_of_this_folder():
    assert set(LOADERS) >= {"mnist", "physionet2012", "mimic3", "ophthalmic", "icu", "table"}


def test_icu_is_simulated_says_so_and_is_repeatable():
    study, again, other = (load("icu", seed=seed, n_series=300) for seed in (1, 1, 2))
    assert study.simulated
    assert any("SIMULATED" in note for note in study.notes)
    assert study.kind == "series"
    assert study.y.mean() == 0.5
    assert abs(study.missing_rate - 0.716) < 0.015
    assert all(len(x) == len(t) for x, t in zip(study.X, study.times, strict=True))
    assert all((np.diff(t) > 0).all() for t in study.times)
    assert len(study.static) == len(study.X) == 300
    for one, two in zip(study.X, again.X, strict=True):
        np.testing.assert_array_equal(one, two)
    assert any(not np.array_equal(a, b) for a, b in zip(study.X, other.X, strict=True))
    split = study.split(0)
    assert len(split.test) == 60
    assert study.y[split.test].mean() == 0.5
