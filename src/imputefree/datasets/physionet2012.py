"""PhysioNet/CinC Challenge 2012: 12,000 stays in intensive care, 48 hours each, who died?

Real, public data (ODC-By), read from the challenge's own files, which this package does not bring:
`set-{a,b,c}.tar.gz` and `Outcomes-{a,b,c}.txt` in a folder `physionet2012` of the folder named by
the environment variable IMPUTEFREE_DATA, or wherever `load(folder)` is told.

A stay becomes 48 hourly steps of 37 variables: the mean of an hour's measurements, NaN for an hour
without any (about 80 % of the grid). Age, sex, height, type of unit and the weight at admission
are static. In these files -1 means unknown, and no variable can be negative, so negative values
are gaps. Lines without a variable's name (2,403 in set-c) say nothing and are left out.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ..errors import InputError

HOURS = 48
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


@dataclass(frozen=True)
class Stays:
    """values (n, 48, 37), NaN = gap; static, one row a stay, and died, 0 or 1; both by RecordID."""

    values: np.ndarray
    static: pd.DataFrame
    died: pd.Series


def load(folder: str | os.PathLike[str] | None = None, sets: Sequence[str] = "abc") -> Stays:
    """Read the challenge's files; `sets` names the thirds to read, 4,000 stays each.

    >>> stays = load("nowhere")
    Traceback (most recent call last):
    imputefree.errors.InputError: nowhere/Outcomes-a.txt does not exist. PhysioNet 2012 is read ...
    """
    root = Path(folder) if folder is not None else _folder()
    outcomes = pd.concat([pd.read_csv(_file(root, f"Outcomes-{one}.txt")) for one in sets])
    died = outcomes.set_index("RecordID")["In-hospital_death"].astype(np.int64)
    events = pd.concat([_events(_file(root, f"set-{one}.tar.gz")) for one in sets])
    events = events[events["value"] >= 0].reset_index(drop=True)
    # The lines at 00:00 describe the patient; a weight there is the one at admission.
    described = events[(events["minute"] == 0) & events["variable"].isin(STATICS)]
    described = described.drop_duplicates(["stay", "variable"])
    static = described.pivot(index="stay", columns="variable", values="value")
    static = static.reindex(index=died.index, columns=STATICS)
    static["ICUType"] = static["ICUType"].astype("Int64").astype("category")  # a code, no number
    measured = events.drop(index=described.index)
    return Stays(_hourly(measured, died.index), static.rename_axis(columns=None), died)


def _hourly(events: pd.DataFrame, stays: pd.Index) -> np.ndarray:
    """Mean of each variable in each hour; (n, 48, 37)."""
    stay = stays.get_indexer(pd.Index(events["stay"]))
    column = pd.Index(VARIABLES).get_indexer(pd.Index(events["variable"]))
    hour = np.minimum(events["minute"].to_numpy() // 60, HOURS - 1)  # 48:00 ends the last hour
    known = (stay >= 0) & (column >= 0)
    place = ((stay * HOURS + hour) * len(VARIABLES) + column)[known]
    size = len(stays) * HOURS * len(VARIABLES)
    total = np.bincount(place, weights=events["value"].to_numpy()[known], minlength=size)
    count = np.bincount(place, minlength=size)
    mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    return mean.reshape(len(stays), HOURS, len(VARIABLES))


def _events(archive: Path) -> pd.DataFrame:
    """Every measurement in an archive of one text file a stay: stay, minute, variable, value."""
    with tarfile.open(archive) as tar:
        files = [tar.extractfile(member) for member in tar if member.name.endswith(".txt")]
        texts = [file.read().partition(b"\n")[2].strip() for file in files if file is not None]
    lines = pd.read_csv(
        io.BytesIO(b"\n".join(texts)),
        names=["time", "variable", "value"],
        dtype={"time": str, "variable": str, "value": float},
    )
    # Every file begins with its RecordID: the lines up to the next one are that stay's.
    begins = lines["variable"] == "RecordID"
    lines["stay"] = lines["value"].where(begins).ffill().astype("int64")
    clock = lines["time"].str
    lines["minute"] = 60 * clock[:2].astype("int64") + clock[3:5].astype("int64")
    return lines.loc[~begins & lines["variable"].notna(), ["stay", "minute", "variable", "value"]]


def _folder() -> Path:
    root = os.environ.get("IMPUTEFREE_DATA")
    if not root:
        raise InputError(
            "nobody said where PhysioNet 2012 is",
            "It is read from files of your own: this package brings none",
            "Set IMPUTEFREE_DATA to the folder that holds physionet2012/, or call load(folder)",
        )
    return Path(root) / "physionet2012"


def _file(root: Path, name: str) -> Path:
    path = root / name
    if not path.exists():
        raise InputError(
            f"{path} does not exist",
            "PhysioNet 2012 is read from set-{a,b,c}.tar.gz and Outcomes-{a,b,c}.txt",
            "Get them from the challenge's page on physionet.org, or correct the folder",
        )
    return path
