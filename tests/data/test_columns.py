"""Whatever kind of table comes in, the same columns come out; anything else is refused."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from imputefree.data import read_columns
from imputefree.data._columns import factorized
from imputefree.errors import InputError, InputTypeError
from tests import refusals

NAN = np.nan
NUMBERS = [1.0, NAN, 3.0]
STRINGS = ["a", None, "b"]


def frame(values, dtype=object):
    return pd.DataFrame({"x": pd.Series(values, dtype=dtype)})


def arrow(values, kind):
    return frame(values, pd.ArrowDtype(kind))


def only(X):
    """The one column of a table."""
    (array,) = read_columns(X).arrays
    return array


def check_error(X, *parts, kind=InputError):
    """Reading X raises such an error."""
    refusals.check_error(lambda: read_columns(X), *parts, kind=kind)


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.0], [NAN], [3.0]]),
        np.array([[1.0], [NAN], [3.0]], dtype=np.float32),
        np.array([[1], [None], [3]], dtype=object),
        np.array([[True], [pd.NaT], [3.0]], dtype=object),
        np.ma.masked_array([[1.0], [2.0], [3.0]], mask=[[False], [True], [False]]),
        np.array([[1.0], [NAN], [3.0]], dtype=np.float16),
        np.ma.masked_array([[1], [2], [3]], mask=[[False], [True], [False]]),
        [[1], [None], [3]],
        [[1.0], [float("nan")], [3]],
        frame([1, NAN, 3], float),
        frame([1, None, 3], "Int64"),
        frame([1, None, 3], "UInt8"),
        frame([1, None, 3], "Float64"),
        frame([1, pd.NA, 3]),
        frame([1, None, 3.0]),
        frame([True, None, 3]),
        frame([Decimal(1), None, Decimal(3)]),
        frame([Decimal(1), None, 3.0]),
        frame(pd.arrays.SparseArray([1.0, NAN, 3.0]), None),
        arrow([1, None, 3], pa.int16()),
        arrow([1, None, 3], pa.float64()),
        arrow([Decimal(1), None, Decimal(3)], pa.decimal128(5, 2)),
        pl.DataFrame({"x": [1, None, 3]}),
        pl.DataFrame({"x": [1.0, None, 3.0]}),
        pl.DataFrame({"x": [1.0, NAN, 3.0]}),
        pl.DataFrame({"x": [1, None]}).vstack(pl.DataFrame({"x": [3]})),  # two chunks
        pl.DataFrame({"x": [9, 1, None, 3, 9]})[1:4],
        pl.DataFrame({"x": [Decimal(1), None, Decimal(3)]}),
    ],
)
def test_numbers_of_every_kind_read_the_same(X):
    array = only(X)
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array, NUMBERS)


@pytest.mark.parametrize(
    "X",
    [
        np.array([[True], [None], [False]], dtype=object),
        [[True], [None], [False]],
        frame([True, None, False]),
        frame([True, None, False], "boolean"),
        arrow([True, None, False], pa.bool_()),
        pl.DataFrame({"x": [True, None, False]}),
    ],
)
def test_booleans_of_every_kind_are_one_and_zero(X):
    np.testing.assert_array_equal(only(X), [1.0, NAN, 0.0])


POLARS_FLOATS = [pl.Float32, pl.Float64]


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int64, pl.Int128, pl.UInt64, *POLARS_FLOATS])
@pytest.mark.parametrize("values", [[1, None, 100], [7, 0, 100], [None, None, None]])
def test_polars_numbers_with_and_without_nulls(dtype, values):
    array = only(pl.DataFrame({"x": pl.Series(values, dtype=dtype)}))
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array, np.array(values, dtype=np.float64))


@pytest.mark.parametrize("dtype", POLARS_FLOATS)
def test_polars_floats_may_hold_nulls_beside_nan(dtype):
    series = pl.Series([0.5, None, NAN, -2.5], dtype=dtype)
    np.testing.assert_array_equal(only(pl.DataFrame({"x": series})), [0.5, NAN, NAN, -2.5])


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Int128])
@pytest.mark.parametrize("gap", [[], [None]])
def test_large_polars_numbers_become_the_nearest_float(dtype, gap):
    values = [2**53 + 1, 2**53 + 3, 2**63 - 1, *gap]
    array = only(pl.DataFrame({"x": pl.Series(values, dtype=dtype)}))
    np.testing.assert_array_equal(array, [NAN if v is None else float(v) for v in values])


@pytest.mark.parametrize(
    ("X", "declared"),
    [
        (np.array([["a"], [None], ["b"]], dtype=object), False),
        (np.array([[b"a"], [None], [b"b"]], dtype=object), False),
        ([["a"], [None], ["b"]], False),
        ([["a"], [float("nan")], ["b"]], False),
        (frame(["a", None, "b"]), False),
        (frame(["a", pd.NA, "b"]), False),
        (frame(["a", pd.NaT, "b"]), False),
        (frame(["a", None, "b"], "string"), False),
        (frame(["a", None, "b"], "str"), False),
        (frame(["a", None, "b"], "category"), True),
        (arrow(["a", None, "b"], pa.string()), False),
        (pl.DataFrame({"x": ["a", None, "b"]}), False),
        (pl.DataFrame({"x": [b"a", None, b"b"]}), False),
        (pl.DataFrame({"x": pl.Series(STRINGS, dtype=pl.Categorical)}), True),
        (pl.DataFrame({"x": pl.Series(STRINGS, dtype=pl.Enum(["b", "a"]))}), True),
    ],
)
def test_strings_of_every_kind_read_the_same(X, declared):
    columns = read_columns(X)
    assert columns.arrays[0].dtype == object
    assert columns.arrays[0].tolist() == STRINGS
    assert columns.declared == [declared]


def test_numpy_string_arrays_hold_strings_even_of_digits():
    columns = read_columns(np.array([["1", "a"], ["2", "b"]]))
    assert [array.tolist() for array in columns.arrays] == [["1", "2"], ["a", "b"]]


def test_lists_of_rows_keep_numbers_beside_strings():
    columns = read_columns([[1, "a", None], [2.5, "b", True]])
    assert columns.arrays[0].tolist() == [1.0, 2.5]
    assert columns.arrays[1].tolist() == ["a", "b"]
    np.testing.assert_array_equal(columns.arrays[2], [NAN, 1.0])


@pytest.mark.parametrize(
    "X",
    [
        frame([None, None]),
        frame([NAN, NAN], float),
        frame([pd.NA, pd.NA], "Int64"),
        frame([None, None], "string"),
        arrow([None, None], pa.null()),
        pl.DataFrame({"x": [None, None]}),
        [[None], [None]],
    ],
)
def test_an_entirely_missing_column_is_numbers_without_an_entry(X):
    array = only(X)
    assert array.dtype == np.float64
    assert np.isnan(array).all()


def test_mixed_objects_become_strings_by_their_shortest_form():
    array = only(frame(["a", 1, 1.0, 2.5, True, -0.0, Decimal("2.5"), b"a", None]))
    assert array.tolist() == ["a", "1", "1", "2.5", "1", "0", "2.5", "a", None]


@pytest.mark.parametrize(
    ("values", "levels"),
    [([1.0, None, 2.5], ["1", None, "2.5"]), ([True, None, False], ["1", None, "0"])],
)
def test_category_levels_that_are_numbers_become_strings(values, levels):
    assert only(frame(values, "category")).tolist() == levels


@pytest.mark.parametrize("cells", [["a", 1, True], ["a", True, 1]])
def test_true_and_one_are_one_level_in_any_order(cells):
    assert only(frame(cells)).tolist() == ["a", "1", "1"]


def test_names_come_from_the_frame_unless_it_counts_from_zero():
    named = read_columns(pd.DataFrame({"a": [1], "b": [2]}))
    assert (named.names, named.named) == (["a", "b"], True)
    for X in (np.ones((1, 2)), pd.DataFrame([[1, 2]])):
        unnamed = read_columns(X)
        assert (unnamed.names, unnamed.named) == (["0", "1"], False)


def test_a_numbered_frame_in_another_order_is_named_by_its_numbers():
    numbered = read_columns(pd.DataFrame([[1, 2]], columns=[1, 0]))
    assert (numbered.names, numbered.named) == (["1", "0"], True)
    with pytest.raises(InputError, match="more than once: '7'"):
        read_columns(pd.DataFrame([[1, 2]], columns=[7, 7]))


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([0.0, np.inf, np.inf], "+inf (infinity) in 2 rows (first: row 1)"),
        ([0.0, 1.0, -np.inf], "-inf (infinity) in 1 row (first: row 2)"),
        ([np.inf, NAN, -np.inf], "+inf and -inf (infinity) in 2 rows (first: row 0)"),
    ],
)
def test_infinity_is_refused_with_column_count_and_first_row(values, found):
    rule, remedy = "must be finite or missing", "Replace infinities with NaN"
    check_error(pd.DataFrame({"ok": 1.0, "x": values}), "column 'x' holds", found, rule, remedy)
    check_error(pl.DataFrame({"x": values}), "column 'x' holds", found, rule, remedy)
    check_error(frame(values), "column 'x' holds", found, rule, remedy)
    check_error(np.array(values)[:, None], "column 0 holds", found, rule, remedy)


def test_whole_numbers_beyond_any_float_are_refused():
    check_error(
        frame([1, 10**400]), "column 'x' holds a whole number too large", "64-bit float", "Take log"
    )


@pytest.mark.parametrize(
    ("X", "where"),
    [
        (np.array([[1j]]), "X"),
        ([[1j]], "X"),
        (frame([1j], complex), "column 'x'"),
        (frame([1j, None]), "column 'x'"),
    ],
)
def test_complex_numbers_are_refused(X, where):
    check_error(X, "Complex data not supported", where, "real numbers", "Split real and imag")


DAY = datetime.datetime(2020, 1, 1)


@pytest.mark.parametrize(
    "X",
    [
        frame([DAY, None], "datetime64[ns]"),
        frame([DAY, None], "datetime64[ns, UTC]"),
        frame([DAY - DAY, None], "timedelta64[ns]"),
        frame([DAY.date(), None]),
        pd.DataFrame({"x": pd.period_range("2020", periods=2)}),
        arrow([DAY, None], pa.timestamp("us")),
        pl.DataFrame({"x": pl.Series([1, None], dtype=pl.Datetime)}),
        pl.DataFrame({"x": pl.Series([1, None], dtype=pl.Date)}),
    ],
)
def test_dates_are_refused_with_a_way_to_convert_them(X):
    check_error(
        X, "column 'x' holds", "a string or a number", "Convert dates to num", kind=InputTypeError
    )


@pytest.mark.parametrize("cell", [{"k": 1}, [1], {1}, (1, 2), np.array([1, 2]), object(), DAY, 1j])
def test_cells_that_are_not_values_are_refused_with_column_type_and_row(cell):
    fact = f"column 'x' holds a value of type {type(cell).__name__} (first: row 2)"
    check_error(
        frame([None, "a", cell, cell]), fact, "string or a number", "Extract", kind=InputTypeError
    )


@pytest.mark.parametrize(
    "X",
    [
        pl.DataFrame({"x": [[1, 2], [3, 4]]}),
        pl.DataFrame({"x": [{"k": 1}, {"k": 2}]}),
        arrow([[1, 2], None], pa.list_(pa.int64())),
        arrow([{"k": 1}, None], pa.struct([("k", pa.int64())])),
        pd.DataFrame({"x": pd.cut([1, 2, 3], 2)}),
        frame(pd.to_datetime(["2020", "2021"]), "category"),
    ],
)
def test_columns_of_nested_values_are_refused(X):
    check_error(X, "column 'x' holds a value of type", "first: row 0", kind=InputTypeError)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.coo_array])
def test_sparse_matrices_are_refused(make):
    check_error(
        make(np.eye(2)), "X is a sparse matrix", "not supported", "X.toarray()", kind=InputTypeError
    )


def test_repeated_names_are_refused():
    X = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    check_error(X, "more than once: 'a'.", "must be unique", "Rename or drop")


def test_names_of_mixed_types_are_refused():
    X = pd.DataFrame([[1, 2]], columns=["a", 7])
    check_error(X, "column name 7 is not a string", "all be strings", "Rename", kind=InputTypeError)


@pytest.mark.parametrize(
    "X",
    [np.empty((0, 2)), pd.DataFrame({"a": []}), pl.DataFrame({"a": []})],
)
def test_no_rows_are_refused(X):
    check_error(X, "0 sample(s)", "empty table", "how the rows were selected")


@pytest.mark.parametrize("X", [np.empty((2, 0)), [[]], pd.DataFrame(index=[0, 1]), pl.DataFrame()])
def test_no_columns_are_refused(X):
    check_error(X, "0 feature(s)", "empty table", "how the columns were selected")


@pytest.mark.parametrize(
    ("X", "dimensions"),
    [
        (7, 0),
        ("text", 0),
        (None, 0),
        ({"a": [1]}, 0),
        ([1, 2], 1),
        ([], 1),
        (pd.Series([1, 2]), 1),
        (np.ones((1, 1, 1)), 3),
    ],
)
def test_only_two_dimensions_make_a_table(X, dimensions):
    check_error(X, f"got {dimensions}D array", "rows and columns", "Reshape")


@pytest.mark.parametrize("X", [[[1, 2], [3]], [["a", 2], ["b"]], [[1, [2]], [3, 4]]])
def test_ragged_lists_are_refused(X):
    check_error(X, "cannot be read as a table", "rows of equal length", "same number of values")


@pytest.mark.parametrize("X", [pl.Series([1]), pl.LazyFrame({"a": [1]})])
def test_polars_objects_that_are_not_frames_are_refused(X):
    check_error(X, f"polars {type(X).__name__}", "DataFrame", ".collect()", kind=InputTypeError)


def test_frames_of_other_libraries_are_refused_rather_than_read_without_their_names():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"a": [1.0], "b": [2.0]})
    check_error(table, "X is a pyarrow Table", "column names", "to_pandas()", kind=InputTypeError)


@pytest.mark.parametrize("rows", [2, 100])
def test_a_column_of_nothing_but_nat_is_missing(rows):
    columns = read_columns(pd.DataFrame({"a": [pd.NaT] * rows, "b": 1.0}))
    assert columns.observed.any(0).tolist() == [False, True]


def test_completed_adds_columns_of_gaps():
    columns = read_columns(pd.DataFrame({"b": [1.0, 2.0]})).completed(["a", "b"])
    assert columns.names == ["b", "a"]
    assert np.isnan(columns.arrays[1]).all()
    assert len(columns.arrays[1]) == columns.n_rows == 2


def test_columns_that_were_read_are_returned_as_they_are():
    columns = read_columns(pd.DataFrame({"a": [1.0, None], "b": ["x", None]}))
    assert read_columns(columns) is columns
    assert columns.observed.tolist() == [[True, True], [False, False]]


@pytest.mark.parametrize("dtype", [object, "str", "string", "category", "Int64", float, bool])
@pytest.mark.parametrize("rows", [slice(0, 4), slice(0, 1), slice(1, 2)])
def test_few_rows_are_read_as_many_are(dtype, rows, monkeypatch):
    cells = {float: [1.5, None, 2], bool: [True, False, True], "Int64": [3, None, 4]}
    column = pd.Series(cells.get(dtype, ["a", None, "b"]), dtype=dtype)
    frame = pd.DataFrame({"c": column, "when": pd.Series([1, "x", None], dtype=object)})[rows]
    few = read_columns(frame)
    monkeypatch.setattr("imputefree.data._columns.FEW_ROWS", 0)
    many = read_columns(frame)
    assert few.declared == many.declared
    for one, other in zip(few.arrays, many.arrays, strict=True):
        assert one.dtype == other.dtype
        assert [*map(str, one)] == [*map(str, other)]


@pytest.mark.parametrize(
    "values",
    [
        np.array([2.5, NAN, 1.0, 2.5]),
        np.array([3, 1, 3]),
        np.array(["b", None, "a", NAN, "b"], dtype=object),
        pd.Series(["b", None, "a"], dtype="str"),
    ],
)
def test_levels_are_numbered_as_by_pandas(values):
    codes, levels = factorized(values)
    expected = pd.factorize(values)
    assert codes.tolist() == expected[0].tolist()
    assert levels.tolist() == expected[1].tolist()
    assert levels.dtype == expected[1].dtype


def test_strings_that_differ_after_a_zero_byte_are_two_levels():
    codes, levels = factorized(np.array(["a\0b", "a\0c", "a\0b"], dtype=object))
    assert (codes.tolist(), levels.tolist()) == ([0, 1, 0], ["a\0b", "a\0c"])


def test_a_table_knows_its_gaps_and_counts_its_strings():
    table = read_columns(pd.DataFrame({"n": [1.0, NAN], "s": ["a", "a"], "t": [None, "b"]}))
    assert [table.has_gaps(j) for j in range(3)] == [True, False, True]
    assert table.level_counts(0) is None
    assert table.level_counts(1).to_dict() == {"a": 2}
    assert table.level_counts(2).to_dict() == {"b": 1}
