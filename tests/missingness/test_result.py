"""What comes back: gaps in data of every kind, and a report that people can read."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from imputefree.missingness import make_missing
from tests.missingness.made import frame, table
from tests.refusals import check_error


def test_the_report_says_what_drives_what():
    X = frame()
    report = make_missing("mar", X, 0.3, seen=["age"], strength=1.5).report()
    assert report.loc["age"].tolist() == [0, "nothing"]
    assert set(report["driven by"][1:]) <= {"'age' (+1.5)", "'age' (-1.5)"}
    assert report["missing"].tolist() == [0, 0.4, 0.4, 0.4]
    own = make_missing("mnar_self", X[["age", "ph"]], side="low").report()
    assert set(own["driven by"]) == {"itself (-2)"}
    assert set(make_missing("mcar", X).report()["driven by"]) == {"nothing"}


def test_the_report_names_the_strongest_drivers_only():
    missing = make_missing("mar", table(100, 8), 0.1, seen=[0, 1, 2, 3, 4])
    row = missing.drivers.iloc[7].abs()
    line = missing.report()["driven by"].iloc[7]
    assert line.endswith(") and 2 more")
    assert line.startswith(f"'{row.idxmax()}' (")


def test_repr():
    assert (
        repr(make_missing("mcar", table(), 0.25))
        == "Missing(mcar: MCAR, 25.0 % of 12,000 entries missing)"
    )


def test_frames_stay_frames_with_names_index_and_dtypes():
    X = frame().assign(
        dose=pd.array([1] * 200, "Int64"), ward=pd.Categorical(["a", "b"] * 100), n=np.int32(3)
    )
    before = X.copy()
    missing = make_missing("mcar", X, 0.3, columns=["age", "ph", "ill", "sex", "dose", "ward"])
    made = missing.apply(X)
    pd.testing.assert_frame_equal(X, before)
    assert list(made.columns) == list(X.columns)
    assert made.index.equals(X.index)
    np.testing.assert_array_equal(made.notna(), missing.observed)
    kinds = {name: str(kind) for name, kind in made.dtypes.items()}
    assert kinds["age"] == "float64"
    assert kinds["ill"] == "boolean"
    for name in ("ph", "sex", "dose", "ward", "n"):
        assert made[name].dtype == X[name].dtype
    for name in X.columns:
        seen = missing.observed[:, list(X.columns).index(name)]
        assert (made[name][seen] == X[name][seen]).all()


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [("f4", "f4"), ("f8", "f8"), ("u1", "f4"), ("i8", "f8"), ("i4", "f8"), ("?", "f4")],
)
def test_arrays_keep_their_precision(kind, wanted):
    X = (table(50) * 3).astype(kind)
    missing = make_missing("mcar", X)
    made = missing.apply(X)
    assert made.dtype == wanted
    np.testing.assert_array_equal(made[missing.observed], X[missing.observed].astype(wanted))
    assert np.isnan(made[~missing.observed]).all()


def test_objects_get_none():
    X = np.array([["a", 1.0], ["b", 2.0]], dtype=object)
    made = make_missing("mcar", X, 0.5).apply(X)
    assert sum(one is None for one in made.ravel()) == 2


def test_polars_frames():
    pl = pytest.importorskip("polars")
    X = pl.DataFrame({"age": [31, 50, 47, 62], "sex": ["f", "m", "m", "f"], "ill": [True] * 4})
    missing = make_missing("mcar", X, 0.5)
    made = missing.apply(X)
    assert made.schema == X.schema
    np.testing.assert_array_equal(
        np.column_stack([one.is_not_null() for one in made.get_columns()]), missing.observed
    )


def test_gaps_can_be_put_into_other_data_of_the_shape_only():
    missing = make_missing("mcar", table(20, 3))
    assert np.isnan(missing.apply(np.zeros((20, 3)))).sum() == 18
    check_error(
        lambda: missing.apply(np.zeros((20, 2))),
        "the gaps were made for data of shape (20, 3), but X has shape (20, 2). Gaps fit data of"
        " the shape they were made for.",
    )
    series = make_missing("mcar", [table(4, 2), table(5, 2)])
    check_error(
        lambda: series.apply([table(4, 2)]), "made for 2 series, but X is no list of as many"
    )


def test_it_can_be_pickled_and_not_changed():
    missing = make_missing("mar", frame())
    again = pickle.loads(pickle.dumps(missing))
    np.testing.assert_array_equal(again.observed, missing.observed)
    with pytest.raises(AttributeError):
        missing.rate = 0.5
