"""All results as one HTML page that needs nothing else: no network, no other file.

    page = report(read_results("results.jsonl"), title="Everything")
    Path("results.html").write_text(page, encoding="utf-8")

This module turns lines into plain data (sections of blocks), `_page_pictures` does so for pictures,
and `templates/` show them. Jinja2 escapes every string. By its own rule (Content-Security-Policy)
the page loads nothing and runs one script, known by its hash.

>>> lines = [{"study": "icu", "method": name, "status": "done", "simulated": True,
...           "scores": {"accuracy": 0.8}} for name in ("gil", "mask_only")]
>>> page = report(lines, title="A < B")
>>> page[:15], "A &lt; B" in page, "SIMULATED" in page
('<!DOCTYPE html>', True, True)
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape
from scipy.stats import t as student

from ...errors import ImputefreeError, counted
from ...metrics import HIGHER_IS_BETTER
from ..rivals._methods import OURS
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
from ._result_lines import SCORES, clean, has_figures, runs_frame, tidy_lines
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
from ._stats import compare, compare_over_studies, mean_ranks

Section = dict[str, Any]  # title, simulated, blocks, sections; `_with_ids` adds an id
ORDER = ("mnist", "ophthalmic-simulated", "icu", "mimic3", "physionet2012")
TABLE = "table:"  # begins the name of a public table
OTHER_METRICS = (("log_loss", "calibration_error"), ("fit_seconds",))
PROVENANCE = (
    *("method", "setting", "parameters", "mask seeds", "split seeds", "seconds"),
    "finished (UTC)",
)
LEVEL = 0.95
SMALL_P = 0.05
HOW_COMPARED = (
    "The rival is the best of all that are not ours, picked by these very figures. Runs are paired "
    "by masks and splits; interval and p are from the corrected resampled t-test, which allows for "
    "shared training rows. With two or three runs, intervals are wide. Better or worse without "
    "further words means p < 0.05, two-sided, not corrected for the number of comparisons."
)
HOW_COMPARED_OVER_TABLES = (
    "p: Wilcoxon's signed-rank test over tables, two-sided, not corrected for the number of "
    "comparisons; the rival is the best of each table."
)


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
    sections.append(_section("Failures", _failures(lines)))
    sections.append(_section("Warnings", _warnings(lines)))
    return _render(clean(title), _with_ids(sections))


def _render(title: str, sections: list[Section]) -> str:
    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else clean(value),
    )
    environment.filters["breakable"] = _breakable
    assert environment.loader is not None
    style, script = (
        Markup(environment.loader.get_source(environment, name)[0])
        for name in ("style.css", "page.js")
    )
    seal = b64encode(sha256(script.encode()).digest()).decode()
    page = environment.get_template("page.html")
    return page.render(title=title, sections=sections, style=style, script=script, seal=seal)


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


def _words(head: list[str], rows: list[list[Any]], about: str, **more: Any) -> Block:
    """A table of words; the first cell names its row."""
    return {"kind": "words", "head": head, "rows": rows, "about": about, **more}


def _overview(lines: list[Record], studies: list[str]) -> Section:
    rows = []
    for study in studies:
        group = _of(lines, study)
        rows.append(
            [
                study,
                {"badge": True} if _is_simulated(study, group) else "real",
                _joined(line["place"] for line in group),
                len({line["method"] for line in group}),
                len(group),
                sum(line["status"] != "done" for line in group),
            ]
        )
    when = _span(str(line["finished"])[:10] for line in lines if line.get("finished"))
    many = "1 study" if len(studies) == 1 else f"{len(studies)} studies"
    text = f"{counted(len(lines), 'run')} of {many}, finished {when}."
    head = ["study", "data", "settings", "methods", "runs", "failed"]
    return _section("Overview", [{"kind": "text", "text": text}, _words(head, rows, "Studies")])


def _joined(names: Iterable[Any]) -> str:
    """Each once, in order, with commas."""
    return ", ".join(dict.fromkeys(map(str, names)))


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
        metrics = ", ".join(METRIC_NAMES.get(name, name) for name in metrics)
    return {
        "kind": "results",
        "table": table,
        "title": table.title.removesuffix(" (SIMULATED)"),
        "simulated": "SIMULATED" in table.title,
        "metrics": metrics[:1].upper() + metrics[1:],
        "ours": [row[0].split(" ")[0] in OURS for row in table.rows],
        "provenance": _provenance(lines),
    }


def _provenance(lines: list[Record]) -> list[Block]:
    """How figures were produced: by command and versions, one row per method and its parameters."""
    commands: dict[str, dict[str, list[Record]]] = {}
    for line in lines:
        shared = json.dumps([line.get("command"), line["versions"]], sort_keys=True, default=str)
        own = [line[key] for key in ("method", "setting", "grid", "chosen")]
        groups = commands.setdefault(shared, {})
        groups.setdefault(json.dumps(own, sort_keys=True, default=str), []).append(line)
    blocks = []
    for groups in commands.values():
        first = next(iter(groups.values()))[0]
        versions = ", ".join(f"{name} {number}" for name, number in first["versions"].items())
        about = {
            "command": str(first.get("command") or "not recorded"),
            "versions": versions or "not recorded",
            "nowrap": 6,
        }
        rows = [_provenance_row(group) for group in groups.values()]
        blocks.append(_words(list(PROVENANCE), rows, "How these runs were produced", **about))
    return blocks


def _provenance_row(group: list[Record]) -> list[str]:
    line = group[0]
    parameters = [f"{key} {value}" for key, value in line["setting"].items()]
    if line["grid"]:
        parameters += [f"{key} of {value}" for key, value in line["grid"].items()]
        parameters += [f"chosen: {key} {value}" for key, value in line["chosen"].items()]
    seconds = [line.get("seconds") for line in group]
    return [
        line["method"],
        _joined(line["place"] for line in group),
        ", ".join(parameters) or "defaults",
        _joined(line["mask_seed"] for line in group),
        _joined(line["split_seed"] for line in group),
        _span(number for number in seconds if isinstance(number, int | float)),
        _span(str(line["finished"])[:16] for line in group if line.get("finished")),
    ]


def _span(values: Iterable[Any]) -> str:
    """The first and the last of sorted values.

    >>> _span([1.2, 30, 4]), _span(["2026-03-01"]), _span([])
    ('1.2 to 30', '2026-03-01', '–')
    """
    ordered = sorted(values)
    ends = [value if isinstance(value, str) else f"{value:.3g}" for value in ordered]
    return " to ".join(dict.fromkeys(ends[:1] + ends[-1:])) or NONE


def _comparison(runs: pd.DataFrame) -> Block | None:
    """Our methods against the best rival, one row per setting and method with two runs or more."""
    metric = _decisive_metric(runs)
    ours = _our_methods(runs)
    if not ours or metric is None:
        return None
    try:
        pairs = compare(runs, metric, ours=ours)
    except ImputefreeError as error:  # such as sizes of the test part that nobody recorded
        return note(f"There is no comparison: {error}")
    rows = [
        [line["setting"], line["method"], *_comparison_cells(line, metric)]
        for line in pairs.to_dict("records")
        if line["method"] in ours and line["against"] is not None and line["pairs"] >= 2
    ]
    unit = "points" if metric in PERCENT else metric.replace("_", " ")
    head = ["setting", "ours", "against the best rival", f"difference, {unit}", "95 % interval"]
    captions = [f"Compared by {METRIC_NAMES.get(metric, metric)}.", HOW_COMPARED]
    about = f"Our methods against the best rival by {metric}"
    head += ["p", "best rival", "pairs"]
    return _words(head, rows, about, captions=captions) if rows else None


def _decisive_metric(runs: pd.DataFrame) -> str | None:
    """What methods of a study are compared by: AUC where its plan has it, else accuracy or R².

    Accuracy says little where nearly all rows have one class, as in physionet2012.
    """
    plan = PLANS.get(runs["study"].iloc[0])
    if plan is not None and "auc" in plan.metrics and has_figures(runs, "auc"):
        return "auc"
    return next((metric for metric in ("accuracy", "r2") if metric in runs), None)


def _our_methods(runs: pd.DataFrame) -> list[str]:
    """Ours with any parameters: "gil [max_iter 3]" is ours too."""
    return [name for name in runs["method"].unique() if str(name).split(" [")[0] in OURS]


def _comparison_cells(line: Mapping[Any, Any], metric: str) -> list[str]:
    difference, t, pairs = line["difference"], line["t"], line["pairs"]
    interval = NONE
    if math.isfinite(t) and t != 0:  # t is the difference over its standard error
        half = abs(float(student.ppf((1 + LEVEL) / 2, pairs - 1)) * difference / t)
        interval = " to ".join(_signed(difference + side * half, metric) for side in (-1, 1))
    return [
        verdict(difference, line["p"], metric),
        _signed(difference, metric),
        interval,
        p_value(line["p"]),
        str(line["against"]),
        str(pairs),
    ]


def verdict(difference: float, p: float, metric: str) -> str:
    """The comparison in words.

    >>> verdict(0.02, 0.01, "accuracy"), verdict(0.02, 0.4, "log_loss"), verdict(0.0, 1.0, "auc")
    ('better', 'worse, may be chance', 'no difference')
    """
    if difference == 0:
        return "no difference"
    word = "better" if (difference > 0) == (metric in HIGHER_IS_BETTER) else "worse"
    if math.isnan(p):
        return f"{word}, by the same in every run"
    return word if p < SMALL_P else f"{word}, may be chance"


def _signed(value: float, metric: str) -> str:
    if math.isnan(value):
        return NONE
    shown = f"{100 * value:+.2f}" if metric in PERCENT else f"{value:+.3g}"
    return shown.replace("-", "−")


def _public_tables(names: list[str], lines: list[Record], runs: pd.DataFrame) -> Section:
    """AUC of tables with classes, R² of those with numbers, ours against the best rivals."""
    section = _section("Public tables", [_notes(lines)])
    for metric in ("auc", "r2"):
        if has_figures(runs, metric):
            # A table belongs to the metric that any of its runs has: failed ones have none.
            part = runs[runs.groupby("study")[metric].transform("count") > 0]
            section["blocks"].append(_results(_joint_table(part, metric), lines, [metric]))
            if (comparison := _over_tables(part, metric)) is not None:
                section["blocks"].append(comparison)
    for name in names:
        for title, make in (("Training curves", training_curves), ("Importance", importance_maps)):
            if (block := make(_of(lines, name))) is not None:
                words = f"{title}: {name.removeprefix(TABLE)}"
                section["sections"].append(_section(words, [block]))
    return section


def _joint_table(runs: pd.DataFrame, metric: str) -> ResultTable:
    """Methods as rows, tables as columns, and mean ranks of those that finished every table."""
    settings = runs["setting"].map(lambda name: "" if name == "natural" else f", {name}")
    places = runs["study"].str.removeprefix(TABLE) + settings
    methods = list(method_styles(list(runs["method"].unique())))
    joint = runs.assign(study="Public tables", setting=places)
    table = results_table(joint, "Public tables", [metric], methods=methods)
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


def _over_tables(runs: pd.DataFrame, metric: str) -> Block | None:
    """Our methods over several tables; None where there are fewer than two."""
    ours = _our_methods(runs)
    if not ours or runs["study"].nunique() < 2:
        return None
    try:
        tests = compare_over_studies(runs, metric, ours=ours)
    except ImputefreeError as error:
        return note(f"There is no comparison: {error}")
    rows = [
        [
            line["method"],
            f"{line['better']} better, {line['equal']} equal, {line['worse']} worse",
            _signed(line["difference"], metric),
            p_value(line["p"]),
        ]
        for line in tests.to_dict("records")
        if line["method"] in ours and line["studies"] >= 2
    ]
    head = ["ours", "tables, against the best rival of each", "mean difference, points", "p"]
    about = f"Our methods over all tables by {metric}"
    return _words(head, rows, about, captions=[HOW_COMPARED_OVER_TABLES]) if rows else None


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


def _failures(lines: list[Record]) -> list[Block]:
    """One row per method and reason; the same reason at several seeds counts once."""
    groups: dict[tuple[str, ...], int] = {}
    for line in lines:
        if line["status"] != "done":
            why = str(line.get("error") or "it left no message")
            key = (line["method"], why, line["study"], line["place"])
            groups[key] = groups.get(key, 0) + 1
    if not groups:
        return [{"kind": "text", "text": "No run failed."}]
    text = f"{counted(sum(groups.values()), 'run')} failed. Tables count them and show no figures."
    rows = [[*key, counted(number, "run")] for key, number in groups.items()]
    head = ["method", "why", "study", "setting", "runs"]
    return [{"kind": "text", "text": text}, _words(head, rows, "Runs that failed")]


def _warnings(lines: list[Record]) -> list[Block]:
    """One row per warning: which methods gave it, and in how many runs."""
    groups: dict[str, list[Record]] = {}
    for line in lines:
        for text in line["warnings"]:
            groups.setdefault(text, []).append(line)
    if not groups:
        return [{"kind": "text", "text": "No run gave a warning."}]
    rows = [
        [text, *(_joined(line[key] for line in group) for key in ("method", "study")), len(group)]
        for text, group in groups.items()
    ]
    return [_words(["warning", "methods", "studies", "runs"], rows, "Warnings")]
