"""The tables of a study in the paper's layout, each with how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from ...rivals._methods import OURS
from ...runs._results import Record
from .._cuts import what_was_cut
from .._paper_figures import FIGURES
from .._result_tables import IMITATES, ResultTable, results_table
from .._results_frame import SCORES, has
from ._html import Html, breakable, tag
from ._parts import badge, notes, scroll
from ._provenance import how_made

DOUBTS = ("log_loss", "calibration_error")
COSTS = ("fit_seconds",)
NAMES = {
    "accuracy": "accuracy",
    "auc": "area under the ROC curve",
    "average_precision": "average precision",
    "r2": "R²",
    "rmse": "root mean squared error",
    "log_loss": "log-loss",
    "calibration_error": "calibration error",
    "fit_seconds": "fit time in seconds",
}


def tables_of(lines: Sequence[Record], runs: pd.DataFrame, study: str) -> Iterator[Html]:
    """The metrics that the paper prints first, open; then all others there are, to be opened."""
    printed = {figure.metric for figure in FIGURES if figure.study == IMITATES.get(study, study)}
    known = [name for name in (*SCORES, *DOUBTS, *COSTS) if has(runs, name)]
    first = [name for name in SCORES if name in printed and name in known]
    first = first or [name for name in SCORES if name in known][:1]
    if not first:
        yield tag("p", "No run of this study was finished; see the failures below.", class_="note")
        return
    table = results_table(runs, study, first, cut=what_was_cut(lines))
    yield result_figure(table, lines, _words(first))
    for group in (SCORES, DOUBTS, COSTS):
        rest = [name for name in group if name in known and name not in first]
        if rest:
            shown = result_figure(results_table(runs, study, rest), lines, _words(rest))
            words = _words(rest)
            yield tag("details", tag("summary", words), shown, class_="more")


def result_figure(table: ResultTable, lines: Sequence[Record], words: str) -> Html:
    """A table with its captions below, and the runs behind it."""
    simulated = "SIMULATED" in table.title
    title = table.title.removesuffix(" (SIMULATED)")
    caption = tag(
        "figcaption",
        tag("strong", f"{title}: {words}"),
        *([Html(" "), badge()] if simulated else []),
        notes(table.captions),
    )
    box = scroll(html_table(table), f"Table of {title}: {words}")
    return tag("figure", box, caption, how_made(lines), class_="results")


def html_table(table: ResultTable) -> Html:
    """The cells: the best in bold, the paper's in another shade, our methods marked.

    >>> made = ResultTable("t", ["method", "Acc."], [["gil", "<1"]], frozenset({(0, 1)}), [])
    >>> html_table(made).split("<tbody>")[1].removesuffix("</tbody></table>")
    '<tr class="ours"><th scope="row">gil</th><td><b>&lt;1</b></td></tr>'
    """
    paper = [name == "paper" for name in table.head]
    head = [
        tag("th", name, scope="col", class_="paper" if paper[at] else None)
        for at, name in enumerate(table.head)
    ]
    rows = []
    for i, row in enumerate(table.rows):
        cells = [
            tag(
                "td",
                tag("b", cell) if (i, j) in table.best else cell,
                class_="paper" if paper[j] else None,
            )
            for j, cell in enumerate(row)
            if j
        ]
        ours = row[0].split(" ")[0] in OURS
        name = tag("th", breakable(row[0]), scope="row")
        rows.append(tag("tr", name, *cells, class_="ours" if ours else None))
    return tag("table", tag("thead", tag("tr", *head)), tag("tbody", *rows), class_="figures")


def _words(metrics: Sequence[str]) -> str:
    words = ", ".join(NAMES.get(name, name) for name in metrics)
    return words[:1].upper() + words[1:]
