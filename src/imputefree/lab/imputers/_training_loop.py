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
from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.utils import gen_batches
from torch import Tensor, nn

from ..._progress import training_progress
from ..._rules import Rule, check_rules, or_the_word
from ...errors import InterruptedWarning, ParameterError
from ...estimators import RULES
from ...gil import Batches, EarlyStopping, denormals_as_zero, update_average
from ._imputer import Array, Imputer

Step = Callable[[Tensor], dict[str, float]]  # one update on rows (B,); returns figures to show
Judge = Callable[[nn.Module], float]  # the error of a network on the hidden entries
MAX_CELLS = 400_000  # rows with hidden entries times columns
MAX_ROWS = 2_000  # with hidden entries
MIN_OBSERVED = 2  # entries that a row keeps: guessing from nothing would teach nothing
STEPS_WITHOUT_JUDGE = 1_000  # if a table has no entry to spare

_positive, _wording = RULES["learning_rate_init"]
WHOLE = RULES["batch_size"]
ONE_OR_SEVERAL: Rule = (
    lambda v: (
        all(map(_positive, v)) and len(v) > 0 if isinstance(v, tuple | list) else _positive(v)
    ),
    _wording + " or a non-empty tuple of such to choose from",
)
TRAINING_RULES: dict[str, Rule] = {
    **RULES,
    "hidden_layer_sizes": or_the_word(None, RULES["hidden_layer_sizes"]),
    "learning_rate_init": ONE_OR_SEVERAL,
    "max_steps": WHOLE,
    "check_every": WHOLE,
}


@dataclass(frozen=True)
class Outcome:
    """A trained module, its error on the hidden entries (NaN without any), and its history."""

    module: nn.Module
    error: float
    history: dict[str, list[float]]
    interrupted: bool = False


