"""MNIST: 70,000 images of handwritten digits, 28 × 28, with pixels hidden on purpose.

Masks are drawn once an image and stay (`masks="fixed"`, as real gaps do), or are drawn anew for
each epoch of training (`masks="redrawn"`). The second shows a network ever new pixels of the same
images and makes the task easier: at 90 % it moves a plain network from about 0.73 to about 0.78 of
accuracy. So `notes` say which it was, and so should every table of results.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ...data import Splits
from ...errors import ParameterError
from ._data_files import Root
from ._mnist_files import read
from ._study import Study

MASKS = ("fixed", "redrawn")
MECHANISMS = {"mcar": "mcar", "mar": "mnist_mar"}  # and what `data.missingness` calls them
NAN = np.float32("nan")


@dataclass(frozen=True)
class Images(Study):
    """MNIST with gaps, which still knows the complete images.

    pixels : (n, 784) uint8, complete; `X` is pixels / 255 with NaN where a pixel is hidden
    masks : "fixed", or "redrawn": then `redraw` gives the training images of the next epoch
    mechanism, rate : what hides the pixels
    """

    pixels: np.ndarray | None = None
    masks: str = "fixed"
    mechanism: str = "mcar"
    rate: float | None = 0.5

    def redraw(self, random_state: Any, rows: Any = None) -> np.ndarray:
        """Newly masked copies of training images, (len(rows), 784) float32.

        random_state : int or Generator; one Generator for all epochs, or a number for each
        rows : row numbers, such as `study.split(0).train`; None means all that are not test rows
        """
        if self.masks != "redrawn" or self.pixels is None:
            raise ParameterError(
                "this study has fixed masks",
                "Only a study loaded with masks='redrawn' draws them anew",
                "Load it so, and say it beside the results: it makes the task easier",
            )
        tests = np.asarray([] if self.splits.test_rows is None else self.splits.test_rows)
        if rows is None:
            rows = np.setdiff1d(np.arange(len(self.y)), tests)
        rows = np.arange(len(self.y))[np.asarray(rows)]
        if np.isin(rows, tests).any():
            raise ParameterError(
                "rows holds test rows",
                "The test part is masked once, whatever happens in training",
                "Pass rows=study.split(seed).train",
            )
        return _hidden(self.pixels[rows], self.mechanism, self.rate, random_state)

    def complete(self) -> np.ndarray | None:
        """All pixels, (n, 784) float32 in [0, 1]; made anew, as they take four times the memory."""
        return None if self.pixels is None else self.pixels / np.float32(255)

    def take(self, rows: Any) -> Self:
        """The same study with these rows only."""
        part = super().take(rows)
        pixels = None if self.pixels is None else self.pixels[np.asarray(rows)]
        return replace(part, pixels=pixels)


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
    root : the folder with mnist.npz or the four idx files (gzipped or not), or the one above
    rate : share of hidden pixels; 0 leaves the images complete. None means 0.5 for "mcar", and for
        "mar" the masks of the code around MIWAE, which the paper follows: about 0.37
    masks : "fixed" or "redrawn" (see the module's text)
    mechanism : "mcar", or "mar": hidden by features of the part that is always seen
    mask_seed : the same seed, rate and mechanism give the same masks
    """
    for name, value, known in (("masks", masks, MASKS), ("mechanism", mechanism, MECHANISMS)):
        if value not in known:
            raise ParameterError(
                f"{name} is {value!r}",
                f"It must be one of {', '.join(map(repr, known))}",
                f"Pass {name}= one of these",
            )
    number = isinstance(mask_seed, int | np.integer) and not isinstance(mask_seed, bool)
    if not number or mask_seed < 0:
        raise ParameterError(
            f"mask_seed is {mask_seed!r}", "It must be a whole number, at least 0", "Pass 0, 1, …"
        )
    if rate is not None and not (isinstance(rate, int | float) and 0 <= rate < 1):
        raise ParameterError(
            f"rate is {rate!r}", "It must be a number in [0, 1)", "Pass rate=0.5, or None"
        )
    pixels, digits, first = read(root)
    if rate is None and mechanism == "mcar":
        rate = 0.5
    # One stream for each (seed, rate, mechanism): masks at 0.9 are not those at 0.5 and some more.
    share = 0 if rate is None else round(1e6 * rate)
    rng = np.random.default_rng([mask_seed, share, zlib.crc32(mechanism.encode())])
    X = _hidden(pixels, mechanism, rate, rng)
    again = "stay the same" if masks == "fixed" else "are drawn anew each epoch, test masks stay"
    hidden = float(np.isnan(X).mean())
    return Images(
        "mnist",
        X,
        digits,
        citation="LeCun, Cortes and Burges, The MNIST database of handwritten digits",
        licence="CC BY-SA 3.0",
        simulated=False,
        splits=Splits(test_rows=np.arange(first, len(digits))),
        notes=(
            (f"Masks {again} (masks={masks!r}).",) if hidden else ("Complete images, no masks.",)
        )
        + ((f"{hidden:.1%} of the pixels hidden, {mechanism.upper()}.",) if hidden else ()),
        columns=tuple(f"pixel {row},{column}" for row in range(28) for column in range(28)),
        pixels=pixels,
        masks=masks,
        mechanism=mechanism,
        rate=rate,
    )


def _hidden(pixels: np.ndarray, mechanism: str, rate: float | None, rng: Any) -> np.ndarray:
    """pixels / 255 with NaN where the mechanism says so; (n, 784) float32."""
    from ...missingness import make_missing

    X = pixels.astype(np.float32)
    X /= np.float32(255)
    if rate != 0:
        options = {"pattern": "quarters"} if mechanism == "mar" and rate is None else {}
        X[~make_missing(MECHANISMS[mechanism], pixels, rate, rng, **options).observed] = NAN
    return X
