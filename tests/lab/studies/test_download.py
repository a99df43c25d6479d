"""Downloads from a real server: whole, broken off, without ranges, corrupted, refused, absent."""

from __future__ import annotations

import os
import re
from contextlib import nullcontext

import numpy as np
import pytest

from imputefree.errors import DownloadError, ParameterError
from imputefree.lab.studies import _download as download
from imputefree.lab.studies._download import fetch, get, home_of
from imputefree.lab.studies._sources import SOURCES, Source
from tests.lab.studies.web import serving
from tests.refusals import check_error

CONTENT = np.random.default_rng(0).bytes(300_000)


@pytest.fixture
def web():
    with serving(CONTENT) as one:
        yield one


@pytest.fixture
def target(tmp_path):
    return tmp_path / "thing.bin"


def refused(run, *parts):
    check_error(run, *parts, kind=DownloadError)


def leftovers(target):
    return sorted(path.name for path in target.parent.iterdir())


def test_a_whole_file_with_its_progress(web, target):
    seen = []
    fetch(web.file(), target, lambda have, total: seen.append((have, total)))
    assert target.read_bytes() == CONTENT
    assert seen[-1] == (300_000, 300_000)
    assert [have for have, _ in seen] == sorted(have for have, _ in seen)
    assert leftovers(target) == ["thing.bin"]
    fetch(web.file(), target)  # there already: nothing is asked
    assert len(web.asked) == 1


def test_a_broken_transfer_goes_on_where_it_broke_off(web, target):
    web.breaks = [100_000, 50_000]
    fetch(web.file(), target)
    assert web.asked == [None, "bytes=100000-", "bytes=150000-"]
    assert target.read_bytes() == CONTENT


def test_a_later_call_goes_on_too(web, target):
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


def test_a_server_without_ranges_sends_it_all_again(web, target):
    web.ranges, web.breaks = False, [100_000]
    fetch(web.file(), target)
    assert target.read_bytes() == CONTENT


def test_the_beginning_of_another_file_is_thrown_away(web, target):
    part = target.with_name("thing.bin.part")
    part.write_bytes(b"old" * 1000)
    fetch(web.file(), target)
    assert web.asked == ["bytes=3000-", None]
    assert target.read_bytes() == CONTENT
    target.unlink()
    part.write_bytes(b"longer than the file" * 20_000)
    fetch(web.file(), target)
    assert target.read_bytes() == CONTENT


def test_a_whole_part_only_lacked_its_name(web, target):
    target.with_name("thing.bin.part").write_bytes(CONTENT)
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


def test_a_file_of_ones_own_is_not_overwritten(web, target):
    target.write_text("mine")
    refused(lambda: fetch(web.file(), target), f"{target} is not the known", "Move it away")
    assert target.read_text() == "mine"
    same = web.file()._replace(sha256="0" * 64, copies=(web.file(b"mine").sha256,))
    fetch(same, target)
    assert web.asked == []


@pytest.mark.parametrize(("status", "asked"), [(404, 1), (403, 1), (503, download.ATTEMPTS)])
def test_a_refusal_is_told_and_only_the_servers_own_trouble_tried_again(web, target, status, asked):
    web.status = status
    refused(lambda: fetch(web.file(), target), f"/thing.bin answers {status} (", str(target))
    assert len(web.asked) == asked
    assert leftovers(target) == []


def test_no_network(web, target):
    nobody = web.file()._replace(url="http://127.0.0.1:1/thing.bin?download")
    refused(
        lambda: fetch(nobody, target),
        "127.0.0.1:1 cannot be reached (",
        "needs a connection",
        f"get http://127.0.0.1:1/thing.bin elsewhere and put it at {target}.",
    )
    nowhere = web.file()._replace(url="http://no-such-host.invalid/thing.bin")
    refused(lambda: fetch(nowhere, target), "no-such-host.invalid cannot be reached (")


def test_all_files_of_a_study(web, tmp_path, monkeypatch):
    made = Source("moon", (web.file(name="a"), web.file(name="b")), "free")
    monkeypatch.setitem(SOURCES, "moon", made)
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


def test_a_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "taken").write_text("a file")
    refused(lambda: get("mnist", tmp_path / "taken"), "cannot be written to (", "--root FOLDER")


def test_a_study_without_a_public_source():
    check_error(
        lambda: get("icu"), "'icu' cannot be downloaded", "'mnist'", "Name one", kind=ParameterError
    )


def test_the_known_checksums_are_checksums():
    files = [file for source in SOURCES.values() for file in source.files]
    assert all(re.fullmatch("[0-9a-f]{64}", one) for f in files for one in (f.sha256, *f.copies))
    assert len({file.sha256 for file in files}) == len(files)
    assert all(file.url.startswith("https://") for file in files)


def test_files_at_hand_are_known():
    root = os.environ.get("IMPUTEFREE_DATA")
    if not root:
        pytest.skip("needs the real files: set IMPUTEFREE_DATA to the folder that holds mnist/")
    for name in ("mnist", "physionet2012"):
        home = home_of(name, root)
        for file in SOURCES[name].files:
            assert fetch(file, home / file.name)  # checked, not fetched
