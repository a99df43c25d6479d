"""HTML put together so that text can never become markup: a plain str is escaped, Html is not.

>>> tag("p", "1 < 2, ", tag("b", "so"), class_="note")
'<p class="note">1 &lt; 2, <b>so</b></p>'
>>> tag("option", "all", selected=True, data_run=3, title=None)
'<option selected data-run="3">all</option>'
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape as escaped

EMPTY = frozenset({"meta", "input", "img", "link", "br", "wbr"})  # elements without an end tag
# What no HTML page may hold, even escaped; an error message of a run may.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")

Attribute = str | float | bool | None


class Html(str):
    """Markup that is finished."""


def clean(value: object) -> str:
    """As text, without what no page, and no file in UTF-8, may hold."""
    return FORBIDDEN.sub("\ufffd", str(value))


def text(value: object) -> Html:
    """Escaped, unless it is Html.

    >>> text("<script>"), text(Html("<b>"))
    ('&lt;script&gt;', '<b>')
    """
    return value if isinstance(value, Html) else Html(escaped(clean(value)))


def join(parts: Iterable[object]) -> Html:
    """One after another, escaped as in `text`."""
    return Html("".join(text(part) for part in parts))


def tag(name: str, /, *children: object, **attributes: Attribute) -> Html:
    """An element.

    children : Html as it is, everything else as text
    attributes : class_ is class, data_run is data-run; None and False are left out, True has no
        value, numbers have no more digits than a picture needs
    """
    given = "".join(
        f" {_name(key)}" + ("" if value is True else f'="{text(_short(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    end = "" if name in EMPTY else f"{join(children)}</{name}>"
    return Html(f"<{name}{given}>{end}")


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _short(value: Attribute) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def breakable(name: str) -> Html:
    """A long name that may go on in the next line after + and _, and not just anywhere.

    >>> breakable("mean+network")
    'mean+<wbr>network'
    """
    return Html(re.sub("([+_])", r"\1<wbr>", text(name)))


class Ids:
    """Names for the ids of one page, each given once.

    >>> ids = Ids()
    >>> ids.new("table:pima CSV"), ids.new("table pima csv"), ids.new("<>")
    ('table-pima-csv', 'table-pima-csv-2', 'part')
    """

    def __init__(self) -> None:
        self._given: set[str] = set()

    def new(self, name: str) -> str:
        """An id made of the name: small letters, digits and hyphens."""
        base = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-") or "part"
        made, count = base, 1
        while made in self._given:
            count += 1
            made = f"{base}-{count}"
        self._given.add(made)
        return made
