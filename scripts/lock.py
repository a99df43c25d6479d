"""Write requirements.lock, what CI installs: exact versions with the hashes of their files.

    python scripts/lock.py

Users have the open ranges of pyproject.toml; this is one set of versions within them, for Linux on
x86-64 and the Python that runs this. pip resolves it and says which files it would install.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = "all,dev,docs"


def main() -> None:
    """Resolve and write."""
    constraints = ROOT / "constraints.txt"
    torch = next(line for line in constraints.read_text().splitlines() if line.startswith("torch="))
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        how = ["--quiet", "--dry-run", "--ignore-installed", "--report", str(report)]
        asked = ["--constraint", str(constraints), torch, f"{ROOT}[{EXTRAS}]"]
        subprocess.run([sys.executable, "-m", "pip", "install", *how, *asked], check=True)
        found = json.loads(report.read_text())["install"]
    lines = [
        f"{part['metadata']['name']}=={part['metadata']['version']}"
        f" --hash=sha256:{part['download_info']['archive_info']['hashes']['sha256']}"
        for part in found
        if "archive_info" in part["download_info"]  # all but this project
    ]
    python = ".".join(platform.python_version_tuple()[:2])
    head = f"# Made by scripts/lock.py, for Python {python} on {platform.system()}"
    text = "\n".join([head, *sorted(lines, key=str.lower)])
    (ROOT / "requirements.lock").write_text(text + "\n")
    print(f"requirements.lock: {len(lines)} packages")


if __name__ == "__main__":
    main()
