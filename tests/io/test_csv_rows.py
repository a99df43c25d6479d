"""CSV piece by piece: wherever it is cut, the same rows, and lines that an editor would show."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attacks import Limits, Target, run_case
from imputefree.errors import InputError
from imputefree.io import _csv_rows, header, open_rows, read_csv, read_table
from imputefree.io._csv_rows import find_records
from imputefree.io._dialects import lines_above
from tests.refusals import check_error


def read(path, kinds, monkeypatch=None, block=None):
    """All rows of a file: frame, lines, what is wrong."""
    if block:
        monkeypatch.setattr(_csv_rows, "BLOCK", block)
    with open_rows(path) as file:
        parts = list(file.rows(kinds))
    frame = pd.concat([part.frame.astype(object) for part in parts], ignore_index=True)
    wrong = {line: problem for part in parts for line, problem in part.wrong.items()}
    return frame, np.concatenate([part.lines for part in parts]), wrong


def by_csv_module(text):
    """Records and their first lines as Python's reader has them."""
    lines = io.StringIO(text, newline="").readlines()
    reader, at, records = csv.reader(lines), 0, []
    for fields in reader:
        if "".join(lines[at : reader.line_num]).strip():
            records.append([at, len(fields)])
        at = reader.line_num
    return records


@settings(max_examples=150, deadline=None)
@given(text=st.text(alphabet='a1 ,"\n\r', max_size=40))
def test_records_of_any_text(text):
    """With stray quotes too, all that is before an unclosed one is as Python reads it."""
    raw = text.encode()
    records = find_records(raw, last=True)
    expected = by_csv_module(text)
    if records.length < len(raw):  # an unclosed quote
        expected = expected[: len(records.spans)]
    assert records.spans[:, 2:].tolist() == expected


TRICKY = (
    'a,b,"c,\nd"\n1,x,"two\nlines"\n\n2,"a ""word""",\n   \n3,5" pipe,ü\n4,"x,y","\n\n"\n5,y,last'
)


@pytest.mark.parametrize("block", [1, 3, 16, 10_000])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_where_a_file_is_cut_does_not_matter(tmp_path, monkeypatch, block, end, mark):
    path = tmp_path / "a.csv"
    path.write_bytes(mark + TRICKY.replace("\n", end).encode())
    kinds = {"a": "number", "b": "text", "c, d": "text"}
    frame, lines, wrong = read(path, kinds, monkeypatch, block)
    assert not wrong
    assert frame["a"].tolist() == [1, 2, 3, 4, 5]
    assert frame["b"].tolist() == ["x", 'a "word"', '5" pipe', "x,y", "y"]
    third = frame["c, d"]
    assert third[[0, 2, 3, 4]].tolist() == [f"two{end}lines", "ü", end + end, "last"]
    assert pd.isna(third[1])
    assert lines.tolist() == [3, 6, 8, 9, 12]


def test_a_name_beside_an_index_is_not_a_title():
    assert lines_above(b",value\n0,1\n1,5\n2,3\n") == (0, 0)
    assert lines_above(b"a,b,c\n1,2,3,4\n5,6,7,8\n9,8,7,6\n") == (0, 0)
    assert lines_above(b"Export;;\na;b;c\n1;2;3\n4;5;6\n") == (1, 9)


@pytest.mark.parametrize("block", [8, 1000])
def test_rows_of_the_wrong_form_are_named_and_the_others_kept(tmp_path, monkeypatch, block):
    path = tmp_path / "a.csv"
    path.write_bytes(b'a,b\n1,2\n3\n4,5,6\n"x\ny",7\n\xff,8\n9,\x00\n10,' + "äö".encode())
    frame, lines, wrong = read(path, {"a": "text", "b": "text"}, monkeypatch, block)
    assert frame["a"].tolist() == ["1", "x\ny", "10"]
    assert lines.tolist() == [2, 5, 9]
    assert wrong == {
        3: "has 1 fields, but there are 2 column names",
        4: "has 3 fields, but there are 2 column names",
        7: "is not UTF-8 text",
        8: "holds a zero byte",
    }


def test_words_for_gaps_are_gaps_among_numbers_and_stay_words_elsewhere(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1.5,NA\nNA,x\n?,\n")
    frame, _, _ = read(path, {"a": "number", "b": "category"})
    assert frame["a"].astype(float).tolist()[0] == 1.5
    assert frame["a"].isna().tolist() == [False, True, True]
    assert frame["b"].tolist()[:2] == ["NA", "x"]
    assert frame["b"].isna().tolist() == [False, False, True]


def test_packed_files(tmp_path, monkeypatch):
    text = "a,b\n" + "".join(f"{i},w{i}\n" for i in range(5000))
    path = tmp_path / "a.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", text)
    assert read(path, {"a": "number"}, monkeypatch, 1000)[0]["a"].tolist() == list(range(5000))
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    frame, lines, _ = read(path, {"a": "number"}, monkeypatch, 1000)
    assert frame["a"].tolist() == list(range(5000))
    assert lines.tolist() == list(range(2, 5002))
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError, match="truncated or corrupted"):
        read(path, {"a": "number"})


