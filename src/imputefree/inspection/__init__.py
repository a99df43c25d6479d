"""Why a model predicts what it does for a row or a series, and what to measure next.

Nothing here is a claim about causes. A removal asks what the *model* would predict without the
value, all else unchanged; if two columns carry the same information, both removals may be small.
"""

from ._audit import audit_missingness
from ._audit_result import Audit
from ._explain_rows import explain_rows
from ._explanation import Explanation, SeriesExplanation, input_values, plain
from ._gap_scenarios import GapScenarios
from ._model_rows import read_rows
from ._show_explanation import draw, show_all, show_row

__all__ = [
    "Audit",
    "Explanation",
    "GapScenarios",
    "SeriesExplanation",
    "audit_missingness",
    "draw",
    "explain_rows",
    "input_values",
    "plain",
    "read_rows",
    "show_all",
    "show_row",
]
