"""From results files to tables, statistics and a page."""

from typing import Any

from ...errors import require_extra
from ._equivalence import MARGINS, holm, interval, paired_differences, verdicts
from ._result_lines import SCORES, has_figures, runs_frame, tidy_lines, unpacked_digits
from ._result_tables import correlation_table, p_value, results_table, what_was_cut
from ._stats import compare, compare_over_studies, corrected_t, mean_ranks

__all__ = [
    "MARGINS",
    "SCORES",
    "compare",
    "compare_over_studies",
    "corrected_t",
    "correlation_table",
    "has_figures",
    "holm",
    "interval",
    "mean_ranks",
    "p_value",
    "paired_differences",
    "report",
    "results_table",
    "runs_frame",
    "tidy_lines",
    "unpacked_digits",
    "verdicts",
    "what_was_cut",
]


def __getattr__(name: str) -> Any:
    """The page needs jinja2 and matplotlib, which the tables do not."""
    if name == "report":
        require_extra("plot", "matplotlib")
        from ._results_page import report

        return report
    raise AttributeError(name)
