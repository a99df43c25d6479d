"""A frame as a file: CSV, packed CSV or Parquet, all of it or nothing."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd

from .._files import replacing
from ..errors import InputError, ParameterError
from ._read_files import PARQUET


def check_format(path: Path) -> str:
    """What a file is to be, by its name: "csv", "csv.gz" or "parquet".

    >>> check_format(Path("stays.csv.gz"))
    'csv.gz'
    """
    name = path.name.lower()
    for ending in (".csv", ".csv.gz"):
        if name.endswith(ending):
            return ending[1:]
    if path.suffix.lower() in PARQUET:
        return "parquet"
    raise ParameterError(
        f"-o is {str(path)!r}",
        "Its name must end in .csv, .csv.gz or .parquet",
        "Name it so",
    )


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write all rows; a failure leaves an older file as it was."""
    form = check_format(path)
    try:
        with replacing(path) as place:
            if form == "parquet":
                frame.to_parquet(place, index=False)
            elif form == "csv":
                frame.to_csv(place, index=False)
            else:  # without name and time, so that the same frame gives the same file
                with (
                    place.open("xb") as raw,
                    gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file,
                ):
                    frame.to_csv(file, index=False)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror or error})",
            "A file is put into an existing, writable folder",
            "Choose another path, or make room",
        ) from None
    except ImportError:
        raise ParameterError(
            "Parquet files need pyarrow", "It comes with an extra", "pip install 'imputefree[data]'"
        ) from None
