"""Why a model predicts what it does for a row or a series, and what to measure next.

Nothing here is a claim about causes. A removal asks what the *model* would predict without the
value, all else unchanged; if two columns carry the same information, both removals may be small.
"""

from ._audit import audit_missingness
from ._audit_result import Audit
from ._conformal import MaskConformalClassifier, MaskConformalRegressor
from ._drawings import draw
from ._explain_rows import explain_rows
from ._explanation import Explanation, SeriesExplanation, input_values, plain, show_all, show_row
from ._gap_scenarios import GapScenarios
from ._kept_calibration import (
    USUAL_COVERAGE,
    gap_bounds,
    keep_rows,
    keep_scores,
    restore_conformal,
)
from ._leaking_columns import TrapLimits
from ._measure_next import MeasurementPlan, NextMeasurements, measure_next, plan_measurements
from ._model_rows import ModelRows, predict_rows, read_rows
from ._plausible_values import PlausibleValues
from ._traps import Trap, find_traps, group_traps, target_traps, telling_traps

__all__ = [
    "USUAL_COVERAGE",
    "Audit",
    "Explanation",
    "GapScenarios",
    "MaskConformalClassifier",
    "MaskConformalRegressor",
    "MeasurementPlan",
    "ModelRows",
    "NextMeasurements",
    "PlausibleValues",
    "SeriesExplanation",
    "Trap",
    "TrapLimits",
    "audit_missingness",
    "draw",
    "explain_rows",
    "find_traps",
    "gap_bounds",
    "group_traps",
    "input_values",
    "keep_rows",
    "keep_scores",
    "measure_next",
    "plain",
    "plan_measurements",
    "predict_rows",
    "read_rows",
    "restore_conformal",
    "show_all",
    "show_row",
    "target_traps",
    "telling_traps",
]
