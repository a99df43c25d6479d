"""Where training stands, on disk: a fit that was killed goes on as if nothing had happened.

A checkpoint holds tensors, numbers and texts, and is read as such: nothing in it can run.
"""

from __future__ import annotations

import hashlib
import pickle
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .._files import replacing
from ..errors import ModelFileError

SHARE = 20  # writing takes at most about 1/20 of the time


class Checkpoint:
    """A file that training rewrites from time to time and removes when it is done.

    Parameters
    ----------
    path : the file; if it is there, training goes on from it
    identity : what tells this fit from others, by name (data, parameters, …): a file of another
        fit is refused
    seconds : at least so long between two writes

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(Path(folder) / "fit", {"data": "0f3a"}, seconds=0)
    ...     checkpoint.keep(lambda: {"epoch": 3})
    ...     found = checkpoint.read()
    ...     checkpoint.remove()
    ...     found, checkpoint.read()
    ({'epoch': 3}, None)
    """

    def __init__(self, path: Path, identity: dict[str, str], seconds: float = 20.0) -> None:
        self.path, self.identity, self.seconds = path, identity, seconds
        self._due = time.monotonic() + seconds

    def read(self) -> dict[str, Any] | None:
        """What was kept last, None if nothing was."""
        if not self.path.exists():
            return None
        try:
            content = torch.load(self.path, map_location="cpu", weights_only=True)
            kept, identity = content["kept"], dict(content["identity"])
        except (OSError, RuntimeError, EOFError, LookupError, TypeError, ValueError) as error:
            raise _unreadable(self.path, error) from None
        except pickle.UnpicklingError:
            raise _unreadable(self.path, "it holds more than numbers and texts") from None
        names = {*identity, *self.identity}
        different = sorted(one for one in names if identity.get(one) != self.identity.get(one))
        if different:
            raise ModelFileError(
                f"the checkpoint {self.path} is of another fit (it differs in"
                f" {', '.join(different)})",
                "Training goes on with the same data, parameters, versions and threads only",
                "Give it another path, or delete the file to train from the start",
            )
        return kept

    def keep(self, make: Callable[[], dict[str, Any]]) -> None:
        """Write what `make` gives if it is time to; a write that fails leaves the last one."""
        if time.monotonic() < self._due:
            return
        begun = time.monotonic()
        try:
            with replacing(self.path) as place:
                torch.save({"identity": self.identity, "kept": make()}, place)
        except (OSError, RuntimeError) as error:  # torch's writer reports a full disk by the latter
            warnings.warn(
                f"The checkpoint {self.path} cannot be written ({error}); training goes on"
                " without a new one.",
                stacklevel=2,
            )
        now = time.monotonic()
        self._due = now + max(self.seconds, SHARE * (now - begun))

    def remove(self) -> None:
        """The fit is done."""
        self.path.unlink(missing_ok=True)


def digest(parts: Iterable[Tensor | str | None]) -> str:
    """SHA-256 over tensors, with type and shape, and texts.

    >>> digest([torch.zeros(2)]) == digest([torch.zeros(2)]) != digest([torch.zeros(1, 2)])
    True
    """
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, Tensor):
            plain = part.detach().cpu().contiguous()
            found.update(f"{plain.dtype} {list(plain.shape)} ".encode())
            found.update(plain.flatten().view(torch.uint8).numpy().data)
        else:
            found.update(f"{part!r} ".encode())
    return found.hexdigest()


def _unreadable(path: Path, why: object) -> ModelFileError:
    return ModelFileError(
        f"{path} is no checkpoint that can be read ({(str(why) or 'it is empty').splitlines()[0]})",
        "A checkpoint is what an interrupted fit left",
        "Delete it to train from the start",
    )
