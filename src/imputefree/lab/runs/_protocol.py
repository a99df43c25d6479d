"""What one run is: a study, a method and two seeds in, the figures of its test part out.

The order of things, the same for every method:

1. The study is loaded; `mask_seed` decides its gaps where they are made on purpose.
2. `split_seed` decides which rows are to learn from, to choose by (validation) and to test.
3. The method learns from training rows; validation rows are its `held_out`: for early stopping and
   whatever else it chooses by itself. Where a grid is given, every setting is tried so, and the one
   with the smallest validation loss (log-loss, or mean squared error) is kept as it is.
4. The test part is predicted, and scored, once. Nothing that was chosen has seen it.

The method's own seed comes from both seeds, and a run has one thread: the same run gives the same
scores in any order, beside any others, on one core or many.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from ...errors import ParameterError
from ...metrics import _scores as metrics
from ..rivals._methods import CLASSES, SERIES, TABLES, make_method
from ..studies import load, takes
from ..studies._data_files import Root
from ..studies._study import Study
from . import _peak_memory as peak_memory
from . import _pictures as looks
from ._settings import Setting, configure, in_epochs, settings

METHODS = {**TABLES, **SERIES}


@dataclass(frozen=True)
class Run:
    """One line of results, before it is done.

    study, options : what `datasets.load` takes, without seeds of masks and without root
    method : a name of `bench.methods`
    setting : parameters of the method; see `bench.settings`
    grid : parameter -> values to choose from on validation rows
    mask_seed : which entries are hidden, in studies that hide them on purpose; else 0
    split_seed : which rows are tested

    >>> run = Run("icu", "mask_only", options={"n_series": 60}, split_seed=3)
    >>> Run.of(json.loads(run.identity)) == run
    True
    """

    study: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    setting: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    mask_seed: int = 0
    split_seed: int = 0

    @property
    def identity(self) -> str:
        """The same text for the same run, whatever the order in its dicts."""
        try:
            return json.dumps(asdict(self), sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"the run of {self.method!r} on {self.study!r} cannot be written down ({error})",
                "Options and settings must be texts, finite numbers, True, False, None, or lists"
                " of these",
                "Name things instead of passing objects",
            ) from None

    def as_dict(self) -> dict[str, Any]:
        """How its line of results begins."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Run:
        """The run of a line of results."""
        return cls(**{name: record[name] for name in cls.__dataclass_fields__})

    def check(self) -> None:
        """Refuse what would be a wrong figure rather than an error."""
        if self.method not in METHODS:
            raise ParameterError(
                f"there is no method {self.method!r}",
                f"Known are {', '.join(METHODS)}",
                "Pass one of these names",
            )
        if self.mask_seed and not takes(self.study, "mask_seed"):
            raise ParameterError(
                f"mask_seed is {self.mask_seed}, and {self.study!r} hides nothing on purpose",
                "Its gaps are the same for every seed, so a second run would repeat the first",
                "Leave mask_seed at 0 and vary split_seed",
            )
        for name in ("mask_seed", "root"):
            if name in self.options:
                raise ParameterError(
                    f"options holds {name!r}",
                    "It is not an option of the study in a run",
                    f"Pass {name}= beside options",
                )
        if self.options.get("masks") == "redrawn":
            raise ParameterError(
                "masks is 'redrawn'",
                "A run trains on one draw of the masks, so its line would claim what was not done",
                "Leave masks out",
            )

    def load(self, root: Root = None) -> Study:
        """Its study; the last one is kept, as runs on it come one after the other."""
        self.check()
        options = json.dumps(self.options, sort_keys=True)
        return _load(self.study, options, self.mask_seed, None if root is None else str(root))

    @property
    def random_state(self) -> int:
        """The method's seed: the same for all methods, another for each pair of seeds."""
        drawn = np.random.SeedSequence([self.mask_seed, self.split_seed]).generate_state(1)
        return int(drawn[0] % 2**31)


@lru_cache(maxsize=1)
def _load(name: str, options: str, mask_seed: int, root: str | None) -> Study:
    masks = {"mask_seed": mask_seed} if takes(name, "mask_seed") else {}
    return load(name, root, **json.loads(options), **masks)


def carry_out(run: Run, study: Study, pictures: bool = False) -> dict[str, Any]:
    """Fit, choose and test once; whatever goes wrong is raised.

    pictures : add what there is to look at; what goes wrong with that is a warning only

    Returns
    -------
    rows : how many there were to learn from, to choose by and to test
    chosen : the setting kept of the grid
    tried : [setting, validation loss] of each, where there is a grid
    ignored : what the study has and the method cannot take, such as times
    scores : see `bench.metrics`; imputation is judged on the test part, where truth is known
    cost : seconds of the fit kept, of all fits, of predicting (and, where it is judged, imputing)
        the test part, and peak memory in MB, None where nobody counts it; see `bench.peak_memory`
    pictures : where asked for; see `bench.pictures`
    """
    before = torch.get_num_threads()
    with threadpool_limits(1):
        torch.set_num_threads(1)
        try:
            return _carry_out(run, study, pictures)
        finally:
            torch.set_num_threads(before)


