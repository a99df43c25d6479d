"""Sealed files: plain values and tensors in one safetensors file, under a checksum.

Model files, checkpoints and pieces of unfinished work are written and read here, and nowhere else.
A file holds numbers and strings, so nothing in it could run. It is written whole or not at all, and
it is checked before anything is made of it: reading takes at most about ten times the size of the
file (and 50 MB), whatever the file says.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ._files import REMEDY, writing
from .errors import ModelFileError

KEY, CHECKSUM = "imputefree", "sha256"
ALIGNED = 64  # bytes; where the tensors of a file begin
TYPES = {  # of safetensors, which are all that a file may hold
    **{"F64": torch.float64, "F32": torch.float32, "F16": torch.float16},
    **{"I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8},
    **{"U8": torch.uint8, "BOOL": torch.bool},
}
NAMES = {dtype: name for name, dtype in TYPES.items()}
# What the parts of a JSON text take once they are read, at most, in bytes. An object may become a
# column or a tensor, with all that belongs to them.
COSTS = {b"{": 1500, b"[": 100, b'"': 40, b",": 40}
TAGS = ("dict", "tuple", "float", "tensor", "array")  # see `pack_tree`
TIMES, SPARE = 8, 40_000_000  # memory that reading may take: times the size, plus bytes

Tensors = dict[str, Tensor]


class Seal(NamedTuple):
    """A kind of sealed file: its name, its format, and the rule and remedy for a bad one.

    oldest : the first format that this version reads
    """

    name: str
    format: int
    rule: str
    remedy: str
    oldest: int = 1

    def refuse(self, path: Path, fact: str) -> ModelFileError:
        """The error for a file that cannot be used."""
        return ModelFileError(f"{path} {fact}", self.rule, self.remedy)


# ---- writing
def write_sealed(
    path: Path, seal: Seal, content: Mapping[str, Any], tensors: Tensors, remedy: str = REMEDY
) -> None:
    """Write a file; when this returns it is on the disk. A failure leaves an older file there.

    remedy : what to do when it cannot be written
    """
    text = sealed_text(seal, content)
    metadata = {KEY: text, CHECKSUM: checksum(text, tensors)}
    header: dict[str, Any] = {"__metadata__": metadata}
    at = 0
    order = sorted(tensors, key=lambda name: (-tensors[name].element_size(), name))
    for name in order:
        tensor = tensors[name]
        place = [at, at := at + tensor.nbytes]
        shape = list(tensor.shape)
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": shape, "data_offsets": place}
    start = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    start += b" " * (-(len(start) + 8) % ALIGNED)
    with writing(path, ModelFileError, remedy) as file:
        file.write(len(start).to_bytes(8, "little") + start)
        for name in order:
            file.write(_bytes(tensors[name]))


def sealed_text(seal: Seal, content: Mapping[str, Any]) -> str:
    """The content of a file as JSON, with its format."""
    whole = {"format": seal.format, **content}
    return json.dumps(whole, sort_keys=True, allow_nan=False, default=np.generic.item)


def checksum(text: str, tensors: Tensors) -> str:
    """SHA-256 of content and tensors; with type and shape, as other numbers have the same bytes."""
    digest = hashlib.sha256(text.encode(errors="surrogatepass"))
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)} ".encode())
        digest.update(_bytes(tensor))
    return digest.hexdigest()


def _bytes(tensor: Tensor) -> Any:
    """The numbers of a tensor as they lie in memory."""
    return tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data


# ---- reading
def read_sealed(path: Path, seal: Seal) -> tuple[dict[str, Any], Tensors]:
    """Content and tensors of a file; a `ModelFileError` if it is not as `write_sealed` left it."""
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder", f"A {seal.name} is one file", "Check the path")
    try:
        if path.exists() and not path.is_file():
            raise seal.refuse(path, f"is not a {seal.name} but a device or a pipe")
        data = np.fromfile(path, dtype=np.uint8)
    except FileNotFoundError:
        raise ModelFileError(f"{path} does not exist", "", "Check the path") from None
    except OSError as error:
        fact = f"{path} cannot be read ({error.strerror or error})"
        raise ModelFileError(fact, "", "Check path and permissions") from None
    try:
        header, tensors = _open(data)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        fact = f"is truncated or not a {seal.name} ({error})"
        raise seal.refuse(path, fact) from None
    metadata = header.get("__metadata__")
    try:
        text, seen = metadata[KEY], metadata[CHECKSUM]  # type: ignore[index]
        content = read_json(text, len(data))
        version = content["format"]
    except (ValueError, LookupError, TypeError, RecursionError):
        fact = f"is a safetensors file from elsewhere, not a {seal.name}"
        raise seal.refuse(path, fact) from None
    if seen != checksum(text, tensors):
        raise seal.refuse(path, "was changed after it was saved (checksum differs)")
    if type(version) is not int or not seal.oldest <= version <= seal.format:
        fact = f"{path} has format {version}, which this version does not read"
        rule = f"It reads formats {seal.oldest} to {seal.format}"
        remedy = "Read it with the version that made it, or make it again with this one"
        raise ModelFileError(fact, rule, remedy)
    return content, tensors


def read_json(text: Any, size: int) -> Any:
    """Parse JSON in which no key comes twice and every number is finite.

    A ValueError if it would take more memory than a file of `size` bytes may cost.

    >>> read_json('{"a": 1, "a": 2}', 100)
    Traceback (most recent call last):
    ValueError: the key 'a' comes twice
    >>> read_json('[1, 1e999]', 100)
    Traceback (most recent call last):
    ValueError: 1e999 is not a finite number
    """
    raw = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    if sum(raw.count(mark) * cost for mark, cost in COSTS.items()) > TIMES * size + SPARE:
        raise ValueError("it holds more small parts than its size allows")
    return json.loads(
        text, object_pairs_hook=_distinct, parse_float=_finite, parse_constant=_finite
    )


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    known = dict(pairs)
    if len(known) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r} comes twice")
    return known


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text} is not a finite number")
    return value


def _open(data: np.ndarray) -> tuple[dict[str, Any], Tensors]:
    """The header of a safetensors file and its tensors, which together are all of the file."""
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    if len(data) < 8 or start > len(data):
        raise ValueError("its header is longer than the file")
    header = read_json(data[8:start].tobytes().decode(), len(data))
    if not isinstance(header, dict):
        raise TypeError("its header is not an object")
    numbers, end, tensors = data[start:], 0, {}
    entries = [(name, entry) for name, entry in header.items() if name != "__metadata__"]
    for name, entry in sorted(entries, key=lambda item: item[1]["data_offsets"]):
        dtype, shape, (first, last) = TYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
        if not all(type(n) is int and n >= 0 for n in (*shape, first, last)):
            raise ValueError(f"the shape of {name!r} is not whole numbers")
        if first != end or last - first != math.prod(shape) * dtype.itemsize or last > len(numbers):
            raise ValueError(f"{name!r} does not fit into the file")
        values = torch.empty(shape, dtype=dtype)  # aligned, whatever the length of the header
        values.view(-1).view(torch.uint8).numpy()[:] = numbers[first:last]
        tensors[name], end = values, last
    if end != len(numbers):
        raise ValueError("something follows its last tensor")
    return header, tensors


# ---- trees of values
def pack_tree(value: Any, tensors: Tensors) -> Any:
    """Nested dicts, lists and tuples as plain JSON; tensors and arrays go into `tensors`.

    >>> tensors = {}
    >>> packed = pack_tree({"steps": (3, np.inf), "weight": torch.zeros(2)}, tensors)
    >>> packed
    {'steps': {'tuple': [3, {'float': 'inf'}]}, 'weight': {'tensor': '0'}}
    >>> unpack_tree(packed, tensors)
    {'steps': (3, inf), 'weight': tensor([0., 0.])}
    """
    if isinstance(value, Tensor | np.ndarray):
        kind, name = "array" if isinstance(value, np.ndarray) else "tensor", str(len(tensors))
        tensors[name] = torch.as_tensor(value).detach().cpu()
        return {kind: name}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value) and not _tag_of(value):
            return {key: pack_tree(part, tensors) for key, part in value.items()}
        return {"dict": [[pack_tree(part, tensors) for part in item] for item in value.items()]}
    if isinstance(value, list | tuple):
        parts = [pack_tree(part, tensors) for part in value]
        return {"tuple": parts} if isinstance(value, tuple) else parts
    if isinstance(value, float | np.floating) and not math.isfinite(value):
        return {"float": str(float(value))}
    return value


def unpack_tree(packed: Any, tensors: Tensors) -> Any:
    """The inverse of `pack_tree`; a ValueError, LookupError or TypeError for anything else."""
    if isinstance(packed, list):
        return [unpack_tree(part, tensors) for part in packed]
    if not isinstance(packed, dict):
        return packed
    kind = _tag_of(packed)
    if kind is None:
        return {key: unpack_tree(part, tensors) for key, part in packed.items()}
    held = packed[kind]
    if kind == "dict":
        return {unpack_tree(k, tensors): unpack_tree(v, tensors) for k, v in held}
    if kind == "tuple":
        return tuple(unpack_tree(part, tensors) for part in held)
    if kind == "float":
        return float(held)
    return tensors[held] if kind == "tensor" else tensors[held].numpy()


def _tag_of(held: Mapping[str, Any]) -> str | None:
    """The only key of a dict that represents another type; None for any other dict."""
    return next(iter(held)) if len(held) == 1 and next(iter(held)) in TAGS else None
