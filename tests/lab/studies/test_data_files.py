"""Where files are looked for, in which order, and what is said when they are nowhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from imputefree.lab.studies._data_files import cache_folder, find
from tests.refusals import check_error

NEEDED = [("rock.txt", "rock.txt.gz"), ("dust.txt",)]


@pytest.fixture
def tops(tmp_path, monkeypatch):
    """root, IMPUTEFREE_DATA and the cache, all empty."""
    monkeypatch.setenv("IMPUTEFREE_DATA", str(tmp_path / "env"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = [tmp_path / "root", tmp_path / "env", tmp_path / "cache" / "imputefree"]
    for top in found:
        top.mkdir(parents=True)
    return found


def look(root=None):
    return find("Moon", "moon", NEEDED, [("all.zip",)], root=root, how="Fly there")


def put(folder, *names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text("")


def test_root_comes_first_then_the_variable_then_the_cache(tops):
    root, env, cache = tops
    put(cache / "moon", "rock.txt", "dust.txt")
    assert look(root) == cache / "moon"
    put(env / "moon", "all.zip")
    assert look(root) == look() == env / "moon"
    put(root / "moon", "rock.txt.gz", "dust.txt")
    assert look(root) == look(root / "moon") == root / "moon"  # the folder, or the one above


def test_nowhere(tops, monkeypatch):
    root, env, cache = tops
    check_error(
        lambda: look(root),
        f"Moon is not in {root / 'moon'} (root), {env / 'moon'} (IMPUTEFREE_DATA),"
        f" {cache / 'moon'} (the user's cache). Moon needs rock.txt (or rock.txt.gz), dust.txt; or"
        " all.zip. Fly there, or put the files there.",
    )
    monkeypatch.delenv("IMPUTEFREE_DATA")
    check_error(look, "Moon is not in", "IMPUTEFREE_DATA (not set)")


def test_some_of_the_files(tops):
    put(tops[0] / "moon", "rock.txt")
    check_error(lambda: look(tops[0]), f"{tops[0] / 'moon'} has no dust.txt. Moon needs")


def test_a_wrong_root(tops, tmp_path):
    put(tops[1] / "moon", "all.zip")
    check_error(lambda: look(tmp_path / "typo"), f"the folder {tmp_path / 'typo'} does not exist")
    put(tmp_path, "file")
    check_error(lambda: look(tmp_path / "file"), "file is not a folder. Moon is looked for in root")


def test_cache_folders():
    assert cache_folder("linux", {}) == Path.home() / ".cache" / "imputefree"
    assert cache_folder("darwin", {}) == Path.home() / "Library" / "Caches" / "imputefree"
    assert cache_folder("win32", {"LOCALAPPDATA": "here"}).parts[:2] == ("here", "imputefree")


def test_an_import_opens_no_connection():
    """With sockets taken away, importing everything still works."""
    code = (
        "import socket\n"
        "def no(*a, **k): raise RuntimeError('a connection')\n"
        "socket.socket.connect = no\n"
        "import imputefree, imputefree.lab.studies as d, imputefree.lab.studies._download\n"
        "print(len(d.load('icu', n_series=10).y))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "10\n"
