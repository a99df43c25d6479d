"""Every example in a docstring runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import imputefree

MODULES = sorted(m.name for m in pkgutil.walk_packages(imputefree.__path__, "imputefree."))


def parameter(name: str):
    return pytest.param(name, marks=[pytest.mark.slow] if ".lab.imputers" in name else [])


@pytest.mark.parametrize("name", [parameter(m) for m in MODULES if not m.endswith("demo")])
def test_examples(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_there_are_examples():
    found = doctest.DocTestFinder()
    count = sum(
        bool(test.examples)
        for name in MODULES
        for test in found.find(importlib.import_module(name))
    )
    assert count > 10
