"""A full disk and a read-only folder, on a real small file system: one sentence, nothing lost."""

from __future__ import annotations

import os
import subprocess

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier
from imputefree.errors import ImputefreeError
from imputefree.gil import Checkpoint
from imputefree.lab.runs import ResultsFile, Run, read_results

TINY = ("--model", "network", "--max-iter", "2", "--members", "1", "--no-estimate")
TARGET = ("--target", "y")


@pytest.fixture
def disk(tmp_path):
    """A file system of 2 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    if mounted.returncode:
        pytest.skip(f"mounting is not permitted: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def table(rows=200):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(rows, 3)).round(3), columns=list("abc"))
    return frame.mask(rng.random(frame.shape) < 0.2).assign(y=np.where(frame["a"] > 0, "p", "q"))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a table, a folder of parts, many rows, results, and a model."""
    folder = tmp_path_factory.mktemp("home")
    table().to_csv(folder / "d.csv", index=False)
    (folder / "parts").mkdir()
    table().to_csv(folder / "parts" / "part.csv", index=False)
    pd.concat([table()] * 20).to_csv(folder / "many.csv", index=False)
    model = GILClassifier(max_iter=2, n_members=1, random_state=0)
    model.fit(table()[["a", "b", "c"]], table()["y"]).save(folder / "m.model")
    with ResultsFile(folder / "r.jsonl") as results:
        results.append(line(0))
    return folder


def line(number):
    scores = {"auc": 0.5 + number / 1000}
    about = {"version": "1", "status": "done", "scores": scores, "cost": {}, "command": "x" * 500}
    return {**vars(Run("t", "mask_only", split_seed=number)), **about}


COMMANDS = {
    "predict csv": ("out.csv", ["predict", "m.model", "many.csv", "--keep", "a", "-o"]),
    "predict csv.gz": ("out.csv.gz", ["predict", "m.model", "many.csv", "--keep", "a", "-o"]),
    "predict parquet": ("out.parquet", ["predict", "m.model", "many.csv", "--keep", "a", "-o"]),
    "fit": ("n.model", ["fit", "d.csv", *TARGET, *TINY, "-o"]),
    "fit folder": ("n.model", ["fit", "parts", *TARGET, *TINY[:-1], "-o"]),
    "explain": ("why.csv", ["explain", "m.model", "d.csv", "--rows", "all", "--csv"]),
    "picture": ("why.png", ["explain", "m.model", "d.csv", "--rows", "0", "-o"]),
    "audit": ("audit.json", ["audit", "m.model", "many.csv", *TARGET, "-o"]),
    "export": ("m.onnx", ["export", "m.model", "-o"]),
    "report": ("page.html", ["report", "r.jsonl", "-o"]),
}


def words(home, name, disk):
    output, command = COMMANDS[name]
    first = [str(home / word) if (home / word).exists() else word for word in command]
    return disk / output, [*first, disk / output]


def fill(disk, free):
    """Leave so many bytes on the disk."""
    space = os.statvfs(disk)
    size = space.f_bavail * space.f_frsize - free
    (disk / "ballast").write_bytes(b"x" * size)


def files(disk):
    actual = {path.relative_to(disk).as_posix() for path in disk.rglob("*")} - {"ballast"}
    return {name for name in actual if not name.startswith("n.model.partial")}  # for --resume


@pytest.mark.slow
@pytest.mark.parametrize("free", [0, 4096])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_leaves_the_older_output_and_the_command_succeeds_later(
    run, home, disk, name, free, monkeypatch
):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    monkeypatch.setattr("tempfile.tempdir", str(home))
    output, command = words(home, name, disk)
    output.write_text("older")
    fill(disk, free)
    code, _, err = run(*command)
    if code == 0:  # it needs less than a page
        assert output.stat().st_size <= 2 * free
        return
    assert code == 1
    assert err.splitlines()[-1].startswith("imputefree: ")
    assert "Traceback" not in err
    assert output.read_text() == "older"
    assert files(disk) == {output.name}
    (disk / "ballast").unlink()
    code, _, err = run(*command, *["--resume"] * (name == "fit"))
    assert code == 0, err
    assert output.read_bytes() != b"older"


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_read_only_folder_is_one_sentence(run, home, disk, name):
    output, command = words(home, name, disk)
    output.write_text("older")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    code, _, err = run(*command)
    assert code == 1
    assert err.splitlines()[-1].startswith("imputefree: ")
    assert str(disk) in err.splitlines()[-1]
    assert "Traceback" not in err
    assert output.read_text() == "older"
    assert files(disk) == {output.name}


def test_a_model_on_a_full_disk_leaves_the_older_one(disk, home):
    model = GILClassifier.load(home / "m.model")
    model.save(disk / "m")
    before = (disk / "m").read_bytes()
    fill(disk, 4096)
    with pytest.raises(ImputefreeError, match="No space left"):
        model.save(disk / "m")
    assert (disk / "m").read_bytes() == before
    assert files(disk) == {"m"}


def test_a_checkpoint_on_a_full_disk_is_a_warning_and_leaves_nothing(disk, monkeypatch):
    """Training goes on; it could just not be resumed."""
    monkeypatch.setattr(Checkpoint.__init__, "__defaults__", (0.0,))
    fill(disk, 4096)
    model = GILClassifier(max_iter=3, n_members=2, random_state=0)
    with pytest.warns(UserWarning, match="cannot be written"):
        model.fit(table()[["a", "b", "c"]], table()["y"], checkpoint=disk / "c")
    assert len(model.predict(table()[["a", "b", "c"]])) == 200
    assert files(disk) == set()


def test_lines_of_results_that_were_written_before_the_disk_was_full_stay(disk):
    path = disk / "r.jsonl"
    with ResultsFile(path) as results:
        for number in range(3):
            results.append(line(number))
    fill(disk, 0)
    with ResultsFile(path) as results, pytest.raises(ImputefreeError, match="No space left"):
        for number in range(3, 100):
            results.append(line(number))
    kept = [record["split_seed"] for record in read_results(path)]
    assert kept == list(range(len(kept)))
    assert len(kept) >= 3
    (disk / "ballast").unlink()
    with ResultsFile(path) as results:
        results.append(line(len(kept)))
    assert len(read_results(path)) == len(kept) + 1
