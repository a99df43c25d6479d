"""Read tables: NumPy, pandas, polars or lists become plain columns.

A column is either a float64 array with NaN where missing, or an object array of strings with None
where missing. Nothing behind this module sees a frame, a nullable dtype or `pd.NA`. Missing are
None, NaN, NaT and pd.NA; numbers are bool, int, float and Decimal; a column that holds anything
else is a category, whose values are compared by their string (see `level_name`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..errors import InputError, InputTypeError, counted, shorten

FEW_ROWS = 64  # that are read and predicted without pandas and PyTorch, which are slow to start
NUMBERS = (bool, int, float, Decimal, np.bool_, np.integer, np.floating)
NUMBER_KINDS = {"integer", "floating", "mixed-integer-float", "boolean", "decimal", "empty"}
STRING_KINDS = {"string", "mixed-integer", "mixed", "bytes"}
VALUE_RULE = "A value: argument must be a string or a number, or missing"
Place = Callable[[int], str]  # describes a row in errors
BY_NUMBER: Place = "row {}".format


@dataclass(frozen=True)
class Columns:
    """A table split into columns.

    >>> columns = read_columns(pd.DataFrame({"age": [31, None], "sex": ["f", pd.NA]}))
    >>> columns.names, columns.arrays
    (['age', 'sex'], [array([31., nan]), array(['f', None], dtype=object)])
    """

    names: list[str]  # "0", "1", … if the input had none
    named: bool  # whether the names came from the user
    arrays: list[np.ndarray]  # (n_rows,) each: float64 with NaN, or object with str and None
    declared: list[bool]  # whether the dtype of a column says "category"
    n_rows: int

    @property
    def columns(self) -> Columns:
        """Itself; for a panel, the columns of its steps."""
        return self

    @property
    def observed(self) -> np.ndarray:
        """Which entries are observed; (n_rows, columns) bool."""
        return np.column_stack([pd.notna(array) for array in self.arrays])

    def items(self) -> Iterator[tuple[str, np.ndarray]]:
        """The name and the array of each column."""
        return zip(self.names, self.arrays, strict=True)

    def completed(self, names: list[str]) -> Columns:
        """The same table with an all-missing column for each name that it lacks."""
        lacking = [name for name in names if name not in set(self.names)]
        gaps = [np.full(self.n_rows, np.nan) for _ in lacking]
        declared = self.declared + [False] * len(lacking)
        return replace(
            self, names=self.names + lacking, arrays=self.arrays + gaps, declared=declared
        )

    def sample(self) -> Columns:
        """Rows that suffice to learn encodings from: all of them."""
        return self

    def has_gaps(self, j: int) -> bool:
        """Whether an entry of a column is missing."""
        return bool(pd.isna(self.arrays[j]).any())

    def level_counts(self, j: int) -> pd.Series | None:
        """How many rows each level of a column of strings has, most frequent first; else None."""
        array = self.arrays[j]  # dtype object takes any string, str only UTF-8
        return pd.Series(array, dtype=object).value_counts() if array.dtype == object else None

    def rows(self, rows: np.ndarray) -> Columns:
        """The same table with these rows only."""
        return replace(self, arrays=[array[rows] for array in self.arrays], n_rows=len(rows))

    def pick(self, names: list[str]) -> Columns:
        """The columns of these names, in that order."""
        places = [self.names.index(name) for name in names]
        arrays, declared = [self.arrays[j] for j in places], [self.declared[j] for j in places]
        return replace(self, names=names, arrays=arrays, declared=declared)

    def to_frame(self) -> pd.DataFrame:
        """The same table as a pandas frame."""
        return pd.DataFrame(dict(self.items()))

    def hidden(self, kept: np.ndarray) -> Columns:
        """The same table with gaps wherever `kept` is False as well; (n_rows, columns) bool."""
        arrays = [array.copy() for array in self.arrays]
        for array, seen in zip(arrays, kept.T, strict=True):
            array[~seen] = None if array.dtype == object else np.nan
        return replace(self, arrays=arrays)

    def with_gaps_of(self, donors: np.ndarray) -> Columns:
        """The same table where each row also has the gaps of another; donors (n_rows,)."""
        return self.hidden(self.observed[donors])


def read_columns(X: Any, place: Place = BY_NUMBER) -> Columns:
    """Split any table into columns, or raise an InputError that names what is wrong.

    X : a frame, an array or a list of rows; `Columns` that were read before are returned as is
    place : describes a row in errors, if rows have better names than their numbers, for example
        the steps of series
    """
    if isinstance(X, Columns):
        return X
    refuse_other_polars(X)
    reader: Callable[[Any, str, Place], tuple[np.ndarray, bool]]
    series: Iterable[Any]
    if isinstance(X, pd.DataFrame):
        (names, named), reader = frame_names(X), _read_pandas
        series = _few_cells(X) if len(X) <= FEW_ROWS else (X.iloc[:, j] for j in range(X.shape[1]))
    elif is_polars(X):
        names, named, reader, series = list(X.columns), True, _read_polars, X.get_columns()
    else:
        X = as_values(X)
        if X.ndim != 2:
            raise InputError(
                f"Expected 2D array, got {X.ndim}D array instead",
                "A table has rows and columns",
                "Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row",
            )
        names, named = [str(j) for j in range(X.shape[1])], False
        reader, series = _read_array, X.T
    n_rows, n_columns = shape = X.shape
    for count, noun, axis in ((n_columns, "feature", "columns"), (n_rows, "sample", "rows")):
        if count == 0:
            raise InputError(
                f"Found a table with 0 {noun}(s) (shape={shape}) while a minimum of 1 is required",
                "An empty table holds nothing to learn from or to predict",
                f"Check how the {axis} were selected",
            )
    if (block := _plain_numbers(X)) is not None:
        return Columns(names, named, list(block.T), [False] * n_columns, n_rows)
    arrays, declared = [], []
    for name, values in zip(names, series, strict=True):
        label = f"column {name!r}" if named else f"column {name}"
        array, is_category = reader(values, label, place)
        _refuse_infinity(array, label, place)
        arrays.append(array)
        declared.append(is_category)
    return Columns(names, named, arrays, declared, n_rows)


def _plain_numbers(X: Any) -> np.ndarray | None:
    """A table of finite or missing NumPy numbers as float64, one column after the other in memory.

    None if there is anything else in it: then each column is read by itself.
    """
    dtypes = set(X.dtypes) if isinstance(X, pd.DataFrame) else {getattr(X, "dtype", None)}
    if not all(isinstance(dtype, np.dtype) and dtype.kind in "fiu" for dtype in dtypes):
        return None
    block = np.array(X, dtype=np.float64, order="F")
    return None if np.isinf(block).any() else block


def is_polars(X: Any) -> bool:
    """Whether X is from polars, which need not be installed."""
    return type(X).__module__.startswith("polars")


def refuse_other_polars(X: Any) -> None:
    """Refuse objects of polars that are not a DataFrame."""
    if is_polars(X) and type(X).__name__ != "DataFrame":
        fact, rule = f"X is a polars {type(X).__name__}", "Only a DataFrame is read"
        raise InputTypeError(fact, rule, "Call .collect() on a LazyFrame, .to_frame() on a Series")


def frame_names(X: pd.DataFrame) -> tuple[list[str], bool]:
    """Names of a pandas frame; columns numbered 0, 1, 2, … count as unnamed, like an array's."""
    names = [str(name) for name in X.columns]
    if list(X.columns) == list(range(X.shape[1])):
        return names, False
    others = [name for name in X.columns if not isinstance(name, str)]
    if 0 < len(others) < X.shape[1]:
        fact = f"column name {others[0]!r} is not a string while others are"
        rule = "Column names must all be strings (or none of them)"
        raise InputTypeError(fact, rule, "Rename with X.columns = X.columns.astype(str)")
    if not X.columns.is_unique:
        repeated = sorted({name for name in names if names.count(name) > 1})
        fact = f"column names appear more than once: {shorten(repeated, 5)}"
        rule = "Columns are matched by name, so names must be unique"
        raise InputError(fact, rule, "Rename or drop the repeated columns")
    return names, True


