"""What all commands share: one sentence and an exit code, whatever happens to their output."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

IMPUTEFREE = [sys.executable, "-m", "imputefree"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full here")
def test_a_full_disk_behind_stdout_is_one_sentence():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*IMPUTEFREE, "data", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "imputefree: No space left on device.\n"


@pytest.mark.skipif(os.name != "posix", reason="closing file descriptors is for POSIX shells")
def test_a_closed_stdout_is_one_sentence():
    words = " ".join([*IMPUTEFREE, "data list >&-"])
    done = subprocess.run(["sh", "-c", words], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("imputefree: standard output is closed")
    assert done.stderr.count("\n") == 1
