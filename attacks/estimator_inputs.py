"""Estimators: whatever is learned from or predicted on, finite predictions or an error on purpose.

Most cases predict with models of a pool, which are fitted when they are first needed; some fit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

import imputefree
from imputefree import GILClassifier, GILRegressor
from imputefree.errors import ImputefreeError

from . import _made_series as series
from . import _made_tables as tables
from ._bytes import Generator, chance, pick
from ._frame import Broken, Case, Limits, Target
from ._made_tables import Recipe

SKLEARN = str(Path(sklearn.__file__).parent)
TINY = {"n_members": 2, "max_iter": 1, "hidden_layer_sizes": (4,), "random_state": 0}
SEEDED = {"random_state": 0}
CONFORMAL = SEEDED | {"cv": 2, "max_calibration": 10}
KINDS = {  # of the columns that the models of the pool know
    "number": "float",
    "few": "int",
    "word": "text",
    "level": "category",
    "truth": "bool",
    "constant": "constant",
}
NUMBERS = {"number": "float", "few": "int", "other": "float32"}
STATIC = {"age": "float", "ward": "category"}
POLICIES = ["none", "observed", "random", "ddpg", "meta", "gate"]
ENCODINGS = ["auto", "plain", "rich", "piecewise", "unscaled"]
POOL: dict[str, tuple[str, dict[str, Any]]] = {
    **{f"network {e}": ("GILClassifier", TINY | {"numeric_encoding": e}) for e in ENCODINGS},
    "network learned": ("GILClassifier", TINY | {"placeholder": "learned", "policy": "ddpg"}),
    "network regression": ("GILRegressor", TINY),
    "network regression unscaled": ("GILRegressor", TINY | {"numeric_encoding": "unscaled"}),
    **{
        f"blend of {name}": ("ImputeFreeClassifier", SEEDED | {"families": [name]})
        for name in ("trees", "forest", "density", "linear", "factors")
    },
    "blend": ("ImputeFreeClassifier", SEEDED | {"families": ["trees", "density"]}),
    "blend regression": ("ImputeFreeRegressor", SEEDED | {"families": ["trees"]}),
    "blend regression of densities": ("ImputeFreeRegressor", SEEDED | {"families": ["density"]}),
    "blend regression of lines": ("ImputeFreeRegressor", SEEDED | {"families": ["linear"]}),
    "sets": ("MaskConformalClassifier", CONFORMAL | {"estimator": GILClassifier(**TINY)}),
    "intervals": ("MaskConformalRegressor", CONFORMAL | {"estimator": GILRegressor(**TINY)}),
    "series": ("GILSequenceClassifier", TINY),
    "series unscaled": ("GILSequenceRegressor", TINY | {"numeric_encoding": "unscaled"}),
    "steps": ("GILSequenceClassifier", TINY | {"per_step": True, "cell": "lstm"}),
    "blend of series": ("ImputeFreeSequenceClassifier", SEEDED | {"families": ["trees"]}),
    "linear series": ("ImputeFreeSequenceClassifier", SEEDED | {"families": ["linear"]}),
    "blend regression of series": ("ImputeFreeSequenceRegressor", SEEDED | {"families": ["trees"]}),
}  # fmt: skip
ODD_VALUES = [None, "", "x", -1, 0, 0.5, float("nan"), float("inf"), [], {}, True, [0], [-1], 1e300]
CHOICES: dict[str, list[Any]] = {  # of the networks
    "policy": POLICIES,
    "placeholder": [0.0, 1.0, -1e6, "learned", "3max"],
    "indicator": [True, False],
    "numeric_encoding": ENCODINGS,
    "hide": [0.0, 0.5],
    "missingness": ["use", "use", "ignore"],
    "batch_size": [1, 4, 128],
    "early_stopping": [True, False],
    "learning_rate_init": [1e-3, 1e-3, 1e3],
    "weight_decay": [0.0, 0.3, 1e3],
    "activation": ["relu", "tanh"],
}
FOR_SERIES: dict[str, list[Any]] = {
    "cell": ["lstm", "gru"],
    "time_since": [True, False],
    "summary": [True, False],
    "per_step": [True, False],
}
BLENDS: dict[str, list[Any]] = {
    "families": [["trees"], ["density"], ["forest"], ["linear"], ["trees", "density"]],
    "quality": ["fast", "balanced"],
    "missingness": ["use", "use", "ignore"],
}
FITTED = ["GILClassifier"] * 5 + ["GILRegressor"] * 5 + ["GILSequenceClassifier"] * 3
FITTED += ["GILSequenceRegressor"] * 3 + ["ImputeFreeClassifier", "ImputeFreeRegressor"]
SHARE_OF_FITS = 0.2
FEW = 30  # rows


class Attack(Target):
    """Recipes: a model of the pool, or parameters and data to fit; data and a method to call."""

    name = "estimator_inputs"
    full = 20_000

    def make(self, rng: Generator) -> Case:
        if chance(rng, SHARE_OF_FITS):
            return make_fit(rng)
        name = pick(rng, list(POOL))
        n = int(rng.integers(1, FEW))
        if "series" in name or name == "steps":
            kinds = {key: _kind(rng, kind) for key, kind in NUMBERS.items()}
            static = {key: _kind(rng, kind) for key, kind in STATIC.items()}
            form = pick(rng, series.KEYED if chance(rng, 0.8) else series.FORMS)
            X = series.make_series(rng, kinds, static, form)
        else:
            X = tables.make_table(rng, {key: _kind(rng, kind) for key, kind in KINDS.items()}, n)
        return {"pool": name, "X": X, "method": pick(rng, METHODS)}

    def limits(self, case: Case) -> Limits:
        return Limits(seconds=20)

    def attack(self, case: Case) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                if "pool" in case:
                    model, X = pooled(case["pool"]), case["X"]
                else:
                    model, X = fitted(case), case["later"]
                X = rows_of(model, X)
                with strictly():
                    check_answer(model, X, case["method"])
            except (ValueError, TypeError, NotFittedError) as error:
                if isinstance(error, ImputefreeError) or _is_from_sklearn(error):
                    return "refused"
                raise
        return "answered"


@contextmanager
def strictly() -> Iterator[None]:
    """Overflow and invalid values in NumPy are errors: whoever means them says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def _kind(rng: Generator, kind: str) -> str:
    return tables.some_kind(rng) if chance(rng, 0.1) else kind


