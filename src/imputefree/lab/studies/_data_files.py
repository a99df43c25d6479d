"""The files of studies: where they are looked for, and how public ones are downloaded.

Files are looked for in root=, then in IMPUTEFREE_DATA, then in the user's cache. Each may be the
folder that holds the files or its parent: for MNIST both `data/mnist` and `data` will do.

Only `get` (`imputefree data get NAME`) downloads. A transfer goes into `NAME.part`; when the
connection breaks, the next attempt, or the next call, asks the server for the rest. Only a file
with the known SHA-256 gets its name.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from ..._files import write_errors
from ...errors import DownloadError, InputError, ParameterError, shorten

VARIABLE = "IMPUTEFREE_DATA"
HOMES = f"Files are put into root, else {VARIABLE}, else the user's cache"
Root = str | os.PathLike[str] | None
Layout = Sequence[tuple[str, ...]]  # the files that are needed, each with its possible names
Report = Callable[[int, int | None], None]  # bytes so far, and in total if known
CHUNK = 1 << 16
ATTEMPTS = 3  # per call; each continues where the last one broke off
TIMEOUT = 30.0  # seconds without a byte
BROKEN_OFF = (http.client.HTTPException, ConnectionError, TimeoutError)  # during a transfer


class File(NamedTuple):
    """A file at its public source."""

    name: str
    url: str
    sha256: str
    copies: tuple[str, ...] = ()  # checksums of known copies: the same data, compressed differently


class Source(NamedTuple):
    """The files of a study and the folder they belong in."""

    folder: str
    files: tuple[File, ...]
    terms: str


def packaged(name: str) -> str:
    """A data file of this folder, which comes with the package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


ABOUT: dict[str, Any] = tomllib.loads(packaged("about.toml"))  # citation, licence, simulated
SOURCES = {
    name: Source(
        about["folder"],
        tuple(
            File(file, about["url"].format(file), sha256, tuple(copies))
            for file, (sha256, *copies) in about["files"].items()
        ),
        about["terms"],
    )
    for name, about in json.loads(packaged("sources.json")).items()
}


def cache_folder(platform: str = sys.platform, env: Mapping[str, str] | None = None) -> Path:
    """The user's folder for files that can be fetched again.

    >>> cache_folder("linux", {"XDG_CACHE_HOME": "/fast/cache"}).as_posix()
    '/fast/cache/imputefree'
    """
    env = os.environ if env is None else env
    if env.get("XDG_CACHE_HOME"):
        return Path(env["XDG_CACHE_HOME"]) / "imputefree"
    if platform == "win32" and env.get("LOCALAPPDATA"):
        return Path(env["LOCALAPPDATA"]) / "imputefree" / "Cache"
    inside = ("Library", "Caches") if platform == "darwin" else (".cache",)
    return Path.home().joinpath(*inside, "imputefree")


def find(
    study: str, folders: Sequence[str], *layouts: Layout, root: Root = None, remedy: str
) -> Path:
    """The first folder that holds all files of one of the layouts, or an InputError.

    study : what an error calls it
    folders : the possible names of its folder
    remedy : how to get the files

    >>> find("Moon", ["moon"], [("rock.txt", "rock.txt.gz")], root="nowhere", remedy="Fly there")
    Traceback (most recent call last):
    imputefree.errors.InputError: the folder nowhere does not exist. Moon is looked for in root, ...
    """
    subject = study[0].upper() + study[1:]  # at the beginning of a sentence
    if root is not None and not Path(root).is_dir():
        raise InputError(
            f"the folder {root} does not exist",
            f"{subject} is looked for in root, then in {VARIABLE}, then in the user's cache",
            f"Correct root=, or leave it out. {remedy}",
        )
    tops = {"root": root, VARIABLE: os.environ.get(VARIABLE), "the user's cache": cache_folder()}
    looked, incomplete = [], ""
    for name, top in tops.items():
        if not top:
            looked.append(f"{name} (not set)")
            continue
        looked.append(f"{Path(top) / folders[0]} ({name})")
        for path in (*(Path(top) / folder for folder in folders), Path(top)):
            for layout in layouts:
                lacking = [
                    names[0]
                    for names in layout
                    if not any((path / name).exists() for name in names)
                ]
                if not lacking:
                    return path
                if len(lacking) < len(layout) and not incomplete:
                    incomplete = f"{path} has no {shorten(lacking, word=str)}"
        if name == "root" and incomplete:
            break  # an incomplete root is an error, even if there is a whole copy elsewhere
    needed = "; or ".join(
        ", ".join(names[0] + (f" (or {names[1]})" if names[1:] else "") for names in layout)
        for layout in layouts
    )
    raise InputError(
        incomplete or f"{study} is not in {', '.join(looked)}",
        f"{subject} needs {needed}",
        f"{remedy}, or put the files there",
    )


