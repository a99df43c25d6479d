"""Whatever series come in, in whatever form: finite predictions or an error on purpose."""

from __future__ import annotations

import contextlib
import datetime
import warnings
from collections import Counter
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from imputefree import GILSequenceClassifier, GILSequenceRegressor, ImputefreeError, Panel
from tests.estimators.test_fuzz import LABELS, MEASURES, WORDS, columns, kinds

TINY = {"n_members": 2, "max_iter": 1, "hidden_layer_sizes": (4,), "random_state": 0}
PHASES = (Phase.explicit, Phase.generate)  # shrinking takes minutes
FEW = settings(max_examples=50, deadline=None, derandomize=True, phases=PHASES)
SETTINGS = st.fixed_dictionaries(
    {
        "policy": st.sampled_from(["none", "observed", "random", "ddpg", "meta", "gate"]),
        "cell": st.sampled_from(["lstm", "gru"]),
        "placeholder": st.sampled_from([0.0, 1.0, -1e6, "learned"]),
        "indicator": st.booleans(),
        "time_since": st.booleans(),
        "summary": st.booleans(),
        "numeric_encoding": st.sampled_from(["plain", "rich", "auto"]),
        "hide": st.sampled_from([0.0, 0.5]),
        "per_step": st.booleans(),
        "batch_size": st.sampled_from([1, 4, 128]),
        "early_stopping": st.booleans(),
    }
)

# What may be handed over where something else is asked for.
ODD = [
    *(None, "", "c0", "nope", 0, -1, 3.5, np.nan, np.inf, True, b"b", 1j, [], {}, (), object()),
    *([[1], [2, 3]], ["c0", "c0"], [None], range(3), datetime.date(2020, 1, 1), pd.NA, pd.NaT),
    *(np.array(3.0), np.zeros(3), np.zeros((2, 2)), np.array([np.nan, np.inf]), np.array("text")),
    *(np.array([1, "a", None], dtype=object), np.array(["2020"], dtype="datetime64[D]")),
    *(pd.Series([1.0, None], index=["x", "y"]), pd.Series([1, 1], index=[0, 0]), pd.Index(["c0"])),
    *(pd.DataFrame({"c0": [1.0, 2.0]}), pd.DataFrame(), pl.Series([1, None]), pl.DataFrame()),
]
ODDITIES = st.sampled_from(ODD)
STAMPS = {  # strictly increasing times, and others
    "steps": st.just(1.0),
    "uneven": st.floats(1e-3, 1e3),
    "tiny": st.just(5e-324),
    "huge": st.sampled_from([1e300, 1e308]),
    "still": st.sampled_from([0.0, 1.0]),
    "backwards": st.sampled_from([-1.0, 2.0]),
    "broken": st.sampled_from([1.0, np.nan, np.inf]),
}


@st.composite
def stamps(draw, lengths):
    """One time a step, of all series one after the other."""
    names = list(STAMPS)
    gaps = STAMPS[draw(st.sampled_from(names if rarely(draw, 6) else names[:3]))]
    found = []
    with np.errstate(all="ignore"):
        for steps in lengths:
            gap = draw(st.lists(gaps, min_size=steps, max_size=steps))
            found.append(np.cumsum(gap))
    times = np.concatenate(found) if found else np.empty(0)
    kind = draw(st.sampled_from(["number", "number", "date", "zone", "span", "object"]))
    if kind == "number" or not 1e-3 < np.abs(times).min(initial=1) <= times.max(initial=1) < 1e5:
        return times
    if kind == "object":
        return times.astype(str if rarely(draw, 4) else object)
    spans = pd.to_timedelta(times, unit="h")
    if kind == "span":
        return spans.to_numpy()
    return pd.DatetimeIndex(pd.Timestamp("2020", tz="UTC" if kind == "zone" else None) + spans)


def rarely(draw, one_in):
    """True once in so many draws; the ends of a range come up more often than that."""
    return draw(st.integers(0, one_in - 1)) == one_in // 2


