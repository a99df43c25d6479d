"""What MkDocs does to our pages: figures are taken from the README, never typed twice.

A line `{{ readme: NAME }}` in a page becomes the README's block between `<!-- NAME: … -->` and
`<!-- end of NAME -->`, or the part of it named in PARTS. The build fails where it is not found.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

README = Path(__file__).parents[1] / "README.md"
# Part of a block: from the line with the first beginning up to the line with the second.
PARTS = {
    "tables": ("results", "Tables with gaps.", "Larger tables"),
    "physionet": ("results", "Series: PhysioNet 2012", "The imputers on complete tables"),
    "policies": ("results", "The same network under other policies", "On a made-up task"),
    "policy": ("paper", "**We cannot show", "**mnist**"),
}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs for every page."""
    return re.sub(r"^\{\{ readme: (\w+) \}\}$", lambda m: part(m[1]), markdown, flags=re.MULTILINE)


def part(name: str) -> str:
    """A block of the README, or a part of one."""
    block, first, last = PARTS.get(name, (name, "", ""))
    text = README.read_text(encoding="utf-8")
    found = re.search(rf"<!-- {block}:.*?-->\n(.*?)<!-- end of {block} -->", text, re.DOTALL)
    if found is None:
        raise PluginError(f"README.md has no block {block!r}")
    whole = found[1]
    if not first:
        return whole
    begin = re.search(rf"^{re.escape(first)}", whole, re.MULTILINE)
    end = re.search(rf"^{re.escape(last)}", whole, re.MULTILINE)
    if begin is None or end is None or end.start() <= begin.start():
        raise PluginError(f"README.md has no part {name!r}: {first!r} … {last!r}")
    return whole[begin.start() : end.start()].rstrip()
