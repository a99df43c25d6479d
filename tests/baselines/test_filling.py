from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.baselines import Filler, ImputingEncoder
from imputefree.data import read_columns, read_panel
from imputefree.data._panel_encoder import PanelEncoder
from imputefree.data._table_encoder import TableEncoder
from imputefree.errors import UnseenCategoryWarning
from imputefree.lab.imputers import make_imputer


def frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.choice(["a", "b", "c"], n)
    size = np.select([kind == "a", kind == "b"], [0.0, 5.0], 10.0) + rng.normal(size=n) * 0.1
    stage = rng.integers(1, 5, n).astype(float)
    made = pd.DataFrame({"kind": kind, "size": size, "stage": stage})
    return made.mask(rng.random(made.shape) < 0.2)


def fill(gappy, imputer, lengths=None, **options):
    columns = read_columns(gappy)
    encoder = TableEncoder(**options).fit(columns)
    filled = Filler(encoder, imputer).fit(columns, lengths).fill(columns, lengths)
    return pd.DataFrame(dict(zip(filled.names, filled.arrays, strict=True)))


def test_a_category_is_guessed_from_the_numbers_beside_it():
    gappy = frame()
    filled = fill(gappy, make_imputer("missforest", random_state=0))
    assert not filled.isna().any().any()
    seen = gappy.notna()
    for name in filled:
        assert (filled[name][seen[name]] == gappy[name][seen[name]]).all()
    known = gappy["kind"].isna() & gappy["size"].notna()
    truth = np.select([gappy["size"] < 2.5, gappy["size"] < 7.5], ["a", "b"], "c")[known]
    assert (filled["kind"][known] == truth).mean() > 0.9


def test_columns_come_in_the_order_of_training():
    columns = read_columns(frame())
    filler = Filler(TableEncoder().fit(columns), make_imputer("mean")).fit(columns)
    other = pd.DataFrame({"stage": [1.0, None], "size": [2.0, 3.0], "kind": ["z", "b"]})
    filled = filler.fill(read_columns(other))
    assert filled.names == ["kind", "size", "stage"]
    assert filled.arrays[0][1] == "b"
    assert filled.arrays[0][0] in ("a", "b", "c")  # training never saw "z": a gap


def test_empty_columns_of_either_kind():
    gappy = pd.DataFrame({"n": [np.nan, np.nan], "t": pd.Categorical([None, None]), "x": [1.0, 2]})
    filled = fill(gappy, make_imputer("em", random_state=0))
    assert filled["n"].tolist() == [0.0, 0.0]
    assert filled["x"].tolist() == [1.0, 2.0]
    assert filled["t"].isna().all()


def test_numbers_named_as_categories_are_filled_by_a_level():
    gappy = pd.DataFrame({"code": [1.0, 1.0, 7.0, None], "x": [0.0, 1.0, 2.0, 3.0]})
    filled = fill(gappy, make_imputer("mean"), categorical_features=["code"])
    assert filled["code"].tolist() == ["1", "1", "7", "1"]


def test_steps_of_series_go_to_an_imputer_of_series_one_series_at_a_time():
    gappy = pd.DataFrame({"x": [1.0, None, None, 4.0]})
    filled = fill(gappy, make_imputer("carry_forward"), np.array([2, 2]))
    # The third entry begins a series: what was before it belongs to another.
    assert filled["x"].tolist() == [1.0, 1.0, 2.5, 4.0]


@pytest.mark.parametrize("name", ["mean", "em", "mice"])
@pytest.mark.parametrize("indicator", [True, False])
def test_only_what_stands_in_gaps_differs_from_the_plain_encoding(name, indicator):
    columns = read_columns(frame())
    plain = TableEncoder(indicator=indicator).fit(columns)
    encoder = ImputingEncoder(
        TableEncoder(indicator=indicator), make_imputer(name, random_state=0), indicator
    ).fit(columns)
    assert encoder.input_names == plain.input_names  # levels, ranks and indicators alike
    gappy, full = plain.transform(columns), encoder.transform(columns)
    assert full.observed.all()
    np.testing.assert_array_equal(full.values[gappy.observed], gappy.values[gappy.observed])
    assert (full.values != gappy.values)[~gappy.observed].any()


def test_an_unseen_category_counts_as_missing_once():
    columns = read_columns(frame())
    encoder = ImputingEncoder(TableEncoder(), make_imputer("mean"), True).fit(columns)
    other = read_columns(pd.DataFrame({"kind": ["z"], "size": [2.0], "stage": [3.0]}))
    with pytest.warns(UnseenCategoryWarning) as told:
        table = encoder.transform(other)
    assert len(told) == 1
    assert table.values[0, encoder.input_names.index("kind is missing")] == 1.0


@pytest.mark.parametrize("indicator", [True, False])
def test_series_with_statics_and_times(indicator):
    rng = np.random.default_rng(0)
    X = [np.where(rng.random((k, 2)) < 0.4, np.nan, rng.normal(size=(k, 2))) for k in (5, 3, 7)]
    static = pd.DataFrame({"age": [40.0, None, 60.0], "sex": ["f", "m", None]})
    panel = read_panel(X, static=static)
    plain = PanelEncoder(indicator=indicator).fit(panel)
    encoder = ImputingEncoder(
        PanelEncoder(indicator=indicator), make_imputer("carry_forward"), indicator
    ).fit(panel)
    gappy, full = plain.transform(panel), encoder.transform(panel)
    assert full.values.shape == gappy.values.shape
    entries = slice(None, plain.n_entries)
    seen = gappy.observed[:, entries]
    np.testing.assert_array_equal(full.values[:, entries][seen], gappy.values[:, entries][seen])
    assert full.observed.all()
    beside = slice(plain.n_entries, None)
    same = np.array_equal(full.values[:, beside], gappy.values[:, beside])
    assert same == indicator  # without, times since say nothing of gaps either
    age = encoder.input_names.index("age")
    assert np.allclose(full.values[5:8, age], 0.0, atol=1e-6)  # the mean of 40 and 60
