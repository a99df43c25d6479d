"""Members of a list, one a series: told apart, and put one below the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ...errors import InputError, InputTypeError, listed
from .._columns import as_values, is_polars
from ._panel_frames import names_of, plain


def is_nested(values: Any) -> bool:
    """Whether a list holds one sequence a series rather than single values."""
    return isinstance(values, list | tuple) and any(
        isinstance(member, list | tuple) or np.ndim(member) > 0 for member in values
    )


def member_kind(member: Any) -> str:
    """Members of one kind can be put one below the other."""
    if isinstance(member, pd.DataFrame):
        return "a pandas DataFrame"
    polars = is_polars(member) and type(member).__name__ == "DataFrame"
    return "a polars DataFrame" if polars else "an array"


def member_array(member: Any, i: int) -> np.ndarray:
    """One series as (T_i, D)."""
    if isinstance(member, pd.Series):
        member = plain(member)
    array = as_values(member, f"series {i}")
    if array.ndim == 1:
        return array[:, None]
    if array.ndim != 2:
        what = f"{array.ndim}D" if array.ndim else f"a {type(member).__name__}"
        raise InputError(
            f"series {i} of the list is {what}",
            "A series is (steps, columns), or (steps,) for a single column",
            "Pass a list of 2D arrays, or one 3D array (series, steps, columns)",
        )
    return array


def stack(arrays: list[np.ndarray]) -> np.ndarray:
    """np.concatenate that never turns numbers into texts."""
    if len({array.dtype.kind in "USO" for array in arrays}) > 1:
        arrays = [array.astype(object) for array in arrays]
    return np.concatenate(arrays)


def stack_frames(members: list[Any], polars: bool) -> Any:
    """One frame below the other, columns in the order of the first."""
    names = names_of(members[0])
    for i, member in enumerate(members):
        if list(member.columns) == list(members[0].columns):
            continue
        own = names_of(member)
        missing = [name for name in names if name not in own]
        extra = [name for name in own if name not in names]
        if missing or extra or len(own) != len(names):
            raise InputError(
                f"series {i} has other columns than series 0: "
                + listed(("missing", missing), ("not in series 0", extra)),
                "All series must have the same columns (their order does not matter)",
                "Rename, add (all NaN is allowed) or drop the columns named above",
            )
        members[i] = member.select(names) if polars else member[list(members[0].columns)]
    if not polars:
        frame = pd.concat(members, ignore_index=True)
        for name, dtype in members[0].dtypes.items():  # concat forgets categories that differ
            if isinstance(dtype, pd.CategoricalDtype) and frame[name].dtype != dtype:
                frame[name] = frame[name].astype("category")
        return frame
    import polars as pl

    try:
        return pl.concat(members, how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        odd = next(i for i, member in enumerate(members) if member.schema != members[0].schema)
        raise InputTypeError(
            f"series {odd} has columns of other types than series 0 ({error})",
            "A column must be of one type in all series",
            "Cast the columns, for example with .cast(pl.Float64)",
        ) from None
