"""One run: a study, a method and two seeds in, the scores on its test part out.

Every method goes through the same steps:

1. The study is loaded; `mask_seed` decides the gaps where they are simulated.
2. `split_seed` decides which rows are for training, validation and testing.
3. The method is fitted on the training rows (with redrawn masks: on complete rows, of which it
   hides others in every step); the validation rows are its `held_out`, for early
   stopping and whatever else it chooses itself. With a grid, every setting is fitted so, and the
   model with the smallest validation loss (log-loss, or mean squared error) is kept as it is.
4. The test part is predicted and scored once. Nothing that was chosen has seen it.

The method's own seed comes from both seeds, and a run uses one thread: the same run gives the same
scores in any order, alongside any other runs, on one core or many.

A setting is a dict of plain JSON values by parameter name. A parameter that a method lacks goes
to the estimator inside it (the network of "em+network"); "imputer__NAME" goes to its imputer,
"policy__NAME" to its policy and "reward__NAME" to its reward. "steps" is a budget of training steps
for methods that count epochs.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from ..._rules import check_name, check_options
from ...data import Split
from ...errors import ParameterError
from ...gil import POLICIES, REWARDS
from ...metrics import Figures, classification_scores, imputation_scores, regression_scores
from ..rivals import CLASSES, SERIES, TABLES, make_method
from ..studies import Root, Study, load, takes
from . import _pictures

METHODS = {**TABLES, **SERIES}
OUR_NETWORKS = ("gil", "gil-d", "gil-h", "network", "random", "meta", "gate")
STATUS, CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")

Setting = dict[str, Any]
Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Run:
    """One run: what identifies a line of results.

    study, options : arguments of `studies.load`, without mask_seed and root
    method : a name from `lab.rivals`
    setting : parameters of the method
    grid : what to choose from on validation rows: parameter -> values, or a list of settings
    mask_seed : decides which entries are hidden, in studies that hide them on purpose; else 0
    split_seed : decides which rows are tested

    >>> run = Run("icu", "mask_only", options={"n_series": 60}, split_seed=3)
    >>> Run.of(json.loads(run.identity)) == run
    True
    """

    study: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    setting: Mapping[str, Any] = field(default_factory=dict)
    grid: Grid = field(default_factory=dict)
    mask_seed: int = 0
    split_seed: int = 0

    @property
    def identity(self) -> str:
        """The same string for the same run, for any order of its dicts."""
        try:
            return json.dumps(asdict(self), sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"the run of {self.method!r} on {self.study!r} cannot be written as JSON ({error})",
                "Options and settings must be strings, finite numbers, True, False, None, or lists"
                " of these",
                "Pass names instead of objects",
            ) from None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Run:
        """The run of a line of results."""
        return cls(**{name: record[name] for name in cls.__dataclass_fields__})

    def check(self) -> None:
        """Raise a ParameterError for a run that would give a wrong figure rather than an error."""
        check_name("method", self.method, METHODS)
        if self.mask_seed and not takes(self.study, "mask_seed"):
            raise ParameterError(
                f"mask_seed is {self.mask_seed}, and {self.study!r} hides nothing on purpose",
                "Its gaps are the same for every seed, so a second run would repeat the first",
                "Leave mask_seed at 0 and vary split_seed",
            )
        refused = [name for name in ("mask_seed", "root") if name in self.options]
        if refused:
            fact = f"options holds {refused[0]!r}"
            raise ParameterError(fact, "A run has its own", "Leave it out of options")
        hides = self.method in OUR_NETWORKS or (
            self.method == "zero+network" and self.setting.get("numeric_encoding") == "unscaled"
        )  # what an unscaled network hides is 0
        if self.options.get("masks") == "redrawn" and not hides:
            raise ParameterError(
                f"masks are redrawn for the method {self.method!r}",
                "Networks that hide entries while they train can do so; another method would learn"
                " from complete rows",
                f"Choose one of {', '.join(OUR_NETWORKS)} (or, without scaling, zero+network), or"
                " leave masks at 'fixed'",
            )

    def load(self, root: Root = None) -> Study:
        """Load its study. The last one is cached, since runs on it follow one another."""
        self.check()
        options = json.dumps(self.options, sort_keys=True)
        return _load(self.study, options, self.mask_seed, None if root is None else str(root))

    @property
    def random_state(self) -> int:
        """The method's seed: the same for all methods, different for each pair of seeds."""
        state = np.random.SeedSequence([self.mask_seed, self.split_seed]).generate_state(1)
        return int(state[0] % 2**31)


