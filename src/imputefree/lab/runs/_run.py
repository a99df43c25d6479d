"""A grid of runs, written down one by one as they are done; what is written is not done again.

    run_grid(grid("mnist", ["gil", "gil-h", "em+network"], mask_seeds=[0, 1]), "results.jsonl")

A line of results holds

- study, method, options, setting, grid, mask_seed, split_seed : the run; see `protocol.Run`
- status : "done", or "failed": then `error` says why, and the figures are missing
- rows, chosen, tried, ignored, scores, cost : see `protocol.carry_out`
- pictures : where they are asked for, and only of runs whose seeds are both 0, as one of each kind
  is enough to look at; see `bench.pictures`
- simulated, missing_rate, notes : what a reader has to know of the study
- warnings : the first lines of what the method warned of
- seconds, finished : how long the run took (with its pictures), and when it ended (UTC)
- versions, command : what made it
"""

from __future__ import annotations

import json
import platform
import shlex
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..._progress import grid_progress
from ..._rules import check_rules, whole
from ...errors import ImputefreeError, ParameterError
from ..studies._data_files import Root
from ._pictures import PictureWarning
from ._protocol import Run, carry_out
from ._results import Record, ResultsFile
from ._workers import Width, WorkerDied, by_executor, by_processes

PACKAGES = (
    *("imputefree", "torch", "numpy", "scipy", "pandas", "scikit-learn"),
    *("lightgbm", "xgboost-cpu", "pypots"),
)
LONGEST = 500  # letters of an error or a warning
MOST_WARNINGS = 5


def run_grid(
    runs: Iterable[Run],
    path: Path | str,
    *,
    n_jobs: int = 1,
    executor: Any = None,
    width: Width = 1,
    root: Root = None,
    retry_failed: bool = False,
    progress: bool = True,
    command: str | None = None,
    pictures: bool = False,
) -> list[Record]:
    """Carry out what the file does not hold yet, append a line for each, return all asked for.

    Parameters
    ----------
    runs : in any order; one that is there twice is done once
    path : the file of results; made, with its folder, if it is not there
    n_jobs : processes of this machine, each with one thread
    executor, width : an executor with `submit` to be used instead, and how many runs it is given at
        a time: a number, or a function that is asked again and again
    root : where the files of studies are, as for `datasets.load`
    retry_failed : do again what is in the file as failed; the new line counts
    progress : a bar with the time left, where somebody is looking
    command : what stands in the lines; default: how this program was called
    pictures : also write down what there is to look at, where both seeds are 0. It does not make
        a run another one: a line that the file holds without pictures stays so

    A method that fails is a line as well. A study that cannot be read, or a file that cannot be
    written, ends the whole with one sentence; what is written stays.
    """
    check_rules(
        SimpleNamespace(n_jobs=n_jobs, width=width() if callable(width) else width),
        {"n_jobs": whole(1), "width": whole(1)},
    )
    asked = {run.identity: run for run in runs}
    for run in asked.values():
        run.check()
    if command is None:
        command = shlex.join(["python", *sys.argv])
    with ResultsFile(path) as results:
        lines = {Run.of(record).identity: record for record in results.records}
        todo = [
            run
            for identity, run in asked.items()
            if identity not in lines or (retry_failed and lines[identity]["status"] == "failed")
        ]
        work = partial(attempt, root=root, pictures=pictures)
        if executor is None:
            stream = by_processes(work, todo, n_jobs)
        else:
            stream = by_executor(work, todo, executor, width)
        with grid_progress(progress, len(asked), len(asked) - len(todo)) as report:
            for run, result in stream:
                record = failed(run, str(result)) if isinstance(result, WorkerDied) else result
                results.append(record | {"command": command})
                lines[run.identity] = results.records[-1]
                report(f"{run.study} {run.method}")
    return [lines[identity] for identity in asked]


def grid(
    study: str,
    methods: Sequence[str],
    *,
    options: Sequence[dict[str, Any]] = ({},),
    mask_seeds: Sequence[int] = (0,),
    split_seeds: Sequence[int] = (0,),
    settings: dict[str, dict[str, Any]] | None = None,
    grids: dict[str, dict[str, list[Any]]] | None = None,
) -> list[Run]:
    """Every method with every option and seed; runs on the same data stand together.

    options : of the study, such as {"rate": 0.5}, {"rate": 0.9}
    settings, grids : by method, such as {"network": {"max_iter": 10}}

    >>> runs = grid("mnist", ["gil", "network"], options=[{"rate": 0.5}], mask_seeds=[0, 1])
    >>> [(run.mask_seed, run.method) for run in runs]
    [(0, 'gil'), (0, 'network'), (1, 'gil'), (1, 'network')]
    """
    return [
        Run(
            study,
            method,
            options=chosen,
            setting=(settings or {}).get(method, {}),
            grid=(grids or {}).get(method, {}),
            mask_seed=mask_seed,
            split_seed=split_seed,
        )
        for chosen in options
        for mask_seed in mask_seeds
        for split_seed in split_seeds
        for method in methods
    ]


def attempt(run: Run, root: Root = None, pictures: bool = False) -> Record:
    """A line of results without its command. Only a study that cannot be read raises."""
    pictures = pictures and run.mask_seed == run.split_seed == 0
    start = time.perf_counter()
    study = run.load(root)
    about = {
        "simulated": study.simulated,
        "missing_rate": study.missing_rate,
        "notes": list(study.notes),
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")  # "once" would depend on the runs before
        try:
            found = {"status": "done", **carry_out(run, study, pictures=pictures)}
            _check_writable(found)
        except Exception as error:  # whatever a method does, the others go on
            found = {"status": "failed", "error": _sentence(error)}
    about["warnings"] = _first_lines(caught)
    return run.as_dict() | found | about | _made(time.perf_counter() - start)


def failed(run: Run, why: str) -> Record:
    """The line of a run that could not even say so itself."""
    return run.as_dict() | {"status": "failed", "error": why} | _made(None)


def _made(seconds: float | None) -> Record:
    return {
        "seconds": seconds,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **dict(_versions())},
    }


def _check_writable(found: Record) -> None:
    """Here, where it costs this run alone; the file would refuse it, and end the whole grid."""
    try:
        json.dumps(found, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"what the run found cannot be written down ({error})",
            "Figures must be finite numbers",
            "Mend the method",
        ) from None


def _versions() -> Iterator[tuple[str, str]]:
    for name in PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue


def _sentence(error: Exception) -> str:
    text = str(error)
    if not isinstance(error, ImputefreeError):
        text = f"{type(error).__name__}: {text}"
    return " ".join(text.split())[:LONGEST]


def _first_lines(caught: list[warnings.WarningMessage]) -> list[str]:
    # What came last must not be lost behind the method's own.
    caught = sorted(caught, key=lambda one: not issubclass(one.category, PictureWarning))
    lines = (str(one.message).strip().split("\n")[0][:LONGEST] for one in caught)
    return list(dict.fromkeys(lines))[:MOST_WARNINGS]
