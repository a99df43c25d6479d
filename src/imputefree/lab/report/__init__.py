"""From result files to tables, statistics and a page."""

from ._cuts import what_was_cut
from ._result_tables import correlation_table, results_table
from ._results_frame import SCORES, frame_of, has
from ._results_page import report
from .page._page_lines import even

__all__ = [
    "SCORES",
    "correlation_table",
    "even",
    "frame_of",
    "has",
    "report",
    "results_table",
    "what_was_cut",
]
