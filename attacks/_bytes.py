"""Damage to bytes, as disks, editors and attackers do it; what targets of files share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Generator = np.random.Generator


def pick(rng: Generator, options: Sequence):
    """One of the options, as it is."""
    return options[int(rng.integers(len(options)))]


def chance(rng: Generator, probability: float) -> bool:
    """True this often."""
    return bool(rng.random() < probability)


def damaged(
    content: bytes,
    rng: Generator,
    tokens: Sequence[bytes] = (b"\0", b"\xff"),
    other: bytes = b"",
    most: int = 4,
) -> bytes:
    """The content after one to `most` changes.

    tokens : what is written over, or put between, other bytes
    other : what a part may be replaced by a part of
    """
    for _ in range(int(rng.integers(1, most + 1))):
        at, end = sorted(rng.integers(0, len(content) + 1, 2).tolist())
        short = min(end, at + int(rng.integers(1, 40)))
        token = pick(rng, tokens)
        begin, rest = content[:at], content[at:]
        match int(rng.integers(9)):
            case 0:  # a flipped bit
                flipped = bytes(byte ^ 1 << int(rng.integers(8)) for byte in rest[:1])
                content = begin + flipped + rest[1:]
            case 1:
                content = begin + token + rest
            case 2:
                content = begin + token + rest[len(token) :]
            case 3:  # some bytes less
                content = begin + content[short:]
            case 4:  # a part twice
                content = content[:end] + content[at:short] + content[end:]
            case 5:
                content = begin + rng.bytes(int(rng.integers(1, 9))) + rest
            case 6:  # truncated
                content = begin if chance(rng, 0.5) else content[:end]
            case 7:
                cut = sorted(rng.integers(0, len(other) + 1, 2).tolist())
                content = begin + other[cut[0] : cut[1]] + content[end:]
            case _:  # a token in many places
                old = content[at : at + 1] or b","
                content = content.replace(old, token, int(rng.integers(1, 30)))
    return content
