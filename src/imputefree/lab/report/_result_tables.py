"""Results in the paper's layout, with its figures next to ours, for a terminal and as Markdown.

Methods are rows, settings columns; each setting has our figure, then the paper's, if it prints one,
and where data are the same ours minus the paper's.
Captions say what our runs have less of, where the figures come from, and SIMULATED where data are.

>>> runs = pd.DataFrame({
...     "study": "mnist", "setting": "mar", "split": 0, "mask_seed": [0, 1, 0],
...     "method": ["gil", "gil", "mask_only"], "accuracy": [0.93, 0.94, 0.5],
... })
>>> lines = results_table(runs, "mnist", methods=["gil", "mask_only"]).markdown().splitlines()
>>> print(*lines[2:6], sep="\\n")
| method | mar Acc. | paper | ours - paper |
|:--|--:|--:|--:|
| gil | **93.50 ± 0.71** | 93.23 ± 0.03 | +0.27 |
| mask_only | 50.00 | – | – |
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from rich.markup import escape
from rich.table import Table

from ...errors import InputError, shorten
from ...metrics import HIGHER_IS_BETTER
from ..runs import PLANS
from ..studies import takes
from ._paper_figures import NOTES, PRINTED_NAMES, Figure, find
from ._result_lines import check_methods, checked_runs
from ._stats import imputation_correlation, summary

# Simulated cohorts, and the studies of the paper that they imitate.
IMITATES = {"icu": "mimic3", "ophthalmic-simulated": "ophthalmic"}
SHORT = {"accuracy": "Acc.", "auc": "AUC", "average_precision": "AP"}  # as the paper has them
PERCENT = frozenset(SHORT)
METRIC_NAMES = {
    "accuracy": "accuracy",
    "auc": "area under the ROC curve",
    "average_precision": "average precision",
    "r2": "R²",
    "rmse": "root mean squared error",
    "log_loss": "log-loss",
    "calibration_error": "calibration error",
    "fit_seconds": "fit time in seconds",
}
NONE, MINUS = "–", "ours - paper"
SIMULATED = (
    "SIMULATED: none of our values was ever measured on anybody. The paper's figures are of real "
    "data, so the two do not compare."
)
GIL_H = "A gap is 0 in scaled units, so it teaches nothing either way: gil-h is network here."
RAW_ZERO = "zero+network fills 0 in the data's own units, which may be far from any value seen."


@dataclass(frozen=True)
class ResultTable:
    """Strings in rows and columns.

    head : (columns,) the first column names the row
    rows : each (columns,)
    best : (row, column) of what is set in bold
    captions : sentences below
    """

    title: str
    head: list[str]
    rows: list[list[str]]
    best: frozenset[tuple[int, int]]
    captions: list[str]

    @property
    def shown(self) -> list[list[str]]:
        """The rows, with blanks for what was not run or printed."""
        return [["" if cell == NONE else cell for cell in row] for row in self.rows]

    def rich(self) -> Table:
        """For a terminal."""
        table = Table(
            title=escape(self.title),
            caption=escape("\n".join(self.captions)),
            caption_justify="left",
        )
        for at, name in enumerate(self.head):
            style = "dim" if name in ("paper", MINUS) else None
            table.add_column(escape(name), justify="right" if at else "left", style=style)
        for i, row in enumerate(self.shown):
            cells = [escape(cell) for cell in row]
            table.add_row(
                *(f"[bold]{c}[/bold]" if (i, j) in self.best else c for j, c in enumerate(cells))
            )
        return table

    def markdown(self) -> str:
        """For a README; the title is a line in bold, the captions a list below."""
        rows = [
            [f"**{_plain(c)}**" if (i, j) in self.best else _plain(c) for j, c in enumerate(row)]
            for i, row in enumerate(self.rows)
        ]
        head = [_plain(name) for name in self.head]
        text = [f"| {' | '.join(line)} |" for line in (head, *rows)]
        text.insert(1, "|:--|" + "--:|" * (len(self.head) - 1))
        captions = [f"- {_plain(caption)}" for caption in self.captions]
        return "\n".join([f"**{_plain(self.title)}**", "", *text, "", *captions]) + "\n"


def results_table(
    runs: pd.DataFrame,
    study: str,
    metrics: Sequence[str] = ("accuracy",),
    *,
    methods: Sequence[str] | None = None,
    cut: Sequence[str] = (),
) -> ResultTable:
    """The table of one study.

    Parameters
    ----------
    runs : as in `_stats`; may hold other studies too
    methods : those to show, in this order. None: all that were run, those of the paper first and
        in its order
    cut : what our runs have less of than the paper's, one sentence each; see `what_was_cut`

    A single run has no ±; a method that failed says so. What was not run or not printed is `–` in
    Markdown and blank elsewhere.
    """
    table = checked_runs(runs, *metrics)
    if study not in set(table["study"]):
        have = f"The runs have {shorten(list(table['study'].unique()), limit=20)}"
        raise InputError(f"there are no runs of the study {study!r}", have, "Pass one of these")
    table = table[table["study"] == study]
    check_methods(table, [name for name in methods or [] if name not in PRINTED_NAMES])
    ours = {
        (line["setting"], metric, line["method"]): line
        for metric in metrics
        for line in summary(table, metric).to_dict("records")
    }
    shown = [(setting, metric) for setting in table["setting"].unique() for metric in metrics]
    if methods is None:
        known = set(table["method"])
        methods = [name for name in PRINTED_NAMES if name in known]
        methods += [name for name in table["method"].unique() if name not in methods]
    paper = {
        (setting, metric, name): figure
        for setting, metric in shown
        for name in methods
        if (figure := find(IMITATES.get(study, study), name, _printed(setting), metric)) is not None
    }
    simulated = study in _simulated(runs)
    columns: list[tuple[str, list[str]]] = [("method", [_name(name) for name in methods])]
    best = set()
    for setting, metric in shown:
        lines = [ours.get((setting, metric, name)) for name in methods]
        best |= {(row, len(columns)) for row in _best(lines, metric)}
        columns.append((f"{setting} {_short(metric)}", [_ours(line, metric) for line in lines]))
        figures = [paper.get((setting, metric, name)) for name in methods]
        if any(figures):
            cells = [NONE if f is None else _mean_sd(f.mean, f.sd, metric) for f in figures]
            columns.append(("paper", cells))
            if not simulated:
                pairs = zip(lines, figures, strict=True)
                differences = [_minus(line, figure, metric) for line, figure in pairs]
                columns += [(MINUS, differences)] if set(differences) != {NONE} else []
    counts = [line["runs"] for line in ours.values() if line["runs"]]
    captions = _captions(simulated, _how_many(counts, metrics), cut, paper.values())
    title = f"{study} (SIMULATED)" if simulated else study
    return _from_columns(title, columns, best, captions)


def correlation_table(
    runs: pd.DataFrame,
    *,
    error: str = "imputation_mse",
    score: str = "accuracy",
    cut: Sequence[str] = (),
) -> ResultTable:
    """The paper's Table 4: r and p of imputation error and score, a column per setting.

    A point is an imputer, with the means of its runs: these share everything but a mask, so that
    they are not independent. r over single runs, which the paper seems to print, stands below.
    """
    correlations = imputation_correlation(runs, error, score, over="methods")
    over_runs = imputation_correlation(runs, error, score)["r"]
    simulated = _simulated(runs) & set(correlations["study"])
    columns: list[tuple[str, list[str]]] = [("", ["Pearson's r", "p-value", "r over runs"])]
    used: list[Figure] = []
    for line, of_runs in zip(correlations.to_dict("records"), over_runs, strict=True):
        study, setting = str(line["study"]), str(line["setting"])
        mark = " (SIMULATED)" if study in simulated else ""
        cells = [_r(line["r"]), p_value(line["p"]), _r(of_runs)]
        columns.append((f"{study}{mark} {setting}, {line['points']} imputers", cells))
        names = ("pearson_r", "p_value")
        figures = [find(IMITATES.get(study, study), "imputers", setting, name) for name in names]
        if any(figures):
            columns.append(("paper", [NONE if f is None else f.printed for f in figures] + [NONE]))
            used += [figure for figure in figures if figure is not None]
    points = "A point is one imputer, with the means of its runs."
    captions = _captions(bool(simulated), points, cut, used)
    return _from_columns(f"{error} and {score}", columns, (), captions)


def _r(r: float) -> str:
    return NONE if np.isnan(r) else f"{r:.2f}"


def _from_columns(
    title: str,
    columns: Sequence[tuple[str, list[str]]],
    best: Iterable[tuple[int, int]],
    captions: list[str],
) -> ResultTable:
    head, cells = zip(*columns, strict=True)
    rows = [list(row) for row in zip(*cells, strict=True)]
    return ResultTable(title, list(head), rows, frozenset(best), captions)


def _simulated(runs: pd.DataFrame) -> set[str]:
    """Studies that are simulated, by what a run says or by name."""
    names = set(runs.loc[runs["simulated"].eq(True), "study"]) if "simulated" in runs else set()
    return {str(name) for name in names} | set(IMITATES)


def _best(lines: Sequence[Mapping[Any, Any] | None], metric: str) -> list[int]:
    means = np.array([np.nan if line is None else line["mean"] for line in lines], dtype=float)
    if np.isfinite(means).sum() < 2:  # the best of one is meaningless
        return []
    top = np.nanmax(means) if metric in HIGHER_IS_BETTER else np.nanmin(means)
    return np.flatnonzero(np.isclose(means, top, rtol=1e-12, atol=0)).tolist()


def _ours(line: Mapping[Any, Any] | None, metric: str) -> str:
    if line is None or not line["runs"]:
        return NONE if line is None else "failed"
    failed = f" ({line['failed']:.0f} failed)" if line["failed"] else ""
    return _mean_sd(line["mean"], line["sd"], metric) + failed


def _minus(line: Mapping[Any, Any] | None, figure: Figure | None, metric: str) -> str:
    if line is None or not line["runs"] or figure is None:
        return NONE
    scale, digits = (100, "+.2f") if metric in PERCENT else (1, "+.4g")
    return f"{scale * (line['mean'] - figure.mean):{digits}}"


def _printed(setting: str) -> str:
    """The setting's name in the paper, which does not say whether masks are redrawn."""
    return setting.removesuffix(", masks redrawn").removesuffix(", attributes paper")


