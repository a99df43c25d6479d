"""`imputefree data`: exit codes, one sentence on stderr, tables on stdout, pictures in files."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree.cli import _data as data
from imputefree.lab.studies._data_files import SOURCES, Source
from tests.lab.studies.web import serving

TABLE = "id,a,b,y\n" + "".join(f"{i},{'' if i % 2 else i},{i % 5},{i % 2}\n" for i in range(60))


@pytest.fixture(autouse=True)
def no_data(tmp_path, monkeypatch):
    """Nothing of this machine is found."""
    monkeypatch.setenv("IMPUTEFREE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_file_is_described(run, tmp_path):
    (tmp_path / "mine.csv").write_text(TABLE)
    code, out, err = run("data", "describe", "mine.csv", "--target", "y", "--drop", "id")
    assert code == 0, err  # which reports progress on a busy machine
    assert "table, 60 rows, 2 columns" in out
    assert "1.000  (1 from 0)" in out  # a is missing where y is 1
    if data.find_spec("matplotlib"):
        assert "Picture: table-mine.csv-missing.png" in out
        assert (tmp_path / "table-mine.csv-missing.png").stat().st_size > 10_000


def test_without_a_target_and_without_matplotlib(run, tmp_path, monkeypatch):
    (tmp_path / "mine.csv").write_text(TABLE)
    monkeypatch.setattr(data, "find_spec", lambda name: None)
    code, out, err = run("data", "describe", "mine.csv")
    assert code == 0
    assert "none: no label" in out
    assert err == "The picture needs matplotlib: pip install 'imputefree[plot]'.\n"
    assert not list(tmp_path.glob("*.png"))


def test_series_in_a_file(run, tmp_path):
    rows = (f"{i % 20},{i // 20},{'' if i % 3 else 1},{i % 2}\n" for i in range(100))
    (tmp_path / "s.csv").write_text("who,when,x,y\n" + "".join(rows))
    code, out, _ = run(
        *("data", "describe", "s.csv", "--id", "who", "--time", "when", "--target", "y"),
        "--no-picture",
    )
    assert code == 0
    assert "20 series, 1 columns" in out
    assert "5 each; 100 steps in all" in out


@pytest.mark.slow
def test_a_simulated_study_with_an_option_and_a_picture_of_ones_choice(run, tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need the extra bench")
    code, out, _ = run("data", "describe", "icu", "--option", "n_series=100", "-o", "icu.svg")
    assert code == 0
    assert "icu  (SIMULATED)" in out
    assert (tmp_path / "icu.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["describe", "moon"], "imputefree: there is no study 'moon'."),
        (["describe", "no.csv"], "no.csv does not exist"),
        (["describe", "mnist"], "Run `imputefree data get mnist`"),
        (["describe", "icu", "--target", "y"], "--target cannot be given for 'icu'"),
        (["describe", "icu", "--id", "y"], "--id cannot be given for 'icu'"),
        (["describe", "icu", "--option", "seed"], "--option is 'seed'"),
        (["describe", "icu", "--option", "colour=1"], "'icu' has no option 'colour'"),
        (["get", "moon"], "'moon' cannot be downloaded"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_code_1(run, words, part):
    code, out, err = run("data", *words)
    assert code == 1
    assert part in err
    assert err.count("\n") == 1
    assert "Traceback" not in out + err


def test_get_and_its_failures(run, tmp_path, monkeypatch):
    content = np.random.default_rng(0).bytes(50_000)
    with serving(content) as web:
        monkeypatch.setitem(SOURCES, "moon", Source("moon", (web.file(name="rock.bin"),), "free"))
        code, out, err = run("data", "get", "moon", "--root", tmp_path)
        assert (code, err) == (0, "")
        assert out == f"moon: 1 files, checked, in {tmp_path / 'moon'}\nTerms: free.\n"
        assert (tmp_path / "moon" / "rock.bin").read_bytes() == content
        web.status = 404
        code, _, err = run("data", "get", "moon")
        assert code == 1
        assert "answers 404" in err
        assert f"put it at {tmp_path / 'data' / 'moon' / 'rock.bin'}." in err


def test_list(run):
    code, out, _ = run("data", "list")
    assert code == 0
    for name in ("mnist", "physionet2012", "mimic3", "ophthalmic", "icu", "table:NAME"):
        assert name in out


def test_a_study_is_written_and_fitted(run, tmp_path):
    code, out, err = run("data", "write", "icu", "-o", "icu.csv.gz", "--option", "n_series=40")
    assert (code, err) == (0, "")
    assert "SIMULATED" in out
    words = next(line for line in out.splitlines() if line.startswith("Try: imputefree "))
    command = words.removeprefix("Try: imputefree ").split()
    code, _, err = run(*command, "--no-estimate", "--quality", "fast")
    assert code == 0
    assert "40 series" in err
    assert (tmp_path / "model.imputefree").exists()


@pytest.mark.parametrize("output", ["icu.xlsx", "nowhere/icu.csv"])
def test_a_study_that_cannot_be_written(run, tmp_path, output):
    code, out, err = run("data", "write", "icu", "-o", output, "--option", "n_series=40")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())
