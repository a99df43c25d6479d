"""What is missing in a study: how much, where, in which combinations; and how gaps predict labels.

`describe` computes the figures, `show` prints them; `_describe_picture` draws them. Columns whose
gaps are in exactly the same rows, such as the 2,048 features of an image, share one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ._study import Study

# Sizes of the random samples used for speed.
ROWS = 5000  # rows of a table, or series for the AUC
STEPS = 20_000  # steps of all series, for gaps that occur together
COLUMNS = 100  # columns for the AUC
PAIRS = 40  # columns compared with each other
FOLDS = 3
FEWEST = 2 * FOLDS  # rows that a class needs to be compared
MOST_LEVELS = 20  # classes shown one by one
MOST_LINES = 25  # lines of columns printed


class Description:
    """A study's missingness in numbers; `report` is called as each of the 4 steps begins.

    study : the study described
    missing : share of missing entries
    rows : number of rows of a table, or of steps of all series; complete, empty : shares of them
    lines : one line per group of columns with the same gaps: column, count, missing, spread (the
        largest difference between the rates of two classes; NaN without classes to compare)
    together : correlations between the gaps of up to 40 such groups, by name, (k, k)
    patterns : number of different sets of gaps among the rows looked at
    lengths : number of steps per series, or None for a table
    per_row : share missing per row or series, (n,)
    by_class : class, count, missing (share of all entries of the class); empty if there are no
        classes or too many
    auc : cross-validated AUC of a logistic regression that sees only the mask, or None
    auc_of : which classes it separates, in words; if there is no AUC, why
    looked_at : what was sampled for speed, in words; "" if nothing was

    >>> X = pd.DataFrame({"a": [1.0, None] * 20, "b": [None, 1.0] * 20, "c": [1.0] * 40})
    >>> toy = Study("toy", X, np.array([0, 1] * 20), citation="", licence="", simulated=True)
    >>> description = describe(toy)
    >>> round(description.missing, 3), description.auc, float(description.together.loc["a", "b"])
    (0.333, 1.0, -1.0)
    """

    def __init__(self, study: Study, report: Callable[[str], None] = lambda step: None) -> None:
        rng = np.random.default_rng(0)
        report("reading gaps")
        observed = study.observed
        seen = observed.sum(axis=1)
        self.study, self.rows, self.missing = study, len(observed), 1 - float(observed.mean())
        self.complete = float((seen == observed.shape[1]).mean())
        self.empty = float((seen == 0).mean())
        self.lengths = np.asarray(study.n_steps) if study.kind == "series" else None
        share = _observed_share(observed, self.lengths)
        self.per_row = 1 - share.mean(axis=1)
        classes = _classes(study)
        weights = np.ones(len(share)) if self.lengths is None else self.lengths
        self.by_class = _by_class(share, classes, weights)
        report("columns")
        first, group = _same_gaps(observed)
        missing = 1 - observed.mean(axis=0)[first]
        names = np.array(study.column_names)
        lines = {
            "column": [_line_name(list(names[group == g]), rate) for g, rate in enumerate(missing)],
            "count": np.bincount(group),
            "missing": missing,
            "spread": _spread(share[:, first], classes, weights),
        }
        self.lines = pd.DataFrame(lines)
        report("gaps that occur together")
        sample = rng.permutation(len(observed))[: ROWS if self.lengths is None else STEPS]
        gaps = ~observed[sample][:, first]
        self.together = _together(gaps, self.lines)
        self.patterns = len(np.unique(np.packbits(gaps, axis=1), axis=0))
        report("what the mask says about the label")
        self.auc, self.auc_of, sampled = _mask_auc(share[:, first], self.lengths, classes, rng)
        if len(sample) < len(observed):
            rows = f"patterns and correlations: {len(sample):,} of {len(observed):,} rows"
            sampled = [rows, *sampled]
        self.looked_at = "; ".join(sampled)


describe = Description  # a verb for users: describe(study).auc


def _observed_share(observed: np.ndarray, lengths: np.ndarray | None) -> np.ndarray:
    """Share of observed entries per row or series and column, (n, d)."""
    if lengths is None:
        return observed.astype(np.float32)
    ends = np.cumsum(lengths)
    sums = np.concatenate([np.zeros((1, observed.shape[1])), np.cumsum(observed, axis=0)])
    return (sums[ends] - sums[ends - lengths]) / np.maximum(lengths, 1)[:, None]


def _classes(study: Study) -> np.ndarray | None:
    """The label per row or series as a string; a number becomes above or below the median."""
    y = np.asarray(study.y)
    if y.ndim != 1:
        return None
    if study.task == "regression":
        y = np.where(y > np.median(y), "above the median", "up to the median")
    return y.astype(str) if len(np.unique(y)) > 1 else None


def _same_gaps(observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Groups of columns with the same gaps: the first of each group, and the group per column."""
    packed = np.packbits(observed, axis=0).T
    group, _ = pd.factorize(np.array([column.tobytes() for column in packed], dtype=object))
    return np.unique(group, return_index=True)[1], group


