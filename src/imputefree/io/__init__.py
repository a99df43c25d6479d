"""Files: CSV and Parquet in and out, and model files."""

from ._bad_rows import BadRows
from ._csv_chunks import open_csv
from ._csv_files import ARCHIVES, need_columns, read_csv, words_as_gaps
from ._label_column import TASKS, read_label_column
from ._model_file import load_model_file, pack_parameter, save_model_file
from ._parquet_chunks import open_parquet
from ._raw_rows import RawRows, Reader
from ._read_files import PARQUET, digest, read_frame
from ._table_output import STDOUT, table_output
from ._write_frames import check_format, write_frame

__all__ = [
    "ARCHIVES",
    "PARQUET",
    "STDOUT",
    "TASKS",
    "BadRows",
    "RawRows",
    "Reader",
    "check_format",
    "digest",
    "load_model_file",
    "need_columns",
    "open_csv",
    "open_parquet",
    "pack_parameter",
    "read_csv",
    "read_frame",
    "read_label_column",
    "save_model_file",
    "table_output",
    "words_as_gaps",
    "write_frame",
]