@lru_cache(maxsize=1)
def _load(name: str, options: str, mask_seed: int, root: str | None) -> Study:
    masks = {"mask_seed": mask_seed} if takes(name, "mask_seed") else {}
    return load(name, root, **json.loads(options), **masks)


def carry_out(run: Run, study: Study, pictures: bool = False) -> dict[str, Any]:
    """Fit, choose and test once; every error is raised.

    pictures : add what there is to look at; an error there is only a warning

    Returns
    -------
    rows : numbers of training, validation and test rows
    chosen : the setting chosen from the grid
    tried : [setting, validation loss] of each, if there is a grid
    ignored : what the study has and the method cannot take, such as times
    scores : see `imputefree.metrics`; imputation is scored on the test part, where truth is known
    cost : seconds of the chosen fit, of all fits, of predicting (and, where it is scored, imputing)
        the test part; peak memory in MB, None where the system does not count it
    pictures : if asked for; see `_pictures`
    """
    n_threads = torch.get_num_threads()
    with threadpool_limits(1):
        torch.set_num_threads(1)
        try:
            return _carry_out(run, study, pictures)
        finally:
            torch.set_num_threads(n_threads)


def _carry_out(run: Run, study: Study, pictures: bool) -> dict[str, Any]:
    reset_peak_memory()
    split = study.split(run.split_seed)
    rest = study.for_training(split.train)
    rest = rest.take(np.concatenate([split.train, split.validation]))
    held_out = np.arange(len(rest.y)) >= len(split.train)
    model, chosen, tried = _fit_grid(run, study, split, rest, held_out)
    test = study.take(split.test)
    start = time.perf_counter()
    prediction = _predict(model, test)
    cost = {
        "fit_seconds": chosen.seconds,
        "search_seconds": sum(fit.seconds for fit in tried),
        "predict_seconds": time.perf_counter() - start,
        "peak_memory_mb": peak_memory_mb(),  # before scoring, which takes memory too
    }
    scores = _scores(prediction, study, split.test)
    if hasattr(model, "impute") and test.complete() is not None:
        start = time.perf_counter()
        scores |= _imputation_scores(model, test, rest.take(~held_out))
        cost["impute_seconds"] = time.perf_counter() - start
    result = {
        "rows": [len(part) for part in split],
        "chosen": chosen.setting,
        "tried": [[fit.setting, fit.loss] for fit in tried] if len(tried) > 1 else [],
        "ignored": [
            name for name in getattr(model, "ignores", ()) if getattr(study, name) is not None
        ],
        "scores": scores,
        "cost": cost,
    }
    if pictures:  # last, so that they touch neither scores nor cost
        shown = _pictures.pictures(model, study, test, random_state=run.random_state)
        result["pictures"] = shown
    return result


class Fit(NamedTuple):
    """A setting of the grid, its validation loss (0 if it is the only one), and seconds."""

    setting: Setting
    loss: float
    seconds: float


def _fit_grid(
    run: Run, study: Study, split: Split, rest: Study, held_out: np.ndarray
) -> tuple[Any, Fit, list[Fit]]:
    """The model of the least validation loss, its fit, and all fits.

    rest : what models may learn from
    """
    best: Any = None
    tried: list[Fit] = []
    grid = grid_settings(run.grid)
    for choice in grid:
        model = make_method(run.method, study.task, study.kind, run.random_state)
        setting = in_epochs(model, {**run.setting, **choice}, len(split.train))
        if study.redrawn_rate:
            setting["hide"] = study.redrawn_rate
        configure(model, setting)
        start = time.perf_counter()
        model.fit(rest.inputs, rest.y, held_out=held_out)
        seconds = time.perf_counter() - start
        loss = _loss(model, study, split.validation) if len(grid) > 1 else 0.0
        tried.append(Fit(choice, loss, seconds))
        if best is None or loss < best[1].loss:
            best = model, tried[-1]
    if not tried:
        raise ParameterError("the grid is empty", "It must hold values", "Leave grid out")
    return *best, tried


def _predict(model: Any, part: Study) -> tuple[np.ndarray, Any]:
    """Probabilities and their classes, or numbers and None."""
    if part.task != CLASSES:
        return model.predict(part.inputs), None
    return model.predict_proba(part.inputs), model.classes_


def _scores(prediction: tuple[np.ndarray, Any], study: Study, rows: np.ndarray) -> Figures:
    values, classes = prediction
    values = np.asarray(values, dtype=np.float64)
    _check_finite(values, "the method predicts")
    if classes is None:
        return regression_scores(study.y[rows], values)
    all_classes, truth = np.unique(study.y, return_inverse=True)
    probability = np.zeros((len(values), len(all_classes)))  # 0 for a class it never saw
    probability[:, np.searchsorted(all_classes, classes)] = values
    probability /= probability.sum(1, keepdims=True)
    return classification_scores(truth[rows], probability)


