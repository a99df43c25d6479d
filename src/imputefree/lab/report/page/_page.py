"""The frame around all sections: head, contents, style and script, in one file.

The page may load nothing, by its own rule (Content-Security-Policy), and run one script, known by
its hash: should a text ever escape the escaping, it could neither run nor phone home.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

from ._html import Html, join, tag
from ._parts import Section


def page(title: str, sections: Sequence[Section]) -> str:
    """The whole page."""
    style, script = (_part(name) for name in ("style.css", "page.js"))
    seal = b64encode(sha256(script.encode()).digest()).decode()
    rule = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{seal}'; base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=rule),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("link", rel="icon", href="data:,"),
        tag("title", title),
        tag("style", Html(style)),
    )
    skip = tag("a", "Skip to the results", href="#main", class_="skip")
    theme = tag("button", "Dark", type="button", id="theme", aria_pressed="false")
    top = tag("header", tag("h1", title), theme)
    contents = tag("ul", *(section.contents() for section in sections))
    nav = tag("nav", tag("h2", "Contents"), contents, aria_label="Contents", id="contents")
    main = tag("main", *(section.html() for section in sections), id="main", tabindex=-1)
    foot = tag("footer", tag("p", "Made by imputefree; every figure with how it was made."))
    body = tag("body", skip, top, tag("div", nav, main, class_="columns"), foot)
    ending = tag("script", Html(script))
    whole = join([head, Html("\n"), Html(body.removesuffix("</body>")), ending, Html("</body>")])
    return "<!DOCTYPE html>\n" + tag("html", whole, lang="en") + "\n"


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