class Made:
    """Some series as a frame of steps: ids, times, columns; and what describes each series."""

    def __init__(self, draw, names, kind_of, static_kinds):
        self.lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=9))
        self.n, self.steps = len(self.lengths), sum(self.lengths)
        ids = {
            "count": np.arange(self.n),
            "text": np.array([f"p{i}" for i in range(self.n)], dtype=object),
            "unsorted": np.arange(self.n)[::-1] - 3,
            "fraction": np.arange(self.n) / 2,
        }
        self.ids = ids[draw(st.sampled_from(list(ids)))]
        self.who = np.repeat(self.ids, self.lengths)
        self.times = draw(stamps(self.lengths))
        self.values = pd.DataFrame(
            {name: draw(columns(kind_of[name], self.steps)) for name in names}
        )
        self.static = pd.DataFrame(
            {name: draw(columns(kind, self.n)) for name, kind in static_kinds.items()}
        )

    def parts(self, table):
        """A table of steps cut into series."""
        at = np.cumsum([0, *self.lengths])
        return [table[a:b] for a, b in pairwise(at)]

    def cube(self, dtype):
        array = np.full((self.n, max(self.lengths) + 1, self.values.shape[1]), np.nan, dtype=dtype)
        for row, part in zip(array, self.parts(self.values), strict=True):
            row[: len(part)] = part.astype(dtype).to_numpy()
        return array

    def long(self):
        frame = self.values.reset_index(drop=True)
        frame.insert(0, "who", self.who)
        frame.insert(1, "hour", self.times)
        return frame

    def in_form(self, draw, form):
        """X and what goes with it."""
        timed = {} if draw(st.booleans()) else {"times": self.parts(self.times)}
        if form in ("array", "turned"):
            try:
                array = self.cube(float)
            except (TypeError, ValueError, OverflowError):
                array = self.cube(object)
            how = {} if rarely(draw, 6) else {"lengths": self.lengths}
            if form == "turned":
                return array.transpose(0, 2, 1), how | {"axes": "ndt"}
            return array, how
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
        frame, how = self.long(), {"id": "who", "time": "hour"}
        if rarely(draw, 4):
            frame = frame.sample(frac=1, random_state=draw(st.integers(0, 9)))
        if form == "indexed":
            return frame.set_index(["who", "hour"]), {}
        if form == "pairs":
            how |= {"variable": "what", "value": "much"}
            return frame.melt(["who", "hour"], var_name="what", value_name="much"), how
        if form == "statics" and self.static.shape[1]:
            for name in self.static:
                values = np.repeat(self.static[name].astype(object).to_numpy(), self.lengths)
                frame[name] = pd.Series(values, index=frame.index.sort_values())
            return frame, how | {"static": list(self.static)}
        if form == "polars":
            with contextlib.suppress(
                TypeError, ValueError, OverflowError, pl.exceptions.PolarsError
            ):
                return pl.from_pandas(frame), how  # it refuses mixed objects by itself
        return frame, how


FORMS = [
    *("array", "turned", "list", "frames", "nested"),
    *("long", "statics", "polars", "indexed", "pairs"),
]


@st.composite
def worlds(draw):
    """Series to learn from and series to predict on, of the same columns or nearly so."""
    names = [f"c{j}" for j in range(draw(st.integers(1, 3)))]
    learned = {name: draw(kinds()) for name in names}
    later = {n: draw(kinds()) if rarely(draw, 9) else learned[n] for n in names}
    statics = {f"s{j}": draw(kinds()) for j in range(draw(st.integers(0, 2)))}
    return Made(draw, names, learned, statics), Made(draw, names, later, statics)


def spoil(draw, X, how, made):
    """Mutate the series themselves or what is said about them."""
    wide, n = max(made.lengths), made.n
    ways = {
        "option": lambda: (X, how | {draw(st.sampled_from(OPTIONS)): draw(ODDITIES)}),
        "forget": lambda: (X, dict(list(how.items())[1:])),
        "lengths": lambda: (X, how | {"lengths": draw(st.lists(st.integers(-1, wide + 3)))}),
        "times": lambda: (X, how | {"times": made.times}),
        "static": lambda: (X, how | {"static": made.static}),
        "static array": lambda: (X, how | {"static": np.ones((n, draw(st.integers(0, 2))))}),
        "X": lambda: (draw(ODDITIES), how),
        "more": lambda: _mutate(draw, X, how),
    }
    return ways[draw(st.sampled_from([*ways, *["more"] * 5]))]()


OPTIONS = ["id", "time", "static", "variable", "value", "lengths", "times", "axes"]


