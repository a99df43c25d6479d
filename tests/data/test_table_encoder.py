"""The encoder: columns are matched by name, categories by string, gaps are not observed."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from imputefree.data import Columns, Outside, RowStore, TableEncoder, read_columns
from imputefree.data._encoders import Category, n_bins
from imputefree.errors import ParameterError, UnseenCategoryWarning
from tests.refusals import check_error

NAN = np.nan
TRAIN = pd.DataFrame(
    {
        "age": [20.0, 30.0, NAN, 50.0, 60.0, 70.0],
        "sex": ["f", "m", None, "f", "m", "f"],
        "dose": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
)


def fit(X=TRAIN, **options):
    return TableEncoder(**options).fit(read_columns(X))


def encode(encoder, X):
    return encoder.transform(read_columns(X))


def same(one, other):
    return np.array_equal(one.values, other.values) and np.array_equal(one.observed, other.observed)


def of(encoder, array, name):
    """The input of that name; (n,)."""
    return array[:, encoder.input_names.index(name)]


def inputs_of(encoder, column):
    """Numbers of the inputs of one column, without its indicator."""
    j = [plan.name for plan in encoder.plans].index(column)
    return np.flatnonzero(encoder.input_columns[: encoder.n_entries] == j)


def categories(encoder):
    """Names of the columns read as categories."""
    return [plan.name for plan in encoder.plans if isinstance(plan, Category)]


def warned_once(run):
    """The result of run, and the message of its only warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run()
    assert [one.category for one in caught] == [UnseenCategoryWarning]
    return result, str(caught[0].message)


# What the networks read


def test_a_table_is_finite_and_zero_where_missing():
    encoder = fit()
    table = encode(encoder, TRAIN)
    assert table.values.shape == table.observed.shape == (6, len(encoder.input_names))
    assert (table.values.dtype, table.observed.dtype) == (np.float32, bool)
    assert np.isfinite(table.values).all()
    assert (table.values[~table.observed] == 0).all()
    for column in TRAIN:
        for j in inputs_of(encoder, column):
            assert table.observed[:, j].tolist() == TRAIN[column].notna().tolist()


def test_indicators_are_one_where_missing_and_always_observed():
    encoder = fit()
    table = encode(encoder, TRAIN)
    for column in ("age", "sex"):
        gaps = TRAIN[column].isna().tolist()
        assert of(encoder, table.values, f"{column} is missing").tolist() == gaps
        assert of(encoder, table.observed, f"{column} is missing").all()
    assert "dose is missing" not in encoder.input_names  # it had no gaps in training
    assert not [name for name in fit(indicator=False).input_names if "missing" in name]
    later = encode(encoder, TRAIN.assign(dose=NAN))
    assert not of(encoder, later.observed, "dose").any()


def test_every_input_knows_its_column():
    encoder = fit()
    names = [plan.name for plan in encoder.plans]
    assert len(encoder.input_columns) == len(encoder.input_names)
    for j, name in zip(encoder.input_columns, encoder.input_names, strict=True):
        assert names[j] in name
    assert all("is missing" in name for name in encoder.input_names[encoder.n_entries :])


def test_scales_come_from_training_rows_not_from_those_encoded():
    encoder = fit()
    alone = encode(encoder, TRAIN.iloc[[5]])
    beside = encode(encoder, TRAIN.assign(dose=[1e6, 0, 0, 0, 0, 6.0]).iloc[[0, 5]])
    assert np.array_equal(alone.values[0], beside.values[1])


@pytest.mark.parametrize("placeholder", [-7.5, 1.0])
def test_filled_puts_the_placeholder_where_missing_only(placeholder):
    table = encode(fit(), TRAIN)
    filled = table.filled(placeholder)
    assert filled.dtype == np.float32
    assert (filled[~table.observed] == placeholder).all()
    assert np.array_equal(filled[table.observed], table.values[table.observed])
    assert np.array_equal(table.filled(0.0), table.values)


# Columns are matched


def test_columns_are_found_by_name_in_any_order():
    encoder = fit()
    for shuffled in (TRAIN[["dose", "age", "sex"]], pl.from_pandas(TRAIN[["sex", "dose", "age"]])):
        assert same(encode(encoder, shuffled), encode(encoder, TRAIN))


