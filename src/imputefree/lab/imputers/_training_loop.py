"""What the deep imputers share: small networks, and minibatch training judged on hidden entries.

Some observed entries are hidden from training altogether, as inputs and as targets. Every so many
steps the network imputes them, and the weights that did so best are kept. This choice sees nothing
of the gaps an imputer is judged by later: they are missing here as well.
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
from ...gil import Batches, denormals_as_zero

CELLS_JUDGED = 400_000  # at most: rows with hidden entries times columns
ROWS_JUDGED = 2_000  # at most
AT_LEAST_OBSERVED = 2  # a row keeps so many entries: a guess from nothing teaches no weight choice
WITHOUT_JUDGE = 1_000  # steps, where a table has no entry to spare


@dataclass(frozen=True)
class Settings:
    """How long to train, and how to see that it is enough; the imputers' docstrings explain."""

    batch_size: int
    max_steps: int
    check_every: int
    patience: int
    averaging: float = 0.0
    verbose: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class TrainingParameters:
    """Parameters that the deep imputers of tables share; their docstrings explain."""

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


def settings_of(imputer: TrainingParameters) -> Settings:
    """The settings in an imputer's parameters."""
    return Settings(
        imputer.batch_size,
        imputer.max_steps,
        imputer.check_every,
        imputer.n_iter_no_change,
        imputer.weight_averaging,
        imputer.verbose,
    )


@dataclass(frozen=True)
class Outcome:
    """A trained module, its error on the hidden entries, and how it got there."""

    module: nn.Module
    error: float
    history: dict[str, list[float]]
    interrupted: bool = False


