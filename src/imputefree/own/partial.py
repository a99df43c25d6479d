"""Unfinished work, kept beside the model's file so that a fit that was killed can go on.

A folder MODEL.partial holds one file a finished piece (the predictions of a method in a fold, the
final model), checkpoints of trainings under way, and what was asked for. Each file is written in
one go. The folder is removed when the model is there.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import InputError, ModelFileError
from ..whole_files import replacing
from .request import Request

try:
    import fcntl
except ImportError:  # Windows: no lock, so look after it yourself
    fcntl = None  # type: ignore[assignment]

STATE, LOCK = "asked.json", "lock"
LIBRARIES = ("torch", "numpy", "scikit-learn")  # what figures depend on


@dataclass(frozen=True)
class Partial:
    """The open folder.

    state : what was asked for and when, and the number of threads, by which sums differ
    """

    folder: Path
    state: dict[str, Any]

    def read(self, piece: str) -> dict[str, np.ndarray] | None:
        """The arrays of a finished piece, or None."""
        path = self.folder / f"{piece}.npz"
        if not path.exists():
            return None
        with np.load(path, allow_pickle=False) as found:
            return dict(found)

    def keep(self, piece: str, **arrays: Any) -> None:
        """A piece is finished."""
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        write_file(self.folder / f"{piece}.npz", buffer.getvalue())

    @property
    def model(self) -> Path:
        """Where the final model waits for its card."""
        return self.folder / "model.imputefree"

    @property
    def finished(self) -> Path:
        """The model with its card, before it is put where it belongs."""
        return self.folder / "finished.imputefree"

    def checkpoint(self, piece: str) -> Path:
        """Where a training under way keeps what it needs to go on."""
        return self.folder / f"{piece}.checkpoint"


def folder_of(output: Path) -> Path:
    """Where unfinished work of a model is kept.

    >>> folder_of(Path("model.imputefree")).name
    'model.imputefree.partial'
    """
    return output.with_name(f"{output.name}.partial")


@contextmanager
def open_partial(request: Request, resume: bool, fresh: bool, threads: int) -> Iterator[Partial]:
    """Go on with the work of an earlier fit, or begin; one fit at a time."""
    folder = folder_of(request.output)
    try:
        if fresh:
            _remove(folder)
        folder.mkdir(exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise ModelFileError(
            f"{folder} cannot be written ({error.strerror})",
            "Unfinished work is kept beside the model, in an existing, writable folder",
            "Name another file with -o",
        ) from None
    try:
        _lock(lock, folder)
        yield Partial(folder, _state(folder, request, resume, threads))
    finally:
        os.close(lock)


def remove_partial(output: Path) -> None:
    """The model is there: nothing is unfinished any more."""
    _remove(folder_of(output))


def _state(folder: Path, request: Request, resume: bool, threads: int) -> dict[str, Any]:
    asked = {
        "data": _digest(request.data),
        "test": _digest(request.test) if isinstance(request.test, Path) else None,
        "options": request.options(),
        "versions": {"imputefree": __version__} | {name: version(name) for name in LIBRARIES},
    }
    path = folder / STATE
    nothing_done = {one.name for one in folder.iterdir()} <= {STATE, LOCK}
    if not path.exists() or (nothing_done and not resume):
        state = {"asked": asked, "date": _today(), "threads": threads}
        write_file(path, json.dumps(state).encode())
        return json.loads(path.read_text())
    if not resume:
        raise InputError(
            f"{folder} holds the unfinished work of an earlier fit",
            "It is neither lost nor mixed with other work",
            "--resume goes on with it, --fresh removes it and begins anew",
        )
    state = json.loads(path.read_text())
    different = _different(state["asked"], json.loads(json.dumps(asked)))
    if different:
        raise InputError(
            f"{folder} holds the work of another fit: {', '.join(different)} differ",
            "Only the same fit of the same data can go on",
            "Pass what was passed then, or --fresh to begin anew",
        )
    return state


def _different(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What is not as it was, in words.

    >>> _different({"data": "a", "options": {"--seed": 1}}, {"data": "b", "options": {}})
    ['the data', '--seed']
    """
    words = {"data": "the data", "test": "the test file"}
    found = [word for key, word in words.items() if then.get(key) != now.get(key)]
    for part in ("options", "versions"):
        one, other = then.get(part, {}), now.get(part, {})
        names = dict.fromkeys([*one, *other])
        found += [name for name in names if one.get(name) != other.get(name)]
    return found


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _today() -> str:
    """The day, or that of SOURCE_DATE_EPOCH, by which builds are made repeatable."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(given), UTC) if given.isdigit() else datetime.now(UTC)
    return moment.date().isoformat()


def _lock(file: int, folder: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            f"{folder} is being written by another fit",
            "A model is made by one process at a time",
            "Wait for it or stop it, or name another file with -o",
        ) from None


def _remove(folder: Path) -> None:
    """Away with our own folder; never with one that somebody else filled."""
    if not folder.exists():
        return
    if not (folder / STATE).exists() and {one.name for one in folder.iterdir()} - {LOCK}:
        raise InputError(
            f"{folder} is no folder of unfinished work",
            "Only such a folder is removed",
            "Move it away, or name another file with -o",
        )
    shutil.rmtree(folder)


def write_file(path: Path, content: bytes) -> None:
    """All of it or nothing, and on the disk when this returns."""
    with replacing(path) as place, place.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
