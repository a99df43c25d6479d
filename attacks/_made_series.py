"""Series in every form, as recipes of plain JSON types, and the objects that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from imputefree import Panel

from ._bytes import Generator, chance, pick
from ._made_tables import CONVERSION, Recipe, build_frame, built, make_columns, odd, one_of

STAMPS: dict[str, Callable[[Generator], float]] = {  # steps between times
    "even": one_of(1.0),
    "uneven": lambda rng: float(10 ** rng.uniform(-3, 3)),
    "tiny": one_of(5e-324),
    "huge": one_of(1e300, 1e308),
    "still": one_of(0.0, 1.0),
    "backwards": one_of(-1.0, 2.0),
    "broken": one_of(1.0, float("nan"), float("inf")),
}
FORMS = ["array", "turned", "list", "frames", "nested"]
KEYED = ["long", "polars", "indexed", "pairs"]
OPTIONS = ["id", "time", "static", "variable", "value", "lengths", "times", "axes"]
ROLES = ("id", "time", "variable", "value")
TIMES = ["number"] * 5 + ["date", "date", "zone", "span", "objects", "strings", "mixed"]


def make_series(
    rng: Generator, kinds: dict[str, str], static: dict[str, str], form: str, spoiled: float = 0.2
) -> Recipe:
    """Some series whose columns are of these kinds, in a form; some are spoiled."""
    lengths = [int(steps) for steps in rng.integers(1, 5, int(rng.integers(1, 10)))]
    n, steps = len(lengths), sum(lengths)
    ids = [list(range(n)), [f"p{i}" for i in range(n)], [-i for i in range(n)]]
    between = STAMPS[pick(rng, list(STAMPS) if chance(rng, 0.15) else ["even", "uneven"])]
    recipe: Recipe = {
        "lengths": lengths,
        "ids": pick(rng, ids),
        "times": [[between(rng) for _ in range(count)] for count in lengths],
        "clock": pick(rng, TIMES),
        "columns": make_columns(rng, kinds, steps),
        "static": make_columns(rng, static, n),
        "form": form,
        "how": {"lengths": chance(rng, 0.8), "times": chance(rng, 0.5)},
        "shuffled": int(rng.integers(9)) if chance(rng, 0.2) else None,
    }
    if chance(rng, spoiled):
        recipe["spoiled"] = [pick(rng, list(WAYS)), int(rng.integers(1000)), odd(rng)]
    if chance(rng, spoiled / 3):
        recipe["option"] = [pick(rng, OPTIONS), odd(rng)]
    return recipe


class Series:
    """The series of a recipe: a frame of steps, ids and times; and what describes each series."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe, self.lengths = recipe, recipe["lengths"]
        self.n, self.steps = len(self.lengths), sum(self.lengths)
        self.ids = np.array(recipe["ids"])
        self.who = np.repeat(self.ids, self.lengths)
        with np.errstate(all="ignore"):
            cumulated = [np.cumsum(part) for part in recipe["times"]]
        self.times = _clock(np.concatenate(cumulated), recipe["clock"])
        self.values, self.static = build_frame(recipe["columns"]), build_frame(recipe["static"])

    def parts(self, table: Any) -> list[Any]:
        """A table of steps cut into series."""
        return [table[a:b] for a, b in pairwise(np.cumsum([0, *self.lengths]))]

    def build(self) -> tuple[Any, Recipe]:
        """X, and what goes with it."""
        X, how = self._form(self.recipe["form"])
        if "option" in self.recipe:
            name, value = self.recipe["option"]
            how = how | {name: built(value)}
        if "spoiled" in self.recipe:
            way, k, value = self.recipe["spoiled"]
            try:
                X = WAYS[way](X, k, built(value))
            except (*CONVERSION, AttributeError, IndexError, NotImplementedError):
                pass  # such a thing cannot be made of X
        return X, how

    def _form(self, form: str) -> tuple[Any, Recipe]:
        wanted = self.recipe["how"]
        timed = {"times": self.parts(self.times)} if wanted["times"] else {}
        if form in ("array", "turned"):
            cube, how = self._cube(), {"lengths": self.lengths} if wanted["lengths"] else {}
            return (cube, how) if form == "array" else (cube.swapaxes(1, 2), how | {"axes": "ndt"})
        if form == "list":
            return [part.to_numpy() for part in self.parts(self.values)], timed
        if form == "frames":
            return self.parts(self.values), timed
        if form == "nested":
            cells = {
                name: [part.reset_index(drop=True) for part in self.parts(self.values[name])]
                for name in self.values
            }
            return pd.DataFrame(cells), timed
        frame, how = self.values.reset_index(drop=True), {"id": "who", "time": "hour"}
        frame.insert(0, "who", self.who)
        frame.insert(1, "hour", self.times)
        if self.recipe["shuffled"] is not None:
            frame = frame.sample(frac=1, random_state=self.recipe["shuffled"])
        if form == "pairs":
            how |= {"variable": "what", "value": "much"}
            return frame.melt(["who", "hour"], var_name="what", value_name="much"), how
        for name in self.static:
            cells = np.repeat(self.static[name].astype(object).to_numpy(), self.lengths)
            frame[name] = pd.Series(cells, index=frame.index.sort_values())
        static = {"static": list(self.static)} if len(self.static.columns) else {}
        if form == "indexed":
            return frame.set_index(["who", "hour"]), static
        how |= static
        if form == "polars":
            try:
                return pl.from_pandas(frame), how
            except CONVERSION:
                pass  # polars refuses mixed objects by itself
        return frame, how

    def _cube(self) -> np.ndarray:
        array = np.full((self.n, max(self.lengths) + 1, self.values.shape[1]), np.nan, dtype=object)
        for row, part in zip(array, self.parts(self.values), strict=True):
            row[: len(part)] = part.astype(object).to_numpy()
        try:
            return array.astype(float)
        except CONVERSION:
            return array


