"""Unfinished work of `fit`, kept next to the model file so that a killed fit can be resumed.

A folder MODEL.partial holds what was asked for, one file per finished piece (the predictions of a
method in a fold, the final model) and checkpoints of trainings under way. Each file is written in
one go, under a lock on the folder. The folder is removed when the model is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from threadpoolctl import threadpool_limits

from .. import __version__
from .._files import write_errors, writing
from .._sealed import Seal, pack_tree, read_sealed, unpack_tree, write_sealed
from ..errors import InputError, ModelFileError
from ._card import METHODS
from ._problem import Problem

try:
    import fcntl
except ImportError:  # Windows: no lock
    fcntl = None  # type: ignore[assignment]

STATE, LOCK = "asked", "lock"
MOST_THREADS = 1024  # no machine has more cores
REMEDY = "Make room there; the same command with --resume then continues"
PIECE = Seal(
    "piece of unfinished work", 1, "Only intact work can be resumed", "Start again with --fresh"
)
MANY_ROWS = 10_000
# What scores depend on; a library that is not installed counts too, by its absence.
LIBRARIES = ("torch", "numpy", "scikit-learn", "pandas", "lightgbm")


@dataclass(frozen=True)
class Partial:
    """The open folder.

    state : what was asked for and when, and the number of threads (sums depend on it)
    begun : whether there was nothing to resume
    """

    folder: Path
    state: dict[str, Any]
    begun: bool = True

    def read(self, piece: str) -> dict[str, Any] | None:
        """The arrays and strings of a finished piece, or None."""
        path = self.path(piece)
        return _read(path) if path.exists() else None

    def keep(self, piece: str, **parts: Any) -> None:
        """Write a finished piece: arrays and strings."""
        _write(self.path(piece), parts)

    def path(self, piece: str) -> Path:
        """Where a finished piece is kept."""
        return self.folder / f"{piece}.piece"

    def checkpoint(self, piece: str) -> Path:
        """Where a training under way keeps its checkpoint."""
        return self.folder / f"{piece}.checkpoint"

    def remove(self) -> None:
        """Remove the folder: the model is written."""
        _empty(self.folder)
        with suppress(OSError):  # another fit may wait for the lock
            (self.folder / LOCK).unlink()
            self.folder.rmdir()


def folder_of(output: Path) -> Path:
    """Where unfinished work of a model is kept.

    >>> folder_of(Path("model.imputefree")).name
    'model.imputefree.partial'
    """
    return output.with_name(f"{output.name}.partial")


@contextmanager
def open_partial(
    problem: Problem, other: Problem | None = None, resume: bool = False, fresh: bool = False
) -> Iterator[Partial]:
    """The folder of this fit, for this process alone.

    other : the file to score on, if there is one
    resume : continue what is there, if it is the same fit, with as many threads
    fresh : remove what is there first
    """
    request = problem.request
    asked = {
        "the data": problem.digest,
        "the data file's name": request.data.name,
        "the test file": None if other is None else other.digest,
        "the methods to compare with": list(METHODS),
        **request.options(),
        "imputefree": __version__,
    }
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            asked[name] = version(name)
    folder = folder_of(request.output)
    lock = _lock(folder)
    try:
        if fresh:
            _empty(folder)
        partial = _open(folder, asked, resume, _n_threads(problem))
        threads = partial.state["threads"]
        torch.set_num_threads(threads)
        with threadpool_limits(threads):  # of NumPy, scikit-learn and LightGBM
            yield partial
    finally:
        os.close(lock)


def _n_threads(problem: Problem) -> int:
    """With few rows, several threads cost more than they save."""
    return torch.get_num_threads() if len(problem.frame) >= MANY_ROWS else 1


def _open(folder: Path, asked: dict[str, Any], resume: bool, threads: int) -> Partial:
    path = folder / STATE
    nothing_done = {file.name for file in folder.iterdir()} <= {STATE, LOCK}
    if not path.exists() or (nothing_done and not resume):
        begin = {"asked": asked, "date": today(), "threads": threads}
        _write(path, begin)
        return Partial(folder, begin)
    if not resume:
        fact = f"{folder} holds the unfinished work of an earlier fit"
        remedy = "Continue it with --resume, or remove it and start again with --fresh"
        raise InputError(fact, "It is never overwritten or mixed with other work", remedy)
    state = _read(path)
    try:
        if not isinstance(state["date"], str) or state["threads"] not in range(1, MOST_THREADS + 1):
            raise TypeError
        then, now = {**state["asked"]}, json.loads(json.dumps(asked))
    except (TypeError, KeyError):
        raise PIECE.refuse(path, "is not whole") from None
    different = [name for name in {**then, **now} if then.get(name) != now.get(name)]
    if different:
        fact = f"{folder} holds the work of another fit: {', '.join(different)} differ"
        rule = "Only the same fit of the same data can be resumed"
        raise InputError(fact, rule, "Pass the same options as before, or --fresh to start again")
    return Partial(folder, state, begun=False)


def today() -> str:
    """The date, or that of SOURCE_DATE_EPOCH, for reproducible builds."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return moment.date().isoformat()


def _lock(folder: Path) -> int:
    """Create the folder, if need be, and lock it; -> the open lock file."""
    path = folder / LOCK
    while True:
        names = {file.name for file in folder.iterdir()} - {LOCK} if folder.exists() else set()
        if names and not any(name.startswith(STATE) for name in names):  # not ours to remove
            fact, rule = f"{folder} is not a folder of unfinished work", "Others are left alone"
            raise InputError(fact, rule, "Move it away, or name another file with -o")
        with write_errors(folder, ModelFileError):
            folder.mkdir(exist_ok=True)
            lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        if fcntl is None:
            return lock
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), path.stat()):
                return lock
        except BlockingIOError:
            os.close(lock)
            fact, rule = f"{folder} is being written by another fit", "A model is made by one"
            raise InputError(fact, rule, "Wait for it, or name another file with -o") from None
        except FileNotFoundError:
            pass
        os.close(lock)  # another fit ended just now, and removed the folder


def _empty(folder: Path) -> None:
    """Remove everything but the lock; last the file that marks the folder as ours."""
    with write_errors(folder, ModelFileError):
        for path in sorted(folder.iterdir(), key=lambda path: path.name == STATE):
            if path.name != LOCK:
                path.unlink()


def write_model(model: Any, path: Path, card: Path) -> None:
    """Write a model and its card.

    The card is written first and takes its name right after the model has its own, so that a kill
    hardly ever leaves a new model beside an older card.
    """
    with writing(card, ModelFileError, REMEDY) as file:
        file.write(model.card_.encode())
        file.flush()
        model.save(path)


def _write(path: Path, parts: dict[str, Any]) -> None:
    tensors: dict[str, torch.Tensor] = {}
    write_sealed(path, PIECE, {"parts": pack_tree(parts, tensors)}, tensors, REMEDY)


def _read(path: Path) -> dict[str, Any]:
    content, tensors = read_sealed(path, PIECE)
    try:
        return dict(unpack_tree(content["parts"], tensors))
    except (LookupError, TypeError, ValueError):
        raise PIECE.refuse(path, "is not whole") from None
