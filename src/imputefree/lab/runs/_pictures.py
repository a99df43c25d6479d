"""What a run leaves to look at besides its scores: curves, importance, filled digits, features.

Everything is plain JSON, numbers to four significant digits, about ten kB per run.

- curves : the figures of `history_` by name, one per epoch. With too many epochs, every n-th, and
  `curve_every` is n
- importance : of a policy that decides. For tables {columns, observed, missing}: its mean over
  observed and over missing entries of each column, None where there are none; for images also
  `shape`; of a wide table the columns farthest from the overall mean `middle`, out of `of` columns.
  For series {columns, steps, from, mean, count}: its mean by step and column, over `count` series.
  from "start" means that the first line is every series' first step, "end" that the last line is
  every series' last step
- digits : of an imputer on MNIST {shape, labels, truth, observed, filled}, the first test image of
  each digit; images are bytes, deflated, in base64; observed is 0 or 1
- features : of networks that classify {x, y, label}: ζ of the first test rows by t-SNE, which
  shows neighbours and nothing else
"""

from __future__ import annotations

import json
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
from ..rivals import CLASSES
from ..studies import Study
from ..studies._mnist import Images

IMAGE = [28, 28]
MAX_EPOCHS = 400
MAX_ROWS, MAX_SERIES, MAX_STEPS = 512, 256, 48  # over which importance is averaged
MAX_COLUMNS = 100  # of a table whose importance is recorded
MAX_POINTS, MAX_FEATURES = 400, 50  # for t-SNE, and what PCA leaves for it
MIN_POINTS = 10
PERPLEXITY = 30.0  # scikit-learn's default; small test parts get less

Picture = dict[str, Any]


class PictureWarning(UserWarning):
    """A picture could not be drawn; its run is not affected."""


def pictures(model: Any, study: Study, test: Study, *, random_state: int) -> Picture:
    """Whatever the fitted model can show on its test part; see the module's docstring.

    Neither the model nor any global random state changes. A picture that fails is left out, with a
    warning.

    >>> from imputefree.lab.rivals import make_method
    >>> from imputefree.lab.studies import load
    >>> cohort = load("icu", n_series=60)
    >>> model = make_method("gil-h", kind="series").set_params(max_iter=2, n_members=1)
    >>> shown = pictures(model.fit(cohort.inputs, cohort.y), cohort,
    ...                  cohort.take(range(20)), random_state=0)
    >>> list(shown), len(shown["curves"]["loss"]), shown["importance"]["columns"][-1]
    (['curves', 'importance', 'features'], 2, 'age')
    """
    makers: dict[str, Callable[[], Picture]] = {
        "curves": lambda: _curves(model),
        "importance": lambda: _importance(model, study, test),
        "digits": lambda: _digits(model, test),
        "features": lambda: _features(model, test, random_state),
    }
    shown: Picture = {}
    for name, make in makers.items():
        try:
            with _undisturbed():
                picture = make()
                json.dumps(picture, allow_nan=False)
        except Exception as error:  # a run is worth more than its pictures
            message = f"no picture of {name}: {type(error).__name__}: {error}"
            warnings.warn(message, PictureWarning, stacklevel=2)
        else:
            shown |= picture
    return shown


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keeps global random states as they were, and drops warnings: the run has had its own."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002


def _curves(model: Any) -> Picture:
    history = getattr(model, "history_", None)
    if not isinstance(history, dict) or not history:
        return {}
    every = max(1, math.ceil(max(map(len, history.values())) / MAX_EPOCHS))
    curves = {str(name): _rounded(figures)[::every] for name, figures in history.items()}
    return {"curves": curves, **({"curve_every": every} if every > 1 else {})}