def as_values(X: Any, name: str = "X") -> np.ndarray:
    """An array of any shape from an array-like, keeping objects as objects."""
    if sparse.issparse(X):
        fact = f"{name} is a sparse matrix"
        rule = "Sparse data is not supported: zeros and gaps could not be distinguished"
        raise InputTypeError(fact, rule, f"Pass {name}.toarray() with NaN for missing values")
    if hasattr(X, "__dataframe__") and not (isinstance(X, pd.DataFrame) or is_polars(X)):
        fact = f"{name} is a {type(X).__module__.split('.')[0]} {type(X).__name__}"
        rule = "Frames are from pandas or polars; as an array it would lose its column names"
        raise InputTypeError(fact, rule, f"Call {name}.to_pandas()")
    try:
        if isinstance(X, np.ma.MaskedArray):  # asarray would expose masked values
            X = np.where(np.ma.getmaskarray(X), np.array(None), X.data)
        array = np.asarray(X)
        if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
            # A list of lists mixing numbers and strings: NumPy would make strings of the numbers.
            array = np.asarray(X, dtype=object)
    except (ValueError, TypeError, RuntimeError) as error:  # torch raises RuntimeErrors
        fact = f"{name} cannot be read as a table ({error})"
        rule = "A table is a 2D array, a DataFrame, or a list of rows of equal length"
        raise InputError(fact, rule, "Check that all rows have the same number of values") from None
    if array.dtype.kind == "c":
        raise _complex_error(name)
    return array


