"""Two PhysioNet/CinC challenges on stays in intensive care.

Real, public data, read from the challenges' files, which this package does not contain.

2012 (ODC-By): 12,000 stays of 48 hours; the target is death in hospital. Read from
`set-{a,b,c}.tar.gz` (or folders `set-{a,b,c}`) and `Outcomes-{a,b,c}.txt`.

A stay becomes 48 hourly steps of 37 variables: the mean of an hour's measurements, NaN for an hour
without any (about 80 % of the grid). Or it keeps its own times, with a step whenever something was
measured. Age, sex, height, type of unit and weight at admission are static. In these files -1 means
unknown, and no variable can be negative, so negative values are gaps. Lines without the name of a
variable (2,403 in set-c) are left out. Twelve stays hold no measurement. The paper has 35 of the
variables, without ventilation and weight, and no statics (`attributes="paper"`).

2019 (CC BY 4.0), hospital B: 20,000 stays of 8 to 336 hours; who gets sepsis? Read from
`training_setB.tar.xz` (or a folder `training_setB`), one file `p….psv` per stay.

In these files `SepsisLabel` is 1 from six hours before the onset of sepsis. Here a stay has one
label, 1 if sepsis follows, and ends before its `SepsisLabel` turns: what came later would give the
answer away. In 223 stays it is 1 from the first hour; nothing is left of these, so they are left
out. Stays are hourly, of unequal length, and their length says much about the label: only cut ones
are shorter than 8 hours.
"""

from __future__ import annotations

import io
import lzma
import tarfile
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..._rules import check_value, choice
from ...errors import InputError, ParameterError, counted
from ...io import need_columns, read_csv
from ._data_files import ABOUT, Root, find
from ._study import Study, by_series

Files = list[tuple[str, bytes]]  # names and contents
HOURS = 48
FORMS = ("hourly", "raw")
ATTRIBUTES = ("all", "paper")
REPAIR_2012 = "Remove the file and run `imputefree data get physionet2012`"
RULE_2012 = "A stay is lines of hh:mm,variable,value; the first line after the header is RecordID"
DEATH = "In-hospital_death"
STATICS_2012 = ["Age", "Gender", "Height", "ICUType", "Weight"]
# fmt: off
VARIABLES = [
    "ALP", "ALT", "AST", "Albumin", "BUN", "Bilirubin", "Cholesterol", "Creatinine", "DiasABP",
    "FiO2", "GCS", "Glucose", "HCO3", "HCT", "HR", "K", "Lactate", "MAP", "MechVent", "Mg",
    "NIDiasABP", "NIMAP", "NISysABP", "Na", "PaCO2", "PaO2", "Platelets", "RespRate", "SaO2",
    "SysABP", "Temp", "TroponinI", "TroponinT", "Urine", "WBC", "Weight", "pH",
]
# fmt: on
NOT_IN_THE_PAPER = ("MechVent", "Weight")
NAMES = sorted({*STATICS_2012, *VARIABLES, "RecordID"})  # RecordID shows that a stay has a file
SET_B = "training_setB"
REPAIR_2019 = f"Get {SET_B} of the challenge again from physionet.org/content/challenge-2019"
RULE_2019 = (
    "A stay is a line of names and a line per hour, with | between cells and SepsisLabel 0 or 1"
)
LABEL, TIME = "SepsisLabel", "ICULOS"
STATICS_2019 = ["Age", "Gender", "Unit1", "Unit2", "HospAdmTime"]


