"""The one door: any table or series becomes a `Table` of scaled values and an observed mask."""

from ..errors import counted, shorten
from ._cells import GAP_WORDS, Levels, parse_numbers, read_cell
from ._columns import Columns, NumericTables, as_values, is_polars, numbers, read_columns
from ._encoding import (
    FEW_VALUES_SIZE,
    HARD_LIMIT,
    MAX_LEVELS,
    SOFT_LIMIT,
    Category,
    Number,
    Plan,
    location,
    scale,
)
from ._panel import (
    Layout,
    Panel,
    first_steps,
    prediction_panel,
    read_panel,
    series_labels,
    split_static,
    step_labels,
    training_panel,
)
from ._panel_encoder import LONGEST, PanelEncoder
from ._splits import MOST_CLASSES, Split, Splits, assign_folds, tenths
from ._table_encoder import Table, TableEncoder
from ._target import as_array, read_classes, read_numbers, read_target, read_weights

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
    "counted",
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
    "shorten",
    "split_static",
    "step_labels",
    "tenths",
    "training_panel",
]
