"""What every section of the page is made of: boxes for tables, choices, marks, sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ._html import Html, Ids, join, tag

LONG = 34  # letters of a cell that fit into one line
# What an odd picture may raise; the last two where it claims an absurd size.
ODD = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, MemoryError)


@dataclass
class Section:
    """A part of the page with a heading, which the contents list.

    key : its id
    parts : Html below the heading
    inside : sections one level down
    """

    title: str
    key: str
    parts: list[Html] = field(default_factory=list)
    inside: list[Section] = field(default_factory=list)
    simulated: bool = False

    def html(self, level: int = 2) -> Html:
        """The section; `level` 2 is that of a study."""
        heading = tag(
            f"h{level}", self.title, *([Html(" "), badge()] if self.simulated else []), tabindex=-1
        )
        inner = [one.html(level + 1) for one in self.inside]
        return tag("section", heading, *self.parts, *inner, id=self.key, class_=f"level{level}")

    def contents(self) -> Html:
        """Its line in the contents, with those inside."""
        mark = [Html(" "), badge()] if self.simulated else []
        line = tag("a", self.title, href=f"#{self.key}")
        inner = [tag("ul", *(one.contents() for one in self.inside))] if self.inside else []
        return tag("li", line, *mark, *inner)


def badge() -> Html:
    """The mark of made-up data."""
    return tag("span", "SIMULATED", class_="badge")


def scroll(table: Html, about: str) -> Html:
    """A box of its own for what is wide: it scrolls, by keys too, and the page does not."""
    return tag("div", table, class_="scroll", role="region", aria_label=about, tabindex=0)


def plain_table(
    head: Sequence[object], rows: Sequence[Sequence[object]], about: str, class_: str = "words"
) -> Html:
    """Words and figures in rows; the first cell of a row names it. Only long cells are folded."""
    top = tag("tr", *(tag("th", name, scope="col") for name in head))
    lines = [
        tag(
            "tr",
            tag("th", row[0], scope="row", class_=_fold(row[0])),
            *(tag("td", cell, class_=_fold(cell)) for cell in row[1:]),
        )
        for row in rows
    ]
    table = tag("table", tag("thead", top), tag("tbody", *lines), class_=class_)
    return scroll(table, about)


def _fold(cell: object) -> str | None:
    return "long" if not isinstance(cell, Html) and len(str(cell)) > LONG else None


def choice(ids: Ids, label: str, panels: Sequence[tuple[str, Html]]) -> Html:
    """One of several panels at a time, by a list to choose from; a single one needs no list.

    Without JavaScript all are shown, one below the other.
    """
    if len(panels) == 1:
        name, panel = panels[0]
        return tag("div", tag("p", name, class_="panel-name"), panel, class_="choice")
    key = ids.new(f"choose {label}")
    options = [tag("option", name, value=at) for at, (name, _) in enumerate(panels)]
    select = tag("select", *options, id=key, data_choose=True)
    shown = [
        tag("div", tag("p", name, class_="panel-name"), panel, data_panel=at)
        for at, (name, panel) in enumerate(panels)
    ]
    head = tag("p", tag("label", f"{label}: ", for_=key), select, class_="chooser")
    return tag("div", head, *shown, class_="choice")


def legend(title: str, entries: Sequence[tuple[str, Html]], off: Sequence[str] = ()) -> Html:
    """Ticks that show and hide what bears their name as data-series, in the same figure.

    off : names that begin hidden
    """
    boxes = [
        tag(
            "label",
            tag("input", type="checkbox", checked=name not in off, value=name, autocomplete="off"),
            mark,
            tag("span", name),
        )
        for name, mark in entries
    ]
    buttons = [
        tag("button", word, type="button", data_all=value)
        for word, value in (("all", "on"), ("none", "off"))
    ]
    head = tag("legend", title)
    return tag("fieldset", head, *boxes, tag("span", *buttons, class_="all"), class_="legend")


def drawn(what: str, make: Callable[[], Html]) -> Html:
    """What `make` draws, or a sentence: one odd picture in a file must not cost the page."""
    try:
        return make()
    except ODD as error:
        return tag("p", f"{what} cannot be drawn from this file ({error!r}).", class_="note")


def listed(items: Sequence[object], class_: str | None = None) -> Html:
    """A list with a point each."""
    return tag("ul", *(tag("li", item) for item in items), class_=class_)


def notes(lines: Sequence[object]) -> Html:
    """Sentences below a table or a picture."""
    return join(tag("p", line, class_="caption") for line in lines)
