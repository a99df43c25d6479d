"""MNIST: 70,000 images of handwritten digits, 28 × 28, with pixels hidden on purpose.

Masks are drawn once per image and stay (`masks="fixed"`, as real gaps do), or are redrawn for each
training batch (`masks="redrawn"`): training images are then complete, and networks hide entries at
the same rate in every step. Redrawn masks show the network new pixels of the same images each time,
which makes the task easier: at 90 % missing, a plain network's accuracy rises from about 0.73 to
about 0.79. So `notes` say which it was, and so should every table of results. Images to validate
and to test on are masked once either way.
"""

from __future__ import annotations

import gzip
import struct
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..._rules import check_value, choice, number, or_the_word, whole
from ...data import Splits
from ...errors import InputError, ParameterError
from ...missingness import make_missing
from ._data_files import ABOUT, Root, find
from ._study import Study

MASKS = ("fixed", "redrawn")
MECHANISMS = {"mcar": "mcar", "mar": "mnist_mar"}  # and the name in `imputefree.missingness`
IDX = {  # parts of mnist.npz, and the files of MNIST's authors
    "x_train": "train-images-idx3-ubyte",
    "y_train": "train-labels-idx1-ubyte",
    "x_test": "t10k-images-idx3-ubyte",
    "y_test": "t10k-labels-idx1-ubyte",
}
RULE = f"MNIST ({', '.join(IDX)}) is images of 28 × 28 bytes, each with a digit from 0 to 9"
REPAIR = "Remove the file and run `imputefree data get mnist`"
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, KeyError)


@dataclass(frozen=True)
class Images(Study):
    """MNIST with gaps and with the complete images.

    pixels : (n, 784) uint8, complete; `X` is pixels / 255 with NaN where a pixel is hidden
    """

    by_row: ClassVar[tuple[str, ...]] = (*Study.by_row, "pixels")
    pixels: np.ndarray | None = None

    def for_training(self, rows: Any) -> Images:
        """The same images; with redrawn masks, these rows (numbers) are complete."""
        if not self.redrawn_rate or self.pixels is None:
            return self
        X = self.X.copy()
        X[rows] = self.pixels[rows] / np.float32(255)
        return replace(self, X=X)

    def complete(self) -> np.ndarray | None:
        """All pixels, (n, 784) float32 in [0, 1]; computed on demand, as they need much memory."""
        return None if self.pixels is None else self.pixels / np.float32(255)


def study(
    root: Root = None,
    rate: float | None = None,
    masks: str = "fixed",
    mechanism: str = "mcar",
    mask_seed: int = 0,
) -> Images:
    """MNIST with hidden pixels: X (70,000, 784) float32 in [0, 1], NaN in gaps; y digits.

    Parameters
    ----------
    root : the folder with mnist.npz or the four idx files (gzipped or not), or its parent
    rate : share of hidden pixels; 0 leaves the images complete. None means 0.5 for "mcar", and for
        "mar" the masks of the MIWAE code, which the paper follows: about 0.37
    masks : "fixed" or "redrawn" (see the module's docstring)
    mechanism : "mcar", or "mar": hidden by features of the part that is always seen
    mask_seed : the same seed, rate and mechanism give the same masks
    """
    check_value("masks", masks, choice(*MASKS))
    check_value("mechanism", mechanism, choice(*MECHANISMS))
    check_value("mask_seed", mask_seed, whole(0))
    check_value("rate", rate, or_the_word(None, number(0, 1, open_high=True)))
    if masks == "redrawn" and mechanism != "mcar":
        raise ParameterError(
            f"masks is 'redrawn' and mechanism {mechanism!r}",
            "Only masks that hide pixels completely at random are redrawn",
            "Use masks='fixed', or mechanism='mcar'",
        )
    pixels, digits, n_train = read(root)
    if rate is None and mechanism == "mcar":
        rate = 0.5
    # A stream for each (seed, rate, mechanism): masks at 0.9 are not those at 0.5 plus some more.
    share = 0 if rate is None else round(1e6 * rate)
    rng = np.random.default_rng([mask_seed, share, zlib.crc32(mechanism.encode())])
    X = _hidden(pixels, mechanism, rate, rng)
    hidden = float(np.isnan(X).mean())
    drawn = "stay the same" if masks == "fixed" else "are redrawn for each batch of training"
    notes = (
        f"Masks {drawn} (masks={masks!r}).",
        f"{hidden:.1%} of the pixels hidden, {mechanism.upper()}.",
    )
    return Images(
        "mnist",
        X,
        digits,
        **ABOUT["mnist"],
        splits=Splits(test_rows=np.arange(n_train, len(digits))),
        notes=notes if hidden else ("Complete images, no masks.",),
        columns=tuple(f"pixel {row},{column}" for row in range(28) for column in range(28)),
        pixels=pixels,
        redrawn_rate=rate or 0.0 if masks == "redrawn" else 0.0,
    )


