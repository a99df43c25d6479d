"""The challenge's files: an archive (or folder) of one text a stay, and a table of outcomes."""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...errors import InputError
from ...io import need_columns, read_csv

REPAIR = "Fetch it anew: remove the file and run `imputefree data get physionet2012`"
RULE = "A stay is a text of lines hh:mm,variable,value; its first line after the names is RecordID"
DEATH = "In-hospital_death"
STATICS = ["Age", "Gender", "Height", "ICUType", "Weight"]
VARIABLES = [
    "ALP",
    "ALT",
    "AST",
    "Albumin",
    "BUN",
    "Bilirubin",
    "Cholesterol",
    "Creatinine",
    "DiasABP",
    "FiO2",
    "GCS",
    "Glucose",
    "HCO3",
    "HCT",
    "HR",
    "K",
    "Lactate",
    "MAP",
    "MechVent",
    "Mg",
    "NIDiasABP",
    "NIMAP",
    "NISysABP",
    "Na",
    "PaCO2",
    "PaO2",
    "Platelets",
    "RespRate",
    "SaO2",
    "SysABP",
    "Temp",
    "TroponinI",
    "TroponinT",
    "Urine",
    "WBC",
    "Weight",
    "pH",
]
NAMES = sorted({*STATICS, *VARIABLES, "RecordID"})  # the latter shows that a stay has a text


def read_outcomes(path: Path) -> pd.Series:
    """Who died (0 or 1), by RecordID."""
    table = read_csv(path)
    need_columns(table, ["RecordID", DEATH], path)
    stay, died = (
        pd.to_numeric(table[name], errors="coerce").to_numpy(float) for name in ("RecordID", DEATH)
    )
    bad = ~(np.isfinite(stay) & np.isin(died, [0, 1]))
    if bad.any() or len(np.unique(stay)) < len(stay):
        at = int(np.flatnonzero(bad)[0]) if bad.any() else 0
        raise InputError(
            f"{path} has no outcome in line {at + 2}"
            if bad.any()
            else f"{path} names a stay twice",
            f"Every line must have a RecordID of its own, and 0 or 1 as {DEATH}",
            REPAIR,
        )
    index = pd.Index(stay.astype(np.int64), name="RecordID")
    return pd.Series(died.astype(np.int64), index=index, name=DEATH)


def read_events(home: Path, name: str) -> pd.DataFrame:
    """Every measurement of a set: stay, minute, variable, value; from its folder or its archive."""
    archive = home / f"{name}.tar.gz"
    path = archive if archive.exists() else home / name
    try:
        texts = list(_archived(path) if path == archive else _unpacked(path))
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise InputError(
            f"{path} is truncated or corrupted ({error})", "It must be a whole archive", REPAIR
        ) from None
    if not texts:
        raise InputError(f"{path} holds no stay", "A set is 4,000 texts, one a stay", REPAIR)
    try:
        return _parse(texts)
    except (ValueError, UnicodeDecodeError, pd.errors.ParserError):
        raise _first_fault(path, texts) from None


def _archived(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.name.endswith(".txt") else None
            if file is not None:
                yield member.name, file.read()


def _unpacked(path: Path) -> Iterator[tuple[str, bytes]]:
    for one in sorted(path.glob("*.txt")):
        yield one.name, one.read_bytes()


def _parse(texts: list[tuple[str, bytes]]) -> pd.DataFrame:
    """All texts in one go, which is many times faster than one by one."""
    bodies = [text.partition(b"\n")[2].strip() for _, text in texts]
    if not all(body.startswith(b"00:00,RecordID,") for body in bodies):
        raise ValueError
    kinds: dict[str, Any] = {"time": "category", "variable": "category", "value": float}
    lines = pd.read_csv(
        io.BytesIO(b"\n".join(bodies)),
        names=["time", "variable", "value"],
        dtype=kinds,
        index_col=False,
    )
    # Every text begins with its RecordID: the lines up to the next one are that stay's.
    begins = lines["variable"] == "RecordID"
    clocks = lines["time"].cat.categories.astype(str)  # 2,881 of them at most: cheap to look at
    if begins.sum() != len(texts) or lines["time"].isna().any():
        raise ValueError
    if not clocks.str.fullmatch(r"[0-4]\d:[0-5]\d").all() or clocks.max() > "48:00":
        raise ValueError
    minutes = 60 * clocks.str[:2].astype(int) + clocks.str[3:].astype(int)
    lines["stay"] = lines["value"].where(begins).ffill().astype("int64")
    lines["minute"] = minutes.to_numpy()[lines["time"].cat.codes]
    lines["variable"] = lines["variable"].cat.set_categories(NAMES)  # other names become gaps
    return lines.loc[lines["variable"].notna(), ["stay", "minute", "variable", "value"]]


def _first_fault(path: Path, texts: list[tuple[str, bytes]]) -> InputError:
    """The text that cannot be read, found by reading them one by one."""
    for name, text in texts:
        try:
            _parse([(name, text)])
        except (ValueError, UnicodeDecodeError, pd.errors.ParserError):
            return InputError(f"{name} in {path} cannot be read", RULE, REPAIR)
    return InputError(f"{path} cannot be read", RULE, REPAIR)