def test_columns_are_found_by_position_where_a_table_has_no_names():
    encoder = fit()
    assert same(encode(encoder, TRAIN.to_numpy(dtype=object)), encode(encoder, TRAIN))
    numbers = TRAIN[["age", "dose"]]
    unnamed = fit(numbers.to_numpy())
    assert same(encode(unnamed, numbers), encode(unnamed, numbers.to_numpy()))


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"drop": ["age"]}, ["missing now 'age'."]),
        ({"new": ["extra"]}, ["not in training 'extra'."]),
        ({"drop": ["age"], "new": ["Age"]}, ["missing now 'age'; not in training 'Age'."]),
        ({"new": list("abcdefgh")}, ["not in training 'a', 'b', 'c', 'd', 'e', 'f' and 2 more."]),
    ],
)
def test_a_difference_in_names_is_shown(change, parts):
    X = TRAIN.drop(columns=change.get("drop", [])).assign(**dict.fromkeys(change.get("new", []), 1))
    check_error(
        lambda: encode(fit(), X),
        "feature names should match",
        *parts,
        "same as in training",
        "Rename, add (all NaN is allowed) or drop",
    )


def test_another_number_of_unnamed_columns_is_refused():
    check_error(
        lambda: encode(fit(owner="GILClassifier"), np.ones((2, 2))),
        "X has 2 features, but GILClassifier is expecting 3 features",
        "columns of the training table",
        "'age', 'sex', 'dose'",
    )


# Kinds of columns


def test_text_where_numbers_were_is_refused():
    fact = "column 'dose' holds text such as 'much' in 2 rows (first: row 1), but none in training"
    spoiled = TRAIN.assign(dose=[None, "much", None, "more", None, None])
    check_error(
        lambda: encode(fit(), spoiled), fact, "must keep its kind", "pd.to_numeric", "train again"
    )


@pytest.mark.parametrize("dtype", [object, "category", "string", "Int64", float])
def test_a_number_column_may_come_without_a_single_entry_in_any_dtype(dtype):
    encoder = fit()
    empty = encode(encoder, TRAIN.assign(dose=pd.Series([None] * 6, dtype=dtype)))
    assert not of(encoder, empty.observed, "dose").any()


def test_numbers_where_strings_were_are_unseen_categories():
    encoder = fit()
    table, message = warned_once(lambda: encode(encoder, TRAIN.assign(sex=[1, 2, 1, 1, 1, 1])))
    assert "'sex': '1', '2'" in message
    assert not table.observed[:, inputs_of(encoder, "sex")].any()


def test_numbers_that_floats_confuse_are_no_categories():
    X = pd.DataFrame({"id": np.arange(4) + 2**60})
    check_error(lambda: fit(X, categorical_features=["id"]), "column 'id'", "2^53", "astype(str)")
    assert len(fit(X.astype(str)).plans[0].all_levels) == 4


def test_an_entirely_missing_column_is_never_observed():
    X = pd.DataFrame({"gone": [NAN] * 4, "here": [1.0, 2.0, 3.0, 4.0]})
    encoder = fit(X)
    table = encode(encoder, X)
    assert not of(encoder, table.observed, "gone").any()
    assert of(encoder, table.observed, "here").all()
    later = encode(encoder, X.assign(gone=[1e300, -1e300, 0.0, NAN]))
    assert np.isfinite(later.values).all()
    assert of(encoder, later.observed, "gone").tolist() == [True, True, True, False]


# Categories


def test_a_category_without_entries_is_missing_and_any_level_unseen():
    X = pd.DataFrame({"gone": pd.Categorical([None] * 3), "here": [1.0, 2.0, 3.0]})
    encoder = fit(X)
    table = encode(encoder, X)
    assert of(encoder, table.values, "gone is missing").all()
    later, message = warned_once(lambda: encode(encoder, X.assign(gone="now")))
    assert "'gone': 'now'" in message
    assert same(later, table)


