"""A results file: one JSON line per run, appended as a whole or not at all.

It is the one place from which a bench resumes. A line is written in one piece and forced to disk
before the next run counts. A killed process leaves at worst the beginning of a line, which the
next one cuts off. There is one writer at a time; the kernel drops its lock with the process.
A line begins with a checksum of what follows it; files of version 0.1.0 have none.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, Self
from zlib import crc32

from ..._files import write_errors
from ..._sealed import read_json
from ...errors import ResultsError
from ._protocol import Run

try:
    import fcntl
except ImportError:  # Windows: no lock
    fcntl = None  # type: ignore[assignment]

# How every line begins: anything else at the end of a file is not ours to cut.
BEGIN, UNCHECKED = b'{"crc32": "', b'{"study": '

Record = dict[str, Any]


def read_results(path: Path | str) -> list[Record]:
    """All lines in order, the last one of each run. An incomplete last line is ignored.

    path : a file that `run_grid` wrote
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        fact = f"{path} cannot be read ({error.strerror})"
        raise ResultsError(fact, "It must be a results file", "Check the path") from None
    records, _ = _parse(content, Path(path))
    return list({Run.of(record).identity: record for record in records}.values())


class ResultsFile:
    """The one writer of a results file.

    records : the lines that are in it, in order

    >>> from dataclasses import asdict
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "new", "results.jsonl")
    ...     with ResultsFile(path) as results:
    ...         results.append(asdict(Run("icu", "mask_only")))
    ...     read_results(path)[0]["method"]
    'mask_only'
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.records: list[Record] = []

    def __enter__(self) -> Self:
        rule = "Results are written as they come, so their folder must be writable"
        with write_errors(self.path, ResultsError, rule, "Name another file"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
            self._file = os.open(self.path, flags | getattr(os, "O_BINARY", 0), 0o666)
        try:
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            content = self.path.read_bytes() if self.path.is_file() else b""
            self.records, size = _parse(content, self.path)
            if size < len(content):
                os.ftruncate(self._file, size)
            with suppress(OSError):  # its name too, where the file system allows it
                folder = os.open(self.path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
        except BaseException as error:
            os.close(self._file)
            if not isinstance(error, BlockingIOError):
                raise
            fact = f"{self.path} is being written by another process"
            remedy = "Wait for it or stop it, or name another file"
            raise ResultsError(fact, "A results file has one writer at a time", remedy) from None
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._file)

    def append(self, record: Record) -> None:
        """Write a line. When this returns it is on disk; when it raises, nothing of it is."""
        text = json.dumps(record, allow_nan=False).encode()
        if not text.startswith(UNCHECKED):
            raise ValueError("a record must begin with its study")
        line = BEGIN + b'%08x", ' % crc32(text) + text[1:] + b"\n"
        size = os.fstat(self._file).st_size
        rule = f"The {len(self.records)} runs in it are safe; the last one is not"
        remedy = "Make room, and start the same command again: it continues from there"
        with write_errors(self.path, ResultsError, rule, remedy):
            try:
                written = 0
                while written < len(line):  # a nearly full disk takes a part
                    written += os.write(self._file, line[written:])
                os.fsync(self._file)
            except BaseException:  # Ctrl-C between two parts, too
                with suppress(OSError):  # if this fails, the next start cuts it off
                    os.ftruncate(self._file, size)
                raise
        self.records.append(record)


def _parse(content: bytes, path: Path) -> tuple[list[Record], int]:
    """The complete lines, and how many bytes they take; what follows them is incomplete."""
    records: list[Record] = []
    size = 0
    lines = BytesIO(content).readlines()
    for number, line in enumerate(lines, start=1):
        try:
            record = _record(line)
        except (ValueError, KeyError, TypeError, RecursionError):
            record = None
        if record is None or not line.endswith(b"\n"):
            if number == len(lines) and _is_torn(line, first=number == 1):
                break
            fact, rule = f"line {number} of {path} is not a result", "Each must be what a run wrote"
            raise ResultsError(fact, rule, "Name a results file, or remove that line")
        records.append(record)
        size += len(line)
    return records, size


def _record(line: bytes) -> Record:
    """What a line says; an error unless it is as it was written."""
    if line.startswith(BEGIN):
        seen, line = line[len(BEGIN) :][:8], b"{" + line[len(BEGIN) + 11 :]
        if seen != b"%08x" % crc32(line.rstrip(b"\n")):
            raise ValueError("the checksum differs")
    elif not line.startswith(UNCHECKED):
        raise ValueError("not a line of ours")
    record: Record = read_json(line, len(line))
    Run.of(record)
    return record


def _is_torn(line: bytes, *, first: bool) -> bool:
    """Whether this is the beginning of a line whose writer was stopped.

    first : no earlier line shows that this is a results file, so this one must
    """
    if not line.strip(b"\0"):  # what some file systems leave of a write after a power failure
        return True
    begun = line.startswith((BEGIN, UNCHECKED))
    ours = begun or (not first and any(mark.startswith(line) for mark in (BEGIN, UNCHECKED)))
    return ours and not line.endswith(b"\n")
