"""What comes in: any table becomes a `Table` of scaled values and an observed mask."""

from .columns import Columns, read_columns
from .folds import assign_folds
from .table import Table, TableEncoder

__all__ = ["Columns", "Table", "TableEncoder", "assign_folds", "read_columns"]
