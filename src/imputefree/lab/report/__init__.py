"""From results files to tables, statistics and a page."""

from typing import Any

from ...errors import require_extra
from ._paper_figures import find as paper_figure
from ._result_lines import SCORES, has_figures, runs_frame, tidy_lines
from ._result_tables import correlation_table, p_value, results_table, what_was_cut
from ._stats import (
    MARGINS,
    compare,
    compare_over_studies,
    corrected_t,
    holm,
    interval,
    mean_ranks,
    paired_differences,
    verdicts,
)

__all__ = [
    "MARGINS",
    "SCORES",
    "bare",
    "compare",
    "compare_over_studies",
    "corrected_t",
    "correlation_table",
    "draw_digits",
    "draw_features",
    "has_figures",
    "holm",
    "interval",
    "mean_ranks",
    "p_value",
    "paired_differences",
    "paper_figure",
    "report",
    "results_table",
    "runs_frame",
    "tidy_lines",
    "verdicts",
    "what_was_cut",
]


def __getattr__(name: str) -> Any:
    """The page and its pictures need jinja2 and matplotlib, which the tables do not."""
    if name not in __all__:
        raise AttributeError(name)
    require_extra("plot", "matplotlib")
    from . import _page_pictures, _results_page

    return getattr(_results_page if name == "report" else _page_pictures, name)