def _mutate(draw, X, how):
    if isinstance(X, np.ndarray):
        way = draw(st.integers(0, 4))
        if way == 0:
            return X[..., :0], how
        if way == 1:
            return X[:, :0], how
        if way == 2:
            return X[0], how
        if way == 3:
            return np.ma.masked_invalid(X) if X.dtype == float else X.tolist(), how
        X = X.copy()
        X.flat[draw(st.integers(0, X.size - 1))] = np.inf
        return X, how
    if isinstance(X, list):
        i, way = draw(st.integers(0, len(X) - 1)), draw(st.integers(0, 5))
        odd = [X[i][:0], X[i][:, :0] if isinstance(X[i], np.ndarray) else X[i].iloc[:, :0]]
        odd += [draw(ODDITIES), np.full((2, 1), np.inf), X, pd.DataFrame({"other": [1.0]})]
        return [*X[:i], odd[way], *X[i + 1 :]], how
    if isinstance(X, pl.DataFrame):
        ways = [X[:0], X.lazy(), X.select(X.columns[:2]), X.with_columns(pl.lit(None).alias("who"))]
        return draw(st.sampled_from(ways)), how
    if not isinstance(X, pd.DataFrame):
        return X, how
    name = draw(st.sampled_from(list(X.columns)))
    cell = draw(ODDITIES | WORDS)
    ways = {
        "no rows": lambda: X.iloc[:0],
        "rows twice": lambda: pd.concat([X, X.iloc[:1]]),
        "no columns": lambda: X.iloc[:, :0],
        "column gone": lambda: X.drop(columns=name),
        "column twice": lambda: pd.concat([X, X[[name]]], axis=1),
        "cell": lambda: X.assign(**{name: [cell, *X[name].astype(object).tolist()[1:]]}),
        "column": lambda: X.assign(**{name: pd.Series([cell] * len(X), index=X.index)}),
        "category": lambda: X.astype({name: "category"}),
        "numbered": lambda: X.set_axis(range(X.shape[1]), axis=1),
        "other index": lambda: X.reset_index(),
        "more levels": lambda: X.set_index([*X.columns[:3]]),
    }
    try:
        return ways[draw(st.sampled_from(list(ways)))](), how
    except (TypeError, ValueError):
        return X, how  # pandas itself refuses such a frame


def beside(draw, made, targets, per_step, keyed):
    """Labels, and now and then weights, groups and held-out series."""
    count = made.steps if per_step else made.n
    y = draw(draw(st.sampled_from(targets))(count))
    if not rarely(draw, 5):  # labels with gaps are refused, and that is soon known
        known = [cell for cell in y if cell is not None]
        y = known + known[:1] * (count - len(known)) if known else y
    by_id = keyed and draw(st.booleans())
    if per_step and draw(st.booleans()):
        y = [list(part) for part in made.parts(np.array(y, dtype=object))]
    elif per_step and keyed and draw(st.booleans()):
        y = pd.Series(y, index=pd.MultiIndex.from_arrays([made.who, made.times]))
    elif not per_step and by_id:
        y = pd.Series(y, index=made.ids)
    found = {"y": draw(ODDITIES) if rarely(draw, 20) else y}
    several = {
        "sample_weight": st.floats(0, 1e308) | st.sampled_from([0.0, 1.0, -1.0, np.nan, None]),
        "groups": st.sampled_from([1, 2, "a", None]),
        "held_out": st.booleans(),
    }
    for name, cells in several.items():
        if rarely(draw, 7):
            values = draw(st.lists(cells, min_size=made.n, max_size=made.n))
            if by_id:
                values = dict(zip(made.ids.tolist(), values, strict=True))
            found[name] = draw(ODDITIES) if rarely(draw, 4) else values
    return found


def flat(found, lengths):
    """Predictions of series or steps as one array, after a look at their form."""
    if isinstance(found, list):
        assert [len(one) for one in found] == list(lengths)
        return np.concatenate(found)
    return found


def as_input(X, how, model=None):
    """X as it is where parameters can say what it means, else a Panel."""
    how = dict(how)
    roles = {name: how[name] for name in ("id", "time", "variable", "value") if name in how}
    plain = isinstance(how.get("static"), str | list | None)
    if plain and not {"lengths", "times"} & set(how):
        if model is not None:
            model.set_params(**how)
            return X
        if not roles or how.get("axes", "ntd") != "ntd":
            return X  # read as in training
    if {"variable", "value"} & set(roles):
        given = dict.fromkeys(("id", "time", "variable", "value")) | roles
        return Panel.from_pairs(X, **given, static=how.get("static"))
    if roles:
        return Panel.from_long(X, **roles, static=how.get("static"))
    if "lengths" in how or (isinstance(X, np.ndarray) and X.ndim == 3):
        return Panel.from_array(X, **how)
    how.pop("axes", None)
    return Panel.from_list(X, **how)