def hide_entries(observed: Array, share: float, rng: np.random.Generator) -> Array:
    """Which observed entries to hide from training, (n, d) bool.

    About that share of the entries of at most 2,000 random rows (fewer if the table is wide), so
    that validation stays cheap. A row keeps at least two observed entries, a column at least half.
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
    step: Step,
    judge: Judge | None,
    *,
    rows: int,
    generator: torch.Generator,
    name: str,
    settings: Any,
    max_steps: int,
    check_every: int,
) -> Outcome:
    """Take minibatch steps until the imputation of the hidden entries stops improving.

    Parameters
    ----------
    module : the network that is trained by `step`
    judge : None without hidden entries: then training takes at most 1,000 steps and keeps the last
        weights
    rows : number of rows
    name : shown next to the progress bar
    settings : batch_size, n_iter_no_change, weight_averaging and verbose, as attributes
    """
    batches = Batches([torch.arange(rows)], settings.batch_size, generator)
    judged = copy.deepcopy(module) if settings.weight_averaging else module
    averages, weights = [*judged.parameters()], [*module.parameters()]
    if judge is None:
        max_steps = min(max_steps, STEPS_WITHOUT_JUDGE)
    checks = math.ceil(max_steps / check_every)
    stopping = EarlyStopping(judged, patience=settings.n_iter_no_change)
    history: dict[str, list[float]] = defaultdict(list)
    taken, interrupted = 0, False

    def take_steps(count: int) -> dict[str, float]:
        """Means over so many steps."""
        nonlocal taken
        figures: dict[str, float] = defaultdict(float)
        with denormals_as_zero():
            for _ in range(count):
                for key, figure in step(next(batches)[0]).items():
                    figures[key] += figure / count
                taken += 1
                if judged is not module:
                    update_average(averages, weights, settings.weight_averaging, taken)
        for key, figure in figures.items():
            if not math.isfinite(figure):
                fact = f"the {key} of {name} became {figure} within {taken} steps"
                remedy = "Lower learning_rate_init, or remove extreme values"
                raise ParameterError(fact, "Training must stay finite", remedy)
        return figures

    with training_progress(settings.verbose, checks, name) as report:
        try:
            for check in range(checks):
                figures = take_steps(min(check_every, max_steps - taken))
                error = -float(check)  # without a judge the newest weights are the best
                if judge is not None:
                    error = figures["validation_error"] = judge(judged)
                for key, figure in {**figures, "step": taken}.items():
                    history[key].append(figure)
                report(check, figures)
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
    error = math.nan if judge is None else stopping.best_loss.item()
    return Outcome(module, error, dict(history), interrupted)


@dataclass(kw_only=True, eq=False, repr=False)
class DeepImputer(Imputer):
    """Base class of the deep imputers for tables, which document these parameters.

    A network is trained with every combination of the parameters in `tuned`; the one that fills the
    hidden entries best is kept. Networks see columns as (value - low) / span. Subclasses provide

    - `rules` for more parameters, and `tuned`, those that may have several values
    - `_prepare(values, observed, rng)`: set `_low`, `_span` (d,) and `_limits` for values
    - `_build(x, m, random, *candidate)`: a network and its step, given x (n, d), 0 in gaps, mask m
      and values of `tuned`
    - `_guesser(rng, judging)`: a function of a network, x and m that guesses every entry
    """

    tuned: ClassVar[tuple[str, ...]] = ("learning_rate_init",)
    rules: ClassVar[dict[str, Rule]] = {}
    rows_at_once: ClassVar[int] = 1024

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

    _prepare: ClassVar[Callable[..., None]]
    _build: ClassVar[Callable[..., tuple[nn.Module, Step]]]
    _guesser: ClassVar[Callable[..., Callable[..., Tensor]]]

    def _learn(self, values: Array, observed: Array, rng: np.random.Generator) -> None:
        check_rules(self, {**TRAINING_RULES, **self.rules})
        self._known = observed.any(0)
        self._prepare(values, observed, rng)
        hidden = hide_entries(observed, self.validation_fraction, rng)
        guess = self._guesser(rng, judging=True)
        seed = int(rng.integers(2**62))  # shared: candidates differ only in their values
        x, m = self._inputs(values, observed, hidden)
        places = torch.from_numpy(hidden.any(1))
        held = torch.from_numpy(hidden)[places]
        truth, x = x[places][held], x.masked_fill(m == 0, 0.0)
        x_held, m_held = x[places], m[places]

        def judge(net: nn.Module) -> float:
            errors = guess(net, x_held, m_held)[held] - truth
            return float(errors.square().mean().sqrt())

        fitted = [f"{name.removesuffix('_init')}_" for name in self.tuned]
        outcomes = []
        grids = [[float(v) for v in np.atleast_1d(getattr(self, name))] for name in self.tuned]
        for candidate in product(*grids):
            chosen = dict(zip(fitted, candidate, strict=True))
            about = ", ".join(f"{name[:-1]} {value:g}" for name, value in chosen.items())
            name = f"{type(self).__name__} ({about})"
            random = torch.Generator().manual_seed(seed)
            net, step = self._build(x, m, random, *candidate)
            outcome = train(
                net,
                step,
                judge if len(truth) else None,
                rows=len(x),
                generator=random,
                name=name,
                settings=self,
                max_steps=self.max_steps,
                check_every=self.check_every,
            )
            outcomes.append((outcome, chosen))
            if outcome.interrupted:
                break
        best, chosen = min(outcomes, key=lambda pair: pair[0].error)
        self.__dict__.update(chosen)
        self.network_, self.history_, self.validation_error_ = best.module, best.history, best.error

    def _fill(self, values: Array, observed: Array, rng: np.random.Generator) -> Array:
        guess, network_guess = np.empty_like(values), self._guesser(rng, judging=False)
        blocks = list(gen_batches(len(values), self.rows_at_once))
        name = f"{type(self).__name__} imputation"
        with training_progress(self.verbose, len(blocks), name) as report:
            for number, rows in enumerate(blocks):
                x, m = self._inputs(values[rows], observed[rows])
                guess[rows] = network_guess(self.network_, x, m).numpy()
                report(number, {})
        return np.where(self._known, guess * self._span + self._low, 0.0)

    def _inputs(self, values: Array, observed: Array, hidden: Any = False) -> tuple[Tensor, Tensor]:
        """Values as a network sees them, 0 in gaps, and the mask without hidden entries."""
        ranged = ((values - self._low) / self._span).clip(*self._limits)
        x, m = np.where(observed, ranged, 0.0), observed & ~np.asarray(hidden)
        return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(m.astype(np.float32))


def column_ranges(values: Array, observed: Array, least: float = 0.0) -> tuple[Array, Array]:
    """The smallest observed value of each column, and its range, or 1 if that is at most `least`.

    (n, d) -> (d,) each; a column without an entry starts at 0.
    """
    known = observed.any(0)
    low = np.where(known, np.where(observed, values, np.inf).min(0), 0.0)
    span = np.where(known, np.where(observed, values, -np.inf).max(0) - low, 0.0)
    return low, np.where(span > least, span, 1.0)


def dense(
    sizes: Sequence[int], activation: Callable[[], nn.Module], generator: torch.Generator
) -> nn.Sequential:
    """Linear layers of these widths, an activation between; weights from the generator alone."""
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
