"""Whatever table or file comes in: finite predictions or an error on purpose, nothing else."""

from __future__ import annotations

import datetime
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imputefree import GILClassifier, GILRegressor
from imputefree.errors import InputError, ModelFileError

TINY = {"n_members": 2, "max_iter": 1, "hidden_layer_sizes": (4,), "random_state": 0}
FEW = settings(max_examples=40, deadline=None, derandomize=True)

EXTREMES = st.sampled_from([0.0, -0.0, 1e308, -1e308, 1.7976931348623157e308, 5e-324, 1e-300])
FINITE = EXTREMES | st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.integers(-(2**62), 2**62)
WORDS = st.sampled_from(["a", "b", "ç", "", " ", "nan", "1", "1.0"]) | st.text(max_size=3)
CELLS = WORDS | FINITE | WHOLE | st.booleans() | st.sampled_from([b"b", 10**30, np.float32(0.1)])
ODD = st.sampled_from([(1, 2), [1], {"k": 1}, 1j, datetime.date(2020, 1, 1), 10**400])
MOMENT = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1))
KINDS = {  # the dtype of a column and what its cells hold; missing cells come on top
    "float": (float, FINITE),
    "float32": (np.float32, st.floats(width=32, allow_nan=False, allow_infinity=False)),
    "int": (None, st.integers(-(2**31), 2**31)),
    "nullable int": ("Int64", WHOLE),
    "nullable float": ("Float64", FINITE),
    "bool": (None, st.booleans()),
    "nullable bool": ("boolean", st.booleans()),
    "text": ("str", WORDS),
    "category": ("category", WORDS),
    "category of numbers": ("category", st.integers(0, 3)),
    "objects": (object, CELLS),
    "constant": (float, st.just(7.0)),
    "missing": (float, st.just(np.nan)),
    "missing objects": (object, st.none()),
    "missing categories": ("category", st.none()),
}
REFUSED = {  # kinds that no table may have
    "infinite": (float, FINITE | st.just(np.inf)),
    "dates": ("datetime64[us]", MOMENT),
    "odd objects": (object, CELLS | ODD),
}


@st.composite
def columns(draw, kind, n_rows):
    dtype, cells = (KINDS | REFUSED)[kind]
    values = draw(st.lists(cells, min_size=n_rows, max_size=n_rows))
    if dtype is not None:  # NumPy's own whole numbers and booleans know no gaps
        gaps = draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows))
        values = [None if gap else value for value, gap in zip(values, gaps, strict=True)]
    return pd.Series(values, dtype=dtype)


@st.composite
def kinds(draw):
    """Mostly kinds that are welcome."""
    refused = draw(st.integers(0, 19)) == 0
    return draw(st.sampled_from(list(REFUSED if refused else KINDS)))


@st.composite
def tables(draw):
    """A table to learn from and one to predict on, whose columns may be of other kinds."""
    names = [f"c{j}" for j in range(draw(st.integers(1, 5)))]
    learned = {name: draw(kinds()) for name in names}
    later = {n: draw(kinds()) if draw(st.integers(0, 5)) == 0 else learned[n] for n in names}
    n_train, n_later = draw(st.integers(1, 30)), draw(st.integers(1, 30))
    return (
        pd.DataFrame({name: draw(columns(kind, n_train)) for name, kind in learned.items()}),
        pd.DataFrame({name: draw(columns(kind, n_later)) for name, kind in later.items()}),
    )


def some(values):
    """Targets of n rows, now and then with a gap."""

    @st.composite
    def targets(draw, n_rows):
        cells = draw(st.lists(values, min_size=n_rows, max_size=n_rows))
        if draw(st.integers(0, 9)) == 0:
            cells[draw(st.integers(0, n_rows - 1))] = None
        return cells

    return targets


LABELS = [some(st.integers(0, k)) for k in range(4)] + [
    some(st.sampled_from(["x", "y", "z"])),
    some(st.booleans()),
    some(FINITE),
]
MEASURES = [
    some(st.floats(-1e6, 1e6)),
    some(st.floats(-1e150, 1e150)),
    some(st.floats(0, 1e-300)),
    some(st.integers(-5, 5)),
    some(FINITE | st.just(np.inf)),
    some(WORDS),
]


