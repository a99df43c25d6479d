"""All results as one HTML page that needs nothing else: no network, no other file.

    page = report(read_results("results.jsonl"), title="Everything")
    Path("results.html").write_text(page, encoding="utf-8")

This module turns lines into plain data (sections of blocks), `_page_pictures` does so for pictures,
and `templates/` show them. Jinja2 escapes every string. By its own rule (Content-Security-Policy)
the page loads nothing and runs nothing.

>>> lines = [{"study": "icu", "method": name, "status": "done", "simulated": True,
...           "scores": {"accuracy": 0.8}} for name in ("gil", "mask_only")]
>>> page = report(lines, title="A < B")
>>> page[:15], "A &lt; B" in page, "SIMULATED" in page
('<!DOCTYPE html>', True, True)
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape
from scipy.stats import t as student

from ...errors import ImputefreeError
from ...metrics import HIGHER_IS_BETTER
from ..rivals import OURS
from ..runs import PLANS, Record
from ._page_pictures import (
    Block,
    feature_maps,
    importance_maps,
    imputed_digits,
    method_styles,
    note,
    rate_charts,
    training_curves,
)
from ._paper_figures import FIGURES
from ._result_lines import SCORES, as_json, clean, has_figures, runs_frame, tidy_lines
from ._result_tables import (
    IMITATES,
    METRIC_NAMES,
    NONE,
    PERCENT,
    ResultTable,
    correlation_table,
    p_value,
    results_table,
    what_was_cut,
)
from ._stats import LEVEL, compare, compare_over_studies, mean_ranks

Section = dict[str, Any]  # title, simulated, blocks, sections; `_with_ids` adds an id
ORDER = ("mnist", "ophthalmic-simulated", "icu", "mimic3", "physionet2012")
TABLE, TABLES = "table:", "Tables"  # begins the name of one; their section
OTHER_METRICS = (("log_loss", "calibration_error"), ("fit_seconds",))


def report(records: Iterable[Mapping[str, Any]], *, title: str = "imputefree: results") -> str:
    """The page as a string.

    records : lines of one or several files, from `read_results`; "pictures", where a line has it,
        holds curves, importance, digits and features

    Studies come in the paper's order, then others, then all tables (`table:NAME`) together. The
    last line of each run counts.
    """
    lines = tidy_lines(records)
    runs = runs_frame(lines)
    studies = list(dict.fromkeys(line["study"] for line in lines))
    tables = [name for name in studies if name.startswith(TABLE)]
    single = [name for name in ORDER if name in studies]
    single += [name for name in studies if name not in (*ORDER, *tables)]
    sections = [_overview(lines, [*single, *tables])]
    sections += [_study(name, _of(lines, name), runs[runs["study"] == name]) for name in single]
    if tables:
        chosen = [line for line in lines if line["study"] in tables]
        sections.append(_public_tables(tables, chosen, runs[runs["study"].isin(tables)]))
    sections += _imputation(lines, runs)
    # The same reason at several seeds counts once.
    failures = Counter(
        (
            line["method"],
            str(line.get("error") or "it left no message"),
            line["study"],
            line["place"],
        )
        for line in lines
        if line["status"] != "done"
    )
    warnings: dict[str, list[Record]] = defaultdict(list)
    for line in lines:
        for text in line["warnings"]:
            warnings[text].append(line)
    for heading, groups in (("Failures", failures), ("Warnings", warnings)):
        if groups:
            sections.append(_section(heading, [{"kind": heading.lower(), "groups": groups}]))
    return _render(clean(title), _with_ids(sections))


def _render(title: str, sections: list[Section]) -> str:
    loader = PackageLoader(__package__)
    environment = Environment(
        loader=loader,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else clean(value),
    )
    filters = {"breakable": _breakable, "joined": _joined, "span": _span, "p_value": p_value}
    environment.filters |= filters | {"signed": _signed, "metric_name": _metric_name}
    style = Markup(loader.get_source(environment, "style.css")[0])
    page = environment.get_template("page.html")
    return page.render(title=title, sections=sections, style=style)


def _breakable(name: str) -> Markup:
    """A long name that may be broken after + and _ only."""
    return Markup(re.sub("([+_])", r"\1<wbr>", str(escape(clean(name)))))


def _section(title: str, blocks: Iterable[Block | None], simulated: bool = False) -> Section:
    shown = [block for block in blocks if block is not None]
    return {"title": title, "simulated": simulated, "blocks": shown, "sections": []}


def _with_ids(sections: list[Section]) -> list[Section]:
    """Each section with an id of its own: small letters, digits and hyphens."""
    ids: set[str] = set()

    def name(section: Section, parent: str = "") -> None:
        words = f"{parent} {section['title']}".lower()
        slug = re.sub("[^a-z0-9]+", "-", words).strip("-") or "part"
        numbered = (f"{slug}-{number}" if number > 1 else slug for number in range(1, 10**6))
        section["id"] = next(candidate for candidate in numbered if candidate not in ids)
        ids.add(section["id"])
        for part in section["sections"]:
            name(part, section["id"])

    for section in sections:
        name(section)
    return sections


def _of(lines: Sequence[Record], study: str) -> list[Record]:
    return [line for line in lines if line["study"] == study]


def _is_simulated(study: str, lines: Sequence[Record]) -> bool:
    return study in IMITATES or any(line.get("simulated") is True for line in lines)


def _overview(lines: list[Record], studies: list[str]) -> Section:
    groups = {study: _of(lines, study) for study in studies}
    simulated = [study for study, group in groups.items() if _is_simulated(study, group)]
    block = {"kind": "overview", "lines": lines, "studies": groups, "simulated": simulated}
    return _section("Overview", [block])


def _joined(lines: Iterable[Record], key: str) -> str:
    """What lines have under a key, each once, in order, with commas."""
    return ", ".join(dict.fromkeys(str(line[key]) for line in lines))


def _notes(lines: list[Record]) -> Block | None:
    """What a reader has to know about the data, each sentence once."""
    items = list(dict.fromkeys(note for line in lines for note in line["notes"]))
    return {"kind": "notes", "items": items} if items else None


def _study(study: str, lines: list[Record], runs: pd.DataFrame) -> Section:
    simulated = _is_simulated(study, lines)
    section = _section(study, [_notes(lines)], simulated)
    parts: dict[str, Iterable[Block | None]] = {
        "Results": _tables(study, lines, runs),
        "Ours against the best rival": [_comparison(runs)],
        "By missing rate": [rate_charts(runs, study)],
        "Training curves": [training_curves(lines)],
        "Importance": [importance_maps(lines)],
        "Imputed digits": [imputed_digits(lines)],
        "Features in the plane": [feature_maps(lines)],
    }
    inner = [_section(title, blocks, simulated) for title, blocks in parts.items()]
    section["sections"] = [part for part in inner if part["blocks"]]
    return section


def _tables(study: str, lines: list[Record], runs: pd.DataFrame) -> Iterator[Block]:
    """The metrics that the paper prints first, then all others there are, folded."""
    printed = {figure.metric for figure in FIGURES if figure.study == IMITATES.get(study, study)}
    known = [name for name in SCORES if has_figures(runs, name)]
    first = [name for name in known if name in printed] or known[:1]
    if not first:
        yield note("No run of this study was finished; see the failures below.")
        return
    yield _results(results_table(runs, study, first, cut=what_was_cut(lines)), lines, first)
    for group in (SCORES, *OTHER_METRICS):
        rest = [name for name in group if has_figures(runs, name) and name not in first]
        if rest:
            yield _results(results_table(runs, study, rest), lines, rest) | {"folded": True}


def _results(table: ResultTable, lines: list[Record], metrics: Sequence[str] | str) -> Block:
    """A table of results with its captions, and how its figures were produced."""
    if not isinstance(metrics, str):
        metrics = ", ".join(map(_metric_name, metrics))
    return {
        "kind": "results",
        "table": table,
        "title": table.title.removesuffix(" (SIMULATED)"),
        "simulated": "SIMULATED" in table.title,
        "metrics": metrics[:1].upper() + metrics[1:],
        "ours": [row[0].split(" ")[0] in OURS for row in table.rows],
        "provenance": _provenance(lines),
    }


def _metric_name(metric: str) -> str:
    return METRIC_NAMES.get(metric, metric)


def _provenance(lines: list[Record]) -> list[list[list[Record]]]:
    """Lines by command and versions, and these by method and parameters."""
    commands: dict[str, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        settings = [line[key] for key in ("method", "setting", "grid", "chosen")]
        commands[as_json([line.get("command"), line["versions"]])][as_json(settings)].append(line)
    return [list(groups.values()) for groups in commands.values()]


def _span(lines: Iterable[Record], key: str, length: int = 0) -> str:
    """The smallest and the largest number under a key; or of strings, cut to a length.

    >>> lines = [{"seconds": s, "finished": "2026-03-01T08:30"} for s in (1.2, 30, None)]
    >>> _span(lines, "seconds"), _span(lines, "finished", 10), _span([], "seconds")
    ('1.2 to 30', '2026-03-01', '–')
    """
    values = [line[key] for line in lines if line.get(key) is not None]
    if length:
        ends = sorted(str(value)[:length] for value in values if value)
    else:
        ends = [f"{v:.3g}" for v in sorted(v for v in values if isinstance(v, int | float))]
    return " to ".join(dict.fromkeys(ends[:1] + ends[-1:])) or NONE


def _comparison(runs: pd.DataFrame) -> Block | None:
    """Our methods against the best rival, one row per setting and method with two runs or more."""
    metric = _decisive_metric(runs)
    if metric is None or (block := _our_tests(compare, runs, metric, "pairs")) is None:
        return None
    for line in block.get("rows", []):
        if math.isfinite(line["t"]) and line["t"] != 0:  # the difference over its standard error
            quantile = float(student.ppf((1 + LEVEL) / 2, line["pairs"] - 1))
            half = abs(quantile * line["difference"] / line["t"])
            line["interval"] = (line["difference"] - half, line["difference"] + half)
    return block


def _our_tests(test: Any, runs: pd.DataFrame, metric: str, unit: str) -> Block | None:
    """How our methods did in a test against the best rival, where it has two units or more."""
    # With any parameters: "gil [max_iter 3]" is ours too.
    ours = [name for name in runs["method"].unique() if str(name).split(" [")[0] in OURS]
    if not ours:
        return None
    try:
        lines = test(runs, metric, ours=ours)
    except ImputefreeError as error:  # such as sizes of the test part that nobody recorded
        return note(f"There is no comparison: {error}")
    if lines.empty:
        return None
    shown = lines["method"].isin(ours) & lines["against"].notna() & (lines[unit] >= 2)
    rows = lines[shown].to_dict("records")
    facts = {"metric": metric, "points": metric in PERCENT, "higher": metric in HIGHER_IS_BETTER}
    return {"kind": unit, "rows": rows, **facts} if rows else None


def _decisive_metric(runs: pd.DataFrame) -> str | None:
    """What methods of a study are compared by: AUC where its plan has it, else accuracy or R².

    Accuracy says little where nearly all rows have one class, as in physionet2012.
    """
    plan = PLANS.get(runs["study"].iloc[0])
    if plan is not None and "auc" in plan.metrics and has_figures(runs, "auc"):
        return "auc"
    return next((metric for metric in ("accuracy", "r2") if metric in runs), None)


def _signed(value: float, points: bool) -> str:
    shown = f"{100 * value:+.2f}" if points else f"{value:+.3g}"
    return NONE if math.isnan(value) else shown.replace("-", "−")


def _public_tables(names: list[str], lines: list[Record], runs: pd.DataFrame) -> Section:
    """AUC of tables with classes, R² of those with numbers, ours against the best rivals."""
    section = _section(TABLES, [_notes(lines)])
    for metric in ("auc", "r2"):
        if has_figures(runs, metric):
            # A table belongs to the metric that any of its runs has: failed ones have none.
            part = runs[runs.groupby("study")[metric].transform("count") > 0]
            table = _results(_joint_table(part, metric), lines, [metric])
            tests = _our_tests(compare_over_studies, part, metric, "studies")
            section["blocks"] += [table] if tests is None else [table, tests]
    for name in names:
        for title, make in (("Training curves", training_curves), ("Importance", importance_maps)):
            if (block := make(_of(lines, name))) is not None:
                words = f"{title}: {_short(name, names)}"
                section["sections"].append(_section(words, [block]))
    return section


def _short(study: str, studies: Iterable[str]) -> str:
    """The name of a table; of a file without its folder, unless that leaves two of the same name.

    >>> _short("table:in/a.csv", ["table:in/a.csv", "table:b"]), _short("table:b", ["table:b"])
    ('a.csv', 'b')
    """
    names = [PurePath(other.removeprefix(TABLE)).name for other in studies]
    name = PurePath(study.removeprefix(TABLE)).name
    return name if names.count(name) == 1 else study.removeprefix(TABLE)


def _joint_table(runs: pd.DataFrame, metric: str) -> ResultTable:
    """Methods as rows, tables as columns, and mean ranks of those that finished every table."""
    settings = runs["setting"].map(lambda name: "" if name == "natural" else f", {name}")
    studies = runs["study"].unique()
    places = runs["study"].map({name: _short(name, studies) for name in studies}) + settings
    methods = list(method_styles(list(runs["method"].unique())))
    joint = runs.assign(study=TABLES, setting=places)
    table = results_table(joint, TABLES, [metric], methods=methods)
    head = [name.rpartition(" ")[0] or name for name in table.head]  # all of one metric
    done = runs[runs[metric].notna()].assign(place=places).groupby("method")["place"].nunique()
    finished = [name for name in methods if done.get(name) == places.nunique()]
    try:
        ranks = mean_ranks(runs, metric, finished).set_index("method")["mean_rank"]
    except ImputefreeError as error:
        return replace(table, head=head, captions=[*table.captions, f"There are no ranks: {error}"])
    about = f"Mean rank: 1 is the best of the {len(finished)} methods that finished every table."
    cells = [f"{ranks[name]:.2f}" if name in ranks else NONE for name in methods]
    best = {(row, len(head)) for row, name in enumerate(methods) if ranks.get(name) == ranks.min()}
    return replace(
        table,
        head=[*head, "mean rank"],
        rows=[[*row, cell] for row, cell in zip(table.rows, cells, strict=True)],
        best=table.best | best,
        captions=[*table.captions, about],
    )


def _imputation(lines: list[Record], runs: pd.DataFrame) -> Iterator[Section]:
    """The paper's Table 4, over all studies whose truth is known."""
    if not {"imputation_error", "accuracy"} <= set(runs):
        return
    known = runs[["imputation_error", "accuracy"]].notna().all(axis=1)
    if known.any():
        table = correlation_table(runs[known], error="imputation_error")
        imputed = [line for line in lines if line["scores"].get("imputation_mse") is not None]
        words = "does a smaller imputation error go with a better score?"
        yield _section("Imputation error and accuracy", [_results(table, imputed, words)])
