"""What comes in: any table or series becomes a `Table` of scaled values and an observed mask."""

from .columns import Columns, read_columns
from .folds import assign_folds
from .panel import Layout, Panel, read_panel
from .panel_encoder import PanelEncoder
from .table import Table, TableEncoder

__all__ = [
    "Columns",
    "Layout",
    "Panel",
    "PanelEncoder",
    "Table",
    "TableEncoder",
    "assign_folds",
    "read_columns",
    "read_panel",
]