def _mean_sd(mean: float, sd: float | None, metric: str) -> str:
    scale, digits, sd_digits = (100, ".2f", ".2f") if metric in PERCENT else (1, ".4g", ".2g")
    spread = "" if sd is None or np.isnan(sd) else f" ± {scale * sd:{sd_digits}}"
    return f"{scale * mean:{digits}}{spread}"


def p_value(p: float) -> str:
    """To three decimals.

    >>> p_value(0.0123), p_value(1e-5), p_value(np.nan)
    ('0.012', '<0.001', '–')
    """
    return NONE if np.isnan(p) else ("<0.001" if p < 0.001 else f"{p:.3f}")


def _how_many(counts: Sequence[int], metrics: Sequence[str]) -> str:
    unit = " Acc., AUC and AP are in per cent." if PERCENT & set(metrics) else ""
    if not counts:
        return "No run was finished."
    low, high = min(counts), max(counts)
    if high == 1:
        return f"Ours: one run each; best in bold.{unit}"
    many = f"{low} to {high}" if low < high else f"{high}"
    alone = " Without ±: one run." if low == 1 else ""
    return f"Ours: mean ± sd over {many} runs, best mean in bold.{alone}{unit}"


def _captions(
    simulated: bool, ours: str, cut: Sequence[str], figures: Iterable[Figure]
) -> list[str]:
    tables = sorted({figure.table for figure in figures})
    notes = [f"Paper: Table {table}. {NOTES[table]}" for table in tables]
    return [*([SIMULATED] if simulated else []), ours, *cut, *notes]


