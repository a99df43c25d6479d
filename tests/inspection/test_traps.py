"""Traps that are planted are found, and tables without any are left in peace."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score, roc_auc_score

from imputefree import Panel
from imputefree.inspection import find_traps, group_traps
from imputefree.inspection._leaking_columns import N_FOLDS, PRIOR, TrapTarget

N = 400


@pytest.fixture
def table():
    """Four columns with gaps, of which one says something about two classes."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, 4)), columns=list("abcd"))
    X = X.mask(rng.random(X.shape) < 0.2)
    X["ward"] = rng.choice(["N", "S", "W"], N)
    y = (X["a"].fillna(0) + rng.normal(size=N) > 0).astype(int).to_numpy()
    return X, y


def kinds(traps, column=None):
    return [trap.kind for trap in traps if column is None or column in trap.columns]


def test_a_clean_table_has_none(table):
    assert find_traps(*table) == []


def test_the_answer_in_other_words(table):
    X, y = table
    assert kinds(find_traps(X.assign(z=np.where(y == 1, "dead", "alive")), y), "z") == ["answer"]
    noisy = np.where(np.random.default_rng(1).random(N) < 0.05, 1 - y, y)
    assert kinds(find_traps(X.assign(z=noisy), y), "z") == ["answer"]
    price = np.exp(X["b"].fillna(0) + y)
    assert kinds(find_traps(X.assign(z=price * 1.19), price), "z") == ["answer"]


def test_two_answers_do_not_hide_each_other(table):
    X, y = table
    rng = np.random.default_rng(1)
    leaks = {name: np.where(rng.random(N) < 0.05, 1 - y, y) for name in ("z1", "z2")}
    assert {trap.columns for trap in find_traps(X.assign(**leaks), y)} == {("z1",), ("z2",)}


def test_what_is_filled_in_afterwards(table):
    X, y = table
    rng = np.random.default_rng(1)
    body = np.where((y == 0) & (rng.random(N) < 0.2), rng.integers(1, 300, N), np.nan)
    boat = np.where(rng.random(N) < np.where(y == 1, 0.95, 0.02), "B", None)
    traps = find_traps(X.assign(body=body, boat=boat), y)
    assert {(trap.kind, trap.columns) for trap in traps} == {
        ("afterwards", ("body",)),
        ("afterwards", ("boat",)),
    }


def test_a_level_that_only_one_class_has(table):
    X, y = table
    rng = np.random.default_rng(1)
    zero = rng.random(N) < np.where(y == 1, 0.5, 0.01)
    site = np.where(zero, 0, rng.integers(1, 20, N))
    (trap,) = find_traps(X.assign(site=site), y)
    assert (trap.kind, trap.columns, trap.rows) == ("answer", ("site",), zero.sum())
    assert f"{(y[zero] == 1).sum()} of {zero.sum()} rows with 0" in trap.fact
    names = np.where(zero, "none", "some")
    assert kinds(find_traps(X.assign(site=names), y), "site") == ["answer"]
    explained = X.assign(site=site, size=np.where(zero, 0.0, 1 + rng.random(N)))
    assert find_traps(explained, y) == []  # another column says the same: nothing stands out


def test_copies_are_told_from_equal_rows_of_few_values(table):
    X, y = table
    rows = np.concatenate([np.arange(N), np.arange(0, N, 20)])
    assert kinds(find_traps(X.iloc[rows], y[rows])) == ["copies"]
    rng = np.random.default_rng(2)
    votes = pd.DataFrame(rng.integers(0, 2, (N, 6)), columns=list("abcdef"))
    assert votes.duplicated().sum() > N / 2
    assert find_traps(votes, rng.integers(0, 2, N)) == []


def test_rows_shared_with_the_test_data(table):
    X, y = table
    test = pd.concat([X.iloc[300:], X.iloc[:5]])
    assert kinds(find_traps(X.iloc[:300], y[:300], test=test)) == ["copies"]
    assert find_traps(X.iloc[:300], y[:300], test=X.iloc[300:]) == []


def test_groups(table):
    X, y = table
    who = np.arange(N) // 4
    X = X.assign(nr=100 + who, age=(who * 37) % 71, sex=np.where(who % 2, "f", "m"))
    assert kinds(find_traps(X, y), "nr") == ["groups"]
    assert "groups" not in kinds(find_traps(X, y, groups=who))
    assert kinds(find_traps(table[0].assign(patient_id=who), y), "patient_id") == ["groups"]


@pytest.mark.parametrize("others", [0, 2])
def test_targets_that_hardly_vary(table, others):
    y = np.zeros(N, dtype=int)
    y[:others] = 1
    assert "target" in kinds(find_traps(table[0], y))


def test_a_series_that_ends_with_the_outcome_tells_it():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    series = [rng.normal(size=(rng.integers(3, 6) + 10 * label, 2)) for label in y]
    traps = find_traps(Panel.from_list(series), y)
    assert {"steps", "duration"} <= {name for trap in traps for name in trap.columns}


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_scores_are_those_of_the_definition(kind):
    rng = np.random.default_rng(0)
    codes, fold = rng.integers(0, 6, 300), rng.permutation(300) % N_FOLDS
    y = (codes > 2).astype(int) ^ (rng.random(300) < 0.3)
    y = y + rng.normal(size=300) if kind == "numbers" else y.astype(int)
    target = TrapTarget.of(y)
    numbers = y.astype(float) if target.numbers is None else target.numbers
    guess = np.empty(300)
    for number in range(N_FOLDS):
        other = fold != number
        mean = numbers[other].mean()
        for code in range(6):
            part = numbers[other & (codes == code)]
            rows = (fold == number) & (codes == code)
            guess[rows] = (part.sum() + PRIOR * mean) / (len(part) + PRIOR)
    expected = roc_auc_score(y, guess) if kind == "classes" else r2_score(numbers, guess)
    assert target.score_column(codes, fold) == pytest.approx(expected)


def test_parts_of_one_date_are_not_a_group():
    day = np.random.default_rng(0).integers(0, 90, 400)
    parts = {"day: days": day, "day: month": day // 30, "day: weekday": day % 7}
    frame = pd.DataFrame(parts).astype(float)
    assert group_traps(frame) == []
    assert group_traps(frame.rename(columns=lambda name: name.replace(": ", " ")))  # else they are
