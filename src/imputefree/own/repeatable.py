"""The same model, the same bytes.

safetensors writes the entries of its header's metadata in an order that changes from call to call.
What is in a file does not depend on it; whether two files are equal does.
"""

from __future__ import annotations

import json

ALIGNED = 8  # the header's length is a multiple of that, so that tensors are aligned


def repeatable(content: bytes) -> bytes:
    """A safetensors file with its header in sorted order; tensors stay where they are.

    >>> header = b'{"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{}}   '
    >>> file = len(header).to_bytes(8, "little") + header + b"x"
    >>> repeatable(file)[8:]
    b'{"a":{},"b":{"data_offsets":[0,1],"dtype":"U8","shape":[1]}}    x'
    """
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    text = json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % ALIGNED)
    return len(text).to_bytes(8, "little") + text + content[8 + length :]
