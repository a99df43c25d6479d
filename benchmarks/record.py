"""What stands beside every figure: the command, the protocol and the versions that made it."""

from __future__ import annotations

import json
import platform
import shlex
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any


def record(protocol: str, packages: str, **figures: Any) -> dict[str, Any]:
    """Figures with what they were made by; `packages` beyond imputefree, with spaces between."""
    versions = {name: version(name) for name in ("imputefree", *packages.split())}
    return {
        "command": "python " + shlex.join(sys.argv),
        "protocol": protocol,
        "versions": {"python": platform.python_version(), **versions},
        **figures,
    }


def write(path: Path, content: dict[str, Any]) -> None:
    """As JSON that reads well in a diff."""
    path.write_text(json.dumps(content, indent=1) + "\n")
