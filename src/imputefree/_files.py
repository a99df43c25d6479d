"""A file is written whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new place beside `path` to write to, moved there if the block ends well.

    If it does not, an older file at `path` stays as it was and nothing else is left behind. The
    place is a plain new file's, which gets the permissions of any other (mkstemp's is private).

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