def _loss(model: Any, study: Study, rows: np.ndarray) -> float:
    figures = _scores(_predict(model, study.take(rows)), study, rows)
    return float(figures["log_loss" if study.task == CLASSES else "rmse"] or 0.0)


def _imputation_scores(model: Any, test: Study, train: Study) -> Figures:
    filled = model.impute(test.inputs).astype(np.float64)
    _check_finite(filled[~test.observed], "the method fills gaps with")
    truth = test.steps(test.complete())
    columns = (column[~np.isnan(column)].astype(np.float64) for column in train.steps(train.X).T)
    spread = np.array([column.std() if len(column) else 0.0 for column in columns])
    return imputation_scores(filled, truth, ~test.observed, spread)


def _check_finite(values: np.ndarray, fact: str) -> None:
    if not np.isfinite(values).all():
        rule = "Its output must be finite"
        raise ParameterError(f"{fact} NaN or infinity", rule, "Fix the method")


NAMED: dict[str, dict[str, Any]] = {"policy": POLICIES, "reward": REWARDS}
PAPER_BATCH = 128  # rows per step where steps are counted


def grid_settings(grid: Grid) -> list[Setting]:
    """The settings to choose from: a list as it is, or every combination of a dict's values.

    The last name changes fastest; no grid is one empty setting.

    >>> grid_settings({"max_iter": [5, 10], "dropout": [0.0, 0.5]})[:2]
    [{'max_iter': 5, 'dropout': 0.0}, {'max_iter': 5, 'dropout': 0.5}]
    """
    if not isinstance(grid, Mapping):
        return [dict(setting) for setting in grid]
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def in_epochs(model: Any, setting: Mapping[str, Any], n_rows: int) -> Setting:
    """The setting with "steps", a budget of training steps, as whole epochs of n_rows, at least 1.

    >>> in_epochs(make_method("em+network"), {"steps": 2000, "batch_size": 100}, 10_000)
    {'batch_size': 100, 'max_iter': 20}
    """
    rest = {name: value for name, value in setting.items() if name != "steps"}
    if "steps" not in setting:
        return rest
    defaults = model.get_params()
    inner = defaults.get("estimator__batch_size")
    batch = rest.get("batch_size", defaults.get("batch_size", inner))
    if batch is None:
        _check_setting(model, "steps")
    if batch == "auto":
        batch = rest["batch_size"] = PAPER_BATCH
    steps_per_epoch = -(-n_rows // int(batch))
    return {**rest, "max_iter": max(1, setting["steps"] // steps_per_epoch)}


def configure(model: Any, setting: Mapping[str, Any]) -> Any:
    """The same unfitted method with this setting.

    >>> configure(make_method("em+network"), {"max_iter": 3, "imputer__max_iter": 9})
    ImputeThenPredict(estimator=GILClassifier(max_iter=3, random_state=0),
                      imputer=EMImputer(max_iter=9, random_state=0))
    >>> configure(make_method("naive_bayes"), {"max_iter": 3})
    Traceback (most recent call last):
    imputefree.errors.ParameterError: ObservedNaiveBayes has no option 'max_iter'. Its options are \
kind, smoothing. ...
    """
    known = model.get_params()
    parts: dict[str, Setting] = {"policy": {}, "reward": {}}  # by what has a name so far
    for name, value in setting.items():
        if f"estimator__{name}" in known and name not in known:
            name = f"estimator__{name}"
        part, _, option = name.partition("__")
        if part in parts and known.get(part) in NAMED[part]:
            parts[part][option] = value
        else:
            _check_setting(model, name)
            model.set_params(**{name: value})
    for part, options in parts.items():
        if options:
            make = NAMED[part][known[part]]
            check_options(f"the {part} {known[part]!r}", options, signature(make).parameters)
            model.set_params(**{part: make(**options)})
    return model


def _check_setting(model: Any, name: str) -> None:
    check_options(type(model).__name__, [name], model.get_params())


def reset_peak_memory() -> None:
    """Forget earlier peaks: a process does many runs, and each is measured alone (Linux)."""
    with suppress(OSError):
        CLEAR_REFS.write_text("5")


def peak_memory_mb() -> float | None:
    """Peak resident memory in MB (2**20 bytes): libraries, the loaded study and the run.

    On Linux since `reset_peak_memory`. Elsewhere `getrusage` knows only the peak since the process
    started, so that a small run after a large one shows the large one's. None on Windows.

    >>> peak_memory_mb() > 1
    True
    """
    with suppress(OSError):
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 2**10
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
