"""Runs the examples, and writes their pictures and the page of the gallery.

python -m scripts.gallery             # all of them
python -m scripts.gallery NAME …      # only these pictures
python -m scripts.gallery --check     # exit 1 if docs/gallery.md is not made from the examples

A picture is drawn once, for a light page; the one for a dark page has other colors in the same SVG.
"""

from __future__ import annotations

import ast
import io
import runpy
import sys
from pathlib import Path
from typing import Any

from scripts.generated import ROOT, write_pages

EXAMPLES, PICTURES, PAGE = ROOT / "examples", ROOT / "docs" / "pictures", ROOT / "docs/gallery.md"
CHAPTERS = {
    "Tables": ["first_model", "numbers_and_strings", "blend_families", "any_estimator"],
    "Answers for a row's gaps": [
        "sets_of_classes",
        "intervals_follow_gaps",
        "what_to_measure_next",
        "explain_a_row",
    ],
    "Trust": ["who_gets_measured", "ignore_the_mask", "trusted_rows", "kinds_of_gaps"],
    "Series": ["risk_over_time", "explain_a_series"],
}
NAMES = [name for names in CHAPTERS.values() for name in names]
INK, LINES = "#24292f", "#d0d7de"
DARK = {INK: "#e6edf3", LINES: "#3d444d", "#000000": "#e6edf3", "#ffffff": "#1e2129"}
STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": LINES,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.prop_cycle": "cycler('color', ['#0f9d8f', '#e8833a', '#4a86d8', '#b65fcf', '#8b949e'])",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "axes.facecolor": "none",
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "grid.color": LINES,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "imputefree",  # same picture, same file
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
INTRODUCTION = """---
hide: [navigation]
---

# Gallery

<!-- made by `python -m scripts.gallery` from the folder examples -->
Short programs, each with the picture that it draws. They are in the folder `examples` of the
repository, need the extra `plot`, and run in seconds: `python examples/first_model.py`. Data is
simulated or comes with scikit-learn. A picture is an illustration, not evidence: for that, see the
[results](results.md).
"""


def run(name: str) -> Any:
    """Run an example; the figure that it shows."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    with mpl.rc_context(STYLE):
        show, plt.show = plt.show, lambda: None
        try:
            runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        finally:
            plt.show = show
        figure = plt.gcf()
        plt.close("all")
    return figure


def save(figure: Any, name: str, folder: Path = PICTURES) -> None:
    """Write a figure for light and for dark pages."""
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    light = "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"
    light = light.replace("#000000", INK)
    dark = light
    for old, new in DARK.items():
        dark = dark.replace(old, new)
    for suffix, text in {"light": light, "dark": dark}.items():
        (folder / f"{name}-{suffix}.svg").write_text(text, encoding="utf-8")


def description(name: str) -> tuple[str, str]:
    """Title and text of an example, from its docstring."""
    source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    title, _, text = (ast.get_docstring(ast.parse(source)) or "").partition("\n\n")
    return title, text


def picture(name: str, title: str) -> str:
    """Markdown of both versions of a picture, of which the page shows one."""
    return "\n".join(
        f"![{title}](pictures/{name}-{mode}.svg#only-{mode}){{ loading=lazy }}"
        for mode in ("light", "dark")
    )


def page() -> str:
    """The page of the gallery: cards first, then every example with its code."""
    cards, sections = [], []
    for chapter, names in CHAPTERS.items():
        sections.append(f"## {chapter}\n")
        for name in names:
            title, text = description(name)
            shown = picture(name, title)
            indented = shown.replace("\n", "\n    ")
            cards.append(f"-   [**{title}**](#{name})\n\n    {indented}\n")
            code = f'``` {{ .python title="examples/{name}.py" }}\n--8<-- "examples/{name}.py"\n```'
            sections.append(f"### {title} {{ #{name} }}\n\n{text}\n\n{shown}\n\n{code}\n")
    grid = '<div class="grid cards gallery" markdown>\n\n' + "\n".join(cards) + "\n</div>\n"
    return "\n".join([INTRODUCTION, grid, *sections])


def main() -> int:
    asked = [name for name in sys.argv[1:] if name != "--check"]
    if "--check" not in sys.argv:
        for name in asked or NAMES:
            save(run(name), name)
            print(f"docs/pictures/{name}-light.svg")
    return write_pages({PAGE: page()})


if __name__ == "__main__":
    sys.exit(main())
