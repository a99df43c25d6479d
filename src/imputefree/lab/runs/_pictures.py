"""What a run leaves to look at, beside its scores: curves, importance, filled digits, features.

Everything is plain JSON, numbers to four significant digits; the whole has some ten kB a run.

- curves : by name the figures of `history_`, one an epoch. Where there are too many epochs, every
  n-th, and `curve_every` says n
- importance : of a policy that decides. Of tables {columns, observed, missing}: its mean over
  observed and over missing entries of each column, None where there are none; of images `shape`
  too, of wide tables the columns farthest from the mean of all, `middle`, `of` so many. Of series
  {columns, steps, from, mean, count}: its mean by step and column in the order of time, over
  `count` series. from "start" says that the first line is everybody's first step, from "end" that
  the last line is everybody's last
- digits : of an imputer on MNIST {shape, labels, truth, observed, filled}, the first test image of
  each digit; images are bytes, deflated, in base64; observed 0 or 1
- features : of networks that classify {x, y, label}: ζ of the first test rows by t-SNE, which
  shows who is near whom, and nothing else
"""

from __future__ import annotations

import math
import random
import warnings
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from ...gil import NoPolicy
from ..rivals._methods import CLASSES
from ..studies._study import Study

MOST_EPOCHS = 400
MOST_ROWS, MOST_SERIES, MOST_STEPS = 512, 256, 48  # importance is averaged over
MOST_COLUMNS = 100  # whose importance is kept of a table
MOST_POINTS, MOST_FEATURES = 400, 50  # t-SNE, and what PCA leaves it
FEWEST_POINTS = 10
PERPLEXITY = 30.0  # scikit-learn's own; small test parts get less

Picture = dict[str, Any]


class PictureWarning(UserWarning):
    """A picture could not be made; the run it belongs to is none the worse."""


def pictures(model: Any, study: Study, test: Study, *, random_state: int) -> Picture:
    """Whatever the model can show on its test part; see the module's text.

    It changes neither the model nor anybody's random numbers. A picture that fails is left out,
    with a warning.

    model : fitted, any method of `bench.methods`
    study, test : the whole study, and its test part

    >>> from ..datasets import load
    >>> from .methods import make_method
    >>> cohort = load("icu", n_series=60)
    >>> model = make_method("gil-h", kind="series").set_params(max_iter=2, n_members=1)
    >>> found = pictures(model.fit(cohort.inputs, cohort.y), cohort,
    ...                  cohort.take(range(20)), random_state=0)
    >>> list(found), len(found["curves"]["loss"]), found["importance"]["columns"][-1]
    (['curves', 'importance', 'features'], 2, 'age')
    """
    made: dict[str, Callable[[], Picture | None]] = {
        "curves": lambda: _curves(model),
        "importance": lambda: _importance(model, study, test),
        "digits": lambda: _digits(model, study, test),
        "features": lambda: _features(model, test, random_state),
    }
    found: Picture = {}
    for name, make in made.items():
        try:
            with _unnoticed():
                picture = make()
        except Exception as error:  # a run is worth more than its pictures
            warnings.warn(
                f"no picture of {name}: {type(error).__name__}: {error}",
                PictureWarning,
                stacklevel=2,
            )
        else:
            if picture is not None:
                found[name] = picture
    epochs = max(map(len, found.get("curves", {}).values()), default=0)
    if epochs > MOST_EPOCHS:
        found["curve_every"] = every = math.ceil(epochs / MOST_EPOCHS)
        found["curves"] = {name: curve[::every] for name, curve in found["curves"].items()}
    return found