def hide_entries(observed: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Which observed entries to hide from training, (n, d) bool.

    About that share of the entries of at most 2,000 random rows (fewer where the table is wide),
    so that judging stays cheap whatever the number of rows. A row keeps two observed entries, a
    column keeps half of its own at least.

    >>> observed = np.ones((100, 4), dtype=bool)
    >>> hidden = hide_entries(observed, 0.25, np.random.default_rng(0))
    >>> int(hidden.sum()), int((observed & ~hidden).sum(1).min())
    (88, 2)
    """
    n, d = observed.shape
    rows = min(n, ROWS_JUDGED, max(CELLS_JUDGED // max(d, 1), 1))
    judged = rng.permutation(n)[:rows]
    score = np.where(observed[judged], rng.random((rows, d)), np.inf)
    # An entry may be hidden where two others of its row have a higher score, that is are kept.
    rank = (-np.where(np.isinf(score), -1.0, score)).argsort(1, kind="stable").argsort(1)
    chosen = (score < share) & (rank >= min(AT_LEAST_OBSERVED, d - 1))
    spare = observed.sum(0) // 2
    chosen &= chosen.cumsum(0) <= spare
    hidden = np.zeros_like(observed)
    hidden[judged] = chosen
    return hidden


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


def train(
    module: nn.Module,
    step: Callable[[Tensor], dict[str, float]],
    judge: Callable[[nn.Module], float] | None,
    rows: int,
    settings: Settings,
    generator: torch.Generator,
    what: str,
) -> Outcome:
    """Take minibatch steps until the hidden entries are imputed no better.

    Parameters
    ----------
    module : the network that is kept; `step` changes its weights
    step : one update on these rows, (B,) numbers of rows; returns figures to show
    judge : the error of a module on the hidden entries, or None where there are none: then
        training takes at most 1,000 steps and keeps the last weights
    rows : how many rows there are
    what : said beside the progress bar
    """
    batches = Batches([torch.arange(rows)], settings.batch_size, generator)
    judged = copy.deepcopy(module) if settings.averaging else module
    most = settings.max_steps if judge else min(settings.max_steps, WITHOUT_JUDGE)
    checks = math.ceil(most / settings.check_every)
    best, best_error, best_at = copy.deepcopy(judged.state_dict()), math.inf, 0
    history: dict[str, list[float]] = defaultdict(list)
    taken, interrupted = 0, False
    with training_progress(settings.verbose, checks, what) as report:
        try:
            for check in range(checks):
                sums: dict[str, float] = defaultdict(float)
                size = min(settings.check_every, most - taken)
                with denormals_as_zero():
                    for _ in range(size):
                        for name, figure in step(next(batches)[0]).items():
                            sums[name] += figure / size
                        taken += 1
                        if judged is not module:
                            _average(judged, module, settings.averaging, taken)
                figures = dict(sums)
                _check_finite(figures, what, taken)
                error = judge(judged) if judge else 0.0
                if judge:
                    figures["validation_error"] = error
                if error < best_error or not judge:
                    best, best_error, best_at = copy.deepcopy(judged.state_dict()), error, check
                for name, figure in figures.items():
                    history[name].append(figure)
                history["step"].append(taken)
                if report is not None:
                    report(check, figures)
                if check - best_at >= settings.patience:
                    break
        except KeyboardInterrupt:
            if not history:
                raise  # nothing to keep
            interrupted = True
            warnings.warn(
                f"{what} was interrupted after {taken} steps; the best weights so far are kept",
                InterruptedWarning,
                stacklevel=2,
            )
    module.load_state_dict(best)
    return Outcome(module, best_error, dict(history), interrupted)


@torch.no_grad()
def _average(judged: nn.Module, module: nn.Module, averaging: float, taken: int) -> None:
    """Move the running mean of the weights; a plain mean of recent steps at first."""
    pace = max(1 - averaging, 1 / (1 + taken / 2))
    torch._foreach_lerp_(list(judged.parameters()), list(module.parameters()), pace)


def best_of(run: Callable[..., Outcome], *grids: Any) -> tuple[tuple[float, ...], Outcome]:
    """Train with every combination of the values; the one that did best on the hidden entries.

    A grid is one number or several.

    >>> made = best_of(lambda a, b: Outcome(nn.Identity(), a * b, {}), 2.0, (5.0, 3.0))
    >>> made[0], made[1].error
    ((2.0, 3.0), 6.0)
    """
    several = [[float(v) for v in np.atleast_1d(grid)] for grid in grids]
    outcomes = []
    for values in product(*several):
        outcomes.append((values, run(*values)))
        if outcomes[-1][1].interrupted:
            break
    return min(outcomes, key=lambda pair: pair[1].error)


def torch_generator(rng: np.random.Generator) -> torch.Generator:
    """A torch generator of its own, seeded from numpy's."""
    return torch.Generator().manual_seed(int(rng.integers(2**62)))


def tensors(values: np.ndarray, observed: np.ndarray) -> tuple[Tensor, Tensor]:
    """Values and mask as float32."""
    return torch.from_numpy(values.astype(np.float32)), torch.from_numpy(
        observed.astype(np.float32)
    )


@torch.no_grad()
def start_at(net: nn.Sequential, mean: Tensor, shrink: float = 1.0) -> None:
    """Last biases whose sigmoid is these means, (d,); the last weights shrink by a factor."""
    last = net[-1]
    assert isinstance(last, nn.Linear)
    last.weight.mul_(shrink)
    last.bias.copy_(torch.logit(mean.clamp(0.01, 0.99)))


def layer_sizes(value: Any, usual: tuple[int, ...]) -> tuple[int, ...]:
    """Hidden widths as a tuple; None stands for the usual ones."""
    if value is None:
        return usual
    return tuple(value) if isinstance(value, Sequence) else (int(value),)


_positive, _positive_words = RULES["learning_rate_init"]
WHOLE = RULES["batch_size"]
POSITIVE_OR_SEVERAL: Rule = (
    lambda v: (
        all(map(_positive, v)) and len(v) > 0 if isinstance(v, tuple | list) else _positive(v)
    ),
    _positive_words + " or a non-empty tuple of such to choose from",
)
COMMON: dict[str, Rule] = {
    "hidden_layer_sizes": or_the_word(None, RULES["hidden_layer_sizes"]),
    "learning_rate_init": POSITIVE_OR_SEVERAL,
    "batch_size": WHOLE,
    "max_steps": WHOLE,
    "check_every": WHOLE,
    "n_iter_no_change": WHOLE,
    "weight_averaging": RULES["weight_averaging"],
    "validation_fraction": RULES["validation_fraction"],
    "random_state": RULES["random_state"],
    "verbose": RULES["verbose"],
}


def _check_finite(figures: dict[str, float], what: str, taken: int) -> None:
    for name, figure in figures.items():
        if not math.isfinite(figure):
            raise ParameterError(
                f"the {name} of {what} became {figure} within {taken} steps",
                "Training must stay finite",
                "Lower learning_rate_init, or take out extreme values",
            )
