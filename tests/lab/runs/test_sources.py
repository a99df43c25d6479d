"""The fingerprint of code, and the commit."""

from __future__ import annotations

import subprocess

import pytest

from imputefree.lab.runs import _run as sources

CODE = '"""What it does."""\n\n\ndef one():\n    """The number one."""\n    return 1  # one\n'


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "HOME", tmp_path)
    (tmp_path / "code.py").write_text(CODE)
    for cached in (sources.fingerprint, sources.commit):
        cached.cache_clear()
    yield tmp_path
    for cached in (sources.fingerprint, sources.commit):
        cached.cache_clear()


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("return 1", "return 2", True),
        ("# one", "# uno", False),
        ("What it does", "What this does", False),
        ("The number one", "One", False),
    ],
)
def test_only_code_changes_the_fingerprint(home, old, new, changes):
    before = sources.fingerprint(("*.py",))
    (home / "code.py").write_text(CODE.replace(old, new))
    sources.fingerprint.cache_clear()
    assert (sources.fingerprint(("*.py",)) != before) == changes


def test_the_commit_says_if_files_differ_from_it(home):
    assert sources.commit() == ""  # not a checkout

    def git(*words):
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        subprocess.run(["git", *identity, *words], cwd=home, check=True, capture_output=True)

    git("init")
    git("add", ".")
    git("commit", "-m", "First")
    sources.commit.cache_clear()
    clean = sources.commit()
    assert len(clean) == 12
    (home / "code.py").write_text(CODE + "two = 2\n")
    sources.commit.cache_clear()
    assert sources.commit() == f"{clean}+"
