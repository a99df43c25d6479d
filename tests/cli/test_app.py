"""What all commands share: one sentence and an exit code, whatever happens to their output."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from imputefree.cli._app import main

IMPUTEFREE = [sys.executable, "-m", "imputefree"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full here")
def test_a_full_disk_behind_stdout_is_one_sentence():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*IMPUTEFREE, "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "imputefree: No space left on device.\n"


@pytest.mark.skipif(os.name != "posix", reason="closing file descriptors is for POSIX shells")
def test_a_closed_stdout_is_one_sentence():
    words = " ".join([*IMPUTEFREE, "--help >&-"])
    done = subprocess.run(["sh", "-c", words], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("imputefree: standard output is closed")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 2),
        (["--help"], 0),
        (["--version"], 0),
        (["bench", "--help"], 0),
        (["fit", "nowhere.csv", "--target", "y", "-o", "m"], 1),
        (["predict", "nowhere.imputefree", "x.csv"], 1),
        (["report", "nowhere.jsonl"], 1),
        (["data", "describe", "nowhere.csv"], 1),
    ],
)
def test_help_and_wrong_paths_load_nothing_slow(words, code):
    script = """
import sys
from imputefree.cli import main
try:
    main(sys.argv[1:])
except SystemExit as left:
    slow = {"torch", "sklearn", "pandas", "numpy", "scipy", "imputefree.lab"} & set(sys.modules)
    sys.exit(f"loaded: {slow}" if slow else left.code)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=False
    )
    assert "loaded" not in done.stderr
    assert done.returncode == code, done.stderr
    if code == 1:
        assert "nowhere" in done.stderr
        assert done.stderr.endswith(" does not exist. Correct the path.\n")


def test_importing_the_package_loads_nothing_slow():
    script = (
        "import sys, imputefree; sys.exit(bool({'torch', 'sklearn', 'pandas'} & {*sys.modules}))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        *(["fit", "."], ["fit", ".", "--target", "y", "-o", "m", "--folds", "1"]),
        ["fit", ".", "--target", "y", "-o", "m", "--task", "sorting"],
        *(["predict", "."], ["predict", ".", ".", "--on-error", "sing"], ["explain", "."]),
        *(
            ["bench"],
            ["bench", "icu", "--jobs", "1000000"],
            ["bench", "icu", "--seeds", "0"],
            ["bench", "icu", "--fast"],
            ["report"],
        ),
        *(["data", "describe"], ["data", "fly"], ["data", "get", "--x"], ["export"], ["serve"]),
    ],
)
def test_wrong_usage_is_code_2(run, words):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert "Usage" in err


@pytest.mark.parametrize(
    ("typed", "expected"),
    [("imputefree ch", "plain,check"), ("imputefree fit --tar", "plain,--target"),
     ("imputefree predict mod", "file,mod")],
)  # fmt: skip
def test_the_shell_completes_commands_options_and_files(typed, expected, monkeypatch, capsys):
    monkeypatch.setenv("_IMPUTEFREE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    with pytest.raises(SystemExit):
        main([])
    assert expected in capsys.readouterr().out.splitlines()