def challenge_2012(
    root: Root = None,
    form: str = "hourly",
    sets: Sequence[str] = "abc",
    attributes: str = "all",
) -> Study:
    """The challenge as a study; y is 1 if the patient died in hospital.

    Parameters
    ----------
    root : the folder with the files, or its parent
    form : "hourly": X (n, 48, 37), NaN for an hour without a measurement; "raw": a list of n frames
        (T_i, 37), one row whenever something was measured, and times in hours
    sets : the thirds to read, 4,000 stays each
    attributes : "all": 37 variables and 5 statics; "paper": the 35 variables of the paper alone
    """
    check_value("form", form, choice(*FORMS))
    check_value("attributes", attributes, choice(*ATTRIBUTES))
    measured, static, died = _read(root, sets)
    empty = len(died) - measured["stay"].nunique()
    X: Any
    if form == "hourly":
        X, times = _hourly(measured, died.index), None
        note = "Hourly means on a grid of 48 steps."
    else:
        X, times = _raw(measured, died.index)
        note = "A step whenever something was measured; an empty stay has one empty step."
    columns = list(VARIABLES)
    if attributes == "paper":
        columns = [name for name in VARIABLES if name not in NOT_IN_THE_PAPER]
        places = [VARIABLES.index(name) for name in columns]
        X = X[:, :, places] if form == "hourly" else [frame[columns] for frame in X]
        note += f" The paper's {len(columns)} variables, without statics."
    return Study(
        "physionet2012",
        X,
        died.to_numpy(),
        **ABOUT["physionet2012"],
        static=static.reset_index(drop=True) if attributes == "all" else None,
        times=times,
        notes=(f"Sets {', '.join(sets)}; {empty} stays hold no measurement at all.", note),
        columns=tuple(columns),
    )


