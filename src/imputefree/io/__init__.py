"""Files: CSV and Parquet in and out, and model files.

To add a format, write a subclass of `Reader` such as `ParquetRows`. `_read_files.py` and
`_write_tables.py` choose by the ending of the name.
"""

from ._cell_values import PARTS, cell_values
from ._column_readings import is_steady
from ._csv_rows import read_csv
from ._dialects import check_marks
from ._file_rows import BadRows, RawRows, Reader, twin_error
from ._model_file import (
    MODEL,
    load_model_file,
    model_content,
    model_digest,
    pack_network,
    pack_parameter,
    rebuild_model,
    save_model_file,
    unpack_network,
)
from ._not_data import HOLDS_TOTALS, Totals, check_header, check_rows, total_error
from ._read_files import (
    TASKS,
    header,
    need_columns,
    open_rows,
    parts_of,
    read_label_column,
    reader_of,
    unpack,
)
from ._read_table import decimals_of, read_frame, read_raw, read_table, understand
from ._stored_files import StoredRows, stored_rows
from ._understood import (
    CATEGORY,
    CLOCKS,
    DATE,
    DROP,
    KEY,
    NUMBER,
    YES_NO,
    ColumnReading,
    FileFormat,
    Understood,
    read_yaml,
)
from ._unpacking import PACKED
from ._write_tables import check_format, table_output, write_frame
from ._written_times import ISO, format_of_dates, one_format, read_dates_or_iso

__all__ = [
    "CATEGORY",
    "CLOCKS",
    "DATE",
    "DROP",
    "HOLDS_TOTALS",
    "ISO",
    "KEY",
    "MODEL",
    "NUMBER",
    "PACKED",
    "PARTS",
    "TASKS",
    "YES_NO",
    "BadRows",
    "ColumnReading",
    "FileFormat",
    "RawRows",
    "Reader",
    "StoredRows",
    "Totals",
    "Understood",
    "cell_values",
    "check_format",
    "check_header",
    "check_marks",
    "check_rows",
    "decimals_of",
    "format_of_dates",
    "header",
    "is_steady",
    "load_model_file",
    "model_content",
    "model_digest",
    "need_columns",
    "one_format",
    "open_rows",
    "pack_network",
    "pack_parameter",
    "parts_of",
    "read_csv",
    "read_dates_or_iso",
    "read_frame",
    "read_label_column",
    "read_raw",
    "read_table",
    "read_yaml",
    "reader_of",
    "rebuild_model",
    "save_model_file",
    "stored_rows",
    "table_output",
    "total_error",
    "twin_error",
    "understand",
    "unpack",
    "unpack_network",
    "write_frame",
]
