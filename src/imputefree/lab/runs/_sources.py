"""Which code made a line of results: its commit, and a fingerprint of what learns and scores."""

from __future__ import annotations

import ast
import hashlib
import subprocess
from functools import cache
from pathlib import Path

HOME = Path(__file__).parents[2]  # the package
# What decides a prediction, and what also decides the figures of a run.
LEARNING = ("data/*.py", "gil/*.py", "families/*.py", "estimators/*.py", "_rules.py")
RUNNING = (
    *LEARNING,
    *("baselines/*.py", "metrics/*.py", "missingness/*.py", "lab/imputers/*.py"),
    *("lab/rivals/*.py", "lab/studies/*.py", "lab/runs/_protocol.py"),
)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class ChangedCodeWarning(UserWarning):
    """Results of other code are kept next to new ones."""


@cache
def fingerprint(patterns: tuple[str, ...] = RUNNING) -> str:
    """Eight digits that change with this code of the package, not with docstrings or comments.

    patterns : file names inside the package, such as "gil/*.py"

    >>> fingerprint() == fingerprint(RUNNING), fingerprint() == fingerprint(LEARNING)
    (True, False)
    """
    digest = hashlib.sha256()
    for path in sorted(path for name in patterns for path in HOME.glob(name)):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
                node.body = node.body[1:]
        digest.update(ast.dump(tree).encode())
    return digest.hexdigest()[:8]


@cache
def commit() -> str:
    """The commit that is checked out, with a plus sign if the package differs; "" outside git."""
    head = ["git", "rev-parse", "--short=12", "HEAD"]
    changed = ["git", "status", "--porcelain", "--untracked-files=no", "--", "."]
    try:
        name, changes = (
            subprocess.run(
                words, cwd=HOME, capture_output=True, text=True, check=True, timeout=60
            ).stdout.strip()
            for words in (head, changed)
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return name + "+" * bool(changes)