@pytest.mark.parametrize("later", [bool, "boolean", "category", object, int])
@pytest.mark.parametrize("dtype", [bool, "category"])
def test_boolean_categories_are_matched_across_dtypes(dtype, later):
    flags = pd.Series([True, False, False])
    encoder = fit(flags.astype(dtype).to_frame("ill"), categorical_features=["ill"])
    table = encode(encoder, flags.astype(later).to_frame("ill"))
    assert table.observed.all()
    assert table.values.argmax(1).tolist() == [1, 0, 0]


def test_an_unseen_category_counts_as_missing_with_one_warning():
    encoder = fit()
    unseen = TRAIN.assign(sex=["x", "x", "y", "f", "m", "f"])
    table, message = warned_once(lambda: encode(encoder, unseen))
    assert "training never saw are treated as missing" in message
    assert "'sex': 'x', 'y'" in message
    two = fit(TRAIN.assign(ward="A", code="1"))
    _, message = warned_once(lambda: encode(two, TRAIN.assign(ward="B", code="2")))
    assert "'ward': 'B'; 'code': '2'" in message
    gaps = TRAIN.assign(sex=[None, None, None, "f", "m", "f"])
    assert same(table, encode(encoder, gaps))


ZIP = [1, 2, 1, 2, 3, 3]


@pytest.mark.parametrize(
    "later",
    [
        pd.Series(ZIP),
        pd.Series(ZIP, dtype=object),
        pd.Series(ZIP, dtype="Int64"),
        pd.Series(ZIP, dtype=float).astype("category"),
        pd.Series(ZIP).astype(str),
        pd.Series(ZIP).astype(str).astype("category"),
    ],
)
@pytest.mark.parametrize("dtype", [int, float, "category", str])
def test_categories_are_matched_by_their_string_across_dtypes(dtype, later):
    encoder = fit(pd.DataFrame({"zip": pd.Series(ZIP, dtype=dtype)}), categorical_features=["zip"])
    assert encoder.input_names == ["zip=1", "zip=2", "zip=3"]
    table = encode(encoder, later.to_frame("zip"))
    assert table.values.argmax(1).tolist() == [zip - 1 for zip in ZIP]
    assert table.observed.all()


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        (["age"], ["age", "sex"]),
        (("age",), ["age", "sex"]),
        (np.array(["age"]), ["age", "sex"]),
        ([0], ["age", "sex"]),
        ([-3], ["age", "sex"]),
        (np.array([0]), ["age", "sex"]),
        ([2], ["sex", "dose"]),
        ([-1], ["sex", "dose"]),
        (["age", np.int64(2)], ["age", "sex", "dose"]),
    ],
)
def test_categories_may_be_chosen_by_name_or_position(chosen, found):
    assert categories(fit(categorical_features=chosen)) == found


def test_auto_takes_strings_and_declared_categories():
    X = pd.DataFrame({"n": [1, 2], "c": pd.Categorical([1, 2]), "t": ["1", "2"]})
    assert categories(fit(X)) == ["c", "t"]
    assert categories(fit(X, categorical_features=[])) == ["c", "t"]  # strings always are


@pytest.mark.parametrize("unknown", ["weight", 3, -4, 1.5, True, False, None])
def test_an_unknown_name_in_the_list_is_refused_with_the_columns_there_are(unknown):
    check_error(
        lambda: fit(categorical_features=[unknown]),
        f"categorical_features names {unknown!r}, which is not a column",
        "names or positions of the training table",
        "'age', 'sex', 'dose'",
        kind=ParameterError,
    )


@pytest.mark.parametrize("chosen", ["sex", "all", None, 0])
def test_a_choice_that_is_not_a_list_is_refused(chosen):
    check_error(
        lambda: fit(categorical_features=chosen),
        f"categorical_features is {chosen!r}",
        '"auto" or a list of column names or positions',
        "Write categorical_features=[",
        kind=ParameterError,
    )


def test_any_string_can_be_a_level():
    strings = ["", " ", "\x00", "\ud800", "ü", "(rare)", "a=b"]
    X = pd.DataFrame({"t": pd.Series(strings * 2, dtype=object)})
    encoder = fit(X)
    table = encode(encoder, X)
    assert table.observed.all()
    assert len(np.unique(table.values, axis=0)) == len(strings)


# State


