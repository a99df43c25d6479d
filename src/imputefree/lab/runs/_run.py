"""A grid of runs, written down one by one as they finish; what is written is not run again.

    run_grid(plan("mnist", methods=["gil", "gil-h"], seeds=2).runs, "mnist.jsonl")

A line of results holds

- study, method, options, setting, grid, mask_seed, split_seed : the run; see `_protocol.Run`
- status : "done", or "failed": then `error` says why, and there are no scores
- rows, chosen, tried, ignored, scores, cost : see `_protocol.carry_out`
- pictures : if asked for, and only for runs whose seeds are both 0, since one of each kind is
  enough to look at; see `_pictures`
- simulated, missing_rate, notes : what a reader has to know about the study
- warnings : the first line of each warning
- seconds, finished : how long the run took (with its pictures), and when it ended (UTC)
- versions, commit, sources, command : what produced it; `sources` is a fingerprint of the code that
  learns and scores
"""

from __future__ import annotations

import ast
import hashlib
import json
import platform
import shlex
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..._progress import grid_progress
from ..._rules import check_value, whole
from ...errors import ImputefreeError, counted
from ..studies import Root
from ._pictures import PictureWarning
from ._protocol import Run, carry_out
from ._results import Record, ResultsFile
from ._workers import Results, WorkerDied, by_processes

PACKAGES = (
    *("imputefree", "torch", "numpy", "scipy", "pandas", "scikit-learn"),
    *("lightgbm", "xgboost-cpu", "pypots"),
)
MAX_LETTERS = 500  # of an error or a warning
MAX_WARNINGS = 5


def run_grid(
    runs: Iterable[Run],
    path: Path | str,
    *,
    n_jobs: int = 1,
    workers: Callable[[Callable[[Run], Record], Sequence[Run]], Results[Run]] | None = None,
    root: Root = None,
    retry_failed: bool = False,
    progress: bool = True,
    command: str | None = None,
    pictures: bool = False,
) -> list[Record]:
    """Carry out the runs that the file does not hold yet, append a line for each, and return all.

    Parameters
    ----------
    runs : in any order; duplicates are run once
    path : the results file; created, with its folder, if it does not exist
    n_jobs : processes on this machine, each with one thread
    workers : used instead of these processes; a function of `_workers`, such as a Dask `Cluster`
    root : folder with the studies' files, as for `studies.load`
    retry_failed : run again what the file holds as failed; the new line counts
    progress : show a bar with the time left, on a terminal
    command : recorded in the lines; default: how this program was called
    pictures : also record what there is to look at, where both seeds are 0. This does not change
        a run's identity: a line that the file holds without pictures stays so

    Lines that other code made are kept, with a warning. A method that fails is a line as well. A
    study that cannot be read, or a file that cannot be written, ends everything with one error;
    what is written stays.
    """
    check_value("n_jobs", n_jobs, whole(1))
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
        _warn_of_changes([lines[identity] for identity in asked if identity in lines], path)
        work = partial(attempt, root=root, pictures=pictures)
        carry = workers or partial(by_processes, n_jobs=n_jobs)
        with grid_progress(progress, len(asked), len(asked) - len(todo)) as report:
            for run, result in carry(work, todo):
                record = failed(run, str(result)) if isinstance(result, WorkerDied) else result
                results.append(record | {"command": command})
                lines[run.identity] = results.records[-1]
                report(f"{run.study} {run.method}")
    return [lines[identity] for identity in asked]


def attempt(run: Run, root: Root = None, pictures: bool = False) -> Record:
    """A line of results without its command. Only a study that cannot be read raises."""
    start = time.perf_counter()
    study = run.load(root)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")  # "once" would depend on earlier runs
        try:
            shown = pictures and run.mask_seed == run.split_seed == 0
            result = {"status": "done", **carry_out(run, study, pictures=shown)}
            json.dumps(result, allow_nan=False)  # else the results file would end the whole grid
        except Exception as error:  # a method may fail in any way; the others continue
            result = {"status": "failed", "error": _message(error)}
    result |= {
        "simulated": study.simulated,
        "missing_rate": study.missing_rate,
        "notes": list(study.notes),
        "warnings": _first_lines(caught),
    }
    return _record(run, result, time.perf_counter() - start)


def failed(run: Run, why: str) -> Record:
    """The line of a run that could not report its failure itself."""
    return _record(run, {"status": "failed", "error": why}, None)


def _record(run: Run, result: Record, seconds: float | None) -> Record:
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    made = {"versions": versions, "commit": commit(), "sources": fingerprint()}
    return asdict(run) | result | {"seconds": seconds, "finished": finished, **made}


def _warn_of_changes(kept: Sequence[Record], path: Path | str) -> None:
    """Say so if lines that are not run again were made by other code than this."""
    others = {record.get("sources") for record in kept} - {fingerprint()}
    if others:
        count = counted(sum(record.get("sources") in others for record in kept), "run")
        known = ", ".join(sorted(name for name in others if name)) or "not recorded"
        warnings.warn(
            f"{count} in {path} were made by other code (sources {known}; now {fingerprint()})."
            " They are kept as they are. To run them again, remove their lines or name another"
            " file.",
            ChangedCodeWarning,
            stacklevel=3,
        )


def _message(error: Exception) -> str:
    text = str(error)
    if not isinstance(error, ImputefreeError):
        text = f"{type(error).__name__}: {text}"
    return " ".join(text.split())[:MAX_LETTERS]


def _first_lines(caught: list[warnings.WarningMessage]) -> list[str]:
    # Pictures warn last, and must not be lost behind the method's own warnings.
    caught = sorted(caught, key=lambda warning: not issubclass(warning.category, PictureWarning))
    lines = (str(warning.message).strip().split("\n")[0][:MAX_LETTERS] for warning in caught)
    return list(dict.fromkeys(lines))[:MAX_WARNINGS]


HOME = Path(__file__).parents[2]  # the package
# What decides a prediction, and what also decides the figures of a run.
LEARNING = ("data/*.py", "gil/*.py", "families/*.py", "estimators/*.py", "_rules.py")
RUNNING = (
    *LEARNING,
    *("baselines/*.py", "metrics/*.py", "missingness/*.py", "lab/imputers/*.py"),
    *("lab/rivals/*.py", "lab/studies/*.py", "lab/runs/_protocol.py"),
)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class ChangedCodeWarning(UserWarning):
    """Results of other code are kept next to new ones."""


@cache
def fingerprint(patterns: tuple[str, ...] = RUNNING) -> str:
    """Eight digits that change with this code of the package, not with docstrings or comments.

    patterns : file names inside the package, such as "gil/*.py"

    >>> fingerprint() == fingerprint(RUNNING), fingerprint() == fingerprint(LEARNING)
    (True, False)
    """
    digest = hashlib.sha256()
    for path in sorted(path for name in patterns for path in HOME.glob(name)):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
                node.body = node.body[1:]
        digest.update(ast.dump(tree).encode())
    return digest.hexdigest()[:8]


@cache
def commit() -> str:
    """The commit that is checked out, with a plus sign if the package differs; "" outside git."""
    head = ["git", "rev-parse", "--short=12", "HEAD"]
    changed = ["git", "status", "--porcelain", "--untracked-files=no", "--", "."]
    try:
        name, changes = (
            subprocess.run(
                words, cwd=HOME, capture_output=True, text=True, check=True, timeout=60
            ).stdout.strip()
            for words in (head, changed)
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return name + "+" * bool(changes)
