"""Parquet files with damaged bytes, of all types of columns; read whole."""

from __future__ import annotations

import datetime
import io
import warnings
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from imputefree import read_table

from ._bytes import Generator, chance, damaged, pick
from ._frame import Broken, Case, Limits, Target
from .csv_files import MB, check_cells

N = 30  # rows
DAY, NOON = datetime.date(2020, 1, 1), datetime.time(12)
MOMENT = datetime.datetime(2020, 1, 1, 12)
NUMBERS = list(range(N))
TYPES: dict[str, tuple[pa.DataType, list[Any]]] = {  # with the values that are repeated
    **{
        str(kind): (kind, [1, 2, None])
        for kind in (pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.int64(), pa.uint64())
    },
    "float16": (pa.float16(), [np.float16(0.5), None]),
    "float32": (pa.float32(), [0.5, None, float("nan")]),
    "float64": (pa.float64(), [0.5, 1e308, None, float("inf")]),
    "bool": (pa.bool_(), [True, False, None]),
    "string": (pa.string(), ["a", "b", None]),
    "large string": (pa.large_string(), ["a", ""]),
    "numbers as strings": (pa.string(), ["1,5", "?", "2.5"]),
    "binary": (pa.binary(), [b"a", b"\xff"]),
    "fixed binary": (pa.binary(3), [b"abc"]),
    "date": (pa.date32(), [DAY, None]),
    "date of milliseconds": (pa.date64(), [DAY]),
    **{f"time {unit}": (pa.timestamp(unit), [MOMENT, None]) for unit in ("s", "ms", "us", "ns")},
    "time with zone": (pa.timestamp("us", "Europe/Berlin"), [MOMENT]),
    "time of day": (pa.time64("us"), [NOON]),
    "duration": (pa.duration("ms"), [datetime.timedelta(1)]),
    "decimal": (pa.decimal128(20, 3), [Decimal("1.5"), None]),
    "large decimal": (pa.decimal256(60, 3), [Decimal("1.5")]),
    "list": (pa.list_(pa.int64()), [[1, 2], [], None]),
    "struct": (pa.struct({"a": pa.int8(), "b": pa.string()}), [{"a": 1, "b": "x"}, None]),
    "map": (pa.map_(pa.string(), pa.int8()), [[("a", 1)], None]),
    "levels": (pa.dictionary(pa.int8(), pa.string()), ["x", "y", None]),
    "nothing": (pa.null(), [None]),
}
PACKINGS = ["none", "snappy", "gzip", "zstd", "brotli", "lz4"]
TOKENS = [b"\0", b"\xff", b"\xff" * 4, b"\x80\x80\x80\x80\x0f", b"PAR1", b"\x7f", b"\0\0\0\x80"]


class Attack(Target):
    """Cases: the bytes of a file."""

    name = "parquet_files"
    full = 20_000

    @cached_property
    def seeds(self) -> list[bytes]:
        """Sound files: each type beside a number, and some together, packed in all ways."""
        files = []
        for number, name in enumerate(TYPES):
            options = {"compression": PACKINGS[number % len(PACKINGS)], "row_group_size": 20}
            options |= {"use_dictionary": number % 2 == 0, "write_statistics": number % 3 > 0}
            files.append(self._file([name], **options))
        files.append(self._file(["float64", "string", "levels", "time us"], version="1.0"))
        return files

    def _file(self, names: list[str], **options: Any) -> bytes:
        columns = {"number": pa.array(NUMBERS)}
        for name in names:
            kind, values = TYPES[name]
            columns[name] = pa.array((values * N)[:N], kind)
        content = io.BytesIO()
        parquet.write_table(pa.table(columns), content, **options)
        return content.getvalue()

    def make(self, rng: Generator) -> Case:
        content = pick(rng, self.seeds)
        if chance(rng, 0.02):
            return content
        if chance(rng, 0.5):  # what describes the file, which most readers trust
            length = 8 + int.from_bytes(content[-8:-4], "little")
            body, footer = content[:-length], content[-length:-8]
            footer = damaged(footer, rng, TOKENS, footer, most=1)
            return body + footer + len(footer).to_bytes(4, "little") + b"PAR1"
        return damaged(content, rng, TOKENS, pick(rng, self.seeds), most=1 + chance(rng, 0.3))

    def limits(self, case: Case) -> Limits:
        return Limits(seconds=2, memory=10 * len(case) + 50 * MB)

    def attack(self, case: Case) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            frame, understood = read_table(case, name="x.parquet")
        str(understood)
        if not len(frame):
            raise Broken("a frame without rows")
        for column in frame:
            check_cells(column, frame[column])
        return "answered"