def _read(root: Root, sets: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Measurements (stay, minute, variable, value), statics and outcomes of all stays in `sets`."""
    if not sets or not set(sets) <= set("abc") or len(set(sets)) < len(sets):
        raise ParameterError(
            f"sets is {sets!r}", "It must hold letters of 'abc', each once", "Pass sets='abc'"
        )
    home = find(
        "PhysioNet 2012",
        ["physionet2012"],
        [(f"Outcomes-{part}.txt",) for part in sets]
        + [(f"set-{part}.tar.gz", f"set-{part}") for part in sets],
        root=root,
        remedy="Run `imputefree data get physionet2012`",
    )
    died = pd.concat([read_outcomes(home / f"Outcomes-{part}.txt") for part in sets])
    events = pd.concat([read_events(home, f"set-{part}") for part in sets])
    alone = pd.Index(events["stay"].unique()).symmetric_difference(died.index)
    if len(alone):
        raise InputError(
            f"{counted(len(alone), 'stay')} in {home} have a file and no outcome, or an outcome and"
            f" no file (the first: {alone[0]})",
            "Every stay has both",
            "Unpack the sets again, or run `imputefree data get physionet2012`",
        )
    events = events[events["value"] >= 0].reset_index(drop=True)
    # The lines at 00:00 describe the patient; a weight there is the one at admission.
    described = events[(events["minute"] == 0) & events["variable"].isin(STATICS_2012)]
    described = described.drop_duplicates(["stay", "variable"]).astype({"variable": str})
    static = described.pivot(index="stay", columns="variable", values="value")
    static = static.reindex(index=died.index, columns=STATICS_2012).rename_axis(columns=None)
    static["ICUType"] = static["ICUType"].astype("Int64").astype("category")  # a code
    measured = events.drop(index=described.index)
    return measured[measured["variable"].isin(VARIABLES)], static, died


def _hourly(events: pd.DataFrame, stays: pd.Index) -> np.ndarray:
    """Mean of each variable in each hour; (n, 48, 37)."""
    stay = stays.get_indexer(pd.Index(events["stay"]))
    hour = np.minimum(events["minute"].to_numpy() // 60, HOURS - 1)  # 48:00 ends the last hour
    return _means(stay * HOURS + hour, events, len(stays) * HOURS).reshape(len(stays), HOURS, -1)


def _raw(events: pd.DataFrame, stays: pd.Index) -> tuple[list[pd.DataFrame], list[np.ndarray]]:
    """Frames (T_i, 37), one row for each minute with a measurement; and their hours, (T_i,)."""
    stay = stays.get_indexer(pd.Index(events["stay"]))
    longest = 60 * HOURS + 1
    moment = stay * longest + events["minute"].to_numpy()
    empty = np.setdiff1d(np.arange(len(stays)), stay) * longest  # a series has at least one step
    moments = np.unique(np.concatenate([moment, empty]))
    values = _means(np.searchsorted(moments, moment), events, len(moments))
    hours = moments % longest / 60
    frame = pd.DataFrame(values, columns=VARIABLES)
    begins = np.searchsorted(moments // longest, np.arange(len(stays)))
    return by_series(frame, begins), by_series(hours, begins)


def _means(row: np.ndarray, events: pd.DataFrame, n_rows: int) -> np.ndarray:
    """(n_rows, 37): mean of the events of each row and variable, NaN where there is none."""
    column = pd.Index(VARIABLES).get_indexer(events["variable"].cat.categories)
    place = row * len(VARIABLES) + column[events["variable"].cat.codes]
    size = n_rows * len(VARIABLES)
    total = np.bincount(place, weights=events["value"].to_numpy(), minlength=size)
    count = np.bincount(place, minlength=size)
    mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    return mean.reshape(n_rows, len(VARIABLES))


def read_outcomes(path: Path) -> pd.Series:
    """Who died (0 or 1), by RecordID."""
    table = read_csv(path)
    need_columns(table, ["RecordID", DEATH], path)
    stay, died = (
        pd.to_numeric(table[name], errors="coerce").to_numpy(float) for name in ("RecordID", DEATH)
    )
    bad = ~(np.isfinite(stay) & np.isin(died, [0, 1]))
    fact = f"{path} names a stay twice" if len(np.unique(stay)) < len(stay) else ""
    if bad.any():
        fact = f"{path} has no outcome in line {int(np.flatnonzero(bad)[0]) + 2}"
    if fact:
        rule = f"Every line must have a RecordID of its own, and 0 or 1 as {DEATH}"
        raise InputError(fact, rule, REPAIR_2012)
    index = pd.Index(stay.astype(np.int64), name="RecordID")
    return pd.Series(died.astype(np.int64), index=index, name=DEATH)


def read_events(home: Path, name: str) -> pd.DataFrame:
    """All measurements of a set, from its folder or its archive: stay, minute, variable, value."""
    path, files = read_stays(home, f"{name}.tar.gz", ".txt", REPAIR_2012)
    return parse_together(files, _parse_2012, path, RULE_2012, REPAIR_2012)


def _parse_2012(files: Files) -> pd.DataFrame:
    """All measurements of these stays; a ValueError if a file is bad."""
    bodies = [content.partition(b"\n")[2].strip() for _, content in files]
    if not all(body.startswith(b"00:00,RecordID,") for body in bodies):
        raise ValueError
    kinds: dict[str, Any] = {"time": "category", "variable": "category", "value": float}
    lines = pd.read_csv(
        io.BytesIO(b"\n".join(bodies)), names=list(kinds), dtype=kinds, index_col=False
    )
    # Every file begins with its RecordID: the lines up to the next one belong to that stay.
    begins = lines["variable"] == "RecordID"
    clocks = lines["time"].cat.categories.astype(str)  # at most 2,881 of them
    if begins.sum() != len(files) or lines["time"].isna().any():
        raise ValueError
    if not clocks.str.fullmatch(r"[0-4]\d:[0-5]\d").all() or clocks.max() > "48:00":
        raise ValueError
    minutes = 60 * clocks.str[:2].astype(int) + clocks.str[3:].astype(int)
    lines["stay"] = lines["value"].where(begins).ffill().astype("int64")
    lines["minute"] = minutes.to_numpy()[lines["time"].cat.codes]
    lines["variable"] = lines["variable"].cat.set_categories(NAMES)  # other names become gaps
    return lines.loc[lines["variable"].notna(), ["stay", "minute", "variable", "value"]]


def challenge_2019(root: Root = None) -> Study:
    """Hospital B as a study; y is 1 if sepsis follows, times are hours in intensive care.

    root : the folder with the files, or its parent
    """
    home = find(
        "PhysioNet 2019",
        ["physionet2019"],
        [(f"{SET_B}.tar.xz", SET_B)],
        root=root,
        remedy=REPAIR_2019,
    )
    path, files = read_stays(home, f"{SET_B}.tar.xz", ".psv", REPAIR_2019)
    files = sorted(files)
    names = files[0][1].partition(b"\n")[0].decode("latin-1").strip().split("|")
    parse = partial(_parse_2019, names=names)
    hours = parse_together(files, parse, path, RULE_2019, REPAIR_2019)
    turned = hours.groupby("stay")[LABEL].max()
    before = hours[hours.groupby("stay")[LABEL].cummax() == 0]
    stays = before["stay"].unique()
    static = before.groupby("stay")[STATICS_2019].first().loc[stays].reset_index(drop=True)
    values = before.drop(columns=["stay", TIME, LABEL, *STATICS_2019])
    begins = np.flatnonzero(np.diff(before["stay"], prepend=-1))
    return Study(
        "physionet2019",
        by_series(values, begins),
        turned.loc[stays].to_numpy(dtype=np.int64),
        **ABOUT["physionet2019"],
        static=static,
        times=by_series(before[TIME].to_numpy(dtype=np.float64), begins),
        notes=(
            f"A stay ends before {LABEL} turns; {len(turned) - len(stays)} stays in which it is 1"
            " from the first hour are left out.",
        ),
    )


def _parse_2019(files: Files, names: list[str]) -> pd.DataFrame:
    """All hours of all stays, and the number of their stay; a ValueError if a file is bad."""
    header = "|".join(names).encode("latin-1")
    if not {*STATICS_2019, TIME, LABEL} <= set(names):
        raise ValueError
    bodies = []
    for _, content in files:
        first, _, body = content.partition(b"\n")
        bodies.append(body.strip())
        if first.strip() != header or not bodies[-1]:
            raise ValueError
    together = io.BytesIO(b"\n".join(bodies))
    hours = pd.read_csv(together, sep="|", names=names, dtype=float, index_col=False)
    lengths = [body.count(b"\n") + 1 for body in bodies]
    if sum(lengths) != len(hours) or not hours[LABEL].isin([0, 1]).all():
        raise ValueError
    hours["stay"] = np.repeat(np.arange(len(files)), lengths)
    later = hours["stay"].to_numpy()[1:] == hours["stay"].to_numpy()[:-1]
    if hours[TIME].isna().any() or not (np.diff(hours[TIME])[later] > 0).all():
        raise ValueError
    return hours


def read_stays(home: Path, archive: str, ending: str, remedy: str) -> tuple[Path, Files]:
    """The files with this ending in an archive, or in the folder it was unpacked to; and where."""
    path = home / archive
    path = path if path.exists() else home / archive.partition(".")[0]
    try:
        if path.is_dir():
            files = [(file.name, file.read_bytes()) for file in sorted(path.glob(f"*{ending}"))]
        else:
            with tarfile.open(path) as tar:
                files = [
                    (member.name, file.read())
                    for member in tar
                    if member.name.endswith(ending) and (file := tar.extractfile(member))
                ]
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        fact = f"{path} is truncated or corrupted ({error})"
        raise InputError(fact, "It must be a complete archive", remedy) from None
    if not files:
        raise InputError(f"{path} holds no stay", f"It has one {ending} file per stay", remedy)
    return path, files


def parse_together(
    files: Files,
    parse: Callable[[Files], pd.DataFrame],
    path: Path,
    rule: str,
    remedy: str,
) -> pd.DataFrame:
    """What `parse` makes of all files at once, which is many times faster than one by one.

    If it raises a ValueError, the bad file is named.
    """
    try:
        return parse(files)
    except ValueError:
        pass
    for file in files:
        try:
            parse([file])
        except ValueError:
            raise InputError(f"{file[0]} in {path} cannot be read", rule, remedy) from None
    raise InputError(f"{path} cannot be read", rule, remedy)
