"""Small pictures as PNG in a data: address, so that the page needs no other file.

>>> address = data_uri(np.zeros((28, 28, 4), dtype=np.uint8))
>>> address[:22], len(address) < 200
('data:image/png;base64,', True)
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode

import numpy as np

RGBA, DEPTH = 6, 8  # kinds of PNG: four bytes a pixel

# Dark blue over green to yellow: even steps of lightness, so it reads in grey and to the
# colour-blind; points between which colours are mixed.
SCALE = np.array(
    [
        [38, 20, 84],
        [50, 62, 132],
        [38, 104, 142],
        [32, 146, 140],
        [72, 186, 112],
        [166, 216, 58],
        [250, 232, 60],
    ],
    dtype=np.float64,
)


def encode(pixels: np.ndarray) -> bytes:
    """A PNG file of uint8 pixels (height, width, 4): red, green, blue, and 255 for solid.

    >>> encode(np.zeros((1, 2, 4), dtype=np.uint8))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    height, width, _ = pixels.shape
    lines = np.zeros((height, 1 + 4 * width), dtype=np.uint8)  # 0 first: no filter
    lines[:, 1:] = pixels.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, DEPTH, RGBA, 0, 0, 0)
    body = zlib.compress(lines.tobytes(), 9)
    chunks = ((b"IHDR", head), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def data_uri(pixels: np.ndarray) -> str:
    """The address of a picture that is its own content; pixels as in `encode`."""
    return "data:image/png;base64," + b64encode(encode(pixels)).decode()


def coloured(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Numbers (height, width) as pixels (height, width, 4): `low` is dark, NaN is clear.

    >>> coloured(np.array([[0.0, 1.0, np.nan]]), 0, 1)[0].tolist()
    [[38, 20, 84, 255], [250, 232, 60, 255], [0, 0, 0, 0]]
    """
    known = np.isfinite(values)
    place = np.clip(np.where(known, values - low, 0) / ((high - low) or 1), 0, 1)
    at = np.arange(len(SCALE)) / (len(SCALE) - 1)
    made = np.zeros((*values.shape, 4), dtype=np.uint8)
    for channel in range(3):
        made[..., channel] = np.round(np.interp(place, at, SCALE[:, channel]))
    made[..., 3] = 255
    made[~known] = 0
    return made


def grey(values: np.ndarray) -> np.ndarray:
    """uint8 (height, width) as grey pixels (height, width, 4)."""
    made = np.full((*values.shape, 4), 255, dtype=np.uint8)
    made[..., :3] = values[..., None]
    return made
