"""README and docs use public names only, and the API page lists all of them."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

import imputefree

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
PACKAGES = re.findall(r"^::: (imputefree[\w.]*)$", API, re.MULTILINE)


def documented(module: str, name: str) -> bool:
    """Whether the API page renders this object, its package, or the package it is from."""
    home = getattr(importlib.import_module(module), name).__module__.partition("._")[0]
    return bool({f"{module}.{name}", module, home} & set(PACKAGES))


def imports(page: Path):
    """(module, name) of every import from this package in the page's Python blocks."""
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("imputefree"):
                yield from ((node.module, alias.name) for alias in node.names)


IMPORTS = sorted({found for page in PAGES for found in imports(page)})


@pytest.mark.parametrize(("module", "name"), IMPORTS)
def test_pages_import_public_names(module, name):
    assert name in importlib.import_module(module).__all__
    assert documented(module, name)


@pytest.mark.parametrize("name", imputefree.__all__)
def test_every_public_name_of_the_package_is_in_the_api(name):
    assert documented("imputefree", name)


@pytest.mark.parametrize("package", PACKAGES)
def test_what_the_api_page_lists_exists_and_is_described(package):
    parent, _, name = package.rpartition(".")
    try:
        target = importlib.import_module(package)
    except ModuleNotFoundError:
        target = getattr(importlib.import_module(parent), name)
    assert target.__doc__
    for public in getattr(target, "__all__", ()):
        getattr(target, public)