def _clock(times: np.ndarray, clock: str) -> Any:
    """Times as numbers, dates, spans, or several of these."""
    if clock == "number" or not (np.abs(times) < 1e5).all():
        return times
    spans = pd.to_timedelta(times, unit="h")
    if clock in ("span", "date", "zone"):
        zone = "UTC" if clock == "zone" else None
        return spans.to_numpy() if clock == "span" else pd.Timestamp("2020", tz=zone) + spans
    cells = times.astype(str if clock == "strings" else object)
    if clock == "mixed":
        cells[::2] = list(pd.Timestamp("2020") + spans[::2])
    return cells


def as_input(X: Any, how: Recipe, model: Any = None) -> Any:
    """X as it is where parameters can say what it means, else a Panel.

    model : is told the parameters; without one, X is read as in training
    """
    how = dict(how)
    plain = not {"lengths", "times"} & set(how) and isinstance(how.get("static"), str | list | None)
    if plain and model is not None:
        model.set_params(**how)
        return X
    roles = {name: how[name] for name in ROLES if name in how}
    if plain and (not roles or "axes" in how):
        return X
    if {"variable", "value"} & set(roles):
        return Panel.from_pairs(X, **dict.fromkeys(ROLES) | roles, static=how.get("static"))
    if roles:
        return Panel.from_long(X, **roles, static=how.get("static"))
    if "lengths" in how or (isinstance(X, np.ndarray) and X.ndim == 3):
        return Panel.from_array(X, **how)
    how.pop("axes", None)
    return Panel.from_list(X, **how)


# ---- ways to spoil X; k: any number, value: any object
def _with_item(X: Any, k: int, value: Any) -> Any:
    """One cell, series or row replaced."""
    if isinstance(X, list):
        return [*X[: k % len(X)], value, *X[k % len(X) + 1 :]]
    if isinstance(X, np.ndarray):
        X = X.astype(object)
        X.flat[k % X.size] = value
        return X
    name = X.columns[k % X.shape[1]]
    cells = X[name].astype(object).tolist()
    cells[k % len(cells)] = value
    return X.assign(**{name: pd.Series(cells, index=X.index, dtype=object)})


def _same_cell(X: Any, k: int, value: Any) -> Any:
    return X.assign(**{X.columns[k % X.shape[1]]: pd.Series([value] * len(X), index=X.index)})


def _empty(X: Any, k: int, value: Any) -> Any:
    if isinstance(X, list):
        return _with_item(X, k, X[k % len(X)][:0])
    return X[:0]


WAYS: dict[str, Callable[[Any, int, Any], Any]] = {
    "instead": lambda X, k, value: value,
    "item": _with_item,
    "column of one value": _same_cell,
    "empty": _empty,
    "no columns": lambda X, k, value: X[..., :0] if isinstance(X, np.ndarray) else X.iloc[:, :0],
    "fewer axes": lambda X, k, value: X[0],
    "masked": lambda X, k, value: np.ma.masked_invalid(X),
    "infinite": lambda X, k, value: X * np.inf,
    "series in itself": lambda X, k, value: [X, X],
    "rows twice": lambda X, k, value: pd.concat([X, X.iloc[:1]]),
    "column gone": lambda X, k, value: X.drop(columns=X.columns[k % X.shape[1]]),
    "column twice": lambda X, k, value: pd.concat([X, X.iloc[:, [k % X.shape[1]]]], axis=1),
    "category": lambda X, k, value: X.astype({X.columns[k % X.shape[1]]: "category"}),
    "numbered": lambda X, k, value: X.set_axis(range(X.shape[1]), axis=1),
    "other index": lambda X, k, value: X.reset_index(),
    "more levels": lambda X, k, value: X.set_index([*X.columns[:3]]),
    "lazy": lambda X, k, value: X.lazy(),
    "who is missing": lambda X, k, value: X.with_columns(pl.lit(None).alias("who")),
}
