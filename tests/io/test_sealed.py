"""Crafted files cost little, and whatever is not complete and finite is refused."""

from __future__ import annotations

import json
import os
import time
import tracemalloc

import numpy as np
import pytest
import torch

from attacks._forging import open_sealed, seal_again
from imputefree import GILClassifier
from imputefree._sealed import Seal, read_json, read_sealed, write_sealed
from imputefree._sealed import _open as open_file
from imputefree.errors import ModelFileError
from imputefree.estimators import Engine
from scripts.goldens import HOME

SEAL = Seal("thing", 1, "A rule", "A remedy")
GOLDEN = HOME / "format-3" / "network_classes.imputefree"
MANY = 200_000


@pytest.fixture
def forge(tmp_path):
    """Writes a golden file after a change of its content or tensors, with a fitting checksum."""

    def write(change):
        content, tensors = open_sealed(GOLDEN.read_bytes())
        content = change(content, tensors) or content
        text = content if isinstance(content, str) else json.dumps(content)
        path = tmp_path / "forged"
        path.write_bytes(seal_again(text, tensors))
        return path

    return write


def put(*keys_and_value):
    """A change of one place of the content."""
    *keys, last, value = keys_and_value

    def change(content, tensors):
        for key in keys:
            content = content[key]
        content[last] = value

    return change


STRINGS = {"array": ["a"] * MANY + ["b" * MANY], "dtype": "<U1"}
EMPTY = torch.empty(0, 2**20, 2**20)
BOMBS = {
    "a wide type": put("fitted", "classes_", {"array": ["a", "b"], "dtype": "<U300000000"}),
    "one long string": put("fitted", "feature_names_in_", STRINGS),
    "many layers": put("network", "hidden", [1] * MANY),
    "many gates": put("network", "gate_sizes", [1] * MANY),
    "many levels": put("encoder", "plans", [{"kind": "category", "name": "a"}] * MANY),
    "many objects": put("fitted", "about_", {"value": [{}] * 10 * MANY}),
    "empty tensors": lambda _, tensors: tensors.update(
        {str(number): torch.empty(0) for number in range(MANY)}
    ),
    "empty weights of a policy": lambda _, tensors: tensors.update(
        {"policy.0.weight": torch.zeros(1, 2**10, 1), "policy.2.weight": EMPTY}
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_cannot_ask_for_much(name, forge):
    path = forge(BOMBS[name])
    size = path.stat().st_size
    tracemalloc.start()
    begun = time.process_time()
    with pytest.raises(ModelFileError):
        Engine.load(path)
    seconds, (_, peak) = time.process_time() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * size + 50_000_000
    assert seconds < 3 + size / 1e6  # tracing makes it slow


def test_small_parts_of_all_kinds_add_up():
    """30 MB of objects, or 30 MB of lists, but not both; a larger file may hold more."""
    objects, lists = [{}] * 19_000, [[]] * 200_000
    for parts in (objects, lists):
        assert read_json(json.dumps(parts), 0) == parts
    both = json.dumps([objects, lists])
    with pytest.raises(ValueError, match="more small parts"):
        read_json(both, 0)
    assert read_json(both, 4_000_000) == [objects, lists]


INCOMPLETE = {
    "without a placeholder": lambda content, _: content["fitted"].pop("placeholder_") and None,
    "another estimator": put("estimator", "GILRegressor"),
    "a half-precision bias": lambda _, tensors: tensors.update(
        {name: weight.half() for name, weight in tensors.items() if name.endswith("bias")}
    ),
    "a weight that is not a number": lambda _, tensors: tensors.update(
        {name: weight * float("nan") for name, weight in tensors.items()}
    ),
    "format -5": put("format", -5),
    "a key that comes twice": lambda content, _: '{"format": 1, ' + json.dumps(content)[1:],
    "a number beyond all bounds": lambda content, _: '{"odd": 1e999, ' + json.dumps(content)[1:],
    "a type that does not exist": put("fitted", "classes_", {"array": [1], "dtype": "m8[s]"}),
    "a whole number beyond all bounds": put("network", "members", 10**30),
}


@pytest.mark.parametrize("name", INCOMPLETE)
def test_an_incomplete_model_is_refused(name, forge):
    with pytest.raises(ModelFileError):
        Engine.load(forge(INCOMPLETE[name]))


def test_a_file_that_is_sealed_again_loads(forge):
    assert isinstance(Engine.load(forge(lambda content, tensors: None)), GILClassifier)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="a device or a pipe"):
        read_sealed(tmp_path / "pipe", SEAL)


def test_every_flipped_bit_is_noticed(tmp_path):
    path = tmp_path / "thing"
    write_sealed(
        path, SEAL, {"of": "a"}, {"w": torch.ones(3), "n": torch.ones(2, dtype=torch.int32)}
    )
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            path.write_bytes(flipped)
            with pytest.raises(ModelFileError):
                read_sealed(path, SEAL)
    path.write_bytes(whole)
    assert read_sealed(path, SEAL)[0] == {"format": 1, "of": "a"}


@pytest.mark.parametrize(
    ("header", "more", "numbers", "fits"),
    [
        (b"{}", 0, 0, True),
        (b"{}", 1, 0, False),  # a header that would end after the file
        (b"{}", 0, 1, False),  # a number of no tensor
        (b"[]", 0, 0, False),
        (b'{"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}}', 0, 2, True),
        (b'{"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}}', 0, 1, False),
        (b'{"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}}', 0, 3, False),
        (b'{"a": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]}}', 0, 3, False),
        (b'{"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 2]}}', 0, 2, False),
        (b'{"a": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}}', 0, 0, True),
        (b'{"a": {"dtype": "U8", "shape": [-1], "data_offsets": [0, -1]}}', 0, 0, False),
        (b'{"a": {"dtype": "U8", "shape": [true], "data_offsets": [0, 1]}}', 0, 1, False),
        (b'{"a": {"dtype": "U8", "shape": [1.0], "data_offsets": [0, 1]}}', 0, 1, False),
    ],
)
def test_header_and_numbers_are_all_of_a_file(header, more, numbers, fits):
    size = (len(header) + more).to_bytes(8, "little")
    file = np.frombuffer(size + header + b"\7" * numbers, dtype=np.uint8)
    if fits:
        assert sum(tensor.nbytes for tensor in open_file(file)[1].values()) == numbers
    else:
        with pytest.raises((ValueError, TypeError)):
            open_file(file)


@pytest.mark.parametrize("length", range(9))
def test_a_file_shorter_than_its_size_is_refused(length):
    with pytest.raises(ValueError, match=r"header|Expecting"):
        open_file(np.zeros(length, dtype=np.uint8))
