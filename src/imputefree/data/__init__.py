"""Read data: any table or series becomes a `Table` of scaled values and an observed mask."""

from typing import TYPE_CHECKING, Any

from ._cells import (
    GAP_WORDS,
    MAYBE_LEVELS,
    NEVER_LEVELS,
    TRUTH,
    Levels,
    coerced,
    is_gap_word,
    parse_numbers,
    read_cell,
)
from ._column_plans import (
    HARD_LIMIT,
    MAX_LEVELS,
    SOFT_LIMIT,
    UNSCALED_LIMIT,
    Category,
    Number,
    Plan,
    columns_by_kind,
    location,
    normal_score_knots,
    scale,
)
from ._columns import (
    FEW_ROWS,
    Columns,
    as_values,
    feature_count_error,
    is_polars,
    level_name,
    read_columns,
    remember_columns,
    table_tags,
)
from ._encoders import Encoder, Table, TableEncoder
from ._examples import (
    MOST_CLASSES,
    NOT_A_JUDGE,
    ClassCodes,
    Examples,
    as_array,
    read_classes,
    read_numbers,
    read_target,
    read_weights,
)
from ._few_rows import FewRows, Lines, LoneRow
from ._folds import Fold, Folds, Split, Splits, assign_folds, draw_folds, tenths
from ._outside import FAR, Outside, beyond
from ._panel import Panel, read_panel
from ._panel_encoder import LONGEST, PanelEncoder, check_statics
from ._remembered_panels import prediction_panel, training_panel
from ._row_store import BLOCK, SAMPLE_ROWS, RowStore, read_training_table, refuse_empty
from ._series_labels import fill_labels, series_labels, step_labels
from ._series_rows import Layout, first_steps, split_static
from ._summaries import (
    ACTIVITY,
    EXTENT,
    WINDOWS,
    summarise,
    summarise_mask,
    summarise_mask_steps,
    summarise_steps,
)

if TYPE_CHECKING:
    from ._expansion import Expansion, RowParts

__all__ = [
    "ACTIVITY",
    "BLOCK",
    "EXTENT",
    "FAR",
    "FEW_ROWS",
    "GAP_WORDS",
    "HARD_LIMIT",
    "LONGEST",
    "MAX_LEVELS",
    "MAYBE_LEVELS",
    "MOST_CLASSES",
    "NEVER_LEVELS",
    "NOT_A_JUDGE",
    "SAMPLE_ROWS",
    "SOFT_LIMIT",
    "TRUTH",
    "UNSCALED_LIMIT",
    "WINDOWS",
    "Category",
    "ClassCodes",
    "Columns",
    "Encoder",
    "Examples",
    "Expansion",
    "FewRows",
    "Fold",
    "Folds",
    "Layout",
    "Levels",
    "Lines",
    "LoneRow",
    "Number",
    "Outside",
    "Panel",
    "PanelEncoder",
    "Plan",
    "RowParts",
    "RowStore",
    "Split",
    "Splits",
    "Table",
    "TableEncoder",
    "as_array",
    "as_values",
    "assign_folds",
    "beyond",
    "check_statics",
    "coerced",
    "columns_by_kind",
    "draw_folds",
    "feature_count_error",
    "fill_labels",
    "first_steps",
    "is_gap_word",
    "is_polars",
    "level_name",
    "location",
    "normal_score_knots",
    "parse_numbers",
    "prediction_panel",
    "read_cell",
    "read_classes",
    "read_columns",
    "read_numbers",
    "read_panel",
    "read_target",
    "read_training_table",
    "read_weights",
    "refuse_empty",
    "remember_columns",
    "scale",
    "series_labels",
    "split_static",
    "step_labels",
    "summarise",
    "summarise_mask",
    "summarise_mask_steps",
    "summarise_steps",
    "table_tags",
    "tenths",
    "training_panel",
]


def __getattr__(name: str) -> Any:
    """`Expansion` needs PyTorch, which reading data does not."""
    if name in ("Expansion", "RowParts"):
        from . import _expansion

        return getattr(_expansion, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