def _line_name(columns: list[str], missing: float) -> str:
    """The columns of a line by name; they need not be neighbours, so it is never a range.

    >>> _line_name(["a", "c", "d", "e"], 0.5), _line_name(["b"], 0.5)
    ('a, c and 2 more', 'b')
    """
    if missing == 0 and len(columns) > 1:
        return f"{len(columns):,} columns without gaps"
    if len(columns) <= 3:
        return ", ".join(columns)
    return f"{columns[0]}, {columns[1]} and {len(columns) - 2:,} more"


def _rates(
    share: np.ndarray, classes: np.ndarray, kinds: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Missing rate per class and column, (classes, d); series are weighted by their steps."""
    rates = []
    for kind in kinds:
        weight = np.where(classes == kind, weights, 0).astype(share.dtype)
        rates.append(1 - (weight @ share).astype(np.float64) / max(float(weight.sum()), 1))
    return np.array(rates)


def _spread(share: np.ndarray, classes: np.ndarray | None, weights: np.ndarray) -> np.ndarray:
    """Largest difference between two classes' missing rates, per column."""
    if classes is not None:
        kinds, counts = np.unique(classes, return_counts=True)
        common = kinds[counts >= FEWEST]
        if len(common) >= 2:
            return np.ptp(_rates(share, classes, common, weights), axis=0)
    return np.full(share.shape[1], np.nan)


def _by_class(share: np.ndarray, classes: np.ndarray | None, weights: np.ndarray) -> pd.DataFrame:
    if classes is None or len(np.unique(classes)) > MOST_LEVELS:
        return pd.DataFrame({"class": [], "count": [], "missing": []})
    kinds, counts = np.unique(classes, return_counts=True)
    rates = _rates(share, classes, kinds, weights).mean(axis=1)
    return pd.DataFrame({"class": kinds, "count": counts, "missing": rates})


def _together(gaps: np.ndarray, lines: pd.DataFrame) -> pd.DataFrame:
    """Correlations between gaps; the columns whose gaps vary most, in the order of the study."""
    rate = gaps.mean(axis=0)
    vary = np.sort(np.argsort(-rate * (1 - rate), kind="stable")[:PAIRS])
    vary = vary[(rate[vary] > 0) & (rate[vary] < 1)]
    names = lines["column"].to_numpy()[vary]
    if len(vary) < 2:
        return pd.DataFrame(np.ones((len(vary), len(vary))), names, names)
    return pd.DataFrame(np.corrcoef(gaps[:, vary].T).round(12), names, names)


def _mask_auc(
    share: np.ndarray,
    lengths: np.ndarray | None,
    classes: np.ndarray | None,
    rng: np.random.Generator,
) -> tuple[float | None, str, list[str]]:
    """How well the mask alone predicts the label; which classes, or why not; what was sampled."""
    unit, units = ("row", "rows") if lengths is None else ("series", "series")
    inputs = share[:, share.std(axis=0) > 0]
    if lengths is not None and lengths.std() > 0:
        inputs = np.column_stack([inputs, lengths])
    if classes is None:
        return None, "no label, or the same one everywhere", []
    if inputs.shape[1] == 0:
        return None, f"every {unit} has the same gaps" if share.min() < 1 else "no gaps", []
    kinds, counts = np.unique(classes, return_counts=True)
    common = np.isin(classes, kinds[counts >= FEWEST])
    rows = rng.permutation(np.flatnonzero(common))[:ROWS]
    columns = np.sort(rng.permutation(inputs.shape[1])[:COLUMNS])
    kinds, counts = np.unique(classes[rows], return_counts=True)
    rows = rows[np.isin(classes[rows], kinds[counts >= FOLDS])]
    y = classes[rows]
    kinds = np.unique(y)
    if len(kinds) < 2:
        return None, f"fewer than two classes have {FEWEST} {units} or more", []
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=300))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    part = inputs[np.ix_(rows, columns)]
    chance = cross_val_predict(model, part, y, cv=folds, method="predict_proba")
    areas = [roc_auc_score(y == kind, chance[:, at]) for at, kind in enumerate(kinds)]
    auc_of = f"{kinds[1]!s} from {kinds[0]!s}"
    if len(kinds) > 2:
        auc_of = f"each of {len(kinds)} classes from the others, mean"
    sampled = []
    if len(rows) < common.sum():
        sampled.append(f"{len(rows):,} of {len(classes):,} rows")
    if len(columns) < inputs.shape[1]:
        sampled.append(f"{len(columns):,} of {inputs.shape[1]:,} columns")
    return float(np.mean(areas)), auc_of, [f"AUC: {', '.join(sampled)}"] if sampled else []


