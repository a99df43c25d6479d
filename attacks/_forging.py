"""Sealed files as a forger makes them: opened, changed anywhere, and signed again."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save

from imputefree._sealed import CHECKSUM, KEY, checksum

Tensors = dict[str, torch.Tensor]
Content = dict[str, Any]
ODD: list[Any] = [
    *(None, True, -1, 0, 1, 2**31, 2**63, 10**30, -5, 0.5, 1e308, -1e-300, 5e-324),
    *("", "a", "<U300000000", "O", "m8[s]", "V9999999", "float16", "nan", "\0", "é" * 50, "\ud800"),
    *([], {}, [[]], [None], {"": 0}, {"float": "nan"}, {"tuple": []}, {"dict": [[0, 1]]}),
    *({"tensor": "0"}, {"array": "encoder.weight"}, {"dict": [[[], 1]]}, {"float": "x"}),
]
FLOATS = [torch.float16, torch.float32, torch.float64]


def open_sealed(file: bytes) -> tuple[Content, Tensors]:
    """Content and tensors."""
    header = json.loads(file[8 : 8 + int.from_bytes(file[:8], "little")])
    return json.loads(header["__metadata__"][KEY]), load(file)


def seal_again(text: str, tensors: Tensors) -> bytes:
    """A file with a fitting checksum, whatever it holds."""
    alone = {name: tensor.clone() for name, tensor in tensors.items()}  # none shares its memory
    return save(alone, {KEY: text, CHECKSUM: checksum(text, tensors)})


# ---- bytes
def damaged(file: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """The same file after an accident: flipped bits, a part lost, doubled, or from another file."""
    length = len(file)
    first, last = sorted(rng.integers(0, length + 1, 2).tolist())
    if rng.random() < 0.5:  # within the header
        head = min(length, 8 + int.from_bytes(file[:8], "little"))
        first, last = sorted(rng.integers(0, head + 1, 2).tolist())
    last = min(last, first + int(rng.integers(1, 200)))
    match rng.integers(0, 7):
        case 0 | 1:
            flipped = bytearray(file)
            for place in rng.integers(0, length, rng.integers(1, 4)):
                flipped[place] ^= 1 << int(rng.integers(8))
            return bytes(flipped)
        case 2:
            return file[:first]
        case 3:
            return file[:first] + file[last:]
        case 4:
            return file[:last] + file[first:]
        case 5:
            return file[:first] + rng.bytes(last - first) + file[last:]
        case _:
            return file[:first] + other[first:]


# ---- contents
def forged(file: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """The same file after one to three changes of its content or its tensors, signed again."""
    content, tensors = open_sealed(file)
    other_content, other_tensors = open_sealed(other)
    for _ in range(rng.integers(1, 4)):
        if rng.random() < 0.7:
            change_content(content, other_content, rng)
        else:
            change_tensors(tensors, other_tensors, rng)
    text = json.dumps(content)
    if rng.random() < 0.05:
        text = change_text(text, rng)
    return seal_again(text, tensors)


def change_content(content: Content, other: Content, rng: np.random.Generator) -> None:
    """Change one place of a tree of dicts and lists."""
    places = list(_places(content))
    holder, key = places[rng.integers(len(places))]
    elsewhere, other_key = (found := list(_places(other)))[rng.integers(len(found))]
    match rng.integers(0, 7):
        case 0:
            del holder[key]
        case 1 | 2:
            holder[key] = copy.deepcopy(ODD[rng.integers(len(ODD))])
        case 3:
            holder[key] = copy.deepcopy(elsewhere[other_key])
        case 4 if isinstance(holder, dict):
            holder[ODD[rng.integers(14, 20)]] = holder.pop(key)
        case 5 if isinstance(holder[key], list) and holder[key]:
            holder[key] = (holder[key] * 100)[: int(rng.integers(0, 1000))]
        case _:
            holder[key] = _nudged(holder[key], rng)


def _nudged(value: Any, rng: np.random.Generator) -> Any:
    """A value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + int(rng.choice([-1, 1, 1000, -(10**9), 10**9]))
    if isinstance(value, float):
        return value * float(rng.choice([-1.0, 0.0, 1e30, 1e-30, 1e300]))
    return value[::-1] if isinstance(value, str | list) else value


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a tree, by what holds it."""
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in keys:
        yield tree, key
        yield from _places(tree[key])


def change_tensors(tensors: Tensors, other: Tensors, rng: np.random.Generator) -> None:
    """Change one tensor."""
    if not tensors:
        tensors["new"] = torch.zeros(3)
        return
    name = list(tensors)[rng.integers(len(tensors))]
    old = tensors[name]
    changes: list[Callable[[], Any]] = [
        lambda: tensors.pop(name),
        lambda: tensors.update({name + "x": tensors.pop(name)}),
        lambda: tensors.update({name: old.flatten()[:-1].clone()}),
        lambda: tensors.update({name: old.transpose(0, -1).contiguous()}),
        lambda: tensors.update({name: old.to(FLOATS[rng.integers(3)])}),
        lambda: tensors.update({name: old.to(torch.int64)}),
        lambda: tensors.update({name: torch.empty(0, *old.shape[1:], dtype=old.dtype)}),
        lambda: tensors.update({name: torch.empty(0, 2**40)}),
        lambda: tensors.update({f"policy.{name}": torch.zeros(1, 1, 1)}),
        lambda: tensors.update({name: _with_odd_number(old, rng)}),
        lambda: tensors.update({name: _with_odd_number(old, rng)}),
    ]
    if other:
        donor = list(other)[rng.integers(len(other))]
        changes.append(lambda: tensors.update({name: other[donor].clone()}))
    changes[rng.integers(len(changes))]()


def _with_odd_number(old: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """One number of a tensor is another one."""
    new = old.clone().flatten()
    if len(new):
        odd = [-1, 0, 1, 100, 127]
        if new.is_floating_point():
            odd = [float("nan"), float("inf"), -1e38, 1e38, 0.0, -1.0]
        value = odd[rng.integers(len(odd))]
        new[rng.integers(len(new))] = value
    return new.reshape(old.shape)


def change_text(text: str, rng: np.random.Generator) -> str:
    """JSON that no writer makes: a key twice, numbers beyond all bounds, deep nesting, noise."""
    at = int(rng.integers(1, len(text)))
    match rng.integers(0, 5):
        case 0:
            return '{"format": 1, ' + text[1:]
        case 1:
            return '{"more": ' + str(rng.choice(["NaN", "1e999", "-Infinity"])) + ", " + text[1:]
        case 2:
            return '{"more": ' + "[" * 5000 + "]" * 5000 + ", " + text[1:]
        case 3:
            return text[:at] + str(rng.choice(['"', "}", "[", ",", "\\", "9" * 5000])) + text[at:]
        case _:
            return text[:at]
