"""Why a model predicts what it does for a row or a series, and what to measure next.

Nothing here is a claim about causes. A removal asks what the *model* would predict without the
value, all else unchanged; if two columns carry the same information, both removals may be small.
"""

from ._explain_rows import explain_rows
from ._explanation import Explanation, SeriesExplanation, input_values, plain
from ._measure_next import NextMeasurements, measure_next
from ._measurement_plan import MeasurementPlan, plan_measurements
from ._plausible_values import PlausibleValues
from ._show_explanation import draw, show_all, show_row

__all__ = [
    "Explanation",
    "MeasurementPlan",
    "NextMeasurements",
    "PlausibleValues",
    "SeriesExplanation",
    "draw",
    "explain_rows",
    "input_values",
    "measure_next",
    "plain",
    "plan_measurements",
    "show_all",
    "show_row",
]
