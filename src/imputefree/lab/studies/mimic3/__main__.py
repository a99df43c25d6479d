"""Print who is left after each step: `python -m imputefree.lab.studies.mimic3 …`"""

from __future__ import annotations

import argparse
import sys

from ...._progress import step_progress
from ....errors import ImputefreeError
from . import STEPS, build, open_source


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="imputefree.lab.studies.mimic3", description=__doc__)
    parser.add_argument("folder", nargs="?", help="csv or csv.gz files of MIMIC-III")
    parser.add_argument("--dsn", help="a PostgreSQL database instead")
    parser.add_argument("--schema", default="mimiciii")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--memory-limit", default="2GB")
    options = parser.parse_args(arguments)
    try:
        with (
            open_source(
                options.folder,
                dsn=options.dsn,
                schema=options.schema,
                memory_limit=options.memory_limit,
            ) as source,
            step_progress(True, STEPS, "MIMIC-III") as report,
        ):
            cohort = build(source, options.seed, report=report)
    except ImputefreeError as error:
        print(error, file=sys.stderr)
        return 1
    print(cohort.table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