@contextmanager
def _unnoticed() -> Iterator[None]:
    """Leaves global random numbers as they were, and no warnings: the run has had its own."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002


def _curves(model: Any) -> Picture | None:
    history = getattr(model, "history_", None)
    if not isinstance(history, dict):
        return None
    return {str(name): _numbers(figures) for name, figures in history.items()} or None


def _importance(model: Any, study: Study, test: Study) -> Picture | None:
    policy = getattr(model, "policy_", None)
    if policy is None or isinstance(policy, NoPolicy) or not hasattr(model, "importance"):
        return None
    part = _first(test, MOST_SERIES if study.kind == "series" else MOST_ROWS)
    found = model.importance(part.inputs)
    names = [str(name) for name in model.encoder_.names]
    if study.columns is not None:  # arrays have no names; statics, if any, come after
        names[: len(study.columns)] = study.columns
    if study.kind == "series":
        return {"columns": names, **_by_step(found)}
    means = np.vstack([_mean(found, part.observed), _mean(found, ~part.observed)])
    more: Picture = {} if _pixels(study) is None else {"shape": _square(found.shape[1])}
    if not more and len(names) > MOST_COLUMNS:
        middle = np.nanmean(means)
        farthest = np.nan_to_num(np.abs(means - middle), nan=-1).max(axis=0)
        kept = np.sort(np.argsort(-farthest, kind="stable")[:MOST_COLUMNS])
        more = {"middle": _numbers([middle])[0], "of": len(names)}
        names, means = [names[at] for at in kept], means[:, kept]
    observed, missing = map(_numbers, means)
    return {"columns": names, "observed": observed, "missing": missing, **more}


def _mean(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Of each column over the entries chosen; (n, d) each -> (d,), NaN where there are none."""
    count = where.sum(0)
    total = np.where(where, values, 0.0).sum(0)
    return np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)


def _by_step(found: list[np.ndarray]) -> Picture:
    """Mean over series of (T_i, d) each; where lengths differ, the ends are put side by side.

    >>> _by_step([np.array([[0.0], [1.0]]), np.array([[0.5]])])
    {'steps': 2, 'from': 'end', 'mean': [[0.0], [0.75]], 'count': [1, 2]}
    """
    lengths = [len(one) for one in found]
    steps = min(max(lengths), MOST_STEPS)
    total, count = np.zeros((steps, found[0].shape[1])), np.zeros(steps, dtype=int)
    for one in found:
        last = one[-steps:]
        total[steps - len(last) :] += last
        count[steps - len(last) :] += 1
    alike = set(lengths) == {steps}
    return {
        "steps": steps,
        "from": "start" if alike else "end",
        "mean": [_numbers(line) for line in total / count[:, None]],
        "count": count.tolist(),
    }


def _digits(model: Any, study: Study, test: Study) -> Picture | None:
    if _pixels(study) is None or not hasattr(model, "impute"):
        return None
    labels, rows = np.unique(test.y, return_index=True)  # the first of each
    part = test.take(rows)
    filled = np.asarray(model.impute(part.X), dtype=np.float64)
    return {
        "shape": _square(filled.shape[1]),
        "labels": [str(label) for label in labels],
        "truth": _bytes(_pixels(part)),
        "observed": _bytes(part.observed),
        "filled": _bytes(np.rint(255 * np.clip(filled, 0, 1))),
    }


def _features(model: Any, test: Study, random_state: int) -> Picture | None:
    if test.task != CLASSES or not hasattr(model, "features"):
        return None
    part = _first(test, MOST_POINTS)
    places = _flat(model.features(part.inputs), random_state)
    if places is None:
        return None
    x, y = places.T
    return {"x": _numbers(x), "y": _numbers(y), "label": [str(label) for label in part.y]}


def _flat(points: np.ndarray, random_state: int) -> np.ndarray | None:
    """Points by t-SNE; (n, d) -> (n, 2), or None where there is nothing to be laid out."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    points = points[:, points.std(0) > 0]  # units that never fire
    n, width = points.shape
    if n < FEWEST_POINTS or width < 2:
        return None
    if width > MOST_FEATURES:
        points = PCA(min(MOST_FEATURES, n), random_state=random_state).fit_transform(points)
    layout = TSNE(perplexity=min(PERPLEXITY, (n - 1) / 3), init="pca", random_state=random_state)
    return layout.fit_transform(points)


def _first(part: Study, most: int) -> Study:
    return part.take(np.arange(min(len(part.y), most)))


def _pixels(study: Study) -> Any:
    """Complete images (n, 784), of studies that have them."""
    return getattr(study, "pixels", None)


def _square(pixels: int) -> list[int]:
    return [math.isqrt(pixels)] * 2


def _bytes(image: Any) -> str:
    return b64encode(zlib.compress(np.asarray(image).astype(np.uint8).tobytes(), 9)).decode()


def _numbers(values: Any) -> list[float | None]:
    """Four significant digits; None for what JSON has no word for.

    >>> _numbers([0.123456, 123456, float("nan")])
    [0.1235, 123500.0, None]
    """
    return [float(f"{v:.4g}") if math.isfinite(v) else None for v in map(float, values)]