def _importance(model: Any, study: Study, test: Study) -> Picture:
    policy = getattr(model, "policy_", None)
    if policy is None or isinstance(policy, NoPolicy) or not hasattr(model, "importance"):
        return {}
    part = _first(test, MAX_SERIES if study.kind == "series" else MAX_ROWS)
    importance = model.importance(part.inputs)
    names = [str(name) for name in model.encoder_.names]
    if study.columns is not None:  # arrays have no names; statics, if any, come after
        names[: len(study.columns)] = study.columns
    if study.kind == "series":
        return {"importance": {"columns": names, **_by_step(importance)}}
    means = np.vstack([_mean(importance, part.observed), _mean(importance, ~part.observed)])
    more: Picture = {"shape": IMAGE} if isinstance(study, Images) else {}
    if not more and len(names) > MAX_COLUMNS:
        middle = np.nanmean(means)
        farthest = np.nan_to_num(np.abs(means - middle), nan=-1).max(axis=0)
        columns = np.sort(np.argsort(-farthest, kind="stable")[:MAX_COLUMNS])
        more = {"middle": _rounded([middle])[0], "of": len(names)}
        names, means = [names[column] for column in columns], means[:, columns]
    observed, missing = map(_rounded, means)
    about = {"columns": names, "observed": observed, "missing": missing, **more}
    return {"importance": about}


def _mean(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Mean of each column over the chosen entries; (n, d) each -> (d,), NaN without any."""
    count = where.sum(0)
    total = np.where(where, values, 0.0).sum(0)
    return np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)


def _by_step(importance: list[np.ndarray]) -> Picture:
    """Mean over series of (T_i, d) each; where lengths differ, their ends are aligned.

    >>> _by_step([np.array([[0.0], [1.0]]), np.array([[0.5]])])
    {'steps': 2, 'from': 'end', 'mean': [[0.0], [0.75]], 'count': [1, 2]}
    """
    lengths = {len(series) for series in importance}
    steps = min(max(lengths), MAX_STEPS)
    total, count = np.zeros((steps, importance[0].shape[1])), np.zeros(steps, dtype=int)
    for series in importance:
        last = series[-steps:]
        total[steps - len(last) :] += last
        count[steps - len(last) :] += 1
    return {
        "steps": steps,
        "from": "start" if lengths == {steps} else "end",
        "mean": [_rounded(line) for line in total / count[:, None]],
        "count": count.tolist(),
    }


def _digits(model: Any, test: Study) -> Picture:
    if not isinstance(test, Images) or not hasattr(model, "impute"):
        return {}
    labels, rows = np.unique(test.y, return_index=True)  # the first of each
    part = test.take(rows)
    filled = np.asarray(model.impute(part.X), dtype=np.float64)
    digits = {
        "shape": IMAGE,
        "labels": [str(label) for label in labels],
        "truth": _bytes(part.pixels),
        "observed": _bytes(part.observed),
        "filled": _bytes(np.rint(255 * np.clip(filled, 0, 1))),
    }
    return {"digits": digits}


def _features(model: Any, test: Study, random_state: int) -> Picture:
    if test.task != CLASSES or not hasattr(model, "features"):
        return {}
    part = _first(test, MAX_POINTS)
    places = _tsne(model.features(part.inputs), random_state)
    if places is None:
        return {}
    x, y = map(_rounded, places.T)
    return {"features": {"x": x, "y": y, "label": [str(label) for label in part.y]}}


def _tsne(points: np.ndarray, random_state: int) -> np.ndarray | None:
    """Points in the plane; (n, d) -> (n, 2), or None where there is nothing to lay out."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    points = points[:, points.std(0) > 0]  # without units that never fire
    n, width = points.shape
    if n < MIN_POINTS or width < 2:
        return None
    if width > MAX_FEATURES:
        points = PCA(min(MAX_FEATURES, n), random_state=random_state).fit_transform(points)
    layout = TSNE(perplexity=min(PERPLEXITY, (n - 1) / 3), init="pca", random_state=random_state)
    return layout.fit_transform(points)


def _first(part: Study, n_rows: int) -> Study:
    return part.take(np.arange(min(len(part.y), n_rows)))


def _bytes(image: Any) -> str:
    return b64encode(zlib.compress(np.asarray(image).astype(np.uint8).tobytes(), 9)).decode()


def _rounded(values: Any) -> list[float | None]:
    """Four significant digits; None for what JSON cannot hold.

    >>> _rounded([0.123456, 123456, float("nan")])
    [0.1235, 123500.0, None]
    """
    return [float(f"{v:.4g}") if math.isfinite(v) else None for v in map(float, values)]