@pytest.mark.parametrize(
    ("X", "options"),
    [
        (TRAIN, {}),
        (TRAIN, {"indicator": False, "owner": "GILRegressor"}),
        (TRAIN, {"categorical_features": ["dose"], "numeric_encoding": "plain"}),
        (TRAIN.assign(sex=list("aabbcd")), {}),
        (TRAIN[["age", "dose"]].to_numpy(), {}),
        (pd.DataFrame({"gone": [NAN] * 6, "c": pd.Categorical([None] * 6), "k": 1.0}), {}),
        (pd.DataFrame({"big": [1e308, -1e308, 5e-324, 0.1, 0.2, 0.3]}), {}),
    ],
)
def test_state_comes_back_through_json_bit_for_bit(X, options):
    encoder = fit(X, **options)
    again = TableEncoder.from_state(json.loads(json.dumps(encoder.state())))
    assert again.input_names == encoder.input_names
    assert again.owner == encoder.owner
    assert again.state() == encoder.state()
    assert same(encode(again, X), encode(encoder, X))


def test_a_restored_encoder_still_matches_names_and_warns():
    encoder = TableEncoder.from_state(fit().state())
    assert same(encode(encoder, TRAIN[["dose", "sex", "age"]]), encode(fit(), TRAIN))
    check_error(lambda: encode(encoder, TRAIN[["dose"]]), "missing now 'age', 'sex'")
    _, message = warned_once(lambda: encode(encoder, TRAIN.assign(sex="x")))
    assert "'sex': 'x'" in message


def test_codes_that_a_table_carries_are_not_made_again(monkeypatch):
    frame = pd.DataFrame({"word": ["a", "b", None, "a"], "x": [1.0, NAN, 3.0, 4.0]})
    encoder = TableEncoder().fit(read_columns(frame))
    expected = encoder.codes(read_columns(frame))
    coded = encoder.coded(read_columns(frame))
    other = TableEncoder().fit(read_columns(frame.assign(word=["A", "a", "b", "b"])))
    assert other.codes(coded)[0, 0] == expected[0, 0] + 1  # of other levels it makes its own
    monkeypatch.setattr(type(encoder.plans[0]), "code", None)
    np.testing.assert_array_equal(encoder.codes(coded), expected)


@pytest.mark.parametrize(
    ("rows", "columns", "bins"),
    [
        *((1, 1, 12), (6499, 1, 12), (6500, 1, 13), (12_000, 1, 24), (10**9, 1, 24)),
        *((1, 416, 12), (1, 417, 11), (10**9, 208, 24), (10**9, 209, 23), (1, 0, 12)),
        *((1, 5000, 1), (1, 5001, 0)),
    ],
)
def test_bins_are_12_to_24_but_no_more_than_5000_of_all_columns(rows, columns, bins):
    assert n_bins(rows, columns) == bins


@pytest.mark.parametrize(
    ("rows", "columns", "encoding", "counted"),
    [
        *((1999, 3, "rich", False), (2000, 3, "piecewise", True), (12, 100, "rich", False)),
        *((12, 101, "piecewise", False), (2000, 100, "piecewise", True)),
        *((12, 1250, "piecewise", False), (12, 1251, "plain", False)),
    ],
)
def test_auto_by_size(rows, columns, encoding, counted):
    """One input per value of ten rows only up to a hundred columns."""
    X = np.tile(np.arange(rows, dtype=float)[:, None] % 50, (1, columns))
    plan = fit(X).plans[-1]
    found = "piecewise" if plan.edges else "rich" if plan.knots else "plain"
    assert found == encoding
    assert bool(plan.levels) == counted


def test_numbers_as_names_are_names():
    """A matrix has no names: a warning says that its columns count like those of training."""
    X = np.arange(12.0).reshape(6, 2)
    encoder = fit(pd.DataFrame(X, columns=["0", "1"]))
    with pytest.warns(UserWarning, match="feature names"):
        assert same(encode(encoder, X), encode(encoder, pd.DataFrame(X, columns=["0", "1"])))