def tried(model, data, targets):
    """Draw, fit, predict; what was predicted, or None where something was refused."""
    draw = data.draw
    first, later = draw(worlds())
    form = draw(st.sampled_from(FORMS))
    X, how = first.in_form(draw, form)
    labels = beside(draw, first, targets, model.per_step, FORMS.index(form) >= FORMS.index("long"))
    other = draw(st.sampled_from(FORMS)) if rarely(draw, 5) else form
    new, told = later.in_form(draw, other)
    spoiled = draw(st.sampled_from([None, None, None, None, "before", "after"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if spoiled == "before":
            X, how = spoil(draw, X, how, first)
        if spoiled == "after":
            new, told = spoil(draw, new, told, later)
        try:
            X = as_input(X, how, model)
            model.fit(X, **labels)
            model.predict(X)
            new = as_input(new, told)
            guess = model.predict(new)
        except ImputefreeError:
            return None
        if spoiled is None:
            assert len(guess) in (later.n, later.steps)
        return new, guess


@pytest.mark.slow
def test_a_classifier_predicts_probabilities_or_refuses_the_series():
    outcomes = Counter()

    @FEW
    @given(st.data())
    def run(data):
        model = GILSequenceClassifier(**TINY, **data.draw(SETTINGS))
        result = tried(model, data, LABELS)
        outcomes[result is not None] += 1
        if result is None:
            return
        new, guess = result
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = model.predict_proba(new)
        lengths = [len(one) for one in guess] if isinstance(guess, list) else None
        guess, found = flat(guess, lengths), flat(found, lengths)
        assert set(guess.tolist()) <= set(model.classes_.tolist())
        assert found.shape == (len(guess), len(model.classes_))
        assert ((found >= 0) & (found <= 1)).all()
        np.testing.assert_allclose(found.sum(1), 1.0, atol=1e-12)

    run()
    assert min(outcomes[True], outcomes[False]) >= 8  # both ends are reached


@pytest.mark.slow
def test_a_regressor_predicts_finite_numbers_or_refuses_the_series():
    outcomes = Counter()

    @FEW
    @given(st.data())
    def run(data):
        model = GILSequenceRegressor(**TINY, **data.draw(SETTINGS))
        result = tried(model, data, MEASURES)
        outcomes[result is not None] += 1
        if result is not None:
            guess = result[1]
            guess = np.concatenate(guess) if isinstance(guess, list) else guess
            assert np.isfinite(guess).all()

    run()
    assert min(outcomes[True], outcomes[False]) >= 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "per_step"),
    [("array", False), ("list", True), ("long", False), ("indexed", True), ("polars", False)],
)
def test_any_oddity_anywhere_is_an_error_on_purpose_or_does_no_harm(form, per_step):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"who": [0, 0, 1, 1, 2, 2], "hour": [0, 1] * 3, "c0": rng.normal(size=6)})
    X, columns = {
        "array": lambda: (frame["c0"].to_numpy().reshape(3, 2, 1), {}),
        "list": lambda: (list(frame["c0"].to_numpy().reshape(3, 2, 1)), {}),
        "long": lambda: (frame, {"id": "who", "time": "hour"}),
        "indexed": lambda: (frame.set_index(["who", "hour"]), {}),
        "polars": lambda: (pl.from_pandas(frame), {"id": "who", "time": "hour"}),
    }[form]()
    y = np.arange(6) % 2 if per_step else np.arange(3) % 2
    options = TINY | {"n_members": 1, "per_step": per_step}

    def fit(odd, name):
        roles, given = columns, {"X": X, "y": y}
        if name in LAYOUT:
            roles = columns | {name: odd}
        else:
            given[name] = odd
        model = GILSequenceClassifier(**options, **roles).fit(**given)
        found = model.predict_proba(given["X"])
        assert np.isfinite(np.concatenate(found) if per_step else found).all()

    fitted = GILSequenceClassifier(**options, **columns).fit(X, y)
    calls = {f"fit {name}": partial(fit, name=name) for name in [*LAYOUT, *BESIDE, "X", "y"]}
    calls |= {
        "predict": fitted.predict,
        "score": lambda odd: fitted.score(X, y, odd),
        "lengths": lambda odd: Panel.from_array(np.zeros((3, 2, 1)), lengths=odd),
        "times": lambda odd: Panel.from_list([np.zeros((2, 1))] * 3, times=odd),
        "static": lambda odd: Panel.from_list([np.zeros((2, 1))] * 3, static=odd),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for odd in ODD:
            for name, call in calls.items():
                try:
                    call(odd)
                except ImputefreeError:
                    continue
                except Exception as error:
                    raise AssertionError(f"{name}={odd!r}") from error


LAYOUT = ["id", "time", "static", "variable", "value", "axes"]
BESIDE = ["sample_weight", "groups", "held_out"]
