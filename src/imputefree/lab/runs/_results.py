"""A file of results: one JSON line a run, appended for good or not at all.

A line is written in one piece and forced to the disk before the next run counts. A process that is
killed leaves at worst the beginning of a line, which the next one cuts off. There is one writer at
a time; its lock is the kernel's and ends with it, however it ends.
"""

from __future__ import annotations

import errno
import json
import os
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ...errors import ResultsError
from ._protocol import Run

try:
    import fcntl
except ImportError:  # Windows: no lock, so look after it yourself
    fcntl = None  # type: ignore[assignment]

BEGIN = b'{"study": '  # of every line: what else stands at the end of a file is not ours to cut
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Record = dict[str, Any]


def read_results(path: Path | str) -> list[Record]:
    """All lines in their order, one for each run: of several, the last. A torn end is passed over.

    path : what `run_grid` wrote
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ResultsError(
            f"{path} cannot be read: {_reason(error)}",
            "It must be a file of results",
            "Check the path, or make the file by a run",
        ) from None
    records, _ = _parse(content, Path(path))
    return list({Run.of(record).identity: record for record in records}.values())


class ResultsFile:
    """The one writer of a file of results.

    records : the lines that are in it, in their order

    >>> from tempfile import TemporaryDirectory
    >>> run = Run("icu", "mask_only")
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "new", "results.jsonl")
    ...     with ResultsFile(path) as results:
    ...         results.append(run.as_dict())
    ...     read_results(path)[0]["method"]
    'mask_only'
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.records: list[Record] = []

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
            self._file = os.open(self.path, flags | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            raise ResultsError(
                f"{self.path} cannot be written: {_reason(error)}",
                "Results are written as they come, so their folder must be writable",
                "Name another file, or change the folder's permissions",
            ) from None
        try:
            self._lock()
            content = self.path.read_bytes() if self.path.is_file() else b""
            self.records, size = _parse(content, self.path)
            if size < len(content):
                os.ftruncate(self._file, size)
            _sync_folder(self.path.parent)
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)

    def append(self, record: Record) -> None:
        """Write a line; when this returns it is on the disk, and when it raises nothing of it."""
        line = _line(record)
        size = os.fstat(self._file).st_size
        try:
            written = 0
            while written < len(line):  # a nearly full disk takes a part
                written += os.write(self._file, line[written:])
            os.fsync(self._file)
        except OSError as error:
            self._cut(size)
            full = error.errno in FULL
            raise ResultsError(
                f"{'the disk is full: ' if full else ''}{self.path} cannot be written:"
                f" {_reason(error)}",
                f"The {len(self.records)} runs in it are safe; the one just done is not",
                "Make room and start the same command again: it goes on from there"
                if full
                else "Mend it and start the same command again: it goes on from there",
            ) from None
        except BaseException:  # Ctrl-C between two parts
            self._cut(size)
            raise
        self.records.append(record)

    def _cut(self, size: int) -> None:
        with suppress(OSError):  # then the next start cuts it off
            os.ftruncate(self._file, size)

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ResultsError(
                f"{self.path} is being written by another process",
                "A file of results has one writer at a time",
                "Wait for it or stop it, or name another file",
            ) from None


def _line(record: Record) -> bytes:
    line = json.dumps(record, allow_nan=False).encode() + b"\n"
    if not line.startswith(BEGIN):
        raise ValueError("a record begins with its study")  # a mistake in this package
    return line


def _parse(content: bytes, path: Path) -> tuple[list[Record], int]:
    """The whole lines, and how many bytes they take; what follows them is torn."""
    records: list[Record] = []
    size = 0
    lines = BytesIO(content).readlines()
    for number, line in enumerate(lines, start=1):
        record = _record(line)
        if record is None or not line.endswith(b"\n"):
            if number == len(lines) and _is_torn(line, first=number == 1):
                break
            raise ResultsError(
                f"line {number} of {path} is no result",
                "Each line must be what a run wrote",
                "Name a file of results, or remove that line",
            )
        records.append(record)
        size += len(line)
    return records, size


def _is_torn(line: bytes, *, first: bool) -> bool:
    """Whether it is what a write of ours left that was broken off: that has no newline.

    first : nothing before it says whose file this is, so it must say so itself
    """
    if not line.strip(b"\0"):  # what some file systems leave of a write that power failed
        return True
    ours = line.startswith(BEGIN) or (not first and BEGIN.startswith(line))
    return ours and not line.endswith(b"\n")


def _record(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
        Run.of(record)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return record


def _sync_folder(folder: Path) -> None:
    """A new file's name must last too."""
    with suppress(OSError):  # not every file system lets one
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
