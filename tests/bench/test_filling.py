from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.bench.filling import Filler
from imputefree.data import read_columns
from imputefree.errors import UnseenCategoryWarning
from imputefree.imputers import make_imputer


def frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.choice(["a", "b", "c"], n)
    size = np.select([kind == "a", kind == "b"], [0.0, 5.0], 10.0) + rng.normal(size=n) * 0.1
    made = pd.DataFrame({"kind": kind, "size": size, "noise": rng.normal(size=n)})
    return made.mask(rng.random(made.shape) < 0.2)


def test_a_category_is_guessed_from_the_numbers_beside_it():
    gappy = frame()
    columns = read_columns(gappy)
    filled = Filler(make_imputer("missforest", random_state=0)).fit(columns).fill(columns)
    assert list(filled) == ["kind", "size", "noise"]
    assert not filled.isna().any().any()
    seen = gappy.notna()
    for name in filled:
        assert (filled[name][seen[name]] == gappy[name][seen[name]]).all()
    known = gappy["kind"].isna() & gappy["size"].notna()
    truth = np.select([gappy["size"] < 2.5, gappy["size"] < 7.5], ["a", "b"], "c")[known]
    assert (filled["kind"][known] == truth).mean() > 0.9


def test_columns_come_in_the_order_of_training_and_unseen_levels_count_as_missing():
    filler = Filler(make_imputer("mean"), indicator=True).fit(read_columns(frame()))
    other = pd.DataFrame({"noise": [1.0, None], "size": [2.0, 3.0], "kind": ["z", "b"]})
    with pytest.warns(UnseenCategoryWarning):
        filled = filler.fill(read_columns(other))
    assert list(filled)[:3] == ["kind", "size", "noise"]
    assert filled["kind"].tolist()[1] == "b"
    assert filled["kind"][0] in ("a", "b", "c")
    assert filled["noise is missing"].tolist() == [0.0, 1.0]
    # An unseen word is a word: only a gap is a gap.
    assert filled["kind is missing"].tolist() == [0.0, 0.0]


def test_an_indicator_finds_a_free_name_and_complete_columns_have_none():
    gappy = pd.DataFrame({"a": [1.0, None], "a is missing": [1.0, 2.0]})
    filler = Filler(make_imputer("mean"), indicator=True).fit(read_columns(gappy))
    assert list(filler.fill(read_columns(gappy))) == ["a", "a is missing", "a is missing'"]


def test_empty_columns_of_either_kind():
    gappy = pd.DataFrame({"n": [np.nan, np.nan], "t": pd.Categorical([None, None]), "x": [1.0, 2]})
    columns = read_columns(gappy)
    filled = Filler(make_imputer("em", random_state=0)).fit(columns).fill(columns)
    assert filled["n"].tolist() == [0.0, 0.0]
    assert filled["x"].tolist() == [1.0, 2.0]
    assert filled.shape == (2, 3)


def test_numbers_named_as_categories_are_filled_by_a_level():
    gappy = pd.DataFrame({"code": [1.0, 1.0, 7.0, None], "x": [0.0, 1.0, 2.0, 3.0]})
    columns = read_columns(gappy)
    filler = Filler(make_imputer("mean"), categorical_features=["code"]).fit(columns)
    assert filler.fill(columns)["code"].tolist() == ["1", "1", "7", "1"]


def test_steps_of_series_go_to_an_imputer_of_series_one_series_at_a_time():
    gappy = pd.DataFrame({"x": [1.0, None, None, 4.0]})
    columns, lengths = read_columns(gappy), np.array([2, 2])
    filler = Filler(make_imputer("carry_forward")).fit(columns, lengths)
    # The third entry begins a series: what was before it belongs to another.
    assert filler.fill(columns, lengths)["x"].tolist() == [1.0, 1.0, 2.5, 4.0]
