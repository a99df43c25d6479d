"""Fetch a public file: resumed where it broke off, checked by SHA-256, in place only when whole.

A transfer goes into `NAME.part`. When the connection breaks, the next attempt (or the next call)
asks the server for the rest. Only a file with the known checksum gets its name.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from ...data import shorten
from ...errors import DownloadError, ParameterError
from ._data_files import VARIABLE, Root, cache_folder
from ._sources import SOURCES, File

Report = Callable[[int, int | None], None]  # bytes so far, and in all where that is known
CHUNK = 1 << 16
ATTEMPTS = 3  # in one call; each goes on where the last one broke off
TIMEOUT = 30.0  # seconds without a byte
CUT = (http.client.HTTPException, ConnectionError, TimeoutError)  # in the middle of a transfer


def home_of(name: str, root: Root = None) -> Path:
    """The folder in which the files of a study are put: the first that `load` looks in."""
    folder = SOURCES[name].folder
    top = Path(root or os.environ.get(VARIABLE) or cache_folder())
    return top if top.name == folder else top / folder


def get(
    name: str,
    root: Root = None,
    begin: Callable[[File], AbstractContextManager[Report | None]] = lambda file: nullcontext(),
) -> Path:
    """Fetch all files of a study that are not there yet; returns their folder.

    begin : entered with each file before it is fetched; what it gives is told the progress
    """
    if name not in SOURCES:
        raise ParameterError(
            f"{name!r} cannot be downloaded",
            f"Studies with a public source are {shorten(list(SOURCES))}",
            "Name one of them; `imputefree data list` says where other studies come from",
        )
    home = home_of(name, root)
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(home, error) from None
    for file in SOURCES[name].files:
        with begin(file) as report:
            fetch(file, home / file.name, report)
    return home


def fetch(file: File, target: Path, report: Report | None = None) -> Path:
    """Put one file at `target`; one that is there already is checked and left alone."""
    if target.exists():
        if checksum(target) in (file.sha256, *file.copies):
            return target
        raise DownloadError(
            f"{target} is not the known {file.name}",
            f"Its SHA-256 must be {file.sha256}",
            "Move it away and try again; it is not overwritten",
        )
    part = target.with_name(target.name + ".part")
    resumed = part.exists()
    try:
        if not resumed or checksum(part) != file.sha256:  # else it only lacked its name
            _transfer(file, part, report)
        if checksum(part) != file.sha256 and resumed:
            part.unlink()  # the beginning may be of an older file: once more, from the start
            _transfer(file, part, report)
        if checksum(part) != file.sha256:
            part.unlink()
            raise DownloadError(
                f"what {_bare(file.url)} sent is not the known {file.name}",
                f"Its SHA-256 must be {file.sha256}",
                f"Try again later, or put the right file at {target}",
            )
        os.replace(part, target)
    except (urllib.error.URLError, *CUT) as error:
        raise _unreachable(file, target, part, error) from None
    except OSError as error:
        raise _unwritable(target.parent, error) from None
    return target


def checksum(path: Path) -> str:
    """SHA-256 of a file, as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _transfer(file: File, part: Path, report: Report | None) -> None:
    """All attempts at getting the whole file into `part`."""
    for attempt in range(ATTEMPTS):
        try:
            _attempt(file.url, part, report)
            return
        except urllib.error.HTTPError as error:
            if error.code == 416 and part.exists():  # no such range: `part` was of another file
                part.unlink()
            elif error.code < 500:
                raise
            if attempt == ATTEMPTS - 1:
                raise
        except CUT:
            if attempt == ATTEMPTS - 1:
                raise


def _attempt(url: str, part: Path, report: Report | None) -> None:
    """Ask for what is lacking and append it; a server that sends all of it starts `part` anew."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "imputefree"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        if answer.status != 206:
            have = 0
        length = answer.headers.get("Content-Length")
        total = have + int(length) if length and length.isdigit() else None
        with part.open("ab" if have else "wb") as out:
            while block := answer.read(CHUNK):
                out.write(block)
                have += len(block)
                if report:
                    report(have, total)
    if total is not None and have < total:  # http.client ends quietly when a connection is cut
        raise http.client.IncompleteRead(b"", total - have)


def _bare(url: str) -> str:
    return url.partition("?")[0]


def _unreachable(file: File, target: Path, part: Path, error: Exception) -> DownloadError:
    host = _bare(file.url).split("/")[2]
    if isinstance(error, urllib.error.HTTPError):
        fact = f"{_bare(file.url)} answers {error.code} ({error.reason})"
    elif isinstance(error, CUT):
        kept = part.stat().st_size if part.exists() else 0
        fact = f"the transfer from {host} broke off after {kept:,} bytes"
    else:
        reason = getattr(error, "reason", error)
        fact = f"{host} cannot be reached ({reason})"
    return DownloadError(
        fact,
        "Downloading needs a connection to the public source; what has arrived is kept",
        f"Try again to go on, or get {_bare(file.url)} elsewhere and put it at {target}",
    )


def _unwritable(folder: Path, error: OSError) -> DownloadError:
    return DownloadError(
        f"{folder} cannot be written to ({error.strerror or error})",
        "Files are put into root, else IMPUTEFREE_DATA, else the user's cache",
        "Name a folder of your own with root= (on the command line: --root FOLDER)",
    )
