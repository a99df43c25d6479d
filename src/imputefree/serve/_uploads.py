"""Files that are uploaded: read as `imputefree predict` reads them, returned as rows to predict."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import ImputefreeError, counted, shorten
from ..inspection import plain
from ..io import PACKED, RawRows, Reader, check_header, reader_of, unpack
from ..workflow import (
    Chunk,
    Chunks,
    is_of_series,
    made_inputs,
    roles_of,
    sources_of,
    whole_series,
)
from ._limits import Limits, RequestError
from ._model_schema import STATIC, STEPS, Schema

UNPACKED = 25  # how many times as large as a request a file may be when it is unpacked
HOUR = pd.Timedelta(hours=1)


class CompletedRows(Reader):
    """A reader of a file with empty columns for those of the model that it lacks."""

    def __init__(self, reader: Reader, lacking: list[str]) -> None:
        self.reader, self.lacking, self.word = reader, lacking, reader.word
        super().__init__(reader.path, [*reader.names, *lacking], reader.format, reader.size)

    def look(self, names: Sequence[str]) -> pd.DataFrame:
        """As the reader gives it."""
        return self.reader.look([name for name in names if name not in self.lacking])

    def rows(self, kinds: Mapping[str, str]) -> Iterator[RawRows]:
        """As the reader gives them."""
        self.reader.decimal = self.decimal
        present = {name: kind for name, kind in kinds.items() if name not in self.lacking}
        for raw in self.reader.good_rows(present):
            yield replace(raw, frame=raw.frame.reindex(columns=list(kinds)))


def read_upload(
    model: Any, schema: Schema, content: bytes, name: str, limits: Limits, sheet: str | None = None
) -> dict[str, Any]:
    """What was understood of a file, and its rows or series as /predict takes them; plain JSON.

    name : of the file; its ending says what it is
    sheet : of a workbook; None: the first with a table
    """
    label = Path(name.replace("\\", "/")).name[:100] or "table.csv"
    try:
        path, content = _unpacked(Path(label), content, limits)
        reader = reader_of(path, io.BytesIO(content), sheet=sheet)
        return _read(model, schema, reader, path, limits)
    except RequestError:
        raise
    except ImputefreeError as error:
        raise RequestError(422, error.fact, error.rule, error.remedy) from None


def _read(model: Any, schema: Schema, reader: Reader, path: Path, limits: Limits) -> dict[str, Any]:
    roles, series = roles_of(model), is_of_series(model)
    if "variable" in roles:
        fact, rule = "the model takes pairs of variable and value", "A file here has named columns"
        raise RequestError(422, fact, rule, "Use `imputefree predict`")
    wanted = [column.name for column in schema.columns]
    wanted += [column.name for column in schema.series.static] if schema.series else []
    made, sources = made_inputs(model, reader.names), sources_of(model)

    def in_file(names: list[str]) -> list[str]:
        return list(dict.fromkeys(sources.get(name, name) for name in names))

    lacking = [name for name in wanted if name not in {*reader.names, *made}]
    if len(lacking) == len(wanted):
        check_header(reader.look(reader.names), path)
        of_sheet = f", sheet {reader.format.sheet!r}" * bool(reader.format.sheet)
        rule = f"They are {shorten(in_file(wanted), 8)}; the file has {shorten(reader.names, 8)}"
        remedy = "Rename the columns of the file" + ", or name another sheet" * bool(of_sheet)
        fact = f"none of the model's columns is in {path}{of_sheet}"
        raise RequestError(422, fact, rule, remedy)
    used = {*wanted, *made.values(), *roles.values()}
    unused = [name for name in reader.names if name not in used]
    kept = [] if series else unused
    chunks = Chunks(model, CompletedRows(reader, lacking), path, kept, skip=True)
    chunk = _few_rows(whole_series(chunks, in_memory=True) if series else chunks, path, limits)
    if chunk is None:
        fact = f"{path} has no rows that can be predicted"
        raise RequestError(422, fact, " ".join(chunks.notes), "Correct the file")
    written = replace(reader.format, decimal=reader.decimal) if reader.format.sep else reader.format
    notes = [f"{written}; rows: {len(chunk.inputs):,}, columns: {len(reader.names):,}."]
    if lacking:
        notes.append(
            f"Not in the file, so missing in every row: {shorten(in_file(lacking), 8, str)}."
        )
    if unused:
        notes.append(f"Not used by the model: {shorten(unused, 8, str)}.")
    rows = _series(chunk, schema, roles, notes) if series else list(_rows(chunk, schema))
    return {
        "name": str(path),
        "notes": notes + chunks.notes,
        "title": roles.get("id", reader.word),
        "rows": rows,
        "unused": kept,
    }


def _few_rows(chunks: Iterable[Chunk], path: Path, limits: Limits) -> Chunk | None:
    """All rows as one chunk, or None; refused as soon as there are more than a request may have."""
    parts, count = [], 0
    for chunk in chunks:
        parts.append(chunk)
        count += len(chunk.inputs)
        if count > limits.rows:
            fact = f"{path} has more than {limits.rows:,} rows"
            rule = "So many are taken at a time (the server's --max-rows)"
            raise RequestError(413, fact, rule, "Use `imputefree predict`, or send a part of it")
    return Chunk.joined(parts) if parts else None


def _unpacked(path: Path, content: bytes, limits: Limits) -> tuple[Path, bytes]:
    """A file and its name as they are without compression.

    What would take much more memory unpacked than a request may have is refused.
    """
    most = UNPACKED * limits.bytes
    if content.startswith(b"PAR1"):
        size = _parquet_size(content)
    elif zipfile.is_zipfile(io.BytesIO(content)):  # as .xlsx is
        size = _zip_size(content)
    else:
        size = 0
    if size <= most:
        content = unpack(path, content, most + 1)
        size = len(content)
    if size > most:
        fact = f"{path} has more than {most:,} bytes when it is unpacked"
        rule = f"That is {UNPACKED} times what a request may have (the server's --max-bytes)"
        raise RequestError(413, fact, rule, "Use `imputefree predict`, or send a part of it")
    return path.with_suffix("") if path.suffix.lower() in PACKED else path, content


def _zip_size(content: bytes) -> int:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            return sum(part.file_size for part in packed.infolist())
    except Exception:  # whatever is wrong with it, reading it says so
        return 0


def _parquet_size(content: bytes) -> int:
    try:
        from pyarrow import parquet

        about = parquet.read_metadata(io.BytesIO(content))
    except Exception:  # whatever is wrong with it, reading it says so
        return 0
    groups = [about.row_group(i) for i in range(about.num_row_groups)]
    return sum(group.total_byte_size for group in groups)


def _rows(chunk: Chunk, schema: Schema) -> Iterator[dict[str, Any]]:
    """Rows, with the cells of columns that the model does not use, to tell them apart."""
    names = [column.name for column in schema.columns]
    parts = [*chunk.inputs.items(), *chunk.extra.items()]
    cells = [_plain_column(values) for _, values in parts]
    for line, *values in zip(chunk.inputs.index.tolist(), *cells, strict=True):
        row = dict(zip(names, values[: len(names)], strict=True))
        yield {"name": str(line), "row": row, "kept": values[len(names) :]}


def _series(
    chunk: Chunk, schema: Schema, roles: dict[str, str], notes: list[str]
) -> list[dict[str, Any]]:
    """Each series with its steps in the order of time."""
    assert schema.series is not None
    names, time = [column.name for column in schema.columns], roles.get("time")
    rows, changed = [], Counter[str]()
    groups = pd.factorize(chunk.inputs[roles["id"]].to_numpy(dtype=object))[0]
    for _, part in chunk.inputs.groupby(groups, sort=False):
        if time:
            part = part.sort_values(time, kind="stable")
            names_of_step = [time, *names]
        else:
            names_of_step = names
        cells = [_plain_column(part[name]) for name in names_of_step]
        steps = [dict(zip(names_of_step, step, strict=True)) for step in zip(*cells, strict=True)]
        row: dict[str, Any] = {STEPS: steps}
        if schema.series.static:
            known = {column.name: part[column.name].dropna() for column in schema.series.static}
            changed.update(name for name, values in known.items() if values.nunique() > 1)
            first = {n: plain(v.iloc[0]) if len(v) else None for n, v in known.items()}
            row = {STATIC: first, **row}
        rows.append({"name": str(part[roles["id"]].iloc[0]), "row": row, "kept": []})
    for name, count in changed.items():
        many = f"{counted(count, 'series')} {'has' if count == 1 else 'have'}"
        notes.append(
            f"{name} must not change within a series: {many} several values, and the"
            " first one counts."
        )
    return rows


def _plain_column(values: pd.Series) -> list[Any]:
    if values.dtype.kind == "M":
        return [None if pd.isna(value) else value.isoformat() for value in values]
    if values.dtype.kind == "m":
        return [value / HOUR for value in values]
    return plain(values.to_numpy(dtype=object))
