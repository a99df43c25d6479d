"""Read data: any table or series becomes a `Table` of scaled values and an observed mask."""

from ._cells import GAP_WORDS, Levels, parse_numbers, read_cell
from ._columns import Columns, NumericTables, as_values, is_polars, numbers, read_columns
from ._panel import Panel, prediction_panel, read_panel, split_static, training_panel
from ._panel_encoder import LONGEST, PanelEncoder
from ._panel_frames import Layout, first_steps
from ._panel_labels import series_labels, step_labels
from ._splits import MOST_CLASSES, Fold, Split, Splits, assign_folds, draw_folds, tenths
from ._table_encoder import (
    FEW_VALUES_SIZE,
    HARD_LIMIT,
    MAX_LEVELS,
    SOFT_LIMIT,
    Category,
    Number,
    Plan,
    Table,
    TableEncoder,
    location,
    scale,
)
from ._target import Examples, as_array, read_classes, read_numbers, read_target, read_weights

__all__ = [
    "FEW_VALUES_SIZE",
    "GAP_WORDS",
    "HARD_LIMIT",
    "LONGEST",
    "MAX_LEVELS",
    "MOST_CLASSES",
    "SOFT_LIMIT",
    "Category",
    "Columns",
    "Examples",
    "Fold",
    "Layout",
    "Levels",
    "Number",
    "NumericTables",
    "Panel",
    "PanelEncoder",
    "Plan",
    "Split",
    "Splits",
    "Table",
    "TableEncoder",
    "as_array",
    "as_values",
    "assign_folds",
    "draw_folds",
    "first_steps",
    "is_polars",
    "location",
    "numbers",
    "parse_numbers",
    "prediction_panel",
    "read_cell",
    "read_classes",
    "read_columns",
    "read_numbers",
    "read_panel",
    "read_target",
    "read_weights",
    "scale",
    "series_labels",
    "split_static",
    "step_labels",
    "tenths",
    "training_panel",
]