def _few_cells(X: pd.DataFrame) -> Iterator[pd.Series | np.ndarray]:
    """The columns of a frame of few rows; those of strings, or of NumPy's numbers, as arrays.

    All cells are taken out at once: pandas takes long to start with each column.
    """
    cells = X.to_numpy(dtype=object)
    for j, dtype in enumerate(X.dtypes):
        column = cells[:, j]
        if isinstance(dtype, np.dtype) and dtype.kind in "fiub":
            yield column.astype(np.float64)
            continue
        strings = [value if type(value) is str else None for value in column]
        gaps = (v is None or v is pd.NA or v is np.nan for v in column if type(v) is not str)
        if isinstance(dtype, pd.CategoricalDtype) or not all(gaps):
            yield X.iloc[:, j]
        elif any(string is not None for string in strings):
            yield np.array(strings, dtype=object)
        else:
            yield np.full(len(column), np.nan)


def _read_pandas(
    series: pd.Series | np.ndarray, label: str, place: Place
) -> tuple[np.ndarray, bool]:
    if isinstance(series, np.ndarray):
        return series, False
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return to_strings(np.asarray(series.astype(object)), label, place), True
    if isinstance(dtype, pd.SparseDtype):
        series = pd.Series(np.asarray(series))
    if pd.api.types.is_complex_dtype(dtype) or pd.api.types.is_datetime64_any_dtype(dtype):
        return _read_array(np.asarray(series), label, place)
    if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype):
        return series.to_numpy(dtype=np.float64, na_value=np.nan), False
    return _read_array(np.asarray(series.astype(object)), label, place)


def _read_polars(series: Any, label: str, place: Place) -> tuple[np.ndarray, bool]:
    if series.dtype.is_integer() or series.dtype.is_float():
        return series.cast(float).to_numpy(), False  # NumPy has no 128-bit integers: cast first
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    if str(series.dtype).startswith(("Categorical", "Enum")):
        return to_strings(values, label, place), True
    return _read_array(values, label, place)


def _read_array(values: np.ndarray, label: str, place: Place) -> tuple[np.ndarray, bool]:
    """A NumPy column of any dtype; objects are numbers if all of them are, else strings."""
    if values.dtype.kind in "fiub":
        return np.asarray(values, dtype=np.float64), False
    if values.dtype.kind in "US":
        return to_strings(values.astype(object), label, place), False
    kind = pd.api.types.infer_dtype(values, skipna=True) if values.dtype == object else "other"
    mixed = kind.startswith("mixed")
    if values.dtype.kind == "c" or kind == "complex" or (mixed and _are_complex(values)):
        raise _complex_error(label)
    # To pandas, True beside 2 or a Decimal beside a float is "mixed", yet all are numbers.
    if kind in NUMBER_KINDS or (
        mixed and all(isinstance(value, NUMBERS) for value in values[~pd.isna(values)])
    ):
        return _to_numbers(values, label), False
    if kind in STRING_KINDS:
        return to_strings(values, label, place), False
    if pd.isna(values).all():  # NaT alone
        return np.full(len(values), np.nan), False
    fact = f"{label} holds {values.dtype if kind == 'other' else kind} values"
    remedy = "Convert dates to numbers, for example (column - column.min()).dt.days"
    raise InputTypeError(fact, VALUE_RULE, remedy)


