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
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NamedTuple

from ...errors import DownloadError, InputError, ParameterError, shorten

VARIABLE = "IMPUTEFREE_DATA"
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


_CHALLENGE = "https://physionet.org/files/challenge-2012/1.0.0"
_DEMO = "https://physionet.org/files/mimiciii-demo/1.4"

# fmt: off
_MIMIC = {  # the tables that are read, with the checksums that the demo lists
    "CHARTEVENTS": "734387d583daa9c339f9744ce6e58ed7387b99672898139c910f9aa3e40c31ec",
    "DIAGNOSES_ICD": "74dc979906bc2172f0cf025271dcd44c7cd52506b297e4b36e63dd40dce923da",
    "ICUSTAYS": "455cd8fd014bd75d9d26ddf8cb116c77ecccee2fe35fea342801a631d94b387b",
    "INPUTEVENTS_CV": "471558d62d85f6841032840c753311bed3dc8a554bf1e36003cfeceabee1928c",
    "INPUTEVENTS_MV": "5d66734bef2d8511009d43dd63a76948ac2490936ec86dfe64b966b37b2f1dab",
    "LABEVENTS": "bca32a7242e739c0cbf1690270db83c10e38a27dbfa915eeb14f5a31a1e898fa",
    "PATIENTS": "f65803a46bcb88127574bfd0b70d78d4123783d05bb411e70d4c9629edd7b703",
}
_SETS = {  # checksums of the archive at its source, and of the same records compressed again
    "a": ("8cb250f179cd0952b4b9ebcf8954b63d70383131670fac1cfee13deaa13ca920",
          "28aff9276b5a864608836f4f2dd3791d3feedcc57178620ecb66bb7e8e439d3d"),
    "b": ("b1637a2a423a8e76f8f087896cfc5fdf28f88519e1f4e874fbda69b2a64dac30",
          "639ab95b809aa849cc083b1675a5f1b345547d7c670c88f3a15b61e3c489105e"),
    "c": ("a4a56b95bcee4d50a3874fe298bf2998f2ed0dd98a676579573dc10419329ee1",
          "a94afd695f573b365f0188cc5adb88f972e7742426c5e2fcf84c765dbb0ec0a3"),
}
_OUTCOMES = {
    "a": "2613ea60ccda29f87571a7d6b09ad130858a8ccd66325bd073365925026883c2",
    "b": "1305f29734da374a809483229a99f33a9230aa8d4fa74b1a2d6ad788136423d5",
    "c": "0b32dcb7753c0f18f2f5fde498a28618b8879c5e527ce0dae8ad120dd7e205c9",
}
SOURCES = {
    "mnist": Source(
        "mnist",
        (File("mnist.npz", "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
              "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
              ("06af5dfe73b70e3bc1c36439982b18a8d76803db9b544f6fdf838a37fbb01b64",)),),
        "LeCun, Cortes and Burges; CC BY-SA 3.0",
    ),
    "physionet2012": Source(
        "physionet2012",
        (*(File(f"set-{part}.tar.gz", f"{_CHALLENGE}/set-{part}.tar.gz?download", sha, (copy,))
           for part, (sha, copy) in _SETS.items()),
         *(File(f"Outcomes-{part}.txt", f"{_CHALLENGE}/Outcomes-{part}.txt?download", sha)
           for part, sha in _OUTCOMES.items())),
        "Open Data Commons Attribution (ODC-By)",
    ),
    "mimic3": Source(
        "mimic3_demo",
        tuple(File(f"{table}.csv", f"{_DEMO}/{table}.csv?download", sha)
              for table, sha in _MIMIC.items()),
        "the public demo of 100 patients, Open Database License (ODbL); the whole of MIMIC-III"
        " needs an access agreement with physionet.org",
    ),
}
# fmt: on


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
    study: str, folder: str | Sequence[str], *layouts: Layout, root: Root = None, remedy: str
) -> Path:
    """The first folder that holds all files of one of the layouts, or an InputError.

    study : what an error calls it
    folder : the possible names of its folder
    remedy : how to get the files

    >>> find("Moon", "moon", [("rock.txt", "rock.txt.gz")], root="nowhere", remedy="Fly there")
    Traceback (most recent call last):
    imputefree.errors.InputError: the folder nowhere does not exist. Moon is looked for in root, ...
    """
    subject = study[0].upper() + study[1:]  # at the beginning of a sentence
    if root is not None and not Path(root).is_dir():
        raise InputError(
            f"{root} is not a folder"
            if Path(root).exists()
            else f"the folder {root} does not exist",
            f"{subject} is looked for in root, then in {VARIABLE}, then in the user's cache",
            f"Correct root=, or leave it out. {remedy}",
        )
    folders = [folder] if isinstance(folder, str) else list(folder)
    tops = {"root": root, VARIABLE: os.environ.get(VARIABLE), "the user's cache": cache_folder()}
    incomplete = ""
    for top_name, top in tops.items():
        if not top:
            continue
        for path in (*(Path(top) / name for name in folders), Path(top)):
            lacking = [_lacking(path, layout) for layout in layouts]
            if [] in lacking:
                return path
            partial = [
                names
                for names, layout in zip(lacking, layouts, strict=True)
                if len(names) < len(layout)
            ]
            if partial and not incomplete:
                incomplete = f"{path} has no {shorten(partial[0], word=str)}"
        if top_name == "root" and incomplete:
            break  # an incomplete root is an error, even if there is a whole copy elsewhere
    looked = [
        f"{Path(top) / folders[0]} ({name})" if top else f"{name} (not set)"
        for name, top in tops.items()
        if top or name == VARIABLE
    ]
    needed = "; or ".join(
        ", ".join(names[0] + (f" (or {names[1]})" if names[1:] else "") for names in layout)
        for layout in layouts
    )
    raise InputError(
        incomplete or f"{study} is not in {', '.join(looked)}",
        f"{subject} needs {needed}",
        f"{remedy}, or put the files there",
    )


def _lacking(path: Path, layout: Layout) -> list[str]:
    """First names of the files that are not there under any of their names."""
    return [names[0] for names in layout if not any((path / name).exists() for name in names)]


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
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(home, error) from None
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
    except OSError as error:
        raise _unwritable(target.parent, error) from None
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
            if isinstance(error, urllib.error.HTTPError):
                # 416, no such range: `part` belongs to another file
                if error.code == 416 and part.exists():
                    part.unlink()
                elif error.code < 500:
                    raise
            if attempt == ATTEMPTS - 1:
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


def _unwritable(folder: Path, error: OSError) -> DownloadError:
    return DownloadError(
        f"{folder} cannot be written to ({error.strerror or error})",
        "Files are put into root, else IMPUTEFREE_DATA, else the user's cache",
        "Pass a folder that you may write to as root= (on the command line: --root FOLDER)",
    )
