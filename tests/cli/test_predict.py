"""`imputefree predict` and `evaluate`: exit codes, one-sentence errors, bounded memory."""

from __future__ import annotations

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from imputefree.io import _csv_rows as csv_rows
from imputefree.metrics import _intervals as intervals
from imputefree.metrics import classification_scores, regression_scores
from tests.workflow.made import classifier, long_table, regressor, sequence_classifier, table


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with three models and their data."""
    folder = tmp_path_factory.mktemp("predict")
    frame = table()
    model = classifier(frame)
    missing = dict(frame.isna().mean())
    data = {"file": "table.csv", "rows": 60, "missing": missing}
    model.about_ = {"task": "classification", "target": "y", "data": data}  # as `fit` writes it
    model.save(folder / "table.imputefree")
    frame.to_csv(folder / "table.csv", index=False)
    regressor(frame).save(folder / "numbers.imputefree")
    frame.assign(y=np.arange(60.0)).to_csv(folder / "numbers.csv", index=False)
    series = long_table()
    sequence_classifier(series).save(folder / "series.imputefree")
    series.to_csv(folder / "series.csv", index=False)
    return folder


def caller(run, home, command):
    """Calls a command on a model of the folder, with files there or here."""

    def call(model, data, *words):
        return run(command, home / model, home / data if (home / data).exists() else data, *words)

    return call


@pytest.fixture
def predict(run, home):
    """Call `predict`; gives exit code, stdout, stderr."""
    return caller(run, home, "predict")


@pytest.fixture
def evaluate(run, home, monkeypatch):
    """Call `evaluate`; gives exit code, stdout, stderr."""
    monkeypatch.setattr(intervals, "RESAMPLES", 20)
    return caller(run, home, "evaluate")


def test_a_table(predict, home, tmp_path):
    code, out, err = predict("table.imputefree", "table.csv", "-o", "out.csv", "--keep", "age,y")
    assert (code, out, err) == (0, "60 predictions: out.csv\n", "")
    actual = pd.read_csv(tmp_path / "out.csv")
    assert list(actual.columns) == ["age", "y", "prediction", "p_ill", "p_well"]
    np.testing.assert_allclose(actual["p_ill"] + actual["p_well"], 1)
    assert actual["age"].equals(pd.read_csv(home / "table.csv")["age"])


def test_series_to_parquet(predict, tmp_path):
    code, _, err = predict("series.imputefree", "series.csv", "-o", "out.parquet")
    assert (code, err) == (0, "")
    actual = pd.read_parquet(tmp_path / "out.parquet")
    assert list(actual.columns) == ["who", "prediction", "p_0", "p_1"]
    assert actual["prediction"].dtype == np.int64
    assert actual["who"].tolist() == [f"p{i:03d}" for i in range(20)]


def test_stdout_is_the_table_and_nothing_else(predict, tmp_path):
    code, out, err = predict("table.imputefree", "table.csv", "-o", "-")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "prediction,p_ill,p_well"
    assert len(out.splitlines()) == 61
    assert predict("table.imputefree", "table.csv")[1] == out  # stdout is the default
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


def test_the_first_bad_line_stops_and_leaves_the_older_output(predict, with_bad_lines, tmp_path):
    (tmp_path / "out.csv").write_text("older")
    code, out, err = predict("table.imputefree", with_bad_lines, "-o", "out.csv")
    assert (code, out) == (1, "")
    assert "bad.csv, line 2: column 'age' holds 'old', which is not a finite number." in err
    assert "--on-error skip" in err
    assert err.count("\n") == 1
    assert (tmp_path / "out.csv").read_text() == "older"
    assert {path.name for path in tmp_path.iterdir()} == {"bad.csv", "out.csv"}


def test_bad_lines_are_counted_and_ten_listed(predict, with_bad_lines, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_rows, "BLOCK", 500)
    words = ["-o", "out.csv", "--on-error", "skip"]
    code, out, err = predict("table.imputefree", with_bad_lines, *words)
    assert (code, out) == (0, "45 predictions: out.csv\n")
    lines = err.splitlines()
    assert lines[0] == f"{with_bad_lines}: 16 lines were left out."
    assert len(lines) == 12
    assert lines[1].startswith("  line 2: column 'age' holds 'old'")
    assert lines[10].startswith("  line 38: ")
    assert lines[11] == "  … and 6 more"
    assert len(pd.read_csv(tmp_path / "out.csv")) == 45


def test_a_file_of_bad_lines_alone_gives_an_empty_table(predict, home, tmp_path):
    header = (home / "table.csv").read_text().splitlines()[0]
    (tmp_path / "bad.csv").write_text(f"{header}\n1,2\n")
    words = ["-o", "out.csv", "--on-error", "skip", "--keep", "age"]
    code, out, _ = predict("table.imputefree", tmp_path / "bad.csv", *words)
    assert (code, out) == (0, "0 predictions: out.csv\n")
    assert (tmp_path / "out.csv").read_text() == "age,prediction,p_ill,p_well\n"
    assert predict("table.imputefree", tmp_path / "bad.csv", *words, "--in-memory")[:2] == (
        code,
        out,
    )
    (tmp_path / "bad.csv").write_text("who,hour,pulse,rhythm,age,sex\np1\n")
    words = ["-o", "-", "--on-error", "skip", "--in-memory"]
    code, out, _ = predict("series.imputefree", tmp_path / "bad.csv", *words)
    assert (code, out) == (0, "who,prediction,p_0,p_1\n")


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
def test_data_that_cannot_be_read_is_one_sentence(predict, tmp_path, name, content, part):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    code, out, err = predict("table.imputefree", name, "-o", "out.csv")
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
def test_what_cannot_be_done_is_one_sentence(predict, model, words, part):
    code, out, err = predict(model, "table.csv", *words)
    assert (code, out) == (1, "")
    assert part in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", ["table.csv", "table.imputefree"])
def test_neither_data_nor_model_is_overwritten(predict, home, name):
    before = (home / name).read_bytes()
    code, _, err = predict("table.imputefree", "table.csv", "-o", home / name)
    assert code == 1
    assert "is an input" in err
    assert (home / name).read_bytes() == before


@pytest.fixture(params=[300, 10**6])
def pieces(request, monkeypatch):
    monkeypatch.setattr(csv_rows, "BLOCK", request.param)


def test_figures_of_a_classifier_are_those_of_one_call(evaluate, home, tmp_path, pieces):
    frame = table(80, seed=1)
    frame.loc[:9, "y"] = None
    frame.to_csv(tmp_path / "new.csv", index=False)
    code, out, err = evaluate("table.imputefree", tmp_path / "new.csv", "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    rest = frame.iloc[10:]
    probability = classifier(table()).predict_proba(rest.drop(columns="y"))
    expected = classification_scores((rest["y"] == "well").to_numpy(int), probability)
    for name, value in expected.items():
        assert result["figures"][name]["value"] == pytest.approx(value, abs=1e-6)
        assert result["figures"][name]["low"] <= result["figures"][name]["high"]
    assert (result["count"], result["without"], result["bad_rows"]) == (70, 10, 0)
    assert result["missing"]["age"] == pytest.approx(frame["age"].isna().mean())
    inputs = frame.drop(columns="y")
    assert result["share_missing"] == pytest.approx(inputs.isna().to_numpy().mean())


def test_evaluation_is_a_table(evaluate, tmp_path):
    table(80, seed=1).to_csv(tmp_path / "new.csv", index=False)
    code, out, err = evaluate("table.imputefree", tmp_path / "new.csv")
    assert (code, err) == (0, "")
    assert "table.imputefree on new.csv: 80 rows, target 'y'" in out
    assert "accuracy" in out
    assert "95% interval" in out


def test_a_regressor_needs_to_be_told_the_target(evaluate, home):
    code, _, err = evaluate("numbers.imputefree", "numbers.csv")
    assert code == 1
    assert "Pass --target COLUMN" in err
    code, out, _ = evaluate("numbers.imputefree", "numbers.csv", "--target", "y", "--json")
    assert code == 0
    frame = pd.read_csv(home / "numbers.csv")
    expected = regression_scores(
        frame["y"].to_numpy(), regressor(table()).predict(table().drop(columns="y"))
    )
    actual = {name: one["value"] for name, one in json.loads(out)["figures"].items()}
    assert {name: actual[name] for name in expected} == pytest.approx(expected, abs=1e-4)


def test_series_are_evaluated(evaluate, home, tmp_path, pieces):
    frame = long_table(30, seed=1)
    answered = frame.assign(y=frame["y"].astype(object))
    answered.loc[answered["who"] == "p003", "y"] = None
    second = answered["who"].duplicated()
    answered.loc[second, "y"] = None  # one row of a series is enough
    answered.to_csv(tmp_path / "new.csv", index=False)
    code, out, _ = evaluate("series.imputefree", tmp_path / "new.csv", "--target", "y", "--json")
    assert code == 0
    result = json.loads(out)
    assert (result["unit"], result["count"], result["without"]) == ("series", 29, 1)
    first = frame.groupby("who").first()
    assert result["missing"]["sex"] == first["sex"].isna().mean()
    assert result["missing"]["pulse"] == pytest.approx(frame["pulse"].isna().mean())
    probability = sequence_classifier(long_table()).predict_proba(frame)
    kept = first.index != "p003"
    expected = classification_scores(first["y"].to_numpy()[kept], probability[kept])
    assert result["figures"]["auc"]["value"] == pytest.approx(expected["auc"], abs=1e-6)


def test_every_step_is_evaluated(evaluate, home, tmp_path, pieces):
    frame = long_table()
    frame["y"] = frame.index % 2
    model = sequence_classifier(frame, per_step=True)
    model.save(home / "steps.imputefree")
    frame.to_csv(tmp_path / "new.csv", index=False)
    code, out, _ = evaluate("steps.imputefree", tmp_path / "new.csv", "--target", "y", "--json")
    assert code == 0
    expected = classification_scores(frame["y"].to_numpy(), model.predict_proba(frame))
    result = json.loads(out)
    assert (result["unit"], result["count"]) == ("step", len(frame))
    assert result["figures"]["auc"]["value"] == pytest.approx(expected["auc"], abs=1e-6)


def test_an_answer_that_changes_within_a_series(evaluate, tmp_path):
    frame = long_table()
    frame["y"] = frame.index % 2
    frame.to_csv(tmp_path / "new.csv", index=False)
    code, _, err = evaluate("series.imputefree", tmp_path / "new.csv", "--target", "y")
    assert code == 1
    assert "changes within a series" in err


def test_a_class_that_training_did_not_have(evaluate, tmp_path):
    frame = table(40, seed=1).assign(ward="A")
    frame.loc[5, "y"] = "gone"
    frame.to_csv(tmp_path / "new.csv", index=False)
    code, _, err = evaluate("table.imputefree", tmp_path / "new.csv")
    assert code == 1
    assert "line 7: the target 'y' holds 'gone', which is none of the classes 'ill', 'well'" in err
    code, out, err = evaluate(
        "table.imputefree", tmp_path / "new.csv", "--on-error", "skip", "--json"
    )
    assert code == 0
    result = json.loads(out)
    assert (result["count"], result["without"], result["bad_rows"]) == (39, 0, 1)
    assert "1 line was left out" in err


def test_the_training_file_is_noticed(evaluate):
    code, out, err = evaluate("table.imputefree", "table.csv", "--json")
    assert code == 0
    assert "the file that the model learned from" in err
    assert json.loads(out)["notes"]


def test_other_gaps_than_in_training_are_noticed(evaluate, tmp_path):
    frame = table(80, seed=1)
    frame.loc[5:, "age"] = np.nan
    frame.to_csv(tmp_path / "new.csv", index=False)
    _, _, err = evaluate("table.imputefree", tmp_path / "new.csv")
    assert "Shares of missing values differ from training: 'age'" in err
    assert "'smokes'" not in err


def test_classes_are_found_however_numbers_are_written(evaluate, home, tmp_path):
    frame = long_table(30, seed=1)
    written = frame.assign(y=frame["y"].map({0: "0.0", 1: "1"}))
    for name, one in {"a.csv": frame, "b.csv": written}.items():
        one.to_csv(tmp_path / name, index=False)
    words = ["--target", "y", "--json"]
    one, other = (
        json.loads(evaluate("series.imputefree", tmp_path / name, *words)[1])["figures"]
        for name in ("a.csv", "b.csv")
    )
    assert one == other


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("age,beds,smokes,ward,code\n1,2,True,A,1\n", "has no column 'y'"),
        ("age,beds,smokes,ward,code,y\n1,2,True,A,1,\n", "no answer in 'y'"),
        ("age,beds,smokes,ward,code,y\n", "no rows"),
    ],
)
def test_files_that_cannot_be_evaluated(evaluate, tmp_path, content, part):
    (tmp_path / "new.csv").write_text(content)
    code, out, err = evaluate("table.imputefree", "new.csv")
    assert (code, out) == (1, "")
    assert part in err
    assert err.count("\n") == 1


def test_bad_lines_alone_cannot_be_evaluated(evaluate, home, tmp_path):
    for model, names in (("table", "table.csv"), ("series", "series.csv")):
        header = (home / names).read_text().splitlines()[0]
        (tmp_path / "bad.csv").write_text(f"{header}\n1,2\n")
        words = ["--target", "y", "--on-error", "skip", "--in-memory"]
        code, _, err = evaluate(f"{model}.imputefree", tmp_path / "bad.csv", *words)
        assert code == 1
        assert "has no answer in 'y'" in err
        assert "Traceback" not in err


COMMAND = [sys.executable, "-m", "imputefree", "predict"]
# Where tests run in the background, children are told to ignore Ctrl-C.
SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from imputefree.cli import main
main(sys.argv[1:])
"""
LISTENING = [sys.executable, "-c", SCRIPT]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def long_file(home, rows):
    """The table of the folder over and over, with a long column that the model does not use."""
    path = home / f"long-{rows}.csv"
    if not path.exists():
        text = pd.read_csv(home / "table.csv").assign(story="w" * 200).to_csv(index=False)
        header, _, body = text.partition("\n")
        path.write_text(f"{header}\n" + body * (rows // 60))
    return path


def test_a_disk_that_is_full_leaves_nothing_behind(predict, home, tmp_path):
    """Files of this process may have 10 kB: writing more fails, as on a full disk."""
    data, before = long_file(home, 600), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        code, _, err = predict("table.imputefree", data, "-o", tmp_path / "out.csv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert code == 1
    assert err.startswith(f"imputefree: {tmp_path / 'out.csv'} cannot be written (File too large).")
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_signal_in_the_middle_leaves_the_older_output_and_nothing_else(
    home, tmp_path, name, number, code
):
    (tmp_path / name).write_text("older")
    data = long_file(home, 60_000)
    words = [*LISTENING, "predict", home / "table.imputefree", data, "-o", tmp_path / name]
    child = subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    while len(list(tmp_path.iterdir())) < 2:  # until it writes
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(number)
    err = child.communicate(timeout=60)[1]
    assert child.returncode == code, err
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "older"


@pytest.mark.slow
def test_a_reader_that_has_enough_is_no_failure(home):
    command = [*COMMAND, home / "table.imputefree", long_file(home, 12_000)]
    child = subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout.readline() == b"prediction,p_ill,p_well\n"
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait() == 0


# In a process of its own: what else a process has done is in its peak.
PEAKS = """
import sys
from imputefree.cli import main
from imputefree.io import _csv_rows
_csv_rows.BLOCK //= 8
model, *files = sys.argv[1:]
for file in files:
    try:
        main(["predict", model, file, "-o", file + ".out.csv"])
    except SystemExit as left:
        assert left.code == 0
    with open("/proc/self/status") as status:
        print("peak", next(line for line in status if line.startswith("VmHWM")).split()[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="reads Linux's own figures")
def test_memory_does_not_grow_with_the_file(home):
    """Both files, 0.7 and 6 MB, are larger than a piece of 0.25 MB."""
    files = [long_file(home, rows) for rows in (3_000, 24_000)]
    command = [sys.executable, "-c", PEAKS, home / "table.imputefree", *files]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    small, large = (int(line.split()[1]) / 1024 for line in lines if line.startswith("peak"))
    assert large < small + 5
    with open(f"{files[1]}.out.csv") as file:
        assert sum(1 for _ in file) == 24_001
