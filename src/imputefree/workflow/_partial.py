"""Unfinished work, kept beside the model's file so that a fit that was killed can go on.

A folder MODEL.partial holds one file a finished piece (the predictions of a method in a fold, the
final model), checkpoints of trainings under way, and what was asked for. Each file is written in
one go. The folder is removed when the model is there.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from .._files import replacing
from ..errors import InputError, ModelFileError
from ._references import methods
from ._request import Request

try:
    import fcntl
except ImportError:  # Windows: no lock, so look after it yourself
    fcntl = None  # type: ignore[assignment]

STATE, LOCK = "asked.json", "lock"
PARTS = ("options", "versions")  # of what was asked
# What figures depend on; those that are not installed count too, by their absence.
LIBRARIES = ("torch", "numpy", "scikit-learn", "pandas", "lightgbm")


@dataclass(frozen=True)
class Partial:
    """The open folder.

    state : what was asked for and when, and the number of threads, by which sums differ
    begun : whether there was nothing to go on with
    """

    folder: Path
    state: dict[str, Any]
    begun: bool = True

    def read(self, piece: str) -> dict[str, np.ndarray] | None:
        """The arrays of a finished piece, or None."""
        path = self.folder / f"{piece}.npz"
        if not path.exists():
            return None
        try:
            with zipfile.ZipFile(path) as whole:  # np.load takes other files too
                if whole.testzip() is not None:
                    raise damaged(path)
            with np.load(path, allow_pickle=False) as found:
                return dict(found)
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error):
            raise damaged(path) from None

    def keep(self, piece: str, **arrays: Any) -> None:
        """A piece is finished."""
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        _write(self.folder / f"{piece}.npz", buffer.getvalue())

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
def open_partial(
    request: Request, digests: tuple[str, str | None], resume: bool, fresh: bool, threads: int
) -> Iterator[Partial]:
    """Go on with the work of an earlier fit, or begin; one fit at a time.

    digests : of the data and, if there is one, of the test file
    """
    folder = folder_of(request.output)
    try:
        lock = _take(folder)
    except OSError as error:
        raise _unwritable(folder, error, "Name another file with -o") from None
    try:
        if fresh:
            _empty(folder)
        state, begun = _state(folder, request, digests, resume, threads)
        yield Partial(folder, state, begun)
    finally:
        os.close(lock)


def remove_partial(partial: Partial) -> None:
    """The model is there: nothing is unfinished any more. While the folder is ours alone."""
    _empty(partial.folder)
    with suppress(OSError):  # Windows keeps a file that is open, and another fit may wait for it
        (partial.folder / LOCK).unlink()
        partial.folder.rmdir()


def damaged(path: Path) -> ModelFileError:
    """The error of a file of unfinished work that cannot be what was written."""
    return ModelFileError(
        f"{path} is damaged",
        "Only unfinished work that is whole can be gone on with",
        "--fresh removes it and begins anew",
    )


def _state(
    folder: Path, request: Request, digests: tuple[str, str | None], resume: bool, threads: int
) -> tuple[dict[str, Any], bool]:
    """What was asked for, then or now, and whether it is now."""
    asked = {
        "data": digests[0],
        "file": request.data.name,
        "test": digests[1],
        "methods": methods(),
        "options": request.options(),
        "versions": {"imputefree": __version__} | _versions(),
    }
    path = folder / STATE
    nothing_done = {one.name for one in folder.iterdir()} <= {STATE, LOCK}
    if not path.exists() or (nothing_done and not resume):
        begin = {"asked": asked, "date": _today(), "threads": threads}
        _write(path, json.dumps(begin).encode())
        return _read_state(path), True
    if not resume:
        raise InputError(
            f"{folder} holds the unfinished work of an earlier fit",
            "It is neither lost nor mixed with other work",
            "--resume goes on with it, --fresh removes it and begins anew",
        )
    state = _read_state(path)
    different = _different(state["asked"], json.loads(json.dumps(asked)))
    if different:
        raise InputError(
            f"{folder} holds the work of another fit: {', '.join(different)} differ",
            "Only the same fit of the same data can go on",
            "Pass what was passed then, or --fresh to begin anew",
        )
    return state, False


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        raise damaged(path) from None
    kinds: dict[str, type] = {"asked": dict, "date": str, "threads": int}
    whole = isinstance(state, dict) and all(
        isinstance(state.get(key), kind) for key, kind in kinds.items()
    )
    if not whole or not all(isinstance(state["asked"].get(part), dict) for part in PARTS):
        raise damaged(path)
    return state


def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _different(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What is not as it was, in words.

    >>> _different({"data": "a", "options": {"--seed": 1}}, {"data": "b", "options": {}})
    ['the data', '--seed']
    """
    words = {
        "data": "the data",
        "file": "the data file's name",
        "test": "the test file",
        "methods": "the methods to compare with",
    }
    found = [word for key, word in words.items() if then.get(key) != now.get(key)]
    for part in PARTS:
        one, other = then.get(part, {}), now.get(part, {})
        names = dict.fromkeys([*one, *other])
        found += [name for name in names if one.get(name) != other.get(name)]
    return found


def _today() -> str:
    """The day, or that of SOURCE_DATE_EPOCH, by which builds are made repeatable."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(given), UTC) if given.isdigit() else datetime.now(UTC)
    return moment.date().isoformat()


def _take(folder: Path) -> int:
    """The lock of our own folder, made where there is none; the open file."""
    while True:
        _refuse_foreign(folder)
        folder.mkdir(exist_ok=True)
        try:
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # another fit ended just now, and took the folder away
            continue
        try:
            _lock(lock, folder)
            if fcntl is None or _is_at(lock, folder / LOCK):
                return lock
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


def _is_at(file: int, path: Path) -> bool:
    """Whether an open file is still the one of that name: a fit that ended removes its own."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


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


def _refuse_foreign(folder: Path) -> None:
    """Never write into, and later remove, a folder that somebody else filled."""
    if not folder.exists():
        return
    names = {one.name for one in folder.iterdir()} - {LOCK}
    if names and not any(name.startswith(STATE) for name in names):
        raise InputError(
            f"{folder} is no folder of unfinished work",
            "Only such a folder is written to and removed",
            "Move it away, or name another file with -o",
        )


def _empty(folder: Path) -> None:
    """All but the lock, and last what tells that the folder is ours."""
    try:
        for path in sorted(folder.iterdir(), key=lambda one: one.name == STATE):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != LOCK:
                path.unlink()
    except OSError as error:
        raise ModelFileError(
            f"{folder} cannot be removed ({error.strerror})",
            "Work that is finished or unwanted is removed",
            "Remove the folder yourself",
        ) from None


def _unwritable(path: Path, error: OSError, remedy: str) -> ModelFileError:
    return ModelFileError(
        f"{path} cannot be written ({error.strerror})",
        "Unfinished work is kept beside the model, in an existing, writable folder",
        remedy,
    )


def _write(path: Path, content: bytes) -> None:
    try:
        write_file(path, content)
    except OSError as error:
        remedy = "Make room there; the same command with --resume then goes on"
        raise _unwritable(path, error, remedy) from None


def write_file(path: Path, content: bytes) -> None:
    """All of it or nothing, and on the disk when this returns."""
    with replacing(path) as place, place.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
