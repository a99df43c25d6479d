"""The one front door for tables: NumPy, pandas, polars or lists become plain columns.

A column is either a float64 array with NaN for missing, or an object array of texts with None
for missing. Nothing behind this file ever sees a frame, a nullable dtype or `pd.NA`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..errors import InputError, InputTypeError
from ._cells import NUMBERS, Place, to_number, to_text
from ._wording import counted

NUMBER_KINDS = {"integer", "floating", "mixed-integer-float", "boolean", "decimal", "empty"}
TEXT_KINDS = {"string", "mixed-integer", "mixed", "bytes"}


@dataclass(frozen=True)
class Columns:
    """A table taken apart.

    Attributes
    ----------
    names : the column names, or "0", "1", … where the input had none
    named : whether the names came from the user
    arrays : one array a column, shape (n_rows,): float64 with NaN, or object with str and None
    declared : per column, True where the input's own dtype says "category"
    n_rows : number of rows

    Examples
    --------
    >>> columns = read_columns(pd.DataFrame({"age": [31, None], "sex": ["f", pd.NA]}))
    >>> columns.names, columns.arrays
    (['age', 'sex'], [array([31., nan]), array(['f', None], dtype=object)])
    """

    names: list[str]
    named: bool
    arrays: list[np.ndarray]
    declared: list[bool]
    n_rows: int

    @property
    def columns(self) -> Columns:
        """Itself; of a panel, the columns of its steps."""
        return self

    def completed(self, names: list[str]) -> Columns:
        """With a column of gaps for each of the names that it lacks."""
        lacking = [name for name in names if name not in set(self.names)]
        gaps = [np.full(self.n_rows, np.nan) for _ in lacking]
        declared = [*self.declared, *(False for _ in lacking)]
        return replace(
            self, names=[*self.names, *lacking], arrays=[*self.arrays, *gaps], declared=declared
        )

    def rows(self, kept: np.ndarray) -> Columns:
        """The same table with these rows only."""
        arrays = [array[kept] for array in self.arrays]
        return replace(self, arrays=arrays, n_rows=len(kept))


def read_columns(X: Any, place: Place = None) -> Columns:
    """Take any table apart into columns, or raise an InputError that names what is wrong.

    `place` words a row in errors where rows have better names than their numbers, for example
    the steps of series.
    """
    if sparse.issparse(X):
        raise InputTypeError(
            "X is a sparse matrix",
            "Sparse data is not supported: a zero and a gap could not be told apart",
            "Pass X.toarray() with NaN for missing values",
        )
    if isinstance(X, pd.DataFrame):
        names, named = _frame_names(X)
        reader: Callable[[Any, str, Place], tuple[np.ndarray, bool]]
        series: Iterable[Any] = (X.iloc[:, j] for j in range(X.shape[1]))
        shape, reader = X.shape, _read_pandas
    elif is_polars(X):
        if type(X).__name__ != "DataFrame":
            raise InputTypeError(
                f"X is a polars {type(X).__name__}",
                "A table must be a DataFrame",
                "Call .collect() on a LazyFrame, .to_frame() on a Series",
            )
        names, named = list(X.columns), True
        series, shape, reader = X.get_columns(), X.shape, _read_polars
    else:
        array = _as_table(X)
        names, named = [str(j) for j in range(array.shape[1])], False
        series = (array[:, j] for j in range(array.shape[1]))
        shape, reader = array.shape, _read_array
    if shape[1] == 0:
        raise InputError(
            f"Found a table with 0 feature(s) (shape={shape}) while a minimum of 1 is required",
            "There must be at least one column to learn from",
            "Check how the columns were selected",
        )
    if shape[0] == 0:
        raise InputError(
            f"Found a table with 0 sample(s) (shape={shape}) while a minimum of 1 is required",
            "An empty table holds nothing to learn from or to predict",
            "Check how the rows were selected",
        )
    label = "column {!r}" if named else "column {}"
    arrays, declared = [], []
    for name, one in zip(names, series, strict=True):
        values, is_category = reader(one, label.format(name), place)
        _refuse_infinity(values, label.format(name), place)
        arrays.append(values)
        declared.append(is_category)
    return Columns(names, named, arrays, declared, shape[0])


def is_polars(X: Any) -> bool:
    """Asked by name: polars need not be installed."""
    return type(X).__module__.startswith("polars")


def _frame_names(X: pd.DataFrame) -> tuple[list[str], bool]:
    """Names of a pandas frame; one numbered 0, 1, 2, … counts as unnamed, like an array."""
    texts = [isinstance(name, str) for name in X.columns]
    if list(X.columns) == list(range(X.shape[1])):
        return [str(j) for j in range(X.shape[1])], False
    if any(texts) and not all(texts):
        odd = next(name for name, text in zip(X.columns, texts, strict=True) if not text)
        raise InputTypeError(
            f"column name {odd!r} is not a text while others are",
            "Column names must all be texts (or none of them)",
            "Rename with X.columns = X.columns.astype(str)",
        )
    names = [str(name) for name in X.columns]
    if not X.columns.is_unique:
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InputError(
            f"column names appear more than once: {', '.join(map(repr, twice[:5]))}",
            "Columns are matched by name, so names must be unique",
            "Rename or drop the repeated columns",
        )
    return names, True


def as_values(X: Any, name: str = "X") -> np.ndarray:
    """An array of any shape out of an array-like, keeping objects as objects."""
    try:
        if isinstance(X, np.ma.MaskedArray):  # asarray would show what lies under the mask
            masked, X = np.ma.getmaskarray(X), X.data.astype(object)
            X[masked] = None
        array = np.asarray(X)
        if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
            # A list of lists mixing numbers and texts: NumPy would turn the numbers into texts.
            array = np.asarray(X, dtype=object)
    except (ValueError, TypeError, RuntimeError) as error:  # torch raises RuntimeErrors
        raise InputError(
            f"{name} cannot be read as a table ({error})",
            "A table is a 2D array, a DataFrame, or a list of rows of equal length",
            "Check that all rows have the same number of values",
        ) from None
    if array.dtype.kind == "c":
        raise _complex_error(name)
    return array


def _as_table(X: Any) -> np.ndarray:
    array = as_values(X)
    if array.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {array.ndim}D array instead",
            "A table has rows and columns",
            "Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row",
        )
    return array


def _read_pandas(series: pd.Series, label: str, place: Place) -> tuple[np.ndarray, bool]:
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return to_text(np.asarray(series.astype(object)), label, place), True
    if isinstance(dtype, pd.SparseDtype):
        series = pd.Series(np.asarray(series))
    if pd.api.types.is_complex_dtype(dtype) or pd.api.types.is_datetime64_any_dtype(dtype):
        return _read_array(np.asarray(series), label, place)
    if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype):
        return series.to_numpy(dtype=np.float64, na_value=np.nan), False
    return _read_array(np.asarray(series.astype(object)), label, place)


def _read_polars(series: Any, label: str, place: Place) -> tuple[np.ndarray, bool]:
    kind = str(series.dtype)
    if series.dtype.is_integer() or series.dtype.is_float():
        return series.cast(float).to_numpy(), False  # NumPy has no 128-bit integers: cast first
    if series.dtype.is_decimal() or kind == "Boolean":
        return np.array([np.nan if v is None else v for v in series.to_list()], np.float64), False
    declared = kind.startswith(("Categorical", "Enum"))
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    if declared:
        return to_text(values, label, place), True
    return _read_array(values, label, place)


def _read_array(values: np.ndarray, label: str, place: Place) -> tuple[np.ndarray, bool]:
    """One NumPy column of any dtype; objects are numbers if all of them are, texts otherwise."""
    if values.dtype.kind in "fiub":
        return np.asarray(values, dtype=np.float64), False
    if values.dtype.kind in "US":
        return to_text(values.astype(object), label, place), False
    kind = pd.api.types.infer_dtype(values, skipna=True) if values.dtype == object else "other"
    if values.dtype.kind == "c" or kind == "complex":
        raise _complex_error(label)
    # To pandas, True beside 2 or a Decimal beside a float is "mixed", yet all are numbers.
    if kind in NUMBER_KINDS or (
        kind.startswith("mixed")
        and all(isinstance(value, NUMBERS) for value in values[~pd.isna(values)])
    ):
        return to_number(values, label), False
    if kind in TEXT_KINDS:
        return to_text(values, label, place), False
    raise InputTypeError(
        f"{label} holds {values.dtype if kind == 'other' else kind} values",
        "A value: argument must be a string or a number, or missing",
        "Turn dates into numbers, for example (column - column.min()).dt.days",
    )


def _complex_error(where: str) -> InputTypeError:
    return InputTypeError(
        f"Complex data not supported: {where} holds complex numbers",
        "Values must be real numbers, texts or missing",
        "Split real and imaginary parts into two columns",
    )


def _refuse_infinity(values: np.ndarray, label: str, place: Place) -> None:
    if values.dtype == object:
        return
    infinite = np.isinf(values)
    if not infinite.any():
        return
    rows = np.flatnonzero(infinite)
    sign = {(True, False): "+inf", (False, True): "-inf"}.get(
        (bool((values[rows] > 0).any()), bool((values[rows] < 0).any())), "+inf and -inf"
    )
    if place is None:
        found = f"{counted(len(rows), 'row')} (first: row {rows[0]})"
    else:
        found = f"{counted(len(rows), 'place')} (first: {place(int(rows[0]))})"
    raise InputError(
        f"{label} holds {sign} (infinity) in {found}",
        "Values must be finite or missing (NaN)",
        "Replace infinities with NaN, or drop the rows",
    )