def show(description: Description, console: Console) -> None:
    """Print what a study is, its gaps by column, and what they have to do with the label."""
    console.print(_overview(description))
    console.print(_columns(description))
    if len(description.by_class):
        rows = description.by_class.itertuples(index=False)
        cells = [(str(kind), f"{count:,}", f"{missing:.1%}") for kind, count, missing in rows]
        console.print(_table(["class", "count", "missing"], cells))
    for note in description.study.notes:
        console.print(f"· {escape(note)}")
    if description.looked_at:
        console.print(f"· For speed, {escape(description.looked_at)}, picked at random.")


def _table(titles: list[str], rows: Iterable[Sequence[str]], caption: str | None = None) -> Table:
    """A table with names in its first column and figures in the others."""
    table = Table(caption=caption)
    for title in titles:
        justify: Literal["left", "right"] = "right" if table.columns else "left"
        table.add_column(title, justify=justify, overflow="fold")
    for name, *figures in rows:
        table.add_row(escape(name), *figures)
    return table


def _overview(description: Description) -> Table:
    study, lengths = description.study, description.lengths
    simulated = "  (SIMULATED)" if study.simulated else ""
    table = Table(title=f"{escape(study.name)}{simulated}", show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    width = int(description.lines["count"].sum())
    if lengths is None:
        table.add_row("kind", f"table, {description.rows:,} rows, {width:,} columns")
    else:
        table.add_row("kind", f"{len(lengths):,} series, {width:,} columns")
        low, median, high = np.percentile(lengths, [0, 50, 100]).astype(int)
        spread = f"{low} to {high}, median {median}" if low < high else f"{low} each"
        table.add_row("lengths", f"{spread}; {description.rows:,} steps in all")
    if study.static is not None:
        gaps = float(study.static.isna().to_numpy().mean())
        table.add_row("static", f"{study.static.shape[1]} columns, {gaps:.1%} missing")
    table.add_row("missing", f"{description.missing:.2%} of the entries")
    complete = f"{description.complete:.1%} complete, {description.empty:.1%} empty"
    table.add_row("rows" if lengths is None else "steps", complete)
    table.add_row("patterns", f"{description.patterns:,} different sets of gaps")
    table.add_row("strongest pairs", _pairs(description.together))
    auc = "none: " if description.auc is None else f"{description.auc:.3f}  "
    about = description.auc_of if description.auc is None else f"({description.auc_of})"
    table.add_row("mask-only AUC", auc + escape(about))
    table.add_row("from", escape(study.citation))
    table.add_row("licence", escape(study.licence))
    return table


def _pairs(together: pd.DataFrame) -> str:
    """The columns whose gaps occur together most, or exclude each other."""
    values, names = together.to_numpy(), together.columns
    upper = np.triu_indices(len(names), 1)
    if not len(upper[0]):
        return "none: fewer than two columns have gaps"
    order = np.argsort(-np.abs(values[upper]), kind="stable")[:3]
    pairs = [(upper[0][at], upper[1][at]) for at in order]
    return "\n".join(
        f"{escape(str(names[a]))} ~ {escape(str(names[b]))}: {values[a, b]:+.2f}" for a, b in pairs
    )


def _columns(description: Description) -> Table:
    ordered = description.lines.sort_values("missing", ascending=False, kind="stable")
    rows = [
        (str(line.column), f"{line.missing:.1%}", f"{line.spread:.1%}")
        for line in ordered.head(MOST_LINES).itertuples()
    ]
    rest = ordered.iloc[MOST_LINES:]
    if len(rest):
        name = f"… and {int(rest['count'].sum()):,} more columns"
        span = f"{rest['missing'].min():.1%} to {rest['missing'].max():.1%}"
        rows.append((name, span, f"≤ {rest['spread'].max():.1%}"))
    if ordered["spread"].isna().all():
        return _table(["column", "missing"], [row[:2] for row in rows])
    caption = "between classes: largest difference of two classes' rates"
    return _table(["column", "missing", "between classes"], rows, caption)
