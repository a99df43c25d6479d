"""Write files whole or not at all; any failure to write is one kind of error."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from .errors import ImputefreeError, ResultsError

RULE = "Files are written into an existing, writable folder with room for them"
REMEDY = "Choose another path, or free some space"
Kind = type[ImputefreeError]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path in the same folder, renamed to `path` if the block succeeds.

    If it fails, an older file at `path` stays as it was and nothing else is left behind. The new
    file gets the usual permissions (mkstemp's would be private).
    """
    place = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        yield place
        os.replace(place, path)
    finally:
        with suppress(OSError):
            place.unlink(missing_ok=True)


@contextmanager
def write_errors(
    path: Path | str, kind: Kind = ResultsError, rule: str = RULE, remedy: str = REMEDY
) -> Iterator[None]:
    """Turn any system error in the block into one error: `path` cannot be written.

    A BrokenPipeError passes through: a reader that stops early is not a failure.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        if isinstance(error, ImputefreeError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise kind(f"{path} cannot be written ({reason})", rule, remedy) from None


@contextmanager
def saving(path: Path, kind: Kind = ResultsError, remedy: str = REMEDY) -> Iterator[Path]:
    """`replacing`, with the errors of `write_errors`."""
    with write_errors(path, kind, remedy=remedy), replacing(path) as place:
        yield place


@contextmanager
def writing(path: Path, kind: Kind = ResultsError, remedy: str = REMEDY) -> Iterator[IO[bytes]]:
    """A file to be written whole or not at all; it is on the disk when the block ends.

    Where the system can, it has no name before that: not even a kill leaves a part of it behind.
    """
    with saving(path, kind, remedy) as place, _nameless(place.parent) or place.open("xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
        if isinstance(file.name, int):  # it has a number instead of a name
            _name(file.fileno(), place)


def _nameless(folder: Path) -> IO[bytes] | None:
    """A new file without a name; None where the system, or this folder, cannot have one."""
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb")
    except (AttributeError, OSError):
        return None


def _name(number: int, place: Path) -> None:
    """Give an open file its name."""
    files = os.open("/proc/self/fd", os.O_RDONLY)  # from there, `link` follows what it finds
    try:
        os.link(str(number), place, src_dir_fd=files, follow_symlinks=True)
    finally:
        os.close(files)