def _name(method: str) -> str:
    printed = PRINTED_NAMES.get(method, method)
    return method if printed.casefold() == method.casefold() else f"{method} ({printed})"


def _short(metric: str) -> str:
    return SHORT.get(metric, metric.replace("_", " "))


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def what_was_cut(lines: Iterable[Mapping[str, Any]]) -> list[str]:
    """What the runs of one study have less of than the paper's, read off their lines.

    Nothing for a study that the paper does not have.

    >>> line = {"study": "icu", "method": "gil", "mask_seed": 0, "split_seed": 0,
    ...         "setting": {"hidden_layer_sizes": [64], "steps": 500}}
    >>> for sentence in what_was_cut([line]):
    ...     print(sentence)
    Networks have 64 hidden units (paper: 1,024) and at most 500 training steps, in whole epochs \
(paper: 2,000).
    One split.
    Learning rates and decay are fixed; the paper's grids were not searched.
    """
    lines = list(lines)
    if not lines or lines[0]["study"] not in PLANS:
        return []
    study = lines[0]["study"]
    methods = {line["method"] for line in lines}
    sentences = [_cut_networks(lines), _number_of_seeds(lines, study), _imputer_settings(lines)]
    if {"gil-h", "network"} <= methods and not any(
        line["setting"].get("placeholder") for line in lines
    ):
        sentences.append(GIL_H)
    if "zero+network" in methods and study != "mnist":
        sentences.append(RAW_ZERO)
    if not any(line.get("grid") for line in lines):
        sentences.append("Learning rates and decay are fixed; the paper's grids were not searched.")
    return [sentence for sentence in sentences if sentence]


