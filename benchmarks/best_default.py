"""Is the default the best there is for tables with gaps? Ours and strong rivals, part by part.

Twelve tables with natural gaps, adult, flights, and a simulated task of up to a million rows (see
table_tasks.py); methods in table_methods.py. One process, one thread. Each run is a line of a
results file, appended as soon as it is done; a run whose line is there, from the same version of
the method, is not repeated. For ours, the version changes with every change to the code that
learns.

    IMPUTEFREE_DATA=../shared/data python -m benchmarks.best_default run \
        [--tasks twelve adult …] [--methods ours rivals blend …] [--results FILE]
    python -m benchmarks.best_default summary [--results FILE]
    python -m benchmarks.best_default collect FILE …    # lines of other results files, if new

Several at once: the tasks "twelve", "eight" (the first of them), "flights", "made"; the methods
"ours", "rivals", "policies", "imputers".
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

from benchmarks import table_methods, table_summary, table_tasks
from benchmarks.measuring import commit, provenance
from benchmarks.table_methods import METHODS
from benchmarks.table_tasks import TASKS, Part, is_regression, task
from imputefree.lab.runs import Record, ResultsFile, Run, read_results
from imputefree.metrics import Figures, classification_scores, regression_scores

RESULTS = Path(__file__).parent / "results" / "best_default.jsonl"
PACKAGES = "torch scikit-learn lightgbm numpy"
SCORES = ("auc", "log_loss", "calibration_error", "accuracy", "r2", "rmse")


def score(model: Any, part: Part) -> Figures:
    """Scores on the test rows. A class without a training row has probability 0; the AUC is the
    mean over the classes that the test rows have."""
    if is_regression(part.y):
        return regression_scores(part.y_test, model.predict(part.X_test))
    known = np.asarray(model.classes_).ravel()
    classes = np.unique(np.concatenate([part.y, part.y_test]))
    probability = np.zeros((len(part.y_test), len(classes)))
    probability[:, np.searchsorted(classes, known)] = model.predict_proba(part.X_test)
    return classification_scores(np.searchsorted(classes, part.y_test), probability)


def carry_out(part: Part, method: str, seed: int) -> dict[str, Any]:
    """Fit, predict and score once."""
    kind = "regression" if is_regression(part.y) else "classification"
    model = METHODS[method].make(kind, seed)
    options = {}
    if part.groups is not None and has_fit_parameter(model, "groups"):
        options["groups"] = part.groups
    cpu, wall = time.process_time(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence; unseen categories
        model = model.fit(part.X, part.y, **options)
        fitted_cpu, fitted_wall = time.process_time(), time.perf_counter()
        scores = score(model, part)
    return {
        "rows": [len(part.y), len(part.y_test)],
        "scores": {name: round(float(scores[name]), 6) for name in SCORES if name in scores},
        "cost": {
            "fit_cpu_seconds": round(fitted_cpu - cpu, 3),
            "fit_seconds": round(fitted_wall - wall, 3),
            "predict_cpu_seconds": round(time.process_time() - fitted_cpu, 3),
        },
    }


def run_all(tasks: Iterable[str], methods: Sequence[str], path: Path) -> None:
    """Every run that has no line yet, the tasks in order."""
    versions = {name: METHODS[name].version for name in methods}
    about = {"commit": commit(), **provenance(PACKAGES)}
    torch.set_num_threads(1)
    with threadpool_limits(1), ResultsFile(path) as results:
        done = {_key(record) for record in results.records}
        for name in tasks:
            this = task(name)
            for k in range(this.n_parts):
                todo = [
                    method
                    for method in methods
                    if (Run(name, method, split_seed=k).identity, versions[method]) not in done
                ]
                part = this.part(k) if todo else None
                for method in todo:
                    if len(part.y) > METHODS[method].most_rows:
                        continue
                    run = Run(name, method, split_seed=k)
                    record = {**vars(run), "version": versions[method]}
                    record |= carry_out(part, method, seed=k) | about
                    results.append(record)
                    seconds = record["cost"]["fit_cpu_seconds"]
                    print(f"{name} {k} {method}: {record['scores']} {seconds:.1f} s", flush=True)


def collect(sources: Iterable[Path], path: Path) -> None:
    """Add the lines of other results files that this one lacks; where they were is not kept."""
    with ResultsFile(path) as results:
        done = {_key(record) for record in results.records}
        for source in sources:
            for record in read_results(source):
                if _key(record) not in done:
                    command = re.sub(r" --results \S+", "", record["command"])
                    results.append({**record, "command": command})
                    done.add(_key(record))


def _key(record: Record) -> tuple[str, str]:
    return Run.of(record).identity, record["version"]


def _named(words: Sequence[str], groups: Mapping[str, Iterable[str]]) -> list[str]:
    """Names with those that stand for several replaced, without repetition."""
    return list(dict.fromkeys(name for word in words for name in groups.get(word, [word])))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("run", "summary", "collect"))
    parser.add_argument("files", nargs="*", type=Path, help="to collect lines from")
    parser.add_argument("--tasks", nargs="+", default=TASKS, metavar="T", help="twelve, adult, …")
    parser.add_argument("--methods", nargs="+", default=["ours", "rivals"], metavar="M")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    tasks = _named(options.tasks, table_tasks.GROUPS)
    methods = _named(options.methods, table_methods.GROUPS)
    unknown = [name for name in methods if name not in METHODS]
    if unknown:
        parser.error(f"no method is called {unknown[0]!r}; there are {', '.join(METHODS)}")
    if options.action == "run":
        run_all(tasks, methods, options.results)
    if options.action == "collect":
        collect(options.files, options.results)
    print(table_summary.report(options.results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
