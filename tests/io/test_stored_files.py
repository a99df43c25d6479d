"""Files larger than memory: the store holds what they hold, and each kind of damage is named."""

from __future__ import annotations

import csv
import errno
import io

import numpy as np
import pandas as pd
import pytest

from imputefree.data import read_columns
from imputefree.errors import InputError, ResultsError
from imputefree.io import _stored_files as stored_files
from imputefree.io import parts_of, stored_rows
from tests.io.dirty_files import dirty_files

pytest.importorskip("pyarrow", reason="Parquet needs the extra data")


def table(rows=90, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.normal(size=rows), "ward": rng.choice(["A", "B", "é"], rows)})
    frame = frame.mask(rng.random(frame.shape) < 0.2)
    frame["beds"] = rng.integers(9, size=rows)
    frame["late"] = rng.choice(["no", "yes"], rows)
    return frame


def write(folder, frames, ending="parquet"):
    """One part per frame."""
    folder.mkdir(exist_ok=True)
    for number, frame in enumerate(frames):
        path = folder / f"part-{number}.{ending}"
        frame.to_parquet(path, index=False) if ending == "parquet" else frame.to_csv(
            path, index=False
        )
    return folder


def refusal(folder, **options):
    """What is said about a folder; the store is gone."""
    options = {"task": "classification"} | options
    target = options.pop("target", "late")
    before = set(folder.parent.iterdir())
    with (
        pytest.raises(InputError) as caught,
        stored_rows(folder, target, folder=folder.parent, **options),
    ):
        pass
    assert set(folder.parent.iterdir()) == before
    return str(caught.value)


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz"])
def test_the_store_holds_the_rows_of_all_parts_in_order(tmp_path, ending):
    frame = table()
    folder = write(tmp_path / "parts", [frame[:40], frame[40:41], frame[41:]], ending)
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.parquet.crc").touch()
    with stored_rows(folder, "late", task="classification") as rows:
        stored, expected = rows.store.whole(), read_columns(frame.drop(columns="late"))
        assert stored.names == expected.names
        for mine, theirs in zip(stored.arrays, expected.arrays, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        assert rows.classes[rows.target].tolist() == frame["late"].tolist()


def test_roles_and_dropped_columns_are_not_inputs(tmp_path):
    frame = table().assign(site=np.repeat([11, 2, 7], 30), weight=1.5)
    folder = write(tmp_path / "parts", [frame[:50], frame[50:]])
    roles = {"groups": "site", "weight": "weight", "drop": ["beds"]}
    with stored_rows(folder, "late", task="classification", **roles) as rows:
        assert rows.store.names == ["age", "ward"]
        assert set(rows.weight) == {1.5}
        groups = pd.Series(np.asarray(rows.groups), dtype=str)
        assert groups.tolist() == frame["site"].astype(str).tolist()


def test_a_class_of_the_last_part_and_numbers_written_as_text_are_classes(tmp_path):
    frame = table().assign(late=[0] * 60 + [1] * 29 + [2])
    for ending in ("parquet", "csv"):
        folder = write(tmp_path / ending, [frame[:60], frame[60:]], ending)
        with stored_rows(folder, "late", task="classification") as rows:
            assert rows.classes.tolist() == [0, 1, 2]
            assert rows.target.tolist() == frame["late"].tolist()


def test_rows_without_a_target_are_left_out_and_counted(tmp_path):
    frame = table()
    frame.loc[[3, 70], "late"] = None
    with stored_rows(write(tmp_path / "parts", [frame]), "late", task="classification") as rows:
        assert rows.n_without == 2
        assert rows.store.n_rows == 88
        np.testing.assert_array_equal(rows.store.whole().arrays[2], frame["beds"].drop([3, 70]))


def test_numbers_are_predicted_as_they_are(tmp_path):
    frame = table()
    with stored_rows(write(tmp_path / "parts", [frame]), "beds", task="regression") as rows:
        assert rows.classes is None
        np.testing.assert_array_equal(rows.target, frame["beds"])


def test_dirty_parts_are_read_as_one_file(tmp_path):
    """All traps, in parts with other separators and encodings."""
    (file,) = (file for file in dirty_files() if file.name == "comma point utf-8.csv")
    names, *lines = csv.reader(io.StringIO(file.content.decode(), newline=""))
    dialects = [(",", "utf-8"), (";", "utf-16"), ("\t", "utf-8-sig")]
    for number, (sep, encoding) in enumerate(dialects):
        with (tmp_path / f"{number}.csv").open("w", newline="", encoding=encoding) as part:
            written = csv.writer(part, delimiter=sep)
            written.writerow(names)
            written.writerows(lines[number * 14 : (number + 1) * 14])
    with stored_rows(tmp_path, "ward") as rows:
        found = rows.store.whole()
        expected = read_columns(file.frame.drop(columns="ward"))
        assert found.names == expected.names
        for name, mine, theirs in zip(found.names, found.arrays, expected.arrays, strict=True):
            if mine.dtype == object:
                assert mine.tolist() == theirs.tolist(), name
            else:
                np.testing.assert_allclose(mine, theirs, err_msg=name)
        assert rows.classes[rows.target].tolist() == file.frame["ward"].tolist()
        assert rows.understood.n_rows == len(file.frame)


def test_codes_that_the_first_rows_do_not_show_are_gaps(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_files, "LOOKED_AT", 300)
    frame = table(900).assign(pulse=np.random.default_rng(1).integers(50, 120, 900))
    frame.loc[600::5, "pulse"] = -999
    frame.to_csv(tmp_path / "a.csv", index=False)
    with stored_rows(tmp_path / "a.csv", "late") as rows:
        gaps = np.isnan(rows.store.whole().arrays[-1])
        assert np.flatnonzero(gaps).tolist() == list(range(600, 900, 5))
        assert rows.understood.columns["pulse"].missing == (-999,)
        assert any("-999" in note for note in rows.understood.notes)


def test_cells_that_the_first_rows_do_not_explain_are_refused_with_the_remedy(tmp_path):
    frame = table(stored_files.LOOKED_AT + 2).astype({"beds": object})
    frame.loc[len(frame) - 1, "beds"] = "full"
    frame.to_csv(tmp_path / "a.csv", index=False)
    said = refusal(tmp_path / "a.csv")
    assert f"line {len(frame) + 1}" in said
    assert "'full'" in said
    assert "--missing" in said
    with stored_rows(tmp_path / "a.csv", "late", missing={"beds": ["full"]}) as rows:
        assert np.isnan(rows.store.whole().arrays[-1][-1])


class TestDamage:
    def parts(self, tmp_path, second, ending="parquet"):
        return write(tmp_path / "parts", [table(), second], ending)

    def test_other_columns(self, tmp_path):
        said = refusal(self.parts(tmp_path, table().drop(columns="age").assign(weight=1.0)))
        assert "part-1" in said
        assert "'age'" in said
        assert "'weight'" in said

    def test_columns_in_another_order_are_fine(self, tmp_path):
        folder = self.parts(tmp_path, table()[["late", "beds", "ward", "age"]])
        with stored_rows(folder, "late", task="classification") as rows:
            first, second = rows.store.read(slice(0, 90)), rows.store.read(slice(90, 180))
            np.testing.assert_array_equal(first, second)

    @pytest.mark.parametrize("ending", ["parquet", "csv"])
    def test_strings_where_the_first_part_has_numbers(self, tmp_path, ending):
        said = refusal(self.parts(tmp_path, table().assign(beds="many"), ending))
        assert "part-1" in said
        assert "'beds'" in said
        assert "many" in said

    def test_numbers_where_the_first_part_has_strings(self, tmp_path):
        said = refusal(self.parts(tmp_path, table().assign(ward=1.0)))
        assert "part-1" in said
        assert "'ward'" in said

    def test_infinity(self, tmp_path):
        said = refusal(self.parts(tmp_path, table().assign(age=np.inf)))
        assert "part-1" in said
        assert "row 1" in said
        assert "inf" in said

    def test_an_empty_part_is_no_damage(self, tmp_path):
        with stored_rows(self.parts(tmp_path, table()[:0]), "late", task="classification") as rows:
            assert rows.store.n_rows == 90

    @pytest.mark.parametrize("content", [b"", b"PAR1 nonsense", b"\0\0"])
    def test_a_part_that_cannot_be_read(self, tmp_path, content):
        folder = write(tmp_path / "parts", [table()])
        (folder / "part-1.parquet").write_bytes(content)
        assert "part-1" in refusal(folder)

    def test_no_part_no_target_no_input(self, tmp_path):
        empty = tmp_path / "empty"
        empty.mkdir()
        assert "empty" in refusal(empty)
        assert "'Late'" in refusal(write(tmp_path / "a", [table()]), target="Late")
        assert "no column" in refusal(write(tmp_path / "b", [table()[["late"]]]))
        assert "no row" in refusal(write(tmp_path / "c", [table()[:0]]))

    def test_measurements_as_classes(self, tmp_path):
        assert "regressor" in refusal(write(tmp_path / "a", [table()]), target="age")

    def test_names_instead_of_categories(self, tmp_path, monkeypatch):
        monkeypatch.setattr(stored_files, "MOST_LEVELS", 50)
        frame = table().assign(name=[f"n{i}" for i in range(90)])
        folder = write(tmp_path / "parts", [frame])
        assert "'name'" in refusal(folder, columns={"name": "category"})

    def test_a_group_that_is_missing(self, tmp_path):
        said = refusal(write(tmp_path / "parts", [table()]), groups="ward")
        assert "groups" in said
        assert "row" in said


class FullDisk(io.BytesIO):
    def write(self, content):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path, monkeypatch):
    folder = write(tmp_path / "parts", [table()])
    monkeypatch.setattr(stored_files.tempfile, "TemporaryFile", lambda dir: FullDisk())
    with (
        pytest.raises(ResultsError, match="No space left"),
        stored_rows(folder, "late", task="classification", folder=tmp_path),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_a_folder_that_is_not_there(tmp_path):
    folder = write(tmp_path / "parts", [table()])
    with (
        pytest.raises(ResultsError, match="nowhere"),
        stored_rows(folder, "late", task="classification", folder=tmp_path / "nowhere"),
    ):
        pass


def test_an_interrupt_leaves_nothing(tmp_path):
    folder = write(tmp_path / "parts", [table()])
    with (
        pytest.raises(KeyboardInterrupt),
        stored_rows(folder, "late", task="classification", folder=tmp_path),
    ):
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_a_file_is_its_own_part(tmp_path):
    assert parts_of(tmp_path / "a.csv") == [tmp_path / "a.csv"]
