"""Long frames need rows and a column of values."""

from __future__ import annotations

from tests.data.panel.made import LONG, VALUES, as_polars, check_error, long_frame


def test_empty_frames_and_frames_without_values_are_refused():
    for X in (long_frame(VALUES).iloc[:0], as_polars(long_frame(VALUES)).head(0)):
        check_error(X, "X holds no series at all", layout=LONG)
    check_error(long_frame(VALUES).iloc[:0].set_index(["who", "hour"]), "no series at all")
    fact = "X has no column of values (columns: 'who', 'hour')"
    check_error(long_frame(VALUES)[["who", "hour"]], fact, "at least one value", layout=LONG)
