"""A description for a terminal."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ._describe import Description

MOST = 25  # lines of columns


def show(found: Description, console: Console) -> None:
    """Print what a study is, its gaps column by column, and what they have to do with the label."""
    console.print(_overview(found))
    console.print(_columns(found))
    if len(found.by_class):
        console.print(_classes(found))
    for note in found.study.notes:
        console.print(f"· {escape(note)}")
    if found.looked_at:
        console.print(f"· For speed, {escape(found.looked_at)}, picked at random.")


def _overview(found: Description) -> Table:
    study = found.study
    simulated = "  (SIMULATED)" if study.simulated else ""
    table = Table(title=f"{escape(study.name)}{simulated}", show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    width = int(found.lines["count"].sum())
    if found.lengths is None:
        table.add_row("kind", f"table, {found.rows:,} rows, {width:,} columns")
    else:
        table.add_row("kind", f"{len(found.lengths):,} series, {width:,} columns")
        low, middle, high = np.percentile(found.lengths, [0, 50, 100]).astype(int)
        spread = f"{low} to {high}, median {middle}" if low < high else f"{low} each"
        table.add_row("lengths", f"{spread}; {found.rows:,} steps in all")
    if study.static is not None:
        gaps = float(study.static.isna().to_numpy().mean())
        table.add_row("static", f"{study.static.shape[1]} columns, {gaps:.1%} missing")
    table.add_row("missing", f"{found.missing:.2%} of the entries")
    unit = "rows" if found.lengths is None else "steps"
    table.add_row(unit, f"{found.complete:.1%} complete, {found.empty:.1%} empty")
    table.add_row("patterns", f"{found.patterns:,} different sets of gaps")
    table.add_row("strongest pairs", _pairs(found))
    if found.auc is not None:
        table.add_row("mask-only AUC", f"{found.auc:.3f}  ({escape(found.auc_of)})")
    else:
        table.add_row("mask-only AUC", f"none: {escape(found.auc_of)}")
    table.add_row("from", escape(study.citation))
    table.add_row("licence", escape(study.licence))
    return table


def _pairs(found: Description) -> str:
    """The columns that go missing together most, or exclude each other."""
    values = found.together.to_numpy()
    names = found.together.columns
    upper = np.triu_indices(len(names), 1)
    if not len(upper[0]):
        return "none: fewer than two columns have gaps"
    order = np.argsort(-np.abs(values[upper]), kind="stable")[:3]
    pairs = [(upper[0][at], upper[1][at]) for at in order]
    return "\n".join(
        f"{escape(str(names[a]))} ~ {escape(str(names[b]))}: {values[a, b]:+.2f}" for a, b in pairs
    )


def _columns(found: Description) -> Table:
    labelled = bool(found.lines["spread"].notna().any())
    table = Table(
        caption="between classes: largest difference of two classes' rates" if labelled else None
    )
    table.add_column("column", overflow="fold")
    table.add_column("missing", justify="right")
    if labelled:
        table.add_column("between classes", justify="right")
    ordered = found.lines.sort_values("missing", ascending=False, kind="stable")
    for _, line in ordered.head(MOST).iterrows():
        cells = [escape(str(line["column"])), f"{line['missing']:.1%}"]
        table.add_row(*cells, *([f"{line['spread']:.1%}"] if labelled else []))
    left = ordered.iloc[MOST:]
    if len(left):
        span = f"{left['missing'].min():.1%} to {left['missing'].max():.1%}"
        more = f"… and {int(left['count'].sum()):,} more columns"
        table.add_row(more, span, *([f"≤ {left['spread'].max():.1%}"] if labelled else []))
    return table


def _classes(found: Description) -> Table:
    table = Table()
    for title in ("class", "count", "missing"):
        table.add_column(title, justify="left" if title == "class" else "right")
    for _, line in found.by_class.iterrows():
        table.add_row(escape(str(line["class"])), f"{line['count']:,}", f"{line['missing']:.1%}")
    return table
