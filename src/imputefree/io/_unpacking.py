"""The text in a file's bytes: unpacked if it is compressed, refused if it is of another kind."""

from __future__ import annotations

import lzma
import re
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

from pandas.io.common import get_handle  # type: ignore[import-not-found]

from ..errors import InputError, counted, shorten
from ._file_rows import unreadable

PACKED: dict[str, Any] = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip"}
PACKED |= {".zst": "zstd", ".tar": "tar"}
MAGIC: dict[bytes, Any] = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ": "xz"}
MAGIC |= {b"PK\x03\x04": "zip", b"(\xb5/\xfd": "zstd"}
PACKING_ERRORS = (zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError)
CORRUPTED = (EOFError, OSError, ValueError, *PACKING_ERRORS)
BEGINS = {
    b"%PDF": "a PDF document",
    b"{\\rtf": "an RTF document",
    b"$FL2": "an SPSS file",
    b"$FL3": "an SPSS file",
    b"<stata_dta>": "a Stata file",
    b"HEADER RECORD*******": "a SAS transport file",
    b"SQLite format 3": "a database",
    b"ARROW1": "a Feather file",
    b"\x93NUMPY": "a NumPy file",
    b"\x89HDF": "an HDF5 file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}
PAGE = re.compile(rb"<(!doctype|\?xml|html|head|body|table|script|workbook)\b", re.IGNORECASE)
JSON = re.compile(rb'[\[{]\s*(["{\[]|\r?\n)')
RULED = re.compile(rb"[-+|=: ]*[-=]{3}[-+|=: ]*")  # +----+----+ and |---|---|
DOCUMENTS = {"word/": "a Word document", "content.xml": "an OpenDocument file"}  # which are zipped
NOT_CSV = (".xlsx", ".xlsm", ".xls", ".parquet", ".pq", ".zip")
OF_MACOS = ("__MACOSX/", ".DS_Store")  # which it adds to zip files
SAVE_AS = "Save it as CSV or .xlsx"


def open_packed(path: Path, raw: IO[bytes]) -> Any:
    """A stream of the unpacked bytes of a file, by its ending or else by how it begins."""
    method = PACKED.get(path.suffix.lower())
    if method is None and raw.seekable():
        begin = raw.read(6)
        raw.seek(-len(begin), 1)
        method = next((name for mark, name in MAGIC.items() if begin.startswith(mark)), None)
    if method is None:
        return raw
    try:
        if method == "zip":
            return _only_member(path, raw)
        return get_handle(raw, "rb", compression=method, is_text=False).handle
    except InputError:
        raise
    except (ImportError, RuntimeError) as error:  # the latter: a password, an unknown compression
        raise unreadable(path, f"cannot be read as {method} ({error})") from None
    except CORRUPTED as error:
        raise unreadable(path, f"is truncated or corrupted as {method} ({error})") from None


def read_packed(path: Path, stream: Any, size: int) -> bytes:
    """The next bytes of such a stream, at most so many."""
    try:
        return bytes(stream.read(size))
    except CORRUPTED as error:
        raise unreadable(path, f"is truncated or corrupted ({error})") from None


def _only_member(path: Path, raw: IO[bytes]) -> IO[bytes]:
    """The one table of a zip file as a stream: pandas would unpack all of it into memory."""
    archive = zipfile.ZipFile(raw)
    files = [m for m in archive.infolist() if not (m.is_dir() or m.filename.startswith(OF_MACOS))]
    names = [file.filename for file in files]
    for begin, kind in DOCUMENTS.items():
        if any(name.startswith(begin) for name in names):
            raise unreadable(path, f"is {kind}", SAVE_AS)
    if len(files) != 1:
        fact = f"holds {counted(len(files), 'file')}" + f" ({shorten(names, 3)})" * bool(files)
        raise unreadable(path, fact, "Unpack it, and name one file, or a folder of parts")
    if names[0].lower().endswith(NOT_CSV):
        fact = f"holds {names[0]!r}, which is not CSV"
        raise unreadable(path, fact, "Unpack it, and name that file")
    return archive.open(files[0])


def refuse_other_kinds(path: Path, begin: bytes) -> None:
    """Refuse a file that begins as no CSV file does."""
    kind = next((kind for mark, kind in BEGINS.items() if begin.startswith(mark)), None)
    text = begin[:2000].removeprefix(b"\xef\xbb\xbf").lstrip()
    if kind is None and PAGE.match(text):
        kind = "a page of HTML or XML"
    if kind is None and JSON.match(text):
        kind = "JSON"
    if kind is None and any(RULED.fullmatch(line.strip()) for line in text.splitlines()[:3]):
        kind = "a table drawn with lines"
    if kind is not None:
        raise unreadable(path, f"is {kind}, not CSV", SAVE_AS)