def _hidden(pixels: np.ndarray, mechanism: str, rate: float | None, rng: Any) -> np.ndarray:
    """pixels / 255 with NaN where the mechanism hides them; (n, 784) float32."""
    X = pixels.astype(np.float32)
    X /= np.float32(255)
    if rate != 0:
        options = {"pattern": "quarters"} if mechanism == "mar" and rate is None else {}
        missing = make_missing(MECHANISMS[mechanism], pixels, rate, rng, **options)
        X[~missing.observed] = np.nan
    return X


def read(root: Root = None) -> tuple[np.ndarray, np.ndarray, int]:
    """Images (n, 784) uint8, training rows first; digits (n,); number of training rows.

    From mnist.npz, or from the four idx files of MNIST's authors, gzipped or not.
    """
    layouts = [("mnist.npz",)], [_spellings(name) for name in IDX.values()]
    home = find("MNIST", ["mnist"], *layouts, root=root, remedy="Run `imputefree data get mnist`")
    path, parts = home / "mnist.npz", {}
    try:
        if path.exists():
            with np.load(path) as file:
                parts = {part: file[part] for part in IDX}
        else:
            for part, name in IDX.items():
                path = next(home / name for name in _spellings(name) if (home / name).exists())
                parts[part] = read_idx(path, 3 if part.startswith("x") else 1)
    except DAMAGE as error:
        raise InputError(f"{path} is truncated or corrupted ({error})", RULE, REPAIR) from None
    for part in ("train", "test"):
        x, y = parts[f"x_{part}"], parts[f"y_{part}"]
        fact = ""
        if x.shape[1:] != (28, 28) or x.dtype != np.uint8:
            fact = f"x_{part} in {home} is {x.dtype} of shape {x.shape}"
        elif y.shape != (len(x),):
            fact = f"{home} has {len(x):,} images in x_{part} but {len(y):,} labels in y_{part}"
        elif not (len(y) and np.isin(y, np.arange(10)).all()):
            fact = f"y_{part} in {home} holds no labels, or others than 0 to 9"
        if fact:
            raise InputError(fact, RULE, REPAIR)
    pixels = np.concatenate([parts["x_train"], parts["x_test"]]).reshape(-1, 784)
    digits = np.concatenate([parts["y_train"], parts["y_test"]]).astype(np.int64)
    return pixels, digits, len(parts["y_train"])


def _spellings(name: str) -> tuple[str, ...]:
    """The names a file may have: the archive's own, and the one that some programs unpack it to."""
    dotted = name.replace("-idx", ".idx")
    return name, f"{name}.gz", dotted, f"{dotted}.gz"


def read_idx(path: Path, dimensions: int) -> np.ndarray:
    """An idx file of bytes: a magic number, the size of each dimension, then the values."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    head = 4 * (1 + dimensions)
    magic, *shape = struct.unpack(f">{1 + dimensions}I", content[:head])
    if magic != 2048 + dimensions:  # images and labels may be swapped
        raise ValueError(f"it begins with the number {magic}, not {2048 + dimensions}")
    return np.frombuffer(content, np.uint8, offset=head).reshape(shape)