@pytest.mark.parametrize("rows", [3, 500])
@pytest.mark.parametrize("names", [None, ["dose", "age"]])
def test_values_outside_the_range_are_counted_by_name_or_position(names, rows):
    """By position without a word: the warning comes where columns are matched."""
    X = np.column_stack([np.arange(20.0), np.arange(20.0) * 100])
    encoder, outside = fit(pd.DataFrame(X, columns=["age", "dose"])), Outside()
    later = np.tile([[5.0, 9e9]], (rows, 1))
    later = later if names is None else pd.DataFrame(later[:, ::-1], columns=names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.count_outside(read_columns(later), outside)
    assert f"'dose' reaches 9e+09 in {rows} rows" in outside.sentence
    assert "age" not in outside.sentence


WORDS = pd.DataFrame(
    {
        "dose": [2.0, NAN, 3.0, 2.0, 2.0, 3.0],  # a category, if it is chosen
        "age": [20.0, 30.0, NAN, 50.0, 60.0, 70.0],
        "word": ["b", "b", "a", "a", "c", None],  # c is rare
    }
)


@pytest.mark.parametrize("large", [False, True])
def test_trees_read_numbers_and_a_switch_per_level(large):
    encoder = fit(WORDS, categorical_features=["dose"], numeric_encoding="plain")
    table = read_columns(WORDS[["word", "age", "dose"]])
    found = encoder.numbers(RowStore.of(table) if large else table)
    expected = [WORDS["age"]]
    for name, levels in (("dose", [[2.0], [3.0]]), ("word", [["a"], ["b"], ["c"]])):
        of_level = (WORDS[name].isin(level).where(WORDS[name].notna()) for level in levels)
        expected += [switch.astype(float) for switch in of_level]
    np.testing.assert_array_equal(found, np.column_stack(expected))


def test_a_later_table_as_training_would_have_read_it():
    encoder = fit(WORDS, categorical_features=["dose"])
    later = WORDS[["word", "dose", "age"]].assign(word=["a", "x", "c", None, "b", "y"])
    arranged, known = (made(read_columns(later)) for made in (encoder.arranged, encoder.known))
    assert arranged.names == known.names == ["dose", "age", "word"]
    assert arranged.declared == [True, False, True]
    assert arranged.arrays[0].tolist() == ["2", None, "3", "2", "2", "3"]
    assert arranged.arrays[2].tolist() == ["a", "x", "c", None, "b", "y"]
    assert known.arrays[2].tolist() == ["a", None, "c", None, "b", None]  # a rare level is known
    assert known.arrays[0].tolist() == arranged.arrays[0].tolist()
    nothing = encoder.nothing()
    assert [array.tolist() for array in nothing.arrays][::2] == [[None], [None]]
    assert np.isnan(encoder.codes(nothing)).all()


def test_codes_are_not_kept_for_a_large_table(monkeypatch):
    encoder, table = fit(), read_columns(TRAIN)
    for block, kept in ((6, True), (5, False)):
        monkeypatch.setattr("imputefree.data._encoders.BLOCK", block)
        assert ("_codes" in vars(encoder.coded(table))) == kept
    assert "_codes" not in vars(table)


def test_a_sample_does_not_decide_which_gaps_and_levels_there_are(monkeypatch):
    monkeypatch.setattr("imputefree.data._row_store.SAMPLE_ROWS", 40)
    n = 400
    X = pd.DataFrame({"x": np.arange(n) * 1.0, "full": 1.0 + np.arange(n), "s": ["a"] * n})
    X.loc[7, "x"] = NAN
    X.loc[[3, 5, 9], "s"] = ["b", "b", "c"]
    encoder = TableEncoder().fit(RowStore.of(read_columns(X)))
    plans = dict(zip(encoder.names, encoder.plans, strict=True))
    assert [plans[name].has_gaps for name in X] == [True, False, False]
    assert plans["s"].all_levels == ["a", "b", "c"]
    np.testing.assert_allclose(plans["s"].shares, [397 / 400, 2 / 400, 1 / 400])


def test_a_table_of_numbers_may_have_a_column_of_none():
    encoder = fit(WORDS[["age"]])
    later = pd.DataFrame({"age": pd.Series([None] * 3, dtype=object)})
    codes = encoder.codes(Columns(["age"], True, [later["age"].to_numpy()], [False], 3))
    assert codes.dtype == np.float64
    assert np.isnan(codes).all()
