"""Piece by piece gives what all at once gives, for tables and for series.

The columns of a model are found in files, and what is not a model is refused.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier, GILSequenceClassifier, GILSequenceRegressor
from imputefree.errors import InputError, ModelFileError, ParameterError
from imputefree.io import _csv_rows as csv_rows
from imputefree.io import _file_rows as parquet_rows
from imputefree.io import read_frame
from imputefree.workflow._chunks import file_inputs, load_model
from imputefree.workflow._predicting import predict_file
from tests.workflow.made import SMALL, classifier, long_table, regressor, sequence_classifier, table


def streamed(model, path, keep=(), skip=False, in_memory=False):
    """Output of all pieces, their number, and the notes on bad rows and unseen categories."""
    parts = []
    _, notes = predict_file(model, path, parts.append, keep, skip, in_memory)
    return pd.concat(parts, ignore_index=True), len(parts), notes


@pytest.fixture
def pieces(monkeypatch):
    """Pieces of a few rows."""
    monkeypatch.setattr(csv_rows, "BLOCK", 150)
    monkeypatch.setattr(parquet_rows, "MOST_ROWS", 3)


@pytest.fixture(scope="module")
def model():
    return classifier(table())


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, encoding="utf-8-sig")
    return path


def same(model, path):
    """What one call gives for the whole file."""
    frame = read_frame(path).frame
    return model.predict_proba(frame[list(file_inputs(model, list(frame)))])


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_a_table_with_everything_in_it(tmp_path, model, pieces, suffix):
    frame = table(80, seed=1)
    frame.loc[10:50, "age"] = np.nan  # empty in whole pieces
    frame.loc[20:60, "code"] = "2"  # looks like a number in whole pieces
    path = write(frame, tmp_path / f"a{suffix}")
    found, count, notes = streamed(model, path)
    assert not notes
    assert count > 1
    np.testing.assert_allclose(found[["p_ill", "p_well"]], same(model, path), atol=1e-7)
    assert (found["prediction"] == model.classes_[same(model, path).argmax(1)]).all()


def test_numbers(tmp_path, pieces):
    frame = table()
    model = regressor(frame)
    path = write(frame, tmp_path / "a.csv")
    expected = model.predict(frame.drop(columns="y"))
    np.testing.assert_allclose(streamed(model, path)[0]["prediction"], expected, atol=1e-5)


def test_words_for_gaps_and_numbers_written_in_other_ways(tmp_path, model, pieces):
    plain = table(12, seed=2).assign(age=50.0, code="2", smokes=True)
    odd = plain.astype(object)
    plain.loc[[0, 5], "age"] = np.nan
    odd.loc[[0, 5], "age"] = ["NA", "?"]
    odd.loc[1:3, "age"] = ["5e1", " 50", "50.000"]
    odd.loc[4:5, "smokes"] = ["TRUE", "true"]
    odd.loc[6, "code"] = "2.0"  # as pandas writes whole numbers beside gaps
    expected, _, _ = streamed(model, write(plain, tmp_path / "plain.csv"))
    found, _, notes = streamed(model, write(odd, tmp_path / "odd.csv"))
    pd.testing.assert_frame_equal(found, expected)
    assert not notes


def test_categories_keep_their_strings_if_training_had_strings(tmp_path, pieces):
    """In a file of such codes alone pandas would read numbers: 01 is not 1."""
    X = pd.DataFrame({"code": ["01", "1", "A", "True"] * 10})
    model = GILClassifier(**SMALL).fit(X, ["p", "q", "r", "s"] * 10)
    path = tmp_path / "a.csv"
    path.write_text("code\n01\n1\n01\n")
    found, _, _ = streamed(model, path)
    expected = model.predict_proba(X.iloc[[0, 1, 0]])
    np.testing.assert_allclose(found.filter(like="p_"), expected, atol=1e-7)
    path.write_text("code\nTrue\nTrue\n")
    found, _, _ = streamed(model, path)
    np.testing.assert_allclose(found.filter(like="p_"), model.predict_proba(X.iloc[[3, 3]]), 1e-5)


def test_numbers_that_training_took_for_categories(tmp_path, pieces):
    X = pd.DataFrame({"code": [1, 2, 3, np.nan] * 10, "smokes": [True, False] * 20})
    model = GILClassifier(**SMALL, categorical_features=["code", "smokes"])
    model.fit(X, ["p", "q", "r", "s"] * 10)
    path = tmp_path / "a.csv"
    path.write_text("code,smokes\n1.0,True\n02,FALSE\nNA,1\n3,0\n")
    found, _, notes = streamed(model, path)
    rows = pd.DataFrame({"code": [1, 2, np.nan, 3], "smokes": [True, False, True, False]})
    np.testing.assert_allclose(found.filter(like="p_"), model.predict_proba(rows), atol=1e-7)
    assert not notes


def test_unseen_categories_are_one_note(tmp_path, model, pieces):
    frame = table(30, seed=3).assign(ward="Z", code=["7", "8", "1"] * 10)
    found, _, notes = streamed(model, write(frame, tmp_path / "a.csv"))
    gaps = frame.assign(ward=None, code=frame["code"].where(frame["code"] == "1"))
    expected, _, _ = streamed(model, write(gaps, tmp_path / "b.csv"))
    pd.testing.assert_frame_equal(found, expected)
    assert notes == [
        "Training never saw these, which count as missing: 'Z' in column 'ward' (30 rows), '7', '8'"
        " in column 'code' (20 rows)."
    ]


BAD = {3: "age,old", 7: "age,inf", 9: "beds,1e999", 12: "smokes,perhaps"}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_bad_cells_are_reported_by_line_and_left_out(tmp_path, model, pieces, suffix):
    frame = table(20, seed=4)
    frame["ward"] = frame["ward"].replace("D\nnew", "A")  # so that a row is a line
    odd = frame.astype({"age": object, "beds": object, "smokes": object})
    for row, bad in BAD.items():
        name, cell = bad.split(",")
        odd.loc[row, name] = cell
    odd = odd.astype(dict.fromkeys(("age", "beds", "smokes"), "str") if suffix != ".csv" else {})
    path = write(odd, tmp_path / f"a{suffix}")
    first = 2 if suffix == ".csv" else 1
    word = "line" if suffix == ".csv" else "row"
    with pytest.raises(
        InputError, match=f"{word} {3 + first}: column 'age' holds 'old', which is not"
    ):
        streamed(model, path)
    found, _, notes = streamed(model, path, skip=True)
    clean = write(frame.drop(index=list(BAD)), tmp_path / f"b{suffix}")
    pd.testing.assert_frame_equal(found, streamed(model, clean)[0])
    assert notes[0].endswith(f"4 {word}s were left out.")
    for note, (row, bad) in zip(notes[1:], BAD.items(), strict=True):
        name, cell = bad.split(",")
        assert note.startswith(f"  {word} {row + first}: column {name!r} ")
        assert cell in note or "is infinite" in note


def test_kept_columns_are_copied_as_they_stand(tmp_path, model, pieces):
    frame = table(20, seed=5)
    frame.insert(0, "no", [f"{i:04d}" for i in range(20)])
    path = write(frame, tmp_path / "a.csv")
    found, _, _ = streamed(model, path, keep=["no", "age", "ward"])
    assert list(found.columns) == ["no", "age", "ward", "prediction", "p_ill", "p_well"]
    assert found["no"].tolist() == frame["no"].tolist()
    assert found["age"].astype(float).equals(frame["age"])
    assert found["ward"].fillna("").tolist() == frame["ward"].fillna("").tolist()
    plain, _, _ = streamed(model, path)
    pd.testing.assert_frame_equal(found[plain.columns], plain)
    with pytest.raises(InputError, match="has no column 'name'"):
        streamed(model, path, keep=["name"])
    with pytest.raises(ParameterError, match="a prediction has that name"):
        streamed(model, path, keep=["p_ill"])


@pytest.fixture(scope="module")
def of_series():
    return sequence_classifier(long_table())


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("in_memory", [False, True])
def test_series_are_predicted_whole(tmp_path, of_series, pieces, suffix, in_memory):
    frame = long_table(30, seed=1)
    path = write(frame, tmp_path / f"a{suffix}")
    found, _, _ = streamed(of_series, path, keep=["sex"], in_memory=in_memory)
    expected = of_series.predict_proba(frame)
    assert found["who"].tolist() == of_series.series_ids(frame).tolist()
    assert found["sex"].tolist() == frame.groupby("who")["sex"].first().tolist()
    np.testing.assert_allclose(found[["p_0", "p_1"]], expected, atol=1e-6)


def test_a_series_that_comes_back_is_reported_by_line(tmp_path, of_series, pieces):
    frame = long_table(30, seed=1)
    back = frame.iloc[[0]].assign(hour=99.0)
    mixed = pd.concat([frame, back, frame.iloc[-1:].assign(who="last")], ignore_index=True)
    path = write(mixed, tmp_path / "a.csv")
    with pytest.raises(InputError, match=f"line {len(frame) + 2}: the series 'p000' reappears"):
        streamed(of_series, path)
    found, _, _ = streamed(of_series, path, in_memory=True)
    np.testing.assert_allclose(found["p_1"], of_series.predict_proba(mixed)[:, 1], atol=1e-6)


def test_steps_without_id_or_time_and_times_twice(tmp_path, of_series, pieces):
    frame = long_table(10, seed=2).astype(object)
    wrong = pd.concat([frame, frame.iloc[-1:]], ignore_index=True)
    wrong.loc[2, "who"] = None
    wrong.loc[5, "hour"] = "noon"
    path = write(wrong, tmp_path / "a.csv")
    found, _, notes = streamed(of_series, path, skip=True)
    clean = write(frame.drop(index=[2, 5]), tmp_path / "b.csv")
    pd.testing.assert_frame_equal(found, streamed(of_series, clean)[0])
    assert "line 4: column 'who' is empty, but every row must belong to a series" in notes[1]
    assert "line 7: column 'hour' holds 'noon', which is not a time" in notes[2]
    assert f"line {len(frame) + 2}: the series 'p009' already has a row at time" in notes[3]


@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M", "%d/%m/%Y %H:%M"])
def test_dates_as_times(tmp_path, pieces, form):
    frame = long_table()
    dated = frame.assign(hour=pd.Timestamp("2024-02-28") + pd.to_timedelta(frame["hour"], "h"))
    model = sequence_classifier(dated)
    strings = dated.assign(hour=dated["hour"].dt.strftime(form))
    found, _, _ = streamed(model, write(strings, tmp_path / "a.csv"))
    np.testing.assert_allclose(found["p_1"], model.predict_proba(dated)[:, 1], atol=1e-6)


def test_every_step_predicted(tmp_path, pieces):
    frame = long_table()
    model = sequence_classifier(frame.assign(y=frame.index % 2), per_step=True)
    found, _, _ = streamed(model, write(frame, tmp_path / "a.csv"))
    assert list(found.columns) == ["who", "hour", "prediction", "p_0", "p_1"]
    assert found["who"].tolist() == frame["who"].tolist()
    np.testing.assert_allclose(found["p_1"], model.predict_proba(frame)[:, 1], atol=1e-6)


def test_pairs_of_variable_and_value(tmp_path, pieces):
    frame = long_table()
    pairs = frame.melt(["who", "hour"], ["pulse", "age"], "what", "value").dropna()
    pairs = pairs.sort_values(["who", "hour"], kind="stable")
    columns = {"id": "who", "time": "hour", "variable": "what", "value": "value"}
    y = dict.fromkeys(pairs["who"].unique(), 0.0) | {"p001": 1.0}
    model = GILSequenceRegressor(**columns, **SMALL).fit(pairs, y)
    found, _, _ = streamed(model, write(pairs, tmp_path / "a.csv"))
    np.testing.assert_allclose(found["prediction"], model.predict(pairs), atol=1e-6)


def test_a_file_with_twin_names_or_without_rows(tmp_path, model):
    path = tmp_path / "a.csv"
    path.write_text("age,age,beds,smokes,ward,code\n1,2,3,True,A,1\n")
    with pytest.raises(InputError, match="more than one column named 'age'"):
        streamed(model, path)
    path.write_text("age,beds,smokes,ward,code\n")
    with pytest.raises(InputError, match="no rows"):
        streamed(model, path)
    write(table().assign(age=pd.Timestamp("2024-01-01")), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="'age' holds dates"):
        streamed(model, tmp_path / "b.parquet")


# What a model reads from a file


def test_columns_of_series_come_after_their_roles_and_static_ones_last(tmp_path):
    sequence_classifier(long_table()).save(tmp_path / "m")
    model = load_model(tmp_path / "m")
    wanted = ["who", "hour", "pulse", "rhythm", "age", "sex"]
    inputs = file_inputs(model, [*wanted[::-1], "y"])
    assert list(inputs) == wanted
    assert (inputs["who"], inputs["hour"]) == ("id", "time")


def test_columns_are_found_by_name_and_others_ignored():
    frame = table()
    model = classifier(frame)
    mixed = [*frame.columns[::-1], "more"]
    assert list(file_inputs(model, mixed)) == list(frame.columns.drop("y"))
    with pytest.raises(InputError, match="no column 'age', 'ward'"):
        file_inputs(model, ["beds", "smokes", "code"])


def test_columns_that_lack_are_called_as_in_the_file(tmp_path):
    parts = {"age": "seen: days", "beds": "seen: month"}
    model, others = classifier(table().rename(columns=parts)), table().drop(columns=[*parts])
    date = {"kind": "date", "format": "%d.%m.%Y", "since": "2024-01-01", "parts": [*parts.values()]}
    model.about_ = {"reading": {"file": {}, "columns": {"seen": date}}}
    with pytest.raises(InputError, match=r"no column 'seen'\..* here are 'Seen', .*mean 'Seen'"):
        file_inputs(model, ["Seen", *others])
    path = write(others.assign(seen="12/31/2024"), tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"not a date as in training, such as 31\.12\.2024"):
        streamed(model, path)


def test_a_model_without_names_takes_columns_by_order(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = GILClassifier(**SMALL).fit(X, [0, 1] * 20)
    expected = model.predict_proba(X)[:, 1]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    numbered = frame.set_axis(["0", "1", "2"], axis=1)[["2", "0", "1"]].assign(more=1)
    for data in (frame, numbered):
        data.to_csv(tmp_path / "d.csv", index=False)
        found, _, _ = streamed(model, tmp_path / "d.csv")
        np.testing.assert_allclose(found["p_1"], expected, atol=1e-7)
    with pytest.raises(InputError, match="2 columns where the model was trained on 3"):
        file_inputs(model, ["a", "b"])


def test_series_without_an_id_cannot_come_from_a_file():
    model = GILSequenceClassifier(**SMALL).fit([[[1.0], [2.0]], [[3.0]]] * 10, [0, 1] * 10)
    with pytest.raises(InputError, match="without an id column"):
        file_inputs(model, ["0"])


@pytest.mark.parametrize("content", [None, b"", b"a,b\n1,2\n"])
def test_files_that_are_not_models(tmp_path, content):
    path = tmp_path / "m"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelFileError):
        load_model(path)
    with pytest.raises(ModelFileError, match="folder"):
        load_model(tmp_path)
