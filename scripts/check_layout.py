"""Check the layout of the source tree: unique module names, no private imports across packages.

Prints what is wrong and exits 1. Two modules may not share a name (`__init__` and `__main__`
aside), and a module whose name starts with an underscore may be imported only inside its own
top-level package. The private modules at the top of the package are shared by all of it.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
SPECIAL = ("__init__", "__main__")


def module_name(path: Path) -> str:
    """Dotted name of a file: src/imputefree/data/_cells.py -> imputefree.data._cells."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute module name of every import from this package."""
    package = path.relative_to(SOURCE).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *filter(None, [node.module])])
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def repeated_names(paths: list[Path]) -> Iterator[str]:
    homes = defaultdict(list)
    for path in paths:
        if path.stem not in SPECIAL:
            homes[path.stem].append(str(path.relative_to(SOURCE)))
    for stem, files in homes.items():
        if len(files) > 1:
            yield f"module name {stem} is used {len(files)} times: {', '.join(files)}"


def foreign_private_imports(paths: list[Path]) -> Iterator[str]:
    modules = {module_name(path) for path in paths}
    for path in paths:
        home = module_name(path).split(".")[1:2]
        for line, name in imports(path):
            parts = name.split(".")
            while ".".join(parts) not in modules and parts:  # the name of a class or function
                parts.pop()
            private = [part for part in parts[2:] if part.startswith("_")]
            if private and parts[1:2] != home:
                yield f"{path.relative_to(SOURCE)}:{line} imports the private {'.'.join(parts)}"


def main() -> int:
    paths = sorted(SOURCE.rglob("*.py"))
    problems = [*repeated_names(paths), *foreign_private_imports(paths)]
    print("\n".join(problems) or f"layout: {len(paths)} modules, names unique, imports in order")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
