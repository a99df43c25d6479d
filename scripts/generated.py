"""Pages that are generated from committed results: written, or with --check only compared."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def with_block(text: str, name: str, content: str) -> str:
    """The text with new content between `<!-- NAME: … -->` and `<!-- end of NAME -->`."""
    pattern = rf"(<!-- {name}:[^\n]*-->\n).*?(<!-- end of {name} -->)"
    new, count = re.subn(
        pattern, lambda match: f"{match[1]}{content}\n{match[2]}", text, flags=re.DOTALL
    )
    if count != 1:
        raise ValueError(f"there are {count} blocks {name!r}, not 1")
    return new


def with_blocks(path: Path, blocks: dict[str, str]) -> str:
    """A page's text with new content in several of its blocks."""
    text = path.read_text(encoding="utf-8")
    for name, content in blocks.items():
        text = with_block(text, name, content)
    return text


def write_pages(pages: dict[Path, str]) -> int:
    """Write the pages; with --check on the command line, return 1 if one has drifted instead."""
    if "--check" in sys.argv:
        drifted = [p for p, text in pages.items() if not p.exists() or p.read_text() != text]
        for path in drifted:
            print(f"{path.relative_to(ROOT)} has drifted: run `make readme`", file=sys.stderr)
        return int(bool(drifted))
    for path, text in pages.items():
        path.write_text(text)
    return 0
