"""A results file loses nothing that was written, whatever happens to its writer."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from imputefree.errors import ResultsError
from imputefree.lab.runs._protocol import Run
from imputefree.lab.runs._results import BEGIN, ResultsFile, read_results
from tests.refusals import check_error

RUN = Run("icu", "linear")


def record(seed=0, **more):
    return asdict(replace(RUN, split_seed=seed)) | more


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "results.jsonl"
    with ResultsFile(path) as results:
        for seed in range(3):
            results.append(record(seed))
    return path


def seeds(records):
    return [one["split_seed"] for one in records]


def test_what_is_written_is_read(path):
    assert path.read_bytes().count(b"\n") == 3
    assert read_results(path) == [record(seed) for seed in range(3)]
    with ResultsFile(path) as results:
        results.append(record(3))
        assert seeds(results.records) == [0, 1, 2, 3]
    assert seeds(read_results(path)) == [0, 1, 2, 3]


def test_a_torn_end_is_cut_off_wherever_it_is_torn(path):
    whole = path.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    for end in (*range(start, start + 12), *range(start + 12, len(whole), 9)):
        path.write_bytes(whole[:end])
        assert seeds(read_results(path)) == [0, 1]
        with ResultsFile(path) as results:
            assert seeds(results.records) == [0, 1]
            assert path.read_bytes() == whole[:start]
            results.append(record(2))
        assert path.read_bytes() == whole


def test_a_torn_first_line_is_cut_off(path):
    first = path.read_bytes().splitlines(keepends=True)[0]
    for end in range(len(BEGIN), len(first), 9):
        path.write_bytes(first[:end])
        with ResultsFile(path) as results:
            assert results.records == []
        assert path.read_bytes() == b""


def test_zeros_of_a_power_failure_are_cut_off(path):
    whole = path.read_bytes()
    path.write_bytes(whole + b"\0" * 500)
    with ResultsFile(path):
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "content",
    [
        *(b"# Notes\n", b"my thesis", b'{"a": 1}\n', b"[]\n", b"\n", b"text\n\n", b"{", b"{\n"),
        *(b'{"study": "icu"}\n', b'{"study": \n', b"\0\n", b"[" * 100_000),
    ],
)
def test_a_file_that_is_not_ours_is_left_alone(tmp_path, content):
    path = tmp_path / "thesis.txt"
    path.write_bytes(content)
    check_error(
        lambda: ResultsFile(path).__enter__(), "line 1 of", "is not a result", kind=ResultsError
    )
    assert path.read_bytes() == content


@pytest.mark.parametrize("end", [b'{"study": "icu"}\n', b'{"study": "icu", "met\n', b"{\n", b"\n"])
def test_a_last_line_that_was_not_torn_is_left_alone(path, end):
    content = path.read_bytes() + end
    path.write_bytes(content)
    for use in (read_results, lambda path: ResultsFile(path).__enter__()):
        check_error(lambda use=use: use(path), "line 4 of", "is not a result", kind=ResultsError)
    assert path.read_bytes() == content


def test_a_broken_line_in_the_middle_is_named(path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:20] + b"\n" + lines[2])
    check_error(lambda: read_results(path), "line 2 of", kind=ResultsError)


def test_of_one_run_the_last_line_counts(path):
    with ResultsFile(path) as results:
        results.append(record(1, status="done"))
    actual = read_results(path)
    assert sorted(seeds(actual)) == [0, 1, 2]
    assert [one.get("status") for one in actual if one["split_seed"] == 1] == ["done"]


def test_a_second_writer_is_refused(path):
    with ResultsFile(path):
        check_error(
            lambda: ResultsFile(path).__enter__(), "being written by another", kind=ResultsError
        )
    with ResultsFile(path) as results:  # and the lock is gone with its owner
        results.append(record(3))


def test_a_real_write_that_is_cut_short(tmp_path):
    """The kernel takes a part of the line and refuses the rest, as a nearly full disk does."""
    resource = pytest.importorskip("resource")
    path = tmp_path / "results.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    errors = []
    with ResultsFile(path) as results:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        try:
            for seed in range(100):
                results.append(record(seed))
        except ResultsError as error:
            errors.append(str(error))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert errors[0].startswith(f"{path} cannot be written (File too large). ")
        assert path.read_bytes().endswith(b"}\n")
        results.append(record(100))  # room was made
    path.write_bytes(path.read_bytes()[: -len(json.dumps(record(100))) - 1])
    assert 1000 - 200 < path.stat().st_size < 1000
    actual = seeds(read_results(path))
    assert actual == list(range(len(actual)))
    assert f"The {len(actual)} runs" in errors[0]


def test_folders_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "results.jsonl", tmp_path, "/proc/none/results.jsonl"):
        check_error(
            lambda path=path: ResultsFile(path).__enter__(),
            str(path),
            "cannot be written",
            "must be writable",
            "another file",
            kind=ResultsError,
        )


def test_a_file_that_is_not_there(tmp_path):
    check_error(lambda: read_results(tmp_path / "no"), "cannot be read", kind=ResultsError)


def test_only_json_is_written(path):
    whole = path.read_bytes()
    with ResultsFile(path) as results:
        with pytest.raises(ValueError):
            results.append(record(3, scores={"auc": float("nan")}))
        with pytest.raises(ValueError, match="begin with its study"):
            results.append({"method": "gil"})
    assert path.read_bytes() == whole