def test_old_line_ends(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\r1,2\r3,4\r")
    frame, lines, _ = read(path, {"a": "number", "b": "number"})
    assert frame["b"].tolist() == [2, 4]
    assert lines.tolist() == [2, 3]


def zipped(*names, method=None, locked=False):
    """A ZIP archive of files of two columns; with another number for its method, or a password."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "a,b\n1,2\n")
    content = bytearray(buffer.getvalue())
    for mark, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):  # of the file, and of the directory
        at = content.index(mark) + flags if names else 0
        content[at] |= locked
        content[at + 2] = method or content[at + 2]
    return bytes(content)


def test_what_a_mac_adds_to_an_archive_is_not_read(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(zipped("a.csv", "__MACOSX/._a.csv"))
    assert read(path, {"b": "number"})[0]["b"].tolist() == [2]


UNREADABLE = [
    ("a.csv", b"", "is empty"),
    ("a.csv", b"\n\n", "is empty"),
    ("a.csv", b"a\0,b\n1,2\n", "zero bytes"),
    ("a.csv", "имя,b\nАнна,2\n".encode("cp1251"), "is written in an encoding that does not show"),
    (
        "a.csv",
        ("年龄,诊断\n" + "31,是\n42,否\n" * 9).encode("gb18030"),
        "is written in an encoding that does not show",
    ),
    ("a.csv", "prénom,b\nZoé,2\n".encode("mac_roman"), "is written in an encoding that does not"),
    ("a.csv", b'a,b\n1,2\n3,"x\n5,6\n', "line 3: a quote opens a field and is never closed"),
    ("a.csv", b'a,b\n1,q"q\n3,"x\n5,6\n', "line 3: a quote opens a field and is never closed"),
    ("a.csv.gz", b"a,b\n1,2\n", "truncated or corrupted"),
    ("a.zip", b"PK", "truncated or corrupted"),
    ("a.zip", zipped("a.csv", "b.csv"), "holds 2 files"),
    ("a.zip", zipped("a.csv", locked=True), "encrypted"),
    ("a.csv", zipped("a.csv", method=99), "compression method is not supported"),
    ("a.tar", b"not an archive", "a.tar"),
    ("a.csv.zst", b"not an archive", "a.csv.zst"),
    ("a.csv.7z", b"7z\xbc\xaf\0\0", "a.csv.7z"),
]


@pytest.mark.parametrize(("name", "content", "part"), UNREADABLE)
def test_files_that_cannot_be_read_whole_or_in_pieces(tmp_path, name, content, part):
    path = tmp_path / name
    path.write_bytes(content)
    check_error(lambda: read(path, {"a": "text"}), part)
    check_error(lambda: read_csv(path), part)
    assert header(path) == [] or "line" in part


def test_a_quote_that_stays_open_does_not_fill_the_memory(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,"' + "x,y\n" * 800_000)
    with path.open("rb") as raw:
        with pytest.raises(InputError, match="line 2: a quote opens"):
            _csv_rows.CsvRows(path, raw)
        assert raw.tell() <= _csv_rows.BLOCK


def test_columns_of_the_same_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,a,\n1,2,3,\n")
    with open_rows(path) as file:
        assert file.names == ["a", "b", "a", "Unnamed: 3"]
        assert file.twins == {"a"}
    check_error(lambda: read_csv(path), "more than one column named 'a'")


class Bomb(Target):
    """A small compressed file of 2 GB; reads it, which must be refused."""

    def attack(self, case):
        read_table(case)
        raise AssertionError("it was read")

    def limits(self, case):
        return Limits(seconds=10, memory=500 * 2**20)


@pytest.mark.slow
@pytest.mark.parametrize("begin", [b'a,b\n1,2\n3,"', b"a,b\n1,2\n3,", b'"', b"a,b\n1,2\n3"])
def test_a_compressed_field_without_end_is_refused_without_unpacking_it(tmp_path, begin):
    path = tmp_path / "bomb.csv.gz"
    part = gzip.compress(b"x" * 2**26, compresslevel=1)
    path.write_bytes(gzip.compress(begin) + part * 32)
    assert run_case(Bomb(), path) == "refused"


@pytest.mark.slow
def test_nor_one_in_an_archive(tmp_path):
    path = tmp_path / "bomb.zip"
    packed = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with packed, packed.open("a.csv", "w", force_zip64=True) as file:
        file.write(b'a,b\n1,2\n3,"')
        for _ in range(32):
            file.write(b"x" * 2**26)
    assert run_case(Bomb(), path) == "refused"