SETTINGS = st.fixed_dictionaries(
    {
        "policy": st.sampled_from(["none", "observed", "random", "ddpg", "meta", "gate"]),
        "placeholder": st.sampled_from([0.0, 1.0, "learned"]),
        "indicator": st.booleans(),
        "numeric_encoding": st.sampled_from(["plain", "rich"]),
        "linear_path": st.booleans(),
        "hide": st.sampled_from([0.0, 0.5]),
    }
)


def outcome(model, data, targets):
    """Draw, fit and predict; the predictions, or None where the input was refused."""
    train, later = data.draw(tables())
    y = data.draw(data.draw(st.sampled_from(targets))(len(train)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(train, y)
            learned = model.predict(train)
        except InputError:
            return None
        assert len(learned) == len(train)
        try:
            return later, model.predict(later)
        except InputError:
            return None


@pytest.mark.slow
def test_a_classifier_predicts_probabilities_or_refuses_the_input():
    outcomes = Counter()

    @FEW
    @given(st.data())
    def run(data):
        model = GILClassifier(**TINY, **data.draw(SETTINGS))
        result = outcome(model, data, LABELS)
        outcomes[result is not None] += 1
        if result is None:
            return
        later, labels = result
        assert set(labels) <= set(model.classes_)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            probability = model.predict_proba(later)
        assert probability.shape == (len(later), len(model.classes_))
        assert ((probability >= 0) & (probability <= 1)).all()
        np.testing.assert_allclose(probability.sum(1), 1.0, atol=1e-12)

    run()
    assert min(outcomes[True], outcomes[False]) >= 5  # both ends are reached


@pytest.mark.slow
def test_a_regressor_predicts_finite_numbers_or_refuses_the_input():
    outcomes = Counter()

    @FEW
    @given(st.data())
    def run(data):
        model = GILRegressor(**TINY, **data.draw(SETTINGS))
        result = outcome(model, data, MEASURES)
        outcomes[result is not None] += 1
        if result is not None:
            later, numbers = result
            assert numbers.shape == (len(later),)
            assert np.isfinite(numbers).all()

    run()
    assert min(outcomes[True], outcomes[False]) >= 5


X = np.array([[1.0, np.nan], [2.0, 5.0], [np.nan, 1.0], [4.0, 3.0]] * 5)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Where to put a broken file, the bytes of a good one, and what its model predicts."""
    folder = tmp_path_factory.mktemp("fuzz")
    model = GILClassifier(**TINY).fit(X, ["no", "yes"] * 10)
    model.save(folder / "model")
    return folder / "broken", (folder / "model").read_bytes(), model.predict_proba(X)


def loads_the_same_or_refuses(path, content, expected):
    """Whether a file was refused; when it was not, its model must predict as expected."""
    path.write_bytes(content)
    try:
        loaded = GILClassifier.load(path)
    except ModelFileError:
        return True
    assert np.array_equal(loaded.predict_proba(X), expected)
    return False


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    changes=st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=3
    )
)
def test_files_with_changed_bytes_are_refused_or_load_the_same(good, changes):
    path, whole, expected = good
    content = bytearray(whole)
    for place, byte in changes:
        content[int(place * len(content))] = byte
    loads_the_same_or_refuses(path, content, expected)


def test_every_flipped_bit_of_the_weights_is_noticed(good):
    path, whole, expected = good
    header = 8 + int.from_bytes(whole[:8], "little")
    for place in range(header, len(whole), 7):
        content = bytearray(whole)
        content[place] ^= 1 << place % 8
        assert loads_the_same_or_refuses(path, content, expected)


def test_every_truncation_is_refused(good):
    path, whole, expected = good
    for length in {*range(0, len(whole), 23), *range(24), len(whole) - 1}:
        assert loads_the_same_or_refuses(path, whole[:length], expected)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(content=st.binary(max_size=200))
def test_bytes_from_nowhere_are_refused(good, content):
    path, _, expected = good
    assert loads_the_same_or_refuses(path, content, expected)
    header = len(content).to_bytes(8, "little")
    assert loads_the_same_or_refuses(path, header + content, expected)
