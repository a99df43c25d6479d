"""All results as one page of HTML that needs nothing else: no network, no other file.

    page = report(read_results("results.jsonl"), title="Everything")
    Path("results.html").write_text(page, encoding="utf-8")

>>> lines = [{"study": "icu", "method": name, "status": "done", "simulated": True,
...           "scores": {"accuracy": 0.8}} for name in ("gil", "mask_only")]
>>> page = report(lines, title="A < B")
>>> page[:15], "A &lt; B" in page, "SIMULATED" in page
('<!DOCTYPE html>', True, True)
>>> report([])
Traceback (most recent call last):
imputefree.errors.ParameterError: there are no results to report. A page needs at least one run. \
Run the bench first, or name a file that holds results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from ...errors import counted
from ..runs._results import Record
from ._result_tables import IMITATES, correlation_table
from ._results_frame import frame_of
from .page._comparison import compared
from .page._curves import training_curves
from .page._digits import imputed_digits
from .page._failures import failures, warned
from .page._feature_maps import feature_maps
from .page._html import Html, Ids, tag
from .page._importance_maps import importance_maps
from .page._many_tables import PREFIX, tables_together
from .page._page import page
from .page._page_lines import even
from .page._page_tables import result_figure, tables_of
from .page._parts import Section, badge, listed, plain_table
from .page._rates import ordered, rate_charts

ORDER = ("mnist", "ophthalmic-simulated", "icu", "mimic3", "physionet2012")


def report(records: Iterable[Mapping[str, Any]], *, title: str = "imputefree: results") -> str:
    """The page as text.

    records : lines of one or several files, as `results.read_results` gives them; the key
        "pictures", where a line has it, holds curves, importance, digits and features
    title : of the page

    Studies come in the paper's order, then others, then all tables (`table:NAME`) together. Of a
    run that is there twice the last line counts.
    """
    lines = even(records)
    runs = frame_of(lines)
    ids = Ids()
    studies = list(dict.fromkeys(line["study"] for line in lines))
    tables = [name for name in studies if name.startswith(PREFIX)]
    alone = [name for name in ORDER if name in studies]
    alone += [name for name in studies if name not in (*ORDER, *tables)]
    sections = [_overview(lines, [*alone, *tables], ids)]
    sections += [_study(name, lines, runs, ids) for name in alone]
    if tables:
        sections.append(_tables(tables, lines, runs, ids))
    if (imputation := _imputation(lines, runs, ids)) is not None:
        sections.append(imputation)
    sections.append(Section("Failures", ids.new("failures"), failures(lines)))
    sections.append(Section("Warnings", ids.new("warnings"), warned(lines)))
    return page(title, sections)


def _overview(lines: list[Record], studies: list[str], ids: Ids) -> Section:
    rows = []
    for name in studies:
        own = [line for line in lines if line["study"] == name]
        lost = sum(line["status"] != "done" for line in own)
        places = ", ".join(dict.fromkeys(line["place"] for line in own))
        kind = badge() if is_simulated(name, own) else "real"
        methods = len({line["method"] for line in own})
        rows.append([name, kind, places, str(methods), str(len(own)), str(lost)])
    head = ["study", "data", "settings", "methods", "runs", "failed"]
    finished = sorted(str(line["finished"])[:10] for line in lines if line.get("finished"))
    when = (
        " to ".join(dict.fromkeys([finished[0], finished[-1]])) if finished else "on no known day"
    )
    many = "1 study" if len(studies) == 1 else f"{len(studies)} studies"
    words = tag("p", f"{counted(len(lines), 'run')} of {many}, finished {when}.")
    return Section("Overview", ids.new("overview"), [words, plain_table(head, rows, "Studies")])


def _study(name: str, lines: list[Record], runs: pd.DataFrame, ids: Ids) -> Section:
    own = [line for line in lines if line["study"] == name]
    frame = runs[runs["study"] == name]
    key = ids.new(name)
    section = Section(name, key, simulated=is_simulated(name, own))
    section.parts += _notes(own)
    metric = next((one for one in ("accuracy", "r2") if one in frame), None)
    parts: list[tuple[str, list[Html | None]]] = [
        ("Results", [*tables_of(own, frame, name)]),
        ("Ours against the best rival", [compared(frame, metric) if metric else None]),
        ("By missing rate", [rate_charts(frame, ordered(list(frame["method"].unique())), name)]),
        ("Training curves", [training_curves(own, ids)]),
        ("Importance", [importance_maps(own, ids)]),
        ("Imputed digits", [imputed_digits(own, ids)]),
        ("Features in the plane", [feature_maps(own, ids)]),
    ]
    for title, made in parts:
        shown = [one for one in made if one is not None]
        if shown:
            section.inside.append(
                Section(title, ids.new(f"{key} {title}"), shown, simulated=section.simulated)
            )
    return section


def _tables(names: list[str], lines: list[Record], runs: pd.DataFrame, ids: Ids) -> Section:
    own = [line for line in lines if line["study"] in names]
    section = Section("Public tables", ids.new("public tables"))
    section.parts += _notes(own)
    section.parts += tables_together(own, runs[runs["study"].isin(names)])
    pictures = [
        ("Training curves", training_curves),
        ("Importance", importance_maps),
    ]
    for name in names:
        part = [line for line in own if line["study"] == name]
        for title, make in pictures:
            if (made := make(part, ids)) is not None:
                words = f"{title}: {name.removeprefix(PREFIX)}"
                section.inside.append(Section(words, ids.new(words), [made]))
    return section


def _imputation(lines: list[Record], runs: pd.DataFrame, ids: Ids) -> Section | None:
    """The paper's Table 4, over all studies whose truth is known."""
    if not {"imputation_error", "accuracy"} <= set(runs):
        return None
    has = runs[["imputation_error", "accuracy"]].notna().all(axis=1)
    if not has.any():
        return None
    table = correlation_table(runs[has], error="imputation_error")
    own = [line for line in lines if line["scores"].get("imputation_mse") is not None]
    words = "does a smaller error of imputation go with a better score?"
    section = Section("Imputation error and accuracy", ids.new("imputation"))
    section.parts.append(result_figure(table, own, words))
    return section


def _notes(lines: list[Record]) -> list[Html]:
    """What a reader has to know of the data, each sentence once."""
    told = list(dict.fromkeys(note for line in lines for note in line["notes"]))
    return [listed(told, "notes")] if told else []


def is_simulated(study: str, lines: list[Record]) -> bool:
    """What a run says, or what the study is known to be."""
    return study in IMITATES or any(line.get("simulated") is True for line in lines)
