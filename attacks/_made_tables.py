"""Tables of every kind, as recipes of plain JSON types, and the objects that they stand for."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

from ._bytes import Generator, chance, pick

Recipe = dict[str, Any]
EXTREMES = [0.0, -0.0, 1e308, -1e308, 1.7976931348623157e308, 5e-324, -5e-324, 1e-300, 1e-40]
EXTREMES += [3.4e38, 3.5e38, 1e39, -1e39, 1e20, 1e15, 2.0**53, 1e-9, float(np.float32(0.1))]
WORDS = ["a", "b", "ç", "", " ", "nan", "1", "1.0", "?", "\U0001f600", "\0", "x" * 200, "None"]
# What JSON does not have, by name: in place of a cell, a label, a weight, a table or an option
ODD: dict[str, Any] = {
    "bytes": b"b",
    "tuple": (1, 2),
    "list": [1],
    "empty list": [],
    "nested list": [[1], [2, 3]],
    "dict": {"k": 1},
    "empty dict": {},
    "set": {1},
    "complex": 1j,
    "date": datetime.date(2020, 1, 1),
    "moment": pd.Timestamp("2020-01-01"),
    "moment with zone": pd.Timestamp("2020-01-01", tz="UTC"),
    "span": pd.Timedelta(hours=1),
    "datetime64": np.datetime64("2020-01-01"),
    "large": 10**30,
    "too large": 10**400,
    "decimal": Decimal("0.1"),
    "decimal nan": Decimal("NaN"),
    "decimal infinity": Decimal("Infinity"),
    "fraction": Fraction(1, 3),
    "float32": np.float32(0.1),
    "longdouble": np.longdouble(1e300) * np.longdouble(1e300),
    "bool_": np.bool_(True),
    "str_": np.str_("a"),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "none": None,
    "object": object(),
    "type": int,
    "function": len,
    "slice": slice(None),
    "range": range(3),
    "scalar array": np.array(3.0),
    "array": np.zeros(3),
    "matrix": np.zeros((2, 2)),
    "no rows": np.zeros((0, 2)),
    "no columns": np.zeros((2, 0)),
    "cube": np.zeros((2, 2, 2)),
    "string array": np.array("text"),
    "dates": np.array(["2020"], dtype="datetime64[D]"),
    "objects": np.array([1, "a", None], dtype=object),
    "records": np.zeros(2, dtype=[("a", float), ("b", "U3")]),
    "series": pd.Series([1.0, None], index=["x", "y"]),
    "index": pd.Index(["c0"]),
    "frame": pd.DataFrame({"c0": [1.0, 2.0]}),
    "empty frame": pd.DataFrame(),
    "polars series": pl.Series([1, None]),
    "empty polars": pl.DataFrame(),
    "lazy": pl.DataFrame({"c0": [1.0]}).lazy(),
    "sparse": sparse.eye(3).tocsr(),
    "generator": (i for i in range(3)),
}


def odd(rng: Generator) -> Recipe:
    """Any of these objects."""
    return {"odd": pick(rng, list(ODD))}


def built(value: Any) -> Any:
    """A cell, or whatever stands in its place, from its recipe."""
    return ODD[value["odd"]] if isinstance(value, dict) and "odd" in value else value


# ---- columns
def number(rng: Generator) -> float:
    """Finite, mostly of usual size."""
    if chance(rng, 0.15):
        return pick(rng, EXTREMES)
    return float(rng.normal() * 10.0 ** rng.integers(-2, 3))


def whole(rng: Generator) -> int:
    return int(rng.integers(-(2**62), 2**62)) if chance(rng, 0.1) else int(rng.integers(-5, 9))


def word(rng: Generator) -> str:
    return pick(rng, WORDS)


def moment(rng: Generator) -> str:
    return str(np.datetime64("1970-01-01T00:00") + int(rng.integers(-(10**7), 10**7)))


def anything(rng: Generator) -> Any:
    return pick(rng, [number, whole, word, truth, odd])(rng)


def mixed(rng: Generator) -> Any:
    return pick(rng, [number, whole, word, truth])(rng)


def truth(rng: Generator) -> bool:
    return chance(rng, 0.5)


def one_of(*values: Any) -> Callable[[Generator], Any]:
    return lambda rng: pick(rng, values)


# Kinds of columns: the dtype ("" for what pandas makes of them, which has no gaps) and the cells
KINDS: dict[str, tuple[str, Callable[[Generator], Any]]] = {
    "float": ("float64", number),
    "float32": ("float32", lambda rng: float(np.float32(rng.normal()))),
    "int": ("", lambda rng: int(rng.integers(-9, 9))),
    "nullable int": ("Int64", whole),
    "nullable float": ("Float64", number),
    "bool": ("", truth),
    "nullable bool": ("boolean", truth),
    "text": ("str", word),
    "category": ("category", word),
    "category of numbers": ("category", one_of(0, 1, 2, 3)),
    "objects": ("object", mixed),
    "constant": ("float64", one_of(7.0)),
    "missing": ("float64", one_of(None)),
    "missing objects": ("object", one_of(None)),
    "missing categories": ("category", one_of(None)),
    "tiny": ("float64", one_of(5e-324, 1e-310, 0.0)),
    "huge": ("float64", one_of(1e300, -1e300, 1e308)),
}
REFUSED: dict[str, tuple[str, Callable[[Generator], Any]]] = {  # kinds that no table may have
    "infinite": ("float64", one_of(1.0, float("inf"), float("-inf"))),
    "dates": ("datetime64[us]", moment),
    "odd objects": ("object", anything),
    "periods": ("period[D]", moment),
}


def some_kind(rng: Generator) -> str:
    """Mostly a kind that is welcome."""
    return pick(rng, list(REFUSED if chance(rng, 0.05) else KINDS))


def make_column(rng: Generator, kind: str, n: int) -> Recipe:
    """A column of so many cells, with gaps."""
    dtype, cell = (KINDS | REFUSED)[kind]
    gaps = pick(rng, [0.0, 0.0, 0.3, 0.8]) if dtype else 0.0
    return {
        "dtype": dtype,
        "cells": [None if chance(rng, gaps) else cell(rng) for _ in range(n)],
    }


def build_column(column: Recipe) -> pd.Series:
    """The column as pandas has it; as objects if pandas refuses its dtype."""
    cells = [built(cell) for cell in column["cells"]]
    try:
        return pd.Series(cells, dtype=column["dtype"] or None)
    except (TypeError, ValueError, OverflowError):
        return pd.Series(cells, dtype=object)


def make_columns(rng: Generator, kinds: dict[str, str], n: int) -> dict[str, Recipe]:
    """Columns by name, of these kinds."""
    return {name: make_column(rng, kind, n) for name, kind in kinds.items()}


def build_frame(columns: dict[str, Recipe]) -> pd.DataFrame:
    return pd.DataFrame({name: build_column(column) for name, column in columns.items()})


# ---- tables
def _sparse_columns(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(float).astype(pd.SparseDtype("float", np.nan))


FORMS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "frame": lambda frame: frame,
    "array": lambda frame: frame.to_numpy(),
    "floats": lambda frame: frame.to_numpy(dtype=float, na_value=np.nan),
    "float32": lambda frame: frame.to_numpy(dtype=np.float32, na_value=np.nan),
    "fortran": lambda frame: np.asfortranarray(frame.to_numpy(dtype=float, na_value=np.nan)),
    "objects": lambda frame: frame.to_numpy(dtype=object),
    "strings": lambda frame: frame.to_numpy(dtype=str),
    "list": lambda frame: frame.to_numpy(dtype=object).tolist(),
    "tuples": lambda frame: tuple(map(tuple, frame.to_numpy(dtype=object))),
    "dicts": lambda frame: frame.to_dict("records"),
    "columns": lambda frame: frame.to_dict("list"),
    "polars": pl.from_pandas,
    "sparse": lambda frame: sparse.csr_matrix(np.nan_to_num(frame.to_numpy(dtype=float))),
    "sparse columns": _sparse_columns,
    "masked": lambda frame: np.ma.masked_invalid(frame.to_numpy(dtype=float)),
    "records": lambda frame: frame.to_records(index=not len(frame.columns)),
    "nullable": lambda frame: frame.convert_dtypes(),
}
# What libraries raise if they cannot make a form of such cells
CONVERSION: tuple[type[BaseException], ...] = (TypeError, ValueError, OverflowError, KeyError)
CONVERSION += (pl.exceptions.PolarsError, pl.exceptions.PanicException)
WAYS: dict[str, Callable[[pd.DataFrame, int], Any]] = {  # to spoil a table; number: any
    "no rows": lambda X, k: X.iloc[:0],
    "no columns": lambda X, k: X.iloc[:, :0],
    "one row": lambda X, k: X.iloc[0],
    "one column": lambda X, k: X.iloc[:, k % X.shape[1]],
    "cube": lambda X, k: X.to_numpy()[None],
    "column gone": lambda X, k: X.drop(columns=X.columns[k % X.shape[1]]),
    "column twice": lambda X, k: pd.concat([X, X.iloc[:, [k % X.shape[1]]]], axis=1),
    "another column": lambda X, k: X.assign(another=1.0),
    "other order": lambda X, k: X.iloc[:, ::-1],
    "numbered": lambda X, k: X.set_axis(range(X.shape[1]), axis=1),
    "names of two kinds": lambda X, k: X.set_axis([0, *map(str, X.columns[1:])], axis=1),
    "names in levels": lambda X, k: pd.concat({"x": X}, axis=1),
    "other index": lambda X, k: X.set_axis(["same"] * len(X)),
    "more rows": lambda X, k: pd.concat([X] * 9),
    "all strings": lambda X, k: X.astype(str),
    "categories": lambda X, k: X.astype("category"),
    "shifted": lambda X, k: X.select_dtypes("number") * 10.0 ** (k % 400),
    "transposed": lambda X, k: X.T,
}  # fmt: skip


def make_table(rng: Generator, kinds: dict[str, str], n: int, spoiled: float = 0.15) -> Recipe:
    """A table of n rows whose columns are of these kinds; some are spoiled."""
    recipe: Recipe = {"columns": make_columns(rng, kinds, n)}
    recipe["form"] = pick(rng, list(FORMS)) if chance(rng, 0.4) else "frame"
    if chance(rng, spoiled):
        recipe["spoiled"] = [pick(rng, list(WAYS)), int(rng.integers(1000))]
    if chance(rng, spoiled / 5):
        recipe["instead"] = odd(rng)
    return recipe


def build_table(recipe: Recipe) -> Any:
    """X; where a library refuses a form, the frame."""
    if "instead" in recipe:
        return built(recipe["instead"])
    X = build_frame(recipe["columns"])
    if "spoiled" in recipe:
        way, k = recipe["spoiled"]
        try:
            X = WAYS[way](X, k)
        except CONVERSION:
            return X
    try:
        return FORMS[recipe["form"]](X) if isinstance(X, pd.DataFrame) else X
    except (*CONVERSION, AttributeError):
        return X


# ---- labels and weights
LABELS: dict[str, Callable[[Generator], Any]] = {
    "one": one_of(0),
    "two": one_of(0, 1),
    "three": one_of("x", "y", "z"),
    "truth": truth,
    "floats": one_of(0.5, 1.5, 2.0),
    "any number": number,
    "mixed": one_of("a", 1, 2.5),
    "odd": anything,
}
MEASURES: dict[str, Callable[[Generator], Any]] = {
    "usual": lambda rng: float(rng.normal()),
    "few": one_of(-1, 0, 2),
    "tiny": lambda rng: float(rng.random() * 1e-300),
    "large": lambda rng: float(rng.normal() * 1e140),
    "larger": one_of(1e300, -1e300, 1e308),
    "single": one_of(1e38, 3e38, 1e39),
    "least": one_of(5e-324, 0.0, 1e-310),
    "far apart": one_of(1e-300, 1e140, 0.0),
    "whole": whole,
    "constant": one_of(3.0),
    "infinite": one_of(1.0, float("inf")),
    "words": word,
    "odd": anything,
}
WEIGHTS: dict[str, Callable[[Generator], Any]] = {
    "usual": lambda rng: float(rng.random()),
    "large": one_of(1.0, 1e300, 1e308),
    "tiny": one_of(5e-324, 1e-300, 0.0),
    "zero": one_of(0.0),
    "negative": one_of(1.0, -1.0),
    "gaps": one_of(1.0, None, float("nan")),
    "infinite": one_of(1.0, float("inf")),
    "odd": anything,
}
GIVEN_AS: dict[str, Callable[[list], Any]] = {
    "list": lambda cells: cells,
    "array": np.array,
    "objects": lambda cells: np.array(cells, dtype=object),
    "series": pd.Series,
    "column": lambda cells: np.array(cells)[:, None],
    "two columns": lambda cells: np.array([cells, cells]).T,
    "category": lambda cells: pd.Series(cells, dtype="category"),
    "polars": pl.Series,
}


def make_vector(rng: Generator, kinds: dict[str, Any], n: int, odds: float = 0.1) -> Recipe:
    """One cell per row, of one of these kinds: the first ones mostly."""
    if chance(rng, odds / 3):
        return odd(rng)
    names = list(kinds)
    cell = kinds[pick(rng, names if chance(rng, 0.4) else names[:3])]
    n += int(rng.integers(-1, 2)) if chance(rng, odds / 3) else 0
    cells = [cell(rng) for _ in range(n)]
    if n and chance(rng, odds / 2):
        cells[int(rng.integers(n))] = None
    return {"cells": cells, "as": pick(rng, list(GIVEN_AS)) if chance(rng, 0.3) else "list"}


def build_vector(recipe: Recipe) -> Any:
    """Labels, weights or groups."""
    if "odd" in recipe:
        return built(recipe)
    cells = [built(cell) for cell in recipe["cells"]]
    try:
        return GIVEN_AS[recipe["as"]](cells)
    except CONVERSION:
        return cells
