"""PhysioNet/CinC Challenge 2019, hospital B: 20,000 ICU stays of 8 to 336 hours; who gets sepsis?

Real, public data (CC BY 4.0), read from the challenge's files, which this package does not contain:
`training_setB.tar.xz` (or a folder `training_setB`), one file `p….psv` per stay.

In these files `SepsisLabel` is 1 from six hours before the onset of sepsis. Here a stay has one
label, 1 if sepsis follows, and ends before its `SepsisLabel` turns: what came later would give the
answer away. In 223 stays it is 1 from the first hour; nothing is left of these, so they are left
out. Stays are hourly, of unequal length, and their length says much about the label: only cut ones
are shorter than 8 hours.
"""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from ._data_files import ABOUT, Root, find, read_archive, read_together
from ._study import Study, by_series

NAME = "training_setB"
REPAIR = f"Get {NAME} of the challenge again from physionet.org/content/challenge-2019"
RULE = "A stay is a line of names and a line per hour, with | between cells and SepsisLabel 0 or 1"
LABEL, TIME = "SepsisLabel", "ICULOS"
STATICS = ["Age", "Gender", "Unit1", "Unit2", "HospAdmTime"]


def study(root: Root = None) -> Study:
    """Hospital B as a study; y is 1 if sepsis follows, times are hours in intensive care.

    root : the folder with the files, or its parent
    """
    home = find(
        "PhysioNet 2019",
        ["physionet2019"],
        [(f"{NAME}.tar.xz", NAME)],
        root=root,
        remedy=REPAIR,
    )
    hours = read_stays(home)
    turned = hours.groupby("stay")[LABEL].max()
    before = hours[hours.groupby("stay")[LABEL].cummax() == 0]
    stays = before["stay"].unique()
    static = before.groupby("stay")[STATICS].first().loc[stays].reset_index(drop=True)
    values = before.drop(columns=["stay", TIME, LABEL, *STATICS])
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


def read_stays(home: Path) -> pd.DataFrame:
    """All hours of all stays, in the order of their names, and the number of their stay."""
    archive = home / f"{NAME}.tar.xz"
    path = archive if archive.exists() else home / NAME
    files = sorted(read_archive(path, ".psv", REPAIR))
    names = files[0][1].partition(b"\n")[0].decode("latin-1").strip().split("|")
    return read_together(files, partial(_parse, names=names), path, RULE, REPAIR)


def _parse(files: list[tuple[str, bytes]], names: list[str]) -> pd.DataFrame:
    """All files at once, which is many times faster than one by one; a ValueError if any is bad."""
    header = "|".join(names).encode("latin-1")
    if not {*STATICS, TIME, LABEL} <= set(names):
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
