"""The paper's tables, run again: one command per results file in `paper/results` (see PARTS).

    IMPUTEFREE_DATA=FOLDER python paper/run.py mnist-fixed [--jobs 2]

Finished runs are kept: the same command continues where it stopped. Most parts are cut to what two
cores can do; `imputefree bench STUDY` runs the paper's size.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from imputefree.lab.runs import Run, plan, run_grid

RESULTS = Path(__file__).parent / "results"
# What is slow, or not the point of the table: of these, the first results have the first seed only.
ONCE = (
    *("gain+network", "miwae+network", "gpvae+network", "mixture+network", "missforest+network"),
    *("gil-d", "random", "meta", "gate"),
)
# Series of up to 121 steps take these an hour each here; the paper has them on fixed length only.
TOO_SLOW = (("brits", "variable"), ("gru-d", "variable"))
# 4,101 columns take these many times as long as the others, and the paper has neither.
TOO_WIDE = (("lightgbm", "ophthalmic-simulated"), ("imputefree", "ophthalmic-simulated"))
# Methods of a plan that these files do not have; other files or later runs do. PhysioNet with the
# paper's 35 attributes is left to `imputefree bench`.
LATER = (("random", "physionet2012"), ("meta", "physionet2012"))
WITH_ONCE = ("mnist", "mnist-uncut", "physionet2012")
MAIN = ("network", "zero+network", "random", "gil")
POLICIES = ("network", "gil-h", "random", "gil")
# On MNIST most networks stop before the limit of 3,000 steps: the loss on validation rows no longer
# falls. The others are run again without the limit: all at MAR, and these at high rates.
SLOW_TO_STOP = ("gain+network", "miwae+network", "gpvae+network", "mixture+network")
# What the networks of imputers may spend here: study -> method -> setting.
CAPS: dict[str, dict[str, dict[str, Any]]] = {
    "mnist": {
        "gain+network": {"imputer__max_steps": 2000, "imputer__check_every": 200},
        "miwae+network": {"imputer__max_steps": 3000, "imputer__check_every": 200},
        "gpvae+network": {"imputer__max_iter": 2},
    },
    "ophthalmic-simulated": {
        "gain+network": {"imputer__max_steps": 1000, "imputer__check_every": 100},
        "miwae+network": {
            "imputer__max_steps": 1000,
            "imputer__n_importance": 5,
            "imputer__n_imputation": 20,
        },
        "gpvae+network": {"imputer__max_iter": 30},
    },
    "series": {
        "gain+network": {"imputer__max_steps": 2000, "imputer__check_every": 200},
        "miwae+network": {"imputer__max_steps": 2000},
        "gpvae+network": {"imputer__max_iter": 20},
    },
}
# What each results file holds: its study, and arguments of `plan`. The first five are the paper's
# tables with all methods, cut; the others run a few methods at the paper's size or under another
# protocol.
PARTS: dict[str, tuple[str, dict[str, Any]]] = {
    "mnist": ("mnist", {"seeds": 2, "steps": 3000, "method_settings": CAPS["mnist"]}),
    "ophthalmic-simulated": (
        "ophthalmic-simulated",
        {"seeds": 3, "method_settings": CAPS["ophthalmic-simulated"]},
    ),
    "icu": ("icu", {"seeds": 2, "width": 64, "steps": 1000, "method_settings": CAPS["series"]}),
    "physionet2012": (
        "physionet2012",
        {"seeds": 1, "width": 64, "steps": 1000, "method_settings": CAPS["series"]},
    ),
    "tables": ("tables", {"seeds": 2}),
    "mnist-uncut": ("mnist", {"seeds": 2, "method_settings": CAPS["mnist"]}),
    "mnist-second": ("mnist", {"methods": ONCE, "seeds": 2, "method_settings": CAPS["mnist"]}),
    "physionet2012-uncut": (
        "physionet2012",
        {"seeds": 2, "width": 64, "method_settings": CAPS["series"]},
    ),
    "mnist-fixed": ("mnist", {"methods": MAIN, "rates": [0.9, 0.5, 0.7], "seeds": 5}),
    "mnist-redrawn": (
        "mnist",
        {"methods": MAIN, "rates": [0.9, 0.5, 0.7], "seeds": 3, "masks": "redrawn"},
    ),
    "icu-placeholders": (
        "icu",
        {"methods": POLICIES, "seeds": 5, "width": 64, "placeholders": [0, "3max"]},
    ),
    "icu-placeholders-256": (
        "icu",
        {"methods": POLICIES, "seeds": 5, "width": 256, "placeholders": [0, "3max"]},
    ),
    "icu-placeholders-1024": (
        "icu",
        {"methods": ("network", "gil-h", "gil"), "seeds": 1, "placeholders": ["3max"]},
    ),
    "physionet2012-placeholders": (
        "physionet2012",
        {"methods": POLICIES, "seeds": 5, "width": 128, "placeholders": [0, "3max"]},
    ),
}


def runs_of(part: str) -> list[Run]:
    """The runs of a results file; first seeds first, as they carry the pictures."""
    study, arguments = PARTS[part]
    runs = [
        run
        for run in plan(study, **arguments).runs
        if part not in WITH_ONCE or run.method not in ONCE or run.mask_seed + run.split_seed == 0
        if (run.method, run.options.get("form")) not in TOO_SLOW
        if (run.method, part) not in TOO_WIDE
        if (run.method, part) not in LATER
        if "attributes" not in run.options
        if part != "mnist-uncut" or _reached_the_limit(run)
        if part != "mnist-second" or (run.mask_seed == 1 and run.method != "missforest+network")
        if part != "icu-placeholders-1024" or run.options["form"] == "fixed"
    ]
    return sorted(runs, key=lambda run: (run.mask_seed, run.split_seed))


def _reached_the_limit(run: Run) -> bool:
    """Whether this run of MNIST took all of the 3,000 steps that it had."""
    at_high_rates = run.method in SLOW_TO_STOP and run.options.get("rate") in (0.7, 0.9)
    return "steps" in run.setting and ("mechanism" in run.options or at_high_rates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="methods to run now; default: all")
    parser.add_argument("--seed", type=int, help="the seed to run now; default: all")
    parser.add_argument("--rate", type=float, help="the rate to run now; default: all")
    parser.add_argument("--form", help="the form of series to run now; default: all")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args()
    runs = [
        run
        for run in runs_of(options.part)
        if options.only is None or run.method in options.only
        if options.seed in (None, run.mask_seed + run.split_seed)
        if options.rate in (None, run.options.get("rate"))
        if options.form in (None, run.options.get("form"))
    ]
    command = shlex.join(["python", "paper/run.py", options.part])
    path = options.results / f"{options.part}.jsonl"
    run_grid(runs, path, n_jobs=options.jobs, command=command, pictures=True)


if __name__ == "__main__":
    main()
