"""Checkpoints: the state of training on disk, from which a killed fit resumes bit for bit.

A checkpoint is a sealed file (see `_sealed.py`): a damaged one is refused, and none can run code.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from .._ranks import current_ranks
from .._sealed import Seal, pack_tree, read_sealed, unpack_tree, write_sealed
from ..data import RowParts
from ..errors import ImputefreeError, ModelFileError

if TYPE_CHECKING:
    from ._train import Course, Trainer

RULE, REMEDY = "A checkpoint is left by an interrupted fit", "Delete it to train from the start"
CHECKPOINT = Seal("checkpoint", 1, RULE, REMEDY)
SHARE = 20  # writing takes at most about 1/20 of the time


class Checkpoint:
    """A file that training rewrites from time to time and removes when it is done.

    Of several ranks the first reads and writes it, for all.

    Parameters
    ----------
    path : the file; if it exists, training resumes from it
    identity : what distinguishes this fit from others, by name (data, parameters, …); the file of
        another fit is refused
    seconds : minimum time between two writes

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(Path(folder) / "fit", {"data": "0f3a"}, seconds=0)
    ...     checkpoint.save_if_due(lambda: {"epoch": 3})
    ...     state = checkpoint.read()
    ...     checkpoint.remove()
    ...     state, checkpoint.read()
    ({'epoch': 3}, None)
    """

    def __init__(self, path: Path, identity: dict[str, str], seconds: float = 20.0) -> None:
        self.path, self.identity, self.seconds = path, identity, seconds
        self._due = time.monotonic() + seconds
        self._continued = False

    def read(self) -> Any:
        """The state written last, None if there is no file."""
        state = current_ranks().first(self._read)
        self._continued = state is not None
        return state

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Refuse the file if its content makes the block fail.

        Its checksum may be right although its content was forged.
        """
        try:
            yield
        except (LookupError, TypeError, ValueError, RuntimeError, AttributeError) as error:
            if isinstance(error, ImputefreeError) or not self._continued:
                raise
            fact = f"does not continue this training ({str(error).partition(chr(10))[0]})"
            raise CHECKPOINT.refuse(self.path, fact) from error

    def _read(self) -> Any:
        if not self.path.exists():
            return None
        content, tensors = read_sealed(self.path, CHECKPOINT)
        try:
            state, identity = unpack_tree(content["state"], tensors), dict(content["identity"])
        except (LookupError, TypeError, ValueError):
            raise CHECKPOINT.refuse(self.path, "is not a whole checkpoint") from None
        names = {*identity, *self.identity}
        different = sorted(n for n in names if identity.get(n) != self.identity.get(n))
        if different:
            raise ModelFileError(
                f"the checkpoint {self.path} belongs to another fit (it differs in"
                f" {', '.join(different)})",
                "Training resumes only with the same data, parameters, versions and threads",
                "Choose another path, or delete the file to train from the start",
            )
        return state

    def save_if_due(self, make_state: Callable[[], Any]) -> None:
        """Write the state if enough time has passed; a failed write leaves the last one."""
        ranks = current_ranks()
        if not ranks.first(lambda: time.monotonic() >= self._due):
            return
        state = make_state()
        if ranks.rank:
            return
        begun = time.monotonic()
        try:
            tensors: dict[str, Tensor] = {}
            content = {"identity": self.identity, "state": pack_tree(state, tensors)}
            write_sealed(self.path, CHECKPOINT, content, tensors)
        except ModelFileError as error:
            warnings.warn(f"{error.fact}; training continues without a new one.", stacklevel=2)
        now = time.monotonic()
        self._due = now + max(self.seconds, SHARE * (now - begun))

    def remove(self) -> None:
        """Delete the file: the fit is done."""
        if current_ranks().rank == 0:
            self.path.unlink(missing_ok=True)


def digest(parts: Iterable[Tensor | RowParts | str | None]) -> str:
    """SHA-256 over tensors, including dtype and shape, and strings.

    >>> digest([torch.zeros(2)]) == digest([torch.zeros(2)]) != digest([torch.zeros(1, 2)])
    True
    """
    sha = hashlib.sha256()
    for part in parts:
        if isinstance(part, Tensor):
            plain = part.detach().cpu().contiguous()
            sha.update(f"{plain.dtype} {list(plain.shape)} ".encode())
            sha.update(plain.flatten().view(torch.uint8).numpy().data)
        elif isinstance(part, RowParts):
            sha.update(digest(part.blocks()).encode())
        else:
            sha.update(f"{part!r} ".encode())
    return sha.hexdigest()


def training_state(trainer: Trainer, course: Course, epoch: int) -> dict[str, Any]:
    """Everything that training needs to resume after an epoch.

    By then Algorithm 1 has already looked at the next batch. That step cannot be saved (it holds
    a graph), but its rows and the state of the generators can: on resuming it looks again.
    """
    return {
        "epoch": epoch,
        "steps": trainer.steps,
        "history": dict(trainer.history),
        "policy": trainer.policy.state(),
        "looked_at": trainer.looked_at,
        "rng": rng_state(trainer),
        **{name: part.state_dict() for name, part in _parts(trainer, course).items()},
    }


def load_state(trainer: Trainer, course: Course, state: dict[str, Any]) -> int:
    """Restore all but the policy, which is restored after its start; returns the next epoch."""
    epoch = int(state["epoch"])
    if epoch < 0:
        raise ValueError("the number of epochs is negative")
    if course.stopping is not None:
        trainer.keep_members(course, state["stopping"]["present"])
    trainer.steps, trainer.looked_at = state["steps"], state["looked_at"]
    trainer.history.update(state["history"])
    for name, part in _parts(trainer, course).items():
        part.load_state_dict(state[name])
    return epoch + 1


def _parts(trainer: Trainer, course: Course) -> dict[str, Any]:
    """What has a state_dict."""
    parts = {
        "predictor": trainer.predictor,
        "average": trainer.average,
        "optimizer": trainer.optimizer,
        "batches": course.batches,
        "stopping": course.stopping,
    }
    return {name: part for name, part in parts.items() if part is not None}


def rng_state(trainer: Trainer) -> dict[str, Tensor]:
    """The state of both random generators."""
    return {
        "trainer": trainer.generator.get_state(),
        "policy": trainer.policy_generator.get_state(),
    }


def set_rng_state(trainer: Trainer, state: dict[str, Tensor]) -> None:
    """The inverse of `rng_state`."""
    trainer.generator.set_state(state["trainer"])
    trainer.policy_generator.set_state(state["policy"])
