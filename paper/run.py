"""The paper's tables, run again: one command per table, results in `paper/results`.

    IMPUTEFREE_DATA=../shared/data python paper/run.py mnist [--jobs 2]

Finished runs are kept: the same command continues where it stopped. Studies are cut to what two
cores can do (see CUTS); `imputefree bench STUDY` runs the paper's size.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from imputefree.lab.runs import Run, plan, run_grid

RESULTS = Path(__file__).parent / "results"
# Only the first seed of these is run: deep imputers, and what is not the point of the table.
ONCE = (
    *("gain+network", "miwae+network", "gpvae+network", "mixture+network", "missforest+network"),
    *("gil-d", "random", "meta", "gate"),
)
# Series of up to 121 steps take these an hour each here; the paper has them on fixed length only.
TOO_SLOW = (("brits", "variable"), ("gru-d", "variable"))
# 4,101 columns take these many times as long as the others, and the paper has neither.
TOO_WIDE = (("lightgbm", "ophthalmic-simulated"), ("imputefree", "ophthalmic-simulated"))
# What the networks of imputers may spend here: study -> method -> setting.
CAPS: dict[str, dict[str, dict[str, Any]]] = {
    "mnist": {
        "gain+network": {"imputer__max_steps": 2000, "imputer__check_every": 200},
        "miwae+network": {"imputer__max_steps": 3000, "imputer__check_every": 200},
        "gpvae+network": {"imputer__max_iter": 2},
    },
    "ophthalmic-simulated": {
        "gain+network": {"imputer__max_steps": 1000, "imputer__check_every": 100},
        "miwae+network": {"imputer__max_steps": 1000},
        "gpvae+network": {"imputer__max_iter": 30},
    },
    "series": {
        "gain+network": {"imputer__max_steps": 2000, "imputer__check_every": 200},
        "miwae+network": {"imputer__max_steps": 2000},
        "gpvae+network": {"imputer__max_iter": 20},
    },
}
CUTS: dict[str, dict[str, Any]] = {  # study -> arguments of `plan`
    "mnist": {"seeds": 2, "steps": 3000, "method_settings": CAPS["mnist"]},
    "ophthalmic-simulated": {
        "seeds": 1,
        "steps": 1000,
        "method_settings": CAPS["ophthalmic-simulated"],
    },
    "icu": {"seeds": 1, "width": 64, "steps": 1000, "method_settings": CAPS["series"]},
    "physionet2012": {"seeds": 1, "width": 64, "steps": 1000, "method_settings": CAPS["series"]},
    "tables": {"seeds": 2},
}


def runs_of(study: str) -> list[Run]:
    """The runs of a study; first seeds first, as they carry the pictures."""
    runs = [
        run
        for run in plan(study, **CUTS[study]).runs
        if study == "tables" or run.method not in ONCE or run.mask_seed + run.split_seed == 0
        if (run.method, run.options.get("form")) not in TOO_SLOW
        if (run.method, study) not in TOO_WIDE
    ]
    return sorted(runs, key=lambda run: (run.mask_seed, run.split_seed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", choices=CUTS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="methods to run now; default: all")
    parser.add_argument("--seed", type=int, help="the seed to run now; default: all")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args()
    runs = [
        run
        for run in runs_of(options.study)
        if options.only is None or run.method in options.only
        if options.seed in (None, run.mask_seed + run.split_seed)
    ]
    command = shlex.join(["python", "paper/run.py", options.study])
    path = options.results / f"{options.study}.jsonl"
    run_grid(runs, path, n_jobs=options.jobs, command=command, pictures=True)


if __name__ == "__main__":
    main()
