"""Where MIMIC-III's files are, the whole before the demo; `mimic3` itself reads them."""

from __future__ import annotations

from pathlib import Path

from ._data_files import Root, find
from ._sources import SOURCES


def home(root: Root = None) -> Path:
    """The folder with the tables that are read, each as .csv or .csv.gz, in either case.

    >>> home("nowhere")
    Traceback (most recent call last):
    imputefree.errors.InputError: the folder nowhere does not exist. MIMIC-III is looked for in ...
    """
    tables = [file.name for file in SOURCES["mimic3"].files]
    return find(
        "MIMIC-III",
        ("mimic3", "mimic3_demo"),
        [(name, f"{name}.gz", name.lower(), f"{name.lower()}.gz") for name in tables],
        root=root,
        how="Get access at physionet.org, or run `imputefree data get mimic3` for the public demo",
    )