def _carry_out(run: Run, study: Study, pictures: bool) -> dict[str, Any]:
    peak_memory.begin()
    split = study.split(run.split_seed)
    rest = study.take(np.concatenate([split.train, split.validation]))
    held_out = np.arange(len(rest.y)) >= len(split.train)
    grid = list(settings(run.grid))
    tried: list[tuple[Setting, float]] = []
    seconds: list[float] = []
    kept: Any = None
    for setting in grid:
        model = make_method(run.method, study.task, study.kind, run.random_state)
        given = in_epochs(model, {**run.setting, **setting}, len(split.train))
        configure(model, given, run.random_state)
        start = time.perf_counter()
        model.fit(rest.inputs, rest.y, held_out=held_out)
        seconds.append(time.perf_counter() - start)
        # Of one setting there is nothing to choose.
        loss = _loss(model, study, split.validation) if len(grid) > 1 else 0.0
        tried.append((setting, loss))
        if kept is None or loss < kept[1]:
            kept = model, loss, len(tried) - 1
    if kept is None:
        raise ParameterError("the grid is empty", "It must hold values", "Leave grid out")
    model, _, at = kept
    test = study.take(split.test)
    start = time.perf_counter()
    prediction = _predict(model, test)
    cost = {
        "fit_seconds": seconds[at],
        "search_seconds": sum(seconds),
        "predict_seconds": time.perf_counter() - start,
        "peak_memory_mb": peak_memory.megabytes(),  # before judging, which takes memory too
    }
    scores = _scores(prediction, study, split.test)
    if hasattr(model, "impute") and test.complete() is not None:
        start = time.perf_counter()
        scores |= _imputation(model, test, rest.take(~held_out))
        cost["impute_seconds"] = time.perf_counter() - start
    found = {
        "rows": [len(part) for part in split],
        "chosen": tried[at][0],
        "tried": [list(one) for one in tried] if len(grid) > 1 else [],
        "ignored": [
            name for name in getattr(model, "ignores", ()) if getattr(study, name) is not None
        ],
        "scores": scores,
        "cost": cost,
    }
    if pictures:  # last, so that neither scores nor cost know of them
        try:
            shown = looks.pictures(model, study, test, random_state=run.random_state)
            json.dumps(shown, allow_nan=False)
            found["pictures"] = shown
        except Exception as error:  # the run is done, whatever its pictures do
            warnings.warn(
                f"no pictures: {type(error).__name__}: {error}", looks.PictureWarning, stacklevel=3
            )
    return found


def _predict(model: Any, part: Study) -> tuple[np.ndarray, Any]:
    """Probabilities and their classes, or numbers and None."""
    if part.task != CLASSES:
        return model.predict(part.inputs), None
    return model.predict_proba(part.inputs), model.classes_


def _scores(prediction: tuple[np.ndarray, Any], study: Study, rows: np.ndarray) -> metrics.Figures:
    values, classes = prediction
    values = np.asarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ParameterError(
            "the method predicts NaN or infinity", "Predictions must be finite", "Mend the method"
        )
    if classes is None:
        return metrics.of_numbers(study.y[rows], values)
    everyone = np.unique(study.y)
    probability = np.zeros((len(values), len(everyone)))  # 0 for a class it never saw
    probability[:, np.searchsorted(everyone, classes)] = values
    probability /= probability.sum(1, keepdims=True)
    return metrics.of_classes(np.searchsorted(everyone, study.y[rows]), probability)


def _loss(model: Any, study: Study, rows: np.ndarray) -> float:
    figures = _scores(_predict(model, study.take(rows)), study, rows)
    return float(figures["log_loss" if study.task == CLASSES else "rmse"] or 0.0)


def _imputation(model: Any, test: Study, train: Study) -> metrics.Figures:
    filled = model.impute(test.inputs).astype(np.float64)
    if not np.isfinite(filled[~test.observed]).all():
        raise ParameterError(
            "the method fills gaps with NaN or infinity",
            "Entries must be finite",
            "Mend the method",
        )
    truth = test.steps(test.complete())
    learned = train.steps(train.X)
    seen = (column[~np.isnan(column)].astype(np.float64) for column in learned.T)
    spread = np.array([column.std() if len(column) else 0.0 for column in seen])
    return metrics.of_imputation(filled, truth, ~test.observed, spread)