def home_of(name: str, root: Root = None) -> Path:
    """The folder that the files of a study are downloaded to: the first that `load` looks in."""
    folder = SOURCES[name].folder
    top = Path(root or os.environ.get(VARIABLE) or cache_folder())
    return top if top.name == folder else top / folder


def get(
    name: str,
    root: Root = None,
    begin: Callable[[File], AbstractContextManager[Report | None]] = lambda file: nullcontext(),
) -> Path:
    """Download the files of a study that are not there yet, and return their folder.

    begin : called with each file; the context manager it returns yields a `Report`, or None
    """
    if name not in SOURCES:
        raise ParameterError(
            f"{name!r} cannot be downloaded",
            f"Studies with a public source are {shorten(list(SOURCES))}",
            "Name one of them; `imputefree data list` says where other studies come from",
        )
    home = home_of(name, root)
    with write_errors(home, DownloadError, HOMES, "Pass a folder that you may write to as --root"):
        home.mkdir(parents=True, exist_ok=True)
        for file in SOURCES[name].files:
            with begin(file) as report:
                fetch(file, home / file.name, report)
    return home


def fetch(file: File, target: Path, report: Report | None = None) -> Path:
    """Download a file to `target`; an existing file is checked and left alone."""
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
        if not resumed or checksum(part) != file.sha256:  # else it only lacks its name
            _transfer(file, part, report)
        if checksum(part) != file.sha256 and resumed:
            part.unlink()  # its beginning may come from an older file: start over, once
            _transfer(file, part, report)
        if checksum(part) != file.sha256:
            part.unlink()
            raise DownloadError(
                f"the file that {_bare(file.url)} sent is not the known {file.name}",
                f"Its SHA-256 must be {file.sha256}",
                f"Try again later, or put the right file at {target}",
            )
        os.replace(part, target)
    except (urllib.error.URLError, *BROKEN_OFF) as error:
        raise _unreachable(file, target, part, error) from None
    return target


def checksum(path: Path) -> str:
    """SHA-256 of a file, as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _transfer(file: File, part: Path, report: Report | None) -> None:
    """Get the whole file into `part`, in at most ATTEMPTS attempts."""
    for attempt in range(ATTEMPTS):
        try:
            return _attempt(file.url, part, report)
        except (urllib.error.HTTPError, *BROKEN_OFF) as error:
            status = getattr(error, "code", 500)
            if status == 416:  # no such range: `part` belongs to another file
                part.unlink(missing_ok=True)
            if attempt == ATTEMPTS - 1 or (status < 500 and status != 416):
                raise


def _attempt(url: str, part: Path, report: Report | None) -> None:
    """Request the rest of the file and append it; if the server sends all of it, start over."""
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
    if total is not None and have < total:  # http.client does not report a cut connection
        raise http.client.IncompleteRead(b"", total - have)


def _bare(url: str) -> str:
    return url.partition("?")[0]


def _unreachable(file: File, target: Path, part: Path, error: Exception) -> DownloadError:
    host = _bare(file.url).split("/")[2]
    if isinstance(error, urllib.error.HTTPError):
        fact = f"{_bare(file.url)} answers {error.code} ({error.reason})"
    elif isinstance(error, BROKEN_OFF):
        arrived = part.stat().st_size if part.exists() else 0
        fact = f"the transfer from {host} broke off after {arrived:,} bytes"
    else:
        fact = f"{host} cannot be reached ({getattr(error, 'reason', error)})"
    return DownloadError(
        fact,
        "Downloading needs a connection to the public source; what has arrived is kept",
        f"Try again to continue, or get {_bare(file.url)} elsewhere and put it at {target}",
    )
