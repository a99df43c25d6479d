"""What tests of all commands share."""

from __future__ import annotations

import pytest

from imputefree.cli._app import main


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Call the command line in an empty folder; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def call(*words):
        with pytest.raises(SystemExit) as left:
            main(list(map(str, words)))
        out, err = capsys.readouterr()
        return left.value.code, out, err

    return call
