"""Files of studies: where they are looked for, and downloads from a real server that misbehaves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from imputefree.errors import DownloadError, ParameterError
from imputefree.lab.studies import SOURCES, get, home_of
from imputefree.lab.studies._data_files import ATTEMPTS, Source, cache_folder, fetch, find
from tests.lab.studies.web import serving
from tests.refusals import check_error

NEEDED = [("rock.txt", "rock.txt.gz"), ("dust.txt",)]
CONTENT = np.random.default_rng(0).bytes(300_000)


@pytest.fixture
def tops(tmp_path, monkeypatch):
    """root, IMPUTEFREE_DATA and the cache, all empty."""
    monkeypatch.setenv("IMPUTEFREE_DATA", str(tmp_path / "env"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folders = [tmp_path / "root", tmp_path / "env", tmp_path / "cache" / "imputefree"]
    for top in folders:
        top.mkdir(parents=True)
    return folders


def look(root=None):
    return find("Moon", ["moon"], NEEDED, [("all.zip",)], root=root, remedy="Fly there")


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
    assert look(root) == look(root / "moon") == root / "moon"  # the folder, or its parent


def test_nowhere_incomplete_or_a_wrong_root(tops, tmp_path, monkeypatch):
    root, env, cache = tops
    check_error(
        lambda: look(root),
        f"Moon is not in {root / 'moon'} (root), {env / 'moon'} (IMPUTEFREE_DATA),"
        f" {cache / 'moon'} (the user's cache). Moon needs rock.txt (or rock.txt.gz), dust.txt; or"
        " all.zip. Fly there, or put the files there.",
    )
    put(env / "moon", "all.zip")
    put(root / "moon", "rock.txt")  # incomplete: the copy elsewhere is not taken
    check_error(lambda: look(root), f"{root / 'moon'} has no dust.txt. Moon needs")
    check_error(lambda: look(tmp_path / "typo"), f"the folder {tmp_path / 'typo'} does not exist")
    put(tmp_path, "file")
    check_error(lambda: look(tmp_path / "file"), "file does not exist. Moon is looked for in root")
    monkeypatch.delenv("IMPUTEFREE_DATA")
    check_error(look, "Moon is not in root (not set), IMPUTEFREE_DATA (not set), ")


def test_cache_folders():
    assert cache_folder("linux", {}) == Path.home() / ".cache" / "imputefree"
    assert cache_folder("darwin", {}) == Path.home() / "Library" / "Caches" / "imputefree"
    assert cache_folder("win32", {"LOCALAPPDATA": "here"}).parts[:2] == ("here", "imputefree")


@pytest.mark.slow
def test_an_import_opens_no_connection():
    code = (
        "import socket\n"
        "def no(*a, **k): raise RuntimeError('a connection')\n"
        "socket.socket.connect = no\n"
        "import imputefree, imputefree.lab.studies as studies\n"
        "print(len(studies.load('icu', n_series=10).y))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "10\n"


@pytest.fixture
def web():
    with serving(CONTENT) as server:
        yield server


@pytest.fixture
def target(tmp_path):
    return tmp_path / "thing.bin"


def refused(run, *parts):
    check_error(run, *parts, kind=DownloadError)


def leftovers(target):
    return sorted(path.name for path in target.parent.iterdir())


def test_a_whole_file_with_its_progress(web, target):
    progress = []
    fetch(web.file(), target, lambda have, total: progress.append((have, total)))
    assert target.read_bytes() == CONTENT
    assert progress[-1] == (300_000, 300_000)
    assert progress == sorted(progress)
    assert leftovers(target) == ["thing.bin"]
    fetch(web.file(), target)  # there already: nothing is requested
    assert len(web.asked) == 1


def test_a_broken_transfer_continues_where_it_broke_off(web, target):
    web.breaks = [100_000, 50_000]
    fetch(web.file(), target)
    assert web.asked == [None, "bytes=100000-", "bytes=150000-"]
    assert target.read_bytes() == CONTENT


def test_a_later_call_continues_too(web, target):
    web.breaks = [100_000, 1_000, 1_000]
    refused(
        lambda: fetch(web.file(), target),
        "the transfer from 127.0.0.1:",
        "broke off after 102,000 bytes",
        "what has arrived is kept",
        f"put it at {target}",
    )
    assert leftovers(target) == ["thing.bin.part"]
    fetch(web.file(), target)
    assert web.asked[-1] == "bytes=102000-"
    assert target.read_bytes() == CONTENT


def test_a_server_without_ranges_sends_everything_again(web, target):
    web.ranges, web.breaks = False, [100_000]
    fetch(web.file(), target)
    assert target.read_bytes() == CONTENT


def test_parts_left_by_other_transfers(web, target):
    part = target.with_name("thing.bin.part")
    part.write_bytes(b"old" * 1000)
    fetch(web.file(), target)
    assert web.asked == ["bytes=3000-", None]
    assert target.read_bytes() == CONTENT
    target.unlink()
    part.write_bytes(b"longer than the file" * 20_000)
    fetch(web.file(), target)
    assert target.read_bytes() == CONTENT
    target.rename(part)  # complete: it only lacks its name
    web.asked.clear()
    fetch(web.file(), target)
    assert target.read_bytes() == CONTENT
    assert web.asked == []


def test_corrupted_content_never_gets_the_name(web, target):
    refused(
        lambda: fetch(web.file(b"what it should be"), target),
        "/thing.bin sent is not the known thing.bin",
        "Its SHA-256 must be",
        "Try again later",
    )
    assert leftovers(target) == []


def test_a_users_file_is_not_overwritten(web, target):
    target.write_text("mine")
    refused(lambda: fetch(web.file(), target), f"{target} is not the known", "Move it away")
    assert target.read_text() == "mine"
    same = web.file()._replace(sha256="0" * 64, copies=(web.file(b"mine").sha256,))
    fetch(same, target)
    assert web.asked == []


@pytest.mark.parametrize(("status", "requests"), [(404, 1), (403, 1), (503, ATTEMPTS)])
def test_only_server_errors_are_tried_again(web, target, status, requests):
    web.status = status
    refused(lambda: fetch(web.file(), target), f"/thing.bin answers {status} (", str(target))
    assert len(web.asked) == requests
    assert leftovers(target) == []


def test_no_network(web, target):
    nobody = web.file()._replace(url="http://127.0.0.1:1/thing.bin?download")
    refused(
        lambda: fetch(nobody, target),
        "127.0.0.1:1 cannot be reached (",
        "needs a connection",
        f"get http://127.0.0.1:1/thing.bin elsewhere and put it at {target}.",
    )


def test_all_files_of_a_study(web, tmp_path, monkeypatch):
    source = Source("moon", (web.file(name="a"), web.file(name="b")), "free")
    monkeypatch.setitem(SOURCES, "moon", source)
    begun = []

    def begin(file):
        begun.append(file.name)
        return nullcontext()

    assert get("moon", tmp_path, begin) == tmp_path / "moon"
    assert begun == ["a", "b"]
    assert (tmp_path / "moon" / "b").read_bytes() == CONTENT
    monkeypatch.setenv("IMPUTEFREE_DATA", str(tmp_path))
    assert home_of("moon") == tmp_path / "moon"
    assert home_of("moon", tmp_path / "else" / "moon") == tmp_path / "else" / "moon"
    monkeypatch.delenv("IMPUTEFREE_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert home_of("moon") == tmp_path / "cache" / "imputefree" / "moon"


def test_what_cannot_be_downloaded(tmp_path):
    (tmp_path / "taken").write_text("a file")
    refused(lambda: get("mnist", tmp_path / "taken"), "cannot be written (", "as --root")
    check_error(
        lambda: get("icu"), "'icu' cannot be downloaded", "'mnist'", "Name one", kind=ParameterError
    )


def test_known_checksums():
    files = [file for source in SOURCES.values() for file in source.files]
    assert all(re.fullmatch("[0-9a-f]{64}", sha) for f in files for sha in (f.sha256, *f.copies))
    assert len({file.sha256 for file in files}) == len(files)
    assert all(file.url.startswith("https://") for file in files)
    root = os.environ.get("IMPUTEFREE_DATA")
    if not root:
        pytest.skip("needs the real files: set IMPUTEFREE_DATA to the folder that holds mnist/")
    for name in ("mnist", "physionet2012"):
        home = home_of(name, root)
        for file in SOURCES[name].files:
            assert fetch(file, home / file.name)  # checked, not fetched
