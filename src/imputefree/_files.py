"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import ImputefreeError, InputError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives a new path beside `path` to write to, moved there if the block succeeds.

    If it fails, an older file at `path` stays as it was and nothing else is left behind. The new
    file gets the usual permissions (mkstemp's would be private).

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "figures.txt"
    ...     with replacing(path) as place:
    ...         _ = place.write_text("whole")
    ...     path.read_text(), len(list(path.parent.iterdir()))
    ('whole', 1)
    """
    place = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        yield place
        os.replace(place, path)
    finally:
        with suppress(OSError):
            place.unlink(missing_ok=True)


@contextmanager
def saving(
    path: Path,
    kind: type[ImputefreeError] = InputError,
    rule: str = "It must be a file in an existing, writable folder with room for it",
    remedy: str = "Name another file, or fix the folder",
) -> Iterator[Path]:
    """`replacing`, with one error for whatever the system refuses.

    >>> with saving(Path("no/such/folder.txt")) as place:
    ...     _ = place.write_text("")
    Traceback (most recent call last):
    imputefree.errors.InputError: no/such/folder.txt cannot be written (No such file or \
directory). It must be ...
    """
    try:
        with replacing(path) as place:
            yield place
    except (OSError, ValueError) as error:
        if isinstance(error, ImputefreeError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise kind(f"{path} cannot be written ({reason})", rule, remedy) from None
