"""What the deep imputers share: small networks, and training validated on hidden entries.

Some observed entries are hidden from training, both as inputs and as targets. Every `check_every`
steps the network imputes them, and the weights that did so best are kept. This choice sees nothing
of the gaps that an imputer is evaluated on later: these are missing here as well.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..._progress import training_progress
from ..._rules import Rule, or_the_word
from ...errors import InterruptedWarning, ParameterError
from ...estimators import RULES
from ...gil import Batches, EarlyStopping, denormals_as_zero, update_average

MAX_CELLS = 400_000  # rows with hidden entries times columns
MAX_ROWS = 2_000  # with hidden entries
MIN_OBSERVED = 2  # entries that a row keeps: guessing from nothing would teach nothing
STEPS_WITHOUT_JUDGE = 1_000  # if a table has no entry to spare

_positive, _positive_wording = RULES["learning_rate_init"]
WHOLE = RULES["batch_size"]
POSITIVE_OR_SEVERAL: Rule = (
    lambda v: (
        all(map(_positive, v)) and len(v) > 0 if isinstance(v, tuple | list) else _positive(v)
    ),
    _positive_wording + " or a non-empty tuple of such to choose from",
)
TRAINING_RULES: dict[str, Rule] = {
    **RULES,
    "hidden_layer_sizes": or_the_word(None, RULES["hidden_layer_sizes"]),
    "learning_rate_init": POSITIVE_OR_SEVERAL,
    "max_steps": WHOLE,
    "check_every": WHOLE,
}


@dataclass(kw_only=True, eq=False, repr=False)
class TrainingParameters:
    """Parameters shared by the deep imputers for tables, which document them."""

    hidden_layer_sizes: Any = None
    learning_rate_init: Any = 1e-3
    batch_size: int = 128
    max_steps: int = 10_000
    check_every: int = 100
    n_iter_no_change: int = 15
    weight_averaging: float = 0.99
    validation_fraction: float = 0.1
    random_state: Any = None
    verbose: bool = False


@dataclass(frozen=True)
class Outcome:
    """A trained module, its error on the hidden entries, and its history."""

    module: nn.Module
    error: float
    history: dict[str, list[float]]
    interrupted: bool = False


def hide_entries(observed: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Which observed entries to hide from training, (n, d) bool.

    About that share of the entries of at most 2,000 random rows (fewer if the table is wide), so
    that validation stays cheap. A row keeps at least two observed entries, a column at least half.

    >>> observed = np.ones((100, 4), dtype=bool)
    >>> hidden = hide_entries(observed, 0.25, np.random.default_rng(0))
    >>> int(hidden.sum()), int((observed & ~hidden).sum(1).min())
    (88, 2)
    """
    n, d = observed.shape
    rows = min(n, MAX_ROWS, max(MAX_CELLS // max(d, 1), 1))
    judged = rng.permutation(n)[:rows]
    score = np.where(observed[judged], rng.random((rows, d)), np.inf)
    # An entry may be hidden if two others of its row have a higher score, that is, are kept.
    rank = (-np.where(np.isinf(score), -1.0, score)).argsort(1, kind="stable").argsort(1)
    chosen = (score < share) & (rank >= min(MIN_OBSERVED, d - 1))
    spare = observed.sum(0) // 2
    chosen &= chosen.cumsum(0) <= spare
    hidden = np.zeros_like(observed)
    hidden[judged] = chosen
    return hidden


def train(
    module: nn.Module,
    step: Callable[[Tensor], dict[str, float]],
    judge: Callable[[nn.Module], float] | None,
    rows: int,
    generator: torch.Generator,
    name: str,
    *,
    batch_size: int,
    max_steps: int,
    check_every: int,
    n_iter_no_change: int,
    weight_averaging: float,
    verbose: bool,
) -> Outcome:
    """Take minibatch steps until the imputation of the hidden entries stops improving.

    Parameters
    ----------
    module : the network that is trained by `step`
    step : one update on these rows, (B,) indices; returns figures to show
    judge : the error of a module on the hidden entries, or None if there are none: then training
        takes at most 1,000 steps and keeps the last weights
    rows : number of rows
    name : shown next to the progress bar
    """
    batches = Batches([torch.arange(rows)], batch_size, generator)
    judged = copy.deepcopy(module) if weight_averaging else module
    if judge is None:
        max_steps = min(max_steps, STEPS_WITHOUT_JUDGE)
    checks = math.ceil(max_steps / check_every)
    stopping = EarlyStopping(judged, patience=n_iter_no_change)
    history: dict[str, list[float]] = defaultdict(list)
    taken, interrupted = 0, False
    with training_progress(verbose, checks, name) as report:
        try:
            for check in range(checks):
                figures: dict[str, float] = defaultdict(float)
                size = min(check_every, max_steps - taken)
                with denormals_as_zero():
                    for _ in range(size):
                        for key, figure in step(next(batches)[0]).items():
                            figures[key] += figure / size
                        taken += 1
                        if judged is not module:
                            update_average(judged, module, weight_averaging, taken)
                _check_finite(figures, name, taken)
                if judge is not None:
                    figures["validation_error"] = judge(judged)
                for key, figure in {**figures, "step": taken}.items():
                    history[key].append(figure)
                if report is not None:
                    report(check, figures)
                # Without a judge the newest weights are the best.
                error = -float(check) if judge is None else figures["validation_error"]
                if not stopping.update(torch.tensor([error], dtype=torch.float64), check):
                    break
        except KeyboardInterrupt:
            if not history:
                raise  # nothing to keep
            interrupted = True
            warnings.warn(
                f"{name} was interrupted after {taken} steps; the best weights so far are kept",
                InterruptedWarning,
                stacklevel=2,
            )
    stopping.restore(module)
    return Outcome(module, stopping.best_loss.item(), dict(history), interrupted)


def settings_of(imputer: TrainingParameters) -> dict[str, Any]:
    """The settings for `train` in an imputer's parameters."""
    names = ("batch_size", "max_steps", "check_every", "n_iter_no_change", "weight_averaging")
    return {name: getattr(imputer, name) for name in (*names, "verbose")}


def best_of(run: Callable[..., Outcome], *grids: Any) -> tuple[tuple[float, ...], Outcome]:
    """Train with every combination of the values; return the best on the hidden entries.

    A grid is one number or several.

    >>> values, best = best_of(lambda a, b: Outcome(nn.Identity(), a * b, {}), 2.0, (5.0, 3.0))
    >>> values, best.error
    ((2.0, 3.0), 6.0)
    """
    outcomes = []
    for values in product(*([float(v) for v in np.atleast_1d(grid)] for grid in grids)):
        outcomes.append((values, run(*values)))
        if outcomes[-1][1].interrupted:
            break
    return min(outcomes, key=lambda pair: pair[1].error)


def dense(
    sizes: Sequence[int], activation: Callable[[], nn.Module], generator: torch.Generator
) -> nn.Sequential:
    """Linear layers of these widths with an activation between; weights from the generator alone.

    >>> net = dense([3, 8, 2], nn.Tanh, torch.Generator().manual_seed(0))
    >>> net(torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    """
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layer = nn.utils.skip_init(nn.Linear, before, after)  # leaves the global generator alone
        nn.init.xavier_uniform_(layer.weight, generator=generator)
        nn.init.zeros_(layer.bias)
        layers += [layer, activation()]
    return nn.Sequential(*layers[:-1])


def torch_generator(rng: np.random.Generator) -> torch.Generator:
    """A torch generator seeded from NumPy's."""
    return torch.Generator().manual_seed(int(rng.integers(2**62)))


def tensors(values: np.ndarray, observed: np.ndarray) -> tuple[Tensor, Tensor]:
    """Values and mask as float32."""
    return torch.from_numpy(values.astype(np.float32)), torch.from_numpy(
        observed.astype(np.float32)
    )


@torch.no_grad()
def start_at(net: nn.Sequential, mean: Tensor, shrink: float = 1.0) -> None:
    """Set the last biases so that their sigmoid is `mean` (d,), and scale the last weights."""
    last = net[-1]
    assert isinstance(last, nn.Linear)
    last.weight.mul_(shrink)
    last.bias.copy_(torch.logit(mean.clamp(0.01, 0.99)))


def layer_sizes(value: Any, default: tuple[int, ...]) -> tuple[int, ...]:
    """Hidden widths as a tuple; None is the default."""
    if value is None:
        return default
    return tuple(value) if isinstance(value, Sequence) else (int(value),)


def _check_finite(figures: dict[str, float], name: str, taken: int) -> None:
    for key, figure in figures.items():
        if not math.isfinite(figure):
            raise ParameterError(
                f"the {key} of {name} became {figure} within {taken} steps",
                "Training must stay finite",
                "Lower learning_rate_init, or remove extreme values",
            )
