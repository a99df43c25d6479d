"""MNIST's files: one npz, or the four idx files of its authors, gzipped or not."""

from __future__ import annotations

import gzip
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

from ...errors import InputError
from ._data_files import Root, find

IDX = {
    "x_train": "train-images-idx3-ubyte",
    "y_train": "train-labels-idx1-ubyte",
    "x_test": "t10k-images-idx3-ubyte",
    "y_test": "t10k-labels-idx1-ubyte",
}
MAGIC = {1: 2049, 3: 2051}  # the first four bytes, by the number of dimensions
REPAIR = "Fetch it anew: remove the file and run `imputefree data get mnist`"
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError)


def read(root: Root = None) -> tuple[np.ndarray, np.ndarray, int]:
    """Images (n, 784) uint8, training rows first, their digits (n,), and how many are training."""
    home = find(
        "MNIST",
        "mnist",
        [("mnist.npz",)],
        [_spellings(name) for name in IDX.values()],
        root=root,
        how="Run `imputefree data get mnist`",
    )
    whole = home / "mnist.npz"
    parts = _read_npz(whole) if whole.exists() else _read_idx(home)
    for images, labels in (("x_train", "y_train"), ("x_test", "y_test")):
        _check(home, images, parts[images], labels, parts[labels])
    pixels = np.concatenate([parts["x_train"], parts["x_test"]]).reshape(-1, 784)
    digits = np.concatenate([parts["y_train"], parts["y_test"]]).astype(np.int64)
    return pixels, digits, len(parts["y_train"])


def _spellings(name: str) -> tuple[str, ...]:
    """The archive's own name and the one that some programs unpack it to."""
    dotted = name.replace("-idx", ".idx")
    return name, f"{name}.gz", dotted, f"{dotted}.gz"


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(path) as file:
            lacking = [name for name in IDX if name not in file.files]
            if not lacking:
                return {name: file[name] for name in IDX}
    except DAMAGE as error:
        raise InputError(
            f"{path} is truncated or corrupted ({error})",
            "MNIST's npz holds x_train, y_train, x_test and y_test",
            REPAIR,
        ) from None
    raise InputError(
        f"{path} has no {', '.join(lacking)}",
        "MNIST's npz holds x_train, y_train, x_test and y_test",
        REPAIR,
    )


def _read_idx(home: Path) -> dict[str, np.ndarray]:
    paths = {
        part: next(home / one for one in _spellings(name) if (home / one).exists())
        for part, name in IDX.items()
    }
    return {part: read_idx(path, 3 if part[0] == "x" else 1) for part, path in paths.items()}


def read_idx(path: Path, dimensions: int) -> np.ndarray:
    """One idx file of bytes: a magic number, the size of each dimension, then the values."""
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
    except DAMAGE as error:
        raise InputError(
            f"{path} is truncated or corrupted ({error})", "It must be a whole gzip file", REPAIR
        ) from None
    head = 4 * (1 + dimensions)
    numbers = struct.unpack(f">{1 + dimensions}I", content[:head].ljust(head, b"\0"))
    if numbers[0] != MAGIC[dimensions]:
        raise InputError(
            f"{path} begins with the number {numbers[0]}",
            f"An idx file of {'images' if dimensions == 3 else 'labels'} begins with"
            f" {MAGIC[dimensions]}",
            "Check that images and labels are not exchanged, or fetch the file anew",
        )
    size = int(np.prod(numbers[1:], dtype=object))
    if len(content) != head + size:
        raise InputError(
            f"{path} holds {len(content) - head:,} bytes of values where its header says {size:,}",
            "An idx file holds as many values as its header says",
            "It is truncated or not MNIST's: fetch it anew",
        )
    return np.frombuffer(content, np.uint8, offset=head).reshape(numbers[1:])


def _check(home: Path, images: str, x: np.ndarray, labels: str, y: np.ndarray) -> None:
    rule = "MNIST is images of 28 × 28 bytes, each with a digit from 0 to 9"
    fact = ""
    if x.ndim != 3 or x.shape[1:] != (28, 28) or x.dtype != np.uint8:
        fact = f"{images} in {home} is {x.dtype} of shape {x.shape}"
    elif y.shape != (len(x),):
        fact = f"{home} has {len(x):,} images in {images} but {len(y):,} labels in {labels}"
    elif len(y) == 0:
        fact = f"{images} in {home} holds no image"
    elif y.dtype.kind not in "iu" or y.min() < 0 or y.max() > 9:
        fact = f"{labels} in {home} holds other labels than 0 to 9"
    if fact:
        raise InputError(fact, rule, REPAIR)
