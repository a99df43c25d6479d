"""`imputefree report`: tables on stdout, one page in a file, a sentence for what cannot be."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from imputefree.lab.runs._protocol import Run


def line(method="gil", seed=0, **more):
    scores = {"accuracy": 0.8 + seed / 100, "auc": 0.9}
    run = asdict(Run("icu", method, options={"form": "fixed"}, split_seed=seed))
    return run | {"status": "done", "simulated": True, "scores": scores, "cost": {}} | more


@pytest.fixture
def run(run):
    return lambda *words: run("report", *words)


@pytest.fixture
def path(tmp_path):
    failed = line("saits", status="failed", scores={}, error="no memory")
    return write(tmp_path / "icu.jsonl", [line(), line(seed=1), line("mask_only"), failed])


def write(path, lines):
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


def test_tables_and_a_page(run, path, tmp_path):
    code, out, err = run(path)
    assert (code, err) == (0, "")
    assert "icu (SIMULATED)" in out
    assert "80.50 ± 0.71" in out
    assert "1 of 4 runs failed:\n  icu saits: no memory\n" in out
    assert out.endswith(f"Page of 4 runs: {tmp_path / 'icu.html'}\n")
    page = (tmp_path / "icu.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "imputefree: icu" in page
    assert sorted(tmp_path.iterdir()) == [tmp_path / "icu.html", path]


def test_several_files_and_a_page_of_ones_choice(run, path, tmp_path):
    other = write(tmp_path / "more.jsonl", [line("saits"), line("linear")])  # saits has been fixed
    code, out, _ = run(path, other, "-o", "pages/all.html", "--title", "A & B")
    assert code == 0
    assert "failed" not in out
    assert "Page of 5 runs: pages/all.html" in out
    assert "A &amp; B" in (tmp_path / "pages" / "all.html").read_text()


def test_other_parameters_are_another_row(run, path, tmp_path):
    write(path, [line(), line(setting={"steps": 9})])
    code, out, _ = run(path)
    assert code == 0
    assert "gil [steps 9]" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("odd", "part"),
    [
        ({"study": 5}, "imputefree: 5"),
        ({"study": None}, "imputefree: unnamed study"),
        ({"study": "mnist", "options": {"rate": "abc"}}, "mcar-abc"),
    ],
)
def test_odd_lines_are_shown_as_they_are(run, path, tmp_path, odd, part):
    write(path, [line() | odd, line("mask_only") | odd])
    code, _, err = run(path)
    assert (code, err) == (0, "")
    assert part in (tmp_path / "icu.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["none.jsonl"], "none.jsonl does not exist"),
        (["folder"], "folder cannot be read (Is a directory)"),
        (["empty.jsonl"], "empty.jsonl holds no results"),
        (["thesis.txt"], "line 1 of thesis.txt is not a result"),
        (["icu.jsonl", "-o", "thesis.txt/page.html"], "thesis.txt/page.html cannot be written"),
        (["icu.jsonl", "-o", "/proc/none/page.html"], "/proc/none/page.html cannot be written"),
        (["icu.jsonl", "-o", "folder"], "folder cannot be written"),
        (["icu.jsonl", "-o", "icu.jsonl"], "icu.jsonl is an input"),
        (["icu.jsonl", "-o", ""], ". cannot be written"),
        (["icu.jsonl", "-o", "/"], "/ cannot be written"),
        (["deep.jsonl"], "line 1 of deep.jsonl is not a result"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_code_1(run, path, tmp_path, words, part):
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "thesis.txt").write_text("Chapter 1\n")
    (tmp_path / "deep.jsonl").write_text("[" * 100_000)
    before = path.read_bytes()
    code, _, err = run(*words)
    assert code == 1
    assert err.startswith(f"imputefree: {part}")
    assert err.count("\n") == 1
    assert path.read_bytes() == before
    assert not list(tmp_path.glob("**/*.new"))