def _is_from_sklearn(error: BaseException) -> bool:
    """Whether scikit-learn itself raised it, as its checks do."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(SKLEARN)


# ---- models
@cache
def pooled(name: str) -> Any:
    """A model of the pool, fitted to 60 rows or 20 series of a usual kind."""
    kind, parameters = POOL[name]
    model, rng = getattr(imputefree, kind)(**parameters), np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "Sequence" in kind:
            frame = training_frame(rng, 120, NUMBERS | STATIC)
            frame[list(STATIC)] = frame[list(STATIC)].to_numpy()[np.arange(120) // 6 * 6]
            frame.insert(0, "who", np.arange(120) // 6)
            frame.insert(1, "hour", np.arange(120) % 6)
            model.set_params(id="who", time="hour", static=list(STATIC))
            steps = getattr(model, "per_step", False)
            y = np.arange(120 if steps else 20) % 2
            return model.fit(frame, y if is_classifier(model) else y + rng.normal(size=len(y)))
        frame = training_frame(rng, 60, KINDS)
        y = frame["number"].fillna(0).to_numpy() + rng.normal(size=60)
        return model.fit(frame, np.array(["no", "yes"])[(y > 0) * 1] if is_classifier(model) else y)


def training_frame(rng: Generator, n: int, kinds: dict[str, str]) -> pd.DataFrame:
    """Usual cells with gaps."""
    makers: dict[str, Callable[[], Any]] = {
        "float": lambda: rng.normal(size=n),
        "float32": lambda: rng.normal(size=n).astype(np.float32),
        "int": lambda: rng.integers(0, 4, n),
        "text": lambda: rng.choice(["a", "b", "c"], n),
        "category": lambda: pd.Categorical(rng.choice(["x", "y"], n)),
        "bool": lambda: rng.random(n) < 0.5,
        "constant": lambda: np.full(n, 7.0),
    }
    frame = pd.DataFrame({name: makers[kind]() for name, kind in kinds.items()})
    for name, kind in kinds.items():
        if kind not in ("int", "bool"):
            frame.loc[rng.random(n) < 0.2, name] = None
    return frame


# ---- fits
def make_fit(rng: Generator) -> Recipe:
    """An estimator with parameters, data to learn from, and data to predict on."""
    kind = pick(rng, FITTED)
    choices = CHOICES if kind.startswith("GIL") else BLENDS
    choices = choices | FOR_SERIES if "Sequence" in kind else choices
    parameters = {name: pick(rng, values) for name, values in choices.items() if chance(rng, 0.4)}
    if chance(rng, 0.1):
        names = sorted(getattr(imputefree, kind)().get_params())
        parameters[pick(rng, names)] = pick(rng, ODD_VALUES)
    case: Recipe = {"estimator": kind, "parameters": parameters, "method": pick(rng, METHODS[:4])}
    names = [f"c{j}" for j in range(int(rng.integers(1, 5)))]
    learned = {name: tables.some_kind(rng) for name in names}
    later = {name: _kind(rng, kind) for name, kind in learned.items()}
    if "Sequence" in kind:
        static = {f"s{j}": tables.some_kind(rng) for j in range(int(rng.integers(0, 3)))}
        form = pick(rng, series.FORMS + series.KEYED)
        case["X"] = series.make_series(rng, learned, static, form, spoiled=0.1)
        case["later"] = series.make_series(rng, later, static, form, spoiled=0.1)
        lengths = case["X"]["lengths"]
        n = sum(lengths) if parameters.get("per_step") is True else len(lengths)
        n_weights = len(lengths)
    else:
        n = n_weights = int(rng.integers(1, FEW))
        case["X"] = tables.make_table(rng, learned, n, spoiled=0.05)
        case["later"] = tables.make_table(rng, later, int(rng.integers(1, FEW)), spoiled=0.05)
    labels = tables.LABELS if "Classifier" in kind else tables.MEASURES
    case["y"] = tables.make_vector(rng, labels, n)
    if chance(rng, 0.25):
        case["sample_weight"] = tables.make_vector(rng, tables.WEIGHTS, n_weights)
    if chance(rng, 0.1):
        case["groups"] = tables.make_vector(rng, tables.LABELS, n_weights)
    if chance(rng, 0.1):
        case["held_out"] = tables.make_vector(rng, {"truth": tables.truth}, n_weights)
    return case


def fitted(case: Recipe) -> Any:
    """The model of a recipe."""
    kind = getattr(imputefree, case["estimator"])
    tiny = {} if "ImputeFree" in case["estimator"] else TINY
    parameters = {name: tuple(v) if name == "hidden_layer_sizes" and isinstance(v, list) else v
                  for name, v in case["parameters"].items()}  # fmt: skip
    model = kind(**(SEEDED | tiny | parameters))
    clone(model)
    X = case["X"]
    if "lengths" in X:
        X = series.as_input(*series.Series(X).build(), model)
    else:
        X = tables.build_table(X)
    beside = {name: tables.build_vector(case[name]) for name in
              ("sample_weight", "groups", "held_out") if name in case}  # fmt: skip
    y = tables.build_vector(case["y"])
    with strictly():
        return model.fit(X, y, **beside)


# ---- predictions
def rows_of(model: Any, recipe: Recipe) -> Any:
    """What a model is asked about."""
    if "lengths" in recipe:
        X, how = series.Series(recipe).build()
        if all(isinstance(v, str | list) and v == getattr(model, k, 0) for k, v in how.items()):
            return X
        return series.as_input(X, how)
    return tables.build_table(recipe)


def _explain(model: Any, X: Any) -> np.ndarray:
    """All numbers of an explanation."""
    told = imputefree.explain_rows(model, X)
    if not np.isfinite(told.prediction).all():
        raise Broken(f"explains the predictions {told.prediction!r}")
    removal = told.removal if isinstance(told.removal, list) else [told.removal]
    parts = [*removal, told.next_value, told.next_low, told.next_high]
    return np.concatenate([np.ravel(part) for part in parts])


METHODS = ["predict"] * 2 + ["predict_proba"] * 2 + ["features", "importance", "explain"]
INSTEAD = ("predict_interval", "predict_set", "predict")  # of models that do not have them


def check_answer(model: Any, X: Any, method: str) -> None:
    """Call a method of a fitted model, and raise `Broken` unless the answer is one."""
    if not hasattr(model, method) and not (method == "explain" and hasattr(model, "encoder_")):
        method = next(name for name in INSTEAD if hasattr(model, name))
    if method == "explain":
        answer: Any = _explain(model, X)
    else:
        answer = getattr(model, method)(X)
    if isinstance(answer, list):  # steps of series
        answer = np.concatenate(answer) if answer else np.empty(0)
    answer = np.asarray(answer)
    if method == "predict" and is_classifier(model):
        if answer.ndim != 1 or not set(answer.tolist()) <= set(model.classes_.tolist()):
            raise Broken(f"predicted classes are {answer!r}")
        return
    if method not in ("importance", "explain") and not np.isfinite(answer).all():
        raise Broken(f"{method} of {type(model).__name__} is not finite: {answer!r}")
    if np.isinf(answer).any():
        raise Broken(f"{method} of {type(model).__name__} is infinite: {answer!r}")
    if method == "predict_proba":
        wrong = (
            answer.shape[1:] != (len(model.classes_),) or (answer < 0).any() or (answer > 1).any()
        )
        if wrong or np.abs(answer.sum(1) - 1).max(initial=0) > 1e-9:
            raise Broken(f"probabilities are {answer!r}")
    rows = len(X) if isinstance(X, pd.DataFrame | np.ndarray) else None
    series_model = hasattr(model, "layout_")
    if (
        method in ("predict", "predict_proba")
        and not series_model
        and rows not in (None, len(answer))
    ):
        raise Broken(f"{rows} rows, {len(answer)} predictions")
