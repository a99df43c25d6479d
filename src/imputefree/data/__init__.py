"""What comes in: any table or series becomes a `Table` of scaled values and an observed mask."""

from ._columns import Columns, as_values, is_polars, read_columns
from ._encoding import FEW_VALUES_SIZE, MAX_LEVELS, Category, Number, Plan
from ._folds import assign_folds
from ._numeric_table import NumericTables, numbers
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
from ._scaling import HARD_LIMIT, SOFT_LIMIT, location, scale
from ._splits import MOST_CLASSES, Split, Splits
from ._table_encoder import Table, TableEncoder
from ._target import as_array, read_classes, read_numbers, read_target, read_weights
from ._wording import counted, shorten

__all__ = [
    "FEW_VALUES_SIZE",
    "HARD_LIMIT",
    "LONGEST",
    "MAX_LEVELS",
    "MOST_CLASSES",
    "SOFT_LIMIT",
    "Category",
    "Columns",
    "Layout",
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
    "prediction_panel",
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
    "training_panel",
]
