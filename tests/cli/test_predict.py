"""`imputefree predict`: exit codes, one sentence on stderr, whole outputs, bounded memory."""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from imputefree.io import _csv_rows as csv_rows
from tests.workflow.made import classifier, long_table, sequence_classifier, table


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with two models and their data."""
    folder = tmp_path_factory.mktemp("predict")
    frame = table()
    classifier(frame).save(folder / "table.imputefree")
    frame.to_csv(folder / "table.csv", index=False)
    series = long_table()
    sequence_classifier(series).save(folder / "series.imputefree")
    series.to_csv(folder / "series.csv", index=False)
    return folder


@pytest.fixture
def run(run, home):
    """Call `predict` on a model of the folder, with files here; exit code, stdout, stderr."""

    def call(model, data, *words):
        return run("predict", home / model, home / data if (home / data).exists() else data, *words)

    return call


def test_a_table(run, home, tmp_path):
    code, out, err = run("table.imputefree", "table.csv", "-o", "out.csv", "--keep", "age,y")
    assert (code, out, err) == (0, "60 predictions: out.csv\n", "")
    found = pd.read_csv(tmp_path / "out.csv")
    assert list(found.columns) == ["age", "y", "prediction", "p_ill", "p_well"]
    np.testing.assert_allclose(found["p_ill"] + found["p_well"], 1)
    assert found["age"].equals(pd.read_csv(home / "table.csv")["age"])


def test_series_to_parquet(run, tmp_path):
    code, _, err = run("series.imputefree", "series.csv", "-o", "out.parquet")
    assert (code, err) == (0, "")
    found = pd.read_parquet(tmp_path / "out.parquet")
    assert list(found.columns) == ["who", "prediction", "p_0", "p_1"]
    assert found["prediction"].dtype == np.int64
    assert found["who"].tolist() == [f"p{i:03d}" for i in range(20)]


def test_stdout_is_the_table_and_nothing_else(run, tmp_path):
    code, out, err = run("table.imputefree", "table.csv", "-o", "-")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "prediction,p_ill,p_well"
    assert len(out.splitlines()) == 61
    assert run("table.imputefree", "table.csv")[1] == out  # stdout is the default
    assert not list(tmp_path.iterdir())


@pytest.fixture
def with_bad_lines(home, tmp_path):
    frame = pd.read_csv(home / "table.csv", dtype=str)
    frame["ward"] = "A"
    frame.loc[::4, "age"] = "old"
    frame.to_csv(tmp_path / "bad.csv", index=False)
    with open(tmp_path / "bad.csv", "a") as file:
        file.write("1,2\n")
    return tmp_path / "bad.csv"


def test_the_first_bad_line_stops_and_leaves_the_older_output(run, with_bad_lines, tmp_path):
    (tmp_path / "out.csv").write_text("older")
    code, out, err = run("table.imputefree", with_bad_lines, "-o", "out.csv")
    assert (code, out) == (1, "")
    assert "bad.csv, line 2: column 'age' holds 'old', which is not a finite number." in err
    assert "--on-error skip" in err
    assert err.count("\n") == 1
    assert (tmp_path / "out.csv").read_text() == "older"
    assert {path.name for path in tmp_path.iterdir()} == {"bad.csv", "out.csv"}


def test_bad_lines_are_left_out_counted_and_ten_listed(run, with_bad_lines, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_rows, "BLOCK", 500)
    words = ["-o", "out.csv", "--on-error", "skip"]
    code, out, err = run("table.imputefree", with_bad_lines, *words)
    assert (code, out) == (0, "45 predictions: out.csv\n")
    lines = err.splitlines()
    assert lines[0] == f"{with_bad_lines}: 16 lines were left out."
    assert len(lines) == 12
    assert lines[1].startswith("  line 2: column 'age' holds 'old'")
    assert lines[10].startswith("  line 38: ")
    assert lines[11] == "  … and 6 more"
    assert len(pd.read_csv(tmp_path / "out.csv")) == 45


def test_a_file_of_bad_lines_alone_gives_an_empty_table(run, home, tmp_path):
    header = (home / "table.csv").read_text().splitlines()[0]
    (tmp_path / "bad.csv").write_text(f"{header}\n1,2\n")
    words = ["-o", "out.csv", "--on-error", "skip", "--keep", "age"]
    code, out, _ = run("table.imputefree", tmp_path / "bad.csv", *words)
    assert (code, out) == (0, "0 predictions: out.csv\n")
    assert (tmp_path / "out.csv").read_text() == "age,prediction,p_ill,p_well\n"
    assert run("table.imputefree", tmp_path / "bad.csv", *words, "--in-memory")[:2] == (code, out)
    (tmp_path / "bad.csv").write_text("who,hour,pulse,rhythm,age,sex\np1\n")
    words = ["-o", "-", "--on-error", "skip", "--in-memory"]
    code, out, _ = run("series.imputefree", tmp_path / "bad.csv", *words)
    assert (code, out) == (0, "who,prediction,p_0,p_1\n")


def test_unseen_categories_are_one_note(run, home, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_rows, "BLOCK", 500)
    pd.read_csv(home / "table.csv").assign(ward="Q").to_csv(tmp_path / "new.csv", index=False)
    code, _, err = run("table.imputefree", tmp_path / "new.csv", "-o", "out.csv")
    assert code == 0
    assert err.count("\n") == 1
    assert "which count as missing: 'Q' in column 'ward' (60 rows)." in err


def test_series_that_come_back(run, home, tmp_path):
    frame = pd.read_csv(home / "series.csv")
    frame.sort_values("hour", kind="stable").to_csv(tmp_path / "mixed.csv", index=False)
    code, _, err = run("series.imputefree", tmp_path / "mixed.csv", "-o", "out.csv")
    assert code == 1
    assert "line 22: the series 'p000' comes back" in err
    assert "Sort the file by 'who', or read all of it at once with --in-memory." in err
    words = ["-o", "out.csv", "--in-memory"]
    assert run("series.imputefree", tmp_path / "mixed.csv", *words)[0] == 0
    run("series.imputefree", "series.csv", "-o", "plain.csv")
    found, plain = (pd.read_csv(tmp_path / name) for name in ("out.csv", "plain.csv"))
    pd.testing.assert_frame_equal(found, plain)


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("no.csv", None, "no.csv does not exist"),
        ("no.parquet", None, "no.parquet does not exist"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b"age,beds,smokes,ward,code\n", "no rows"),
        ("a.csv", b"age,beds\n1,2\n", "a.csv: there is no column 'smokes', 'ward', 'code'"),
        (
            "a.csv.gz",
            gzip.compress(b"age,beds\n" + bytes(range(256)) * 40, mtime=0)[:-9],
            "truncated",
        ),
        ("a.parquet", b"PAR1 no", "is not a Parquet file"),
    ],
)
def test_data_that_cannot_be_read_is_one_sentence(run, tmp_path, name, content, part):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    code, out, err = run("table.imputefree", name, "-o", "out.csv")
    assert (code, out) == (1, "")
    assert part in err
    assert err.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("model", "words", "part"),
    [
        ("no.imputefree", ["-o", "out.csv"], "does not exist"),
        ("table.csv", ["-o", "out.csv"], "not a model file"),
        ("table.imputefree", ["-o", "no/out.csv"], "no/out.csv cannot be written"),
        ("table.imputefree", ["-o", "."], "a folder"),
        ("table.imputefree", ["-o", "/dev/full"], "No space left on device"),
        ("table.imputefree", ["--keep", "name"], "has no column 'name'"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(run, model, words, part):
    code, out, err = run(model, "table.csv", *words)
    assert (code, out) == (1, "")
    assert part in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", ["table.csv", "table.imputefree"])
def test_neither_data_nor_model_is_overwritten(run, home, name):
    before = (home / name).read_bytes()
    code, _, err = run("table.imputefree", "table.csv", "-o", home / name)
    assert code == 1
    assert "the file that is read" in err
    assert (home / name).read_bytes() == before


@pytest.mark.parametrize("words", [["--on-error", "sing"], ["--fast"]])
def test_wrongly_called_is_code_2(run, words):
    assert run("table.imputefree", "table.csv", *words)[0] == 2


COMMAND = [sys.executable, "-m", "imputefree", "predict"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def long_file(home, rows):
    """The table of the folder over and over, with a long column that the model does not use."""
    path = home / f"long-{rows}.csv"
    if not path.exists():
        text = pd.read_csv(home / "table.csv").assign(story="w" * 200).to_csv(index=False)
        header, _, body = text.partition("\n")
        path.write_text(f"{header}\n" + body * (rows // 60))
    return path


def test_a_disk_that_is_full_leaves_nothing_behind(home, tmp_path):
    """Files of this process may have 100 kB: writing more fails, as on a full disk."""
    output = tmp_path / "out.csv"
    command = [*COMMAND, home / "table.imputefree", long_file(home, 6000), "-o", output]
    done = subprocess.run(
        command,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith(f"imputefree: {output} cannot be written (File too large).")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_reader_that_has_enough_is_no_failure(home):
    command = [*COMMAND, home / "table.imputefree", long_file(home, 24_000)]
    child = subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout.readline() == b"prediction,p_ill,p_well\n"
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait() == 0


# The peak of its own: what the system tells of a child may be its parent's before it began.
PEAK = """
import sys
from imputefree.cli import main
try:
    main(sys.argv[1:])
except SystemExit as left:
    assert left.code == 0
with open("/proc/self/status") as file:
    print(next(line for line in file if line.startswith("VmHWM")).split()[1])
"""


def peak_mb(home, rows, tmp_path):
    output = tmp_path / f"{rows}.csv"
    words = ["predict", home / "table.imputefree", long_file(home, rows), "-o", output]
    command = [sys.executable, "-c", PEAK, *words]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    with open(output) as file:
        assert sum(1 for _ in file) == rows + 1
    return int(done.stdout.split()[-1]) / 1024


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="reads Linux's own figures")
def test_memory_does_not_grow_with_the_file(home, tmp_path):
    """Both files, 6 and 23 MB, are larger than a piece."""
    small, large = peak_mb(home, 24_000, tmp_path), peak_mb(home, 96_000, tmp_path)
    assert large < small + 20
