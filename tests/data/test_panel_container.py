"""`Panel` as users and scikit-learn handle it: built, indexed, split, searched over."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedGroupKFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    train_test_split,
)
from sklearn.utils import _safe_indexing, indexable

from imputefree import GILSequenceClassifier, InputError, Panel, ParameterError
from tests.refusals import check_error

RNG = np.random.default_rng(0)
LENGTHS = RNG.integers(1, 5, 36)
ARRAYS = [RNG.normal(size=(steps, 2)) for steps in LENGTHS]
Y = np.array([int(array[-1, 0] > 0) for array in ARRAYS])
STATIC = pd.DataFrame({"age": RNG.normal(60, 10, 36)})
TINY = {"random_state": 0, "n_members": 1, "max_iter": 2, "hidden_layer_sizes": 4, "device": "cpu"}


def long_frame(ids=range(36)):
    frame = pd.DataFrame(np.concatenate(ARRAYS), columns=["pulse", "temp"])
    frame.loc[::5, "temp"] = np.nan
    frame["who"] = np.repeat(list(ids), LENGTHS)
    frame["hour"] = np.concatenate([np.arange(steps) * 2.0 for steps in LENGTHS])
    frame["age"] = np.repeat(STATIC["age"].to_numpy(), LENGTHS)
    frame["died"] = np.repeat(Y, LENGTHS)
    return frame


LONG = Panel.from_long(long_frame(), id="who", time="hour", static="age", labels="died")
PANELS = {
    "long": LONG,
    "dates": Panel.from_long(
        long_frame().assign(hour=lambda X: pd.to_datetime(X["hour"] * 3600 + X["who"], unit="s")),
        *("who", "hour", "age"),
        labels="died",
    ),
    "list": Panel.from_list(ARRAYS, times=[np.arange(k) * 2.0 for k in LENGTHS], static=STATIC),
    "array": Panel.from_array(
        np.stack([np.pad(a, ((0, 4 - len(a)), (0, 0))) for a in ARRAYS]), LENGTHS, static=STATIC
    ),
    "pairs": Panel.from_pairs(
        long_frame().melt(["who", "hour", "age", "died"]).dropna(),
        *("who", "hour", "variable", "value", "age"),
        labels="died",
    ),
}
every_form = pytest.mark.parametrize("panel", PANELS.values(), ids=PANELS)


@every_form
def test_sized_and_indexed_by_series(panel):
    assert len(panel) == panel.shape[0] == 36
    assert panel.shape[1:] == (4, 2)
    chosen = np.array([7, 3, 3, 30])
    mask = np.isin(np.arange(36), [3, 7])
    for key, numbers in [
        (chosen, chosen),
        (chosen.tolist(), chosen),
        (mask, [3, 7]),
        (mask.tolist(), [3, 7]),
        (slice(2, 30, 9), [2, 11, 20, 29]),
        (-1, [35]),
        ([], []),
        ((chosen, ...), chosen),
    ]:
        part = panel[key]
        assert part.ids.tolist() == panel.ids[numbers].tolist()
        assert part.lengths.tolist() == panel.lengths[numbers].tolist()
        if len(numbers):
            steps = np.concatenate([np.flatnonzero(panel.series == i) for i in numbers])
            for ours, theirs in (
                *zip(part.steps.arrays, panel.steps.arrays, strict=True),
                (part.times, panel.times),
                (part.source, panel.source),
                *((part.apart[name], panel.apart[name]) for name in panel.apart),
            ):
                np.testing.assert_array_equal(ours, theirs[steps])
            if panel.starts is not None:
                np.testing.assert_array_equal(part.starts, panel.starts[numbers])
            np.testing.assert_array_equal(
                part.statics.arrays[0], panel.statics.arrays[0][np.asarray(numbers)]
            )
    with pytest.raises(IndexError):
        panel[[36]]
    assert indexable(panel, Y)[0] is panel
    assert len(_safe_indexing(panel, chosen)) == 4


@every_form
def test_scikit_learn_splits_it_as_an_array(panel):
    model = GILSequenceClassifier(**TINY)
    groups = np.arange(36) // 2
    scores = cross_val_score(model, panel, Y, groups=groups, cv=StratifiedGroupKFold(2))
    by_hand = [
        clone(model).fit(panel[train], Y[train]).score(panel[test], Y[test])
        for train, test in StratifiedGroupKFold(2).split(panel, Y, groups)
    ]
    assert scores.tolist() == by_hand
    train, test, y_train, y_test = train_test_split(panel, Y, stratify=Y, random_state=0)
    assert (len(train), len(test), len(y_train), len(y_test)) == (27, 9, 27, 9)
    assert not set(train.ids) & set(test.ids)


def test_searches_and_curves():
    model = GILSequenceClassifier(**TINY)
    search = GridSearchCV(model, {"dropout": [0.0, 0.3]}, cv=2, scoring="roc_auc")
    search.fit(LONG, Y)
    assert search.best_estimator_.layout_["id"] == "who"
    assert search.predict(long_frame()).shape == (36,)  # the layout is remembered
    sizes, train, test = learning_curve(model, LONG, Y, cv=2, train_sizes=[0.5, 1.0])
    assert train.shape == test.shape == (len(sizes), 2)
    assert cross_val_predict(model, LONG, Y, cv=2, method="predict_proba").shape == (36, 2)


@pytest.mark.slow
def test_processes_share_a_panel():
    model = GILSequenceClassifier(**TINY)
    scores = (cross_val_score(model, LONG, Y, cv=2, n_jobs=n_jobs).tolist() for n_jobs in (1, 2))
    assert next(scores) == next(scores)


def test_labels_by_position_are_taken_only_where_they_are_certain():
    ids = RNG.permutation(36)
    panel = Panel.from_long(long_frame(ids), "who", "hour", "age", labels="died")
    model = GILSequenceClassifier(**TINY)
    for X in (panel, panel[::-1], panel[:9]):
        check_error(lambda X=X: model.fit(X, Y[: len(X)]), "not in sorted order")
    shuffled = LONG[RNG.permutation(36)]  # by whom the rows were shuffled is no secret
    assert cross_val_score(model, shuffled, Y[shuffled.ids.astype(int)], cv=2).shape == (2,)
    # Labels with ids are certain in any order.
    y = panel.labels("died")
    assert y.index.tolist() == ids.tolist()
    assert cross_val_score(model, panel, y, cv=2).shape == (2,)
    moved = y.sample(frac=1, random_state=0)
    np.testing.assert_array_equal(
        clone(model).fit(panel, moved).predict_proba(panel),
        clone(model).fit(panel, "died").predict_proba(panel),
    )
    with pytest.raises(ValueError, match="does not match the series"):
        cross_val_score(model, panel, moved, cv=2, error_score="raise")


def test_frames_lists_and_panels_give_the_same():
    frame = long_frame()
    model = GILSequenceClassifier(id="who", time="hour", static=["age"], **TINY)
    expected = model.fit(frame, "died").predict_proba(frame)
    np.testing.assert_array_equal(
        clone(model).fit(LONG, "died").predict_proba(frame.drop(columns="died")), expected
    )
    np.testing.assert_allclose(model.predict_proba(LONG[5:9]), expected[5:9], rtol=1e-6)
    assert model.series_ids(LONG[[4, 2]]).tolist() == [4, 2]
    table = frame.groupby("who")[["age"]].first()
    by_table = Panel.from_long(frame.drop(columns=["age", "died"]), "who", "hour", table)
    fitted = GILSequenceClassifier(**TINY).fit(by_table, Y)
    np.testing.assert_array_equal(fitted.predict_proba(by_table), expected)
    np.testing.assert_array_equal(fitted.predict_proba(frame.drop(columns="died")), expected)


def test_what_came_with_training_cannot_be_forgotten():
    model = GILSequenceClassifier(**TINY)
    model.fit(Panel.from_list(ARRAYS, times=[np.arange(k) for k in LENGTHS]), Y)
    check_error(lambda: model.predict(ARRAYS), "without times", kind=InputError)
    check_error(lambda: model.predict(Panel.from_list(ARRAYS)), "without times")
    model.fit(Panel.from_array(np.zeros((36, 4, 2)), LENGTHS), Y)
    for X in (np.zeros((3, 4, 2)), Panel.from_array(np.zeros((3, 4, 2)))):
        check_error(lambda X=X: model.predict(X), "without lengths")
    assert model.predict(ARRAYS).shape == (36,)  # a list has no padding


def test_refusals():
    check_error(lambda: Panel.from_long(ARRAYS, "who"), "come as a list", "from_list")
    check_error(lambda: np.asarray(LONG), "cannot be turned into an array")
    check_error(lambda: LONG.labels("age"), "is not a label column")
    model = GILSequenceClassifier(static=STATIC, **TINY)
    check_error(lambda: model.fit(ARRAYS, Y), "static is a DataFrame", kind=ParameterError)
    check_error(lambda: GILSequenceClassifier(**TINY).fit(LONG[[]], []), "no series at all")


def test_short_words_and_pickles():
    again = pickle.loads(pickle.dumps(LONG))
    assert (
        repr(again) == "Panel(36 series of 1 to 4 steps; columns: 'pulse', 'temp'; static: 'age')"
    )
    np.testing.assert_array_equal(again.times, LONG.times)


@pytest.mark.parametrize(
    "mixed",
    [
        [0, pd.Timestamp("2024-01-01"), 2],
        [pd.Timestamp("2024-01-01"), 1.5, 2],
        ["2024-01-01", 1, 2],
        [np.datetime64("2024-01-01"), 1, 2],
        [0, [1], 2],
        [10**400, 1, 2],
    ],
)
def test_numbers_and_dates_among_the_times_of_a_series_are_refused(mixed):
    series = [np.zeros((3, 2))] * 2
    for times in ([[0, 1, 2], mixed], [mixed, [0, 1, 2]], [mixed, mixed], [mixed]):
        with pytest.raises(InputError, match="times"):
            Panel.from_list(series[: len(times)], times=times)


def test_steps_of_a_partner_are_as_far_along():
    """By a loop: step t of T becomes step ⌊t T' / T⌋ of the partner's T'."""
    panel = PANELS["list"]
    partners = np.random.default_rng(1).permutation(len(panel))
    first = np.concatenate([[0], np.cumsum(LENGTHS)])
    expected = [
        first[partners[i]] + t * LENGTHS[partners[i]] // steps
        for i, steps in enumerate(LENGTHS)
        for t in range(steps)
    ]
    assert panel.partner_steps(partners).tolist() == expected
    gaps = LONG.with_gaps_of(partners)
    for j, array in enumerate(LONG.steps.arrays):
        hidden = np.isnan(array) | np.isnan(array[expected])
        assert np.isnan(gaps.steps.arrays[j]).tolist() == hidden.tolist()
    assert gaps.statics is not None
    assert PANELS["list"][:2].with_gaps_of(np.array([1, 0])).statics is not None
    assert Panel.from_list(ARRAYS).with_gaps_of(partners).statics is None
