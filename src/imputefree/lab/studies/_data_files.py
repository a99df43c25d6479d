"""Where a study's files are: the folder one names, IMPUTEFREE_DATA, then the user's cache.

Each of these may be the folder that holds the files, or the folder above it: for MNIST both
`data/mnist` and `data` will do. Nothing here downloads; `imputefree data get NAME` does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...data import shorten
from ...errors import InputError

VARIABLE = "IMPUTEFREE_DATA"
Root = str | os.PathLike[str] | None
Layout = Sequence[tuple[str, ...]]  # files that must be there, each under any of its names


def cache_folder(platform: str = sys.platform, env: Mapping[str, str] | None = None) -> Path:
    """The user's own folder for files that can be fetched again.

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


class Place(NamedTuple):
    """A folder to look in, and why."""

    why: str
    path: Path


def places(folders: Sequence[str], root: Root = None) -> list[Place]:
    """The folders to look in for a study that lives in one of `folders`, in order."""
    tops = [Place("root", Path(root))] if root is not None else []
    if os.environ.get(VARIABLE):
        tops.append(Place(VARIABLE, Path(os.environ[VARIABLE])))
    tops.append(Place("the user's cache", cache_folder()))
    return [Place(why, path) for why, top in tops for path in (*(top / f for f in folders), top)]


def find(
    what: str, folder: str | Sequence[str], *layouts: Layout, root: Root = None, how: str
) -> Path:
    """The first folder that holds all files of one of the layouts, or an InputError.

    what : the study's name in an error
    folder : what its folder is called, or may be called
    how : the remedy, beside putting the files where they are looked for

    >>> find("Moon", "moon", [("rock.txt", "rock.txt.gz")], root="nowhere", how="Fly there")
    Traceback (most recent call last):
    imputefree.errors.InputError: the folder nowhere does not exist. Moon is looked for in root, ...
    """
    subject = what[0].upper() + what[1:]  # at the beginning of a sentence
    if root is not None and not Path(root).is_dir():
        raise InputError(
            f"the {'file' if Path(root).exists() else 'folder'} {root}"
            f" {'is not a folder' if Path(root).exists() else 'does not exist'}",
            f"{subject} is looked for in root, then in {VARIABLE}, then in the user's cache",
            f"Correct root=, or leave it out. {how}",
        )
    folders = [folder] if isinstance(folder, str) else list(folder)
    looked = places(folders, root)
    for place in looked:
        for layout in layouts:
            if not _lacking(place.path, layout):
                return place.path
        if place.why == "root" and _partly([place], layouts):
            break  # half of what was asked for: no other copy is meant
    part = _partly(looked, layouts)
    fact = f"{what} is not in {_worded(looked[:: len(folders) + 1])}"
    if part:
        fact = f"{part[0]} has no {part[1]}"
    needed = "; or ".join(
        ", ".join(names[0] + (f" (or {names[1]})" if names[1:] else "") for names in layout)
        for layout in layouts
    )
    raise InputError(fact, f"{subject} needs {needed}", f"{how}, or put the files there")


def _lacking(path: Path, layout: Layout) -> list[str]:
    """First names of the files that are not there under any name."""
    return [names[0] for names in layout if not any((path / name).exists() for name in names)]


def _partly(looked: list[Place], layouts: Sequence[Layout]) -> tuple[Path, str] | None:
    """The first folder with some of a layout's files, and those it lacks."""
    for place in looked:
        for layout in layouts:
            lacking = _lacking(place.path, layout)
            if 0 < len(lacking) < len(layout):
                return place.path, shorten(lacking, word=str)
    return None


def _worded(first: list[Place]) -> str:
    """The first folder looked in, of each top folder."""
    words = [f"{place.path} ({place.why})" for place in first]
    if not any(place.why == VARIABLE for place in first):
        words.append(f"{VARIABLE} (not set)")
    return ", ".join(words)