def _cut_networks(lines: Sequence[Mapping[str, Any]]) -> str:
    """Sizes and steps, where they are not the paper's, and the methods without these limits."""
    plan = PLANS[lines[0]["study"]]
    limited = [line for line in lines if "steps" in line["setting"]]
    paper_size = _sizes(plan.network.get("hidden_layer_sizes", []))
    sizes = {_sizes(line["setting"].get("hidden_layer_sizes", [])) for line in lines}
    sizes -= {"", paper_size}
    steps = {(run["setting"]["steps"], plan.steps_in(run.get("options", {}))) for run in limited}
    fewer = sorted(pair for pair in steps if pair[0] != pair[1] and pair[1])
    parts = []
    if sizes and paper_size:
        parts.append(f"{' or '.join(sorted(sizes))} hidden units (paper: {paper_size})")
    if fewer:
        columns = [dict.fromkeys(numbers) for numbers in zip(*fewer, strict=True)]
        ours, paper = (" or ".join(f"{number:,}" for number in column) for column in columns)
        parts.append(f"at most {ours} training steps, in whole epochs (paper: {paper})")
    free = dict.fromkeys(line["method"] for line in lines if line not in limited)
    rest = f" Not cut: {', '.join(free)}." if free else ""
    return f"Networks have {' and '.join(parts)}.{rest}" if parts else ""


def _number_of_seeds(lines: Sequence[Mapping[str, Any]], study: str) -> str:
    """Of each method and column; a method has fewer if one of its columns does."""
    seeds: dict[tuple[str, str], set[tuple[int, int]]] = defaultdict(set)
    for line in lines:
        column = line["method"], str(line.get("options"))
        seeds[column].add((line["mask_seed"], line["split_seed"]))
    most = max(map(len, seeds.values()))
    short = [method for (method, _), pairs in seeds.items() if len(pairs) < most]
    fewer = list(dict.fromkeys(short))
    word = "mask" if takes(study, "mask_seed") else "split"
    text = f"One {word}" if most == 1 else f"{most} {word}s"
    if fewer:
        text += f" (fewer in some columns: {', '.join(fewer)})"
    paper = PLANS[study].paper_seeds
    return text + (f"; the paper has {paper}." if paper else ".")


def _imputer_settings(lines: Sequence[Mapping[str, Any]]) -> str:
    settings = {
        line["method"]: f"{line['method']}: {', '.join(shown)}"
        for line in lines
        if (shown := [f"{k[9:]} {v}" for k, v in line["setting"].items() if k[:9] == "imputer__"])
    }
    return f"Settings of the imputers: {'; '.join(settings.values())}." if settings else ""


def _sizes(sizes: int | Sequence[int]) -> str:
    return "-".join(f"{size:,}" for size in ([sizes] if isinstance(sizes, int) else sizes))