def _to_numbers(values: np.ndarray, label: str) -> np.ndarray:
    """Objects that are all numbers (or missing) as float64."""
    numbers = np.full(len(values), np.nan)
    seen = ~pd.isna(values)
    try:
        numbers[seen] = values[seen].astype(np.float64)
    except OverflowError:
        fact = f"{label} holds a whole number too large for a float (above 1e308)"
        remedy = "Take logarithms, or divide the column by a constant"
        raise InputError(fact, "Values must fit a 64-bit float", remedy) from None
    return numbers


def to_strings(values: np.ndarray, label: str = "", place: Place = BY_NUMBER) -> np.ndarray:
    """Categories of any type by their `level_name`, None where missing."""
    try:
        codes, levels = factorized(values)
        names = np.array([*map(level_name, levels), None], dtype=object)
    except TypeError:  # from factorize for what has no hash (lists, dicts), or from level_name
        known = pd.isna(values) | [isinstance(value, (str, bytes, *NUMBERS)) for value in values]
        row = int(np.argmin(known))
        fact = f"{label} holds a value of type {type(values[row]).__name__} (first: {place(row)})"
        raise InputTypeError(fact, VALUE_RULE, "Extract the parts you need into columns") from None
    return names[codes]  # factorize marks missing by -1


def factorized(values: Any) -> tuple[np.ndarray, Any]:
    """As `pd.factorize`; but strings that differ after a zero byte are different in all versions.

    Before pandas 3 they are only if None is among them.
    """
    if values.dtype != object:
        return pd.factorize(values)
    codes, levels = pd.factorize(np.append(np.asarray(values), np.array([None])))
    return codes[:-1], levels


def level_name(value: Any) -> str:
    """The string by which a category is compared; a TypeError for what cannot be one.

    >>> level_name("f"), level_name(1), level_name(1.0), level_name(True), level_name(2.5)
    ('f', '1', '1', '1', '2.5')
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating | Decimal):
        return str(int(value)) if float(value).is_integer() else str(float(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    raise TypeError(type(value).__name__)


def _are_complex(values: np.ndarray) -> bool:
    """Whether objects are complex, besides gaps, beside which pandas 2 does not see it."""
    return all(
        isinstance(value, complex | np.complexfloating) for value in values[~pd.isna(values)]
    )


def _complex_error(where: str) -> InputTypeError:
    fact = f"Complex data not supported: {where} holds complex numbers"
    rule = "Values must be real numbers, strings or missing"
    return InputTypeError(fact, rule, "Split real and imaginary parts into two columns")


def _refuse_infinity(values: np.ndarray, label: str, place: Place) -> None:
    if values.dtype != object and np.isinf(values).any():
        signs = " and ".join(f"{limit:+}" for limit in (np.inf, -np.inf) if limit in values)
        rule = "Values must be finite or missing (NaN)"
        remedy = "Replace infinities with NaN, or drop the rows"
        refuse_rows(np.isinf(values), f"{label} holds {signs} (infinity)", rule, remedy, place)


def refuse_rows(bad: Any, fact: str, rule: str, remedy: str, place: Place = BY_NUMBER) -> None:
    """Raise an InputError with the number of bad rows, and the first; bad (n,) bool."""
    rows = np.flatnonzero(bad)
    if len(rows):
        where = f"in {counted(len(rows), 'row')} (first: {place(int(rows[0]))})"
        raise InputError(f"{fact} {where}", rule, remedy)


def remember_columns(estimator: Any, columns: Columns) -> None:
    """Set n_features_in_ and, if columns have names, feature_names_in_."""
    estimator.n_features_in_ = len(columns.names)
    estimator.__dict__.pop("feature_names_in_", None)
    if columns.named:
        estimator.feature_names_in_ = np.array(columns.names, dtype=object)


def table_tags(tags: Any) -> Any:
    """scikit-learn's tags of an estimator that takes NaN, strings and categories."""
    tags.input_tags.allow_nan = True
    tags.input_tags.string = True
    tags.input_tags.categorical = True
    return tags


def feature_count_error(columns: Columns, owner: str, expected: int, remedy: str) -> InputError:
    """The error for a table with more or fewer columns than in training."""
    return InputError(
        f"X has {len(columns.names)} features, but {owner} is expecting {expected} features as"
        " input",
        "A table must have the columns of the training table",
        remedy,
    )
