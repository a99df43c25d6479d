"""The one adapter to PyPOTS (extra `bench`): its networks and losses, trained by our own loop.

PyPOTS 1.5 makes the networks and computes their losses; training.py takes the steps. PyPOTS' own
`fit` would not do for a fair comparison: the classifier BRITS is validated on its training rows,
GRU-D fills test series with means of the test set, and both seed and log globally. Here the epoch
is chosen on what training does not see, and nothing is printed, written or seeded outside. (At
its very first import PyPOTS writes a file of settings into ~/.pypots.)

A network takes a dict of tensors made from values (B, T, D) with NaN for gaps; `two_ways`,
`last_seen` and `plain` make it, as PyPOTS' own datasets do.
"""

from __future__ import annotations

import importlib
import io
import logging
import math
import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from ..._rules import Rule, whole
from ...errors import ImputefreeError, InputError
from ...estimators import RULES
from ._classic import MeanImputer
from ._training_loop import Outcome, Settings, torch_generator, train

LOGGER = "PyPOTS running log"
SPARSE = "Sparse invariant checks"  # a warning from inside GP-VAE that users can do nothing about
LARGEST = 1e6  # in spreads of the column: beyond it float32 overflows inside a network
STEEPEST = 5.0  # norm of a gradient: one odd batch must not throw the weights about
TRAINING: dict[str, Rule] = {
    "hidden_size": whole(1),
    "learning_rate_init": RULES["learning_rate_init"],
    "weight_averaging": RULES["weight_averaging"],
    "batch_size": RULES["batch_size"],
    "max_iter": RULES["max_iter"],
    "n_iter_no_change": RULES["n_iter_no_change"],
    "validation_fraction": RULES["validation_fraction"],
    "random_state": RULES["random_state"],
    "verbose": RULES["verbose"],
}


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkParameters:
    """Parameters that all estimators with a network of PyPOTS have; their docstrings explain."""

    hidden_size: int = 64
    learning_rate_init: float = 2e-3
    weight_averaging: float = 0.99
    batch_size: int = 32
    max_iter: int = 200
    n_iter_no_change: int = 20
    validation_fraction: float = 0.1
    random_state: Any = None
    verbose: bool = False


def make_network(task: str, name: str, **settings: Any) -> nn.Module:
    """The network of a PyPOTS model, on the CPU, its weights drawn from torch's current seed.

    task : "imputation" or "classification"
    name : the model, such as "BRITS"
    settings : what PyPOTS calls its size, such as n_steps, n_features and rnn_hidden_size

    >>> net = make_network("imputation", "BRITS", n_steps=3, n_features=2, rnn_hidden_size=4)
    >>> net(two_ways(torch.zeros(5, 3, 2)))["reconstruction"].shape
    torch.Size([5, 3, 2])
    """
    model = getattr(_pypots(task, name), name)
    logger = logging.getLogger(LOGGER)
    before, logger.disabled = logger.disabled, True  # it says that no file will be written
    try:
        return model(**settings, device="cpu", saving_path=None).model
    finally:
        logger.disabled = before


def _pypots(task: str, name: str) -> Any:
    """A module of PyPOTS, imported at first need: it takes seconds, and prints a banner."""
    state, logged = random.getstate(), logging.root.manager.disable
    try:
        banner = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # the banner asks for it
        logging.disable(logging.CRITICAL)
        with redirect_stdout(banner), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(f"pypots.{task}")
    except ImportError as error:
        raise ImputefreeError(
            f"{name} needs PyPOTS, which cannot be imported here ({error})",
            "The deep models of series come from PyPOTS, an optional package",
            "Install it with pip install 'imputefree[bench]'",
        ) from None
    finally:
        random.setstate(state)
        logging.disable(logged)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch's global generator at this seed inside the block, as it was before afterwards.

    >>> before = torch.get_rng_state()
    >>> with seeded(0): a = torch.rand(1)
    >>> with seeded(0): b = torch.rand(1)
    >>> torch.equal(a, b), torch.equal(torch.get_rng_state(), before)
    (True, True)
    """
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(seed)
        yield


@dataclass(frozen=True)
class Scale:
    """Columns of steps to mean 0 and spread 1, by the observed entries of training, and back.

    What is observed in a column that training never saw is left out: no weight was fitted to it.

    >>> scale = Scale.of(np.array([[1.0, np.nan], [3.0, np.nan]]))
    >>> scale(np.array([[5.0, 7.0], [np.nan, np.nan]]))
    array([[ 3., nan],
           [nan, nan]])
    """

    columns: MeanImputer
    known: np.ndarray

    @classmethod
    def of(cls, steps: Any) -> Self:
        """Learn from training steps (S, D)."""
        gaps = np.isnan(np.asarray(steps, dtype=np.float64))
        return cls(MeanImputer(random_state=0).fit(steps), ~np.asarray(gaps.all(0)))

    def __call__(self, steps: Any) -> np.ndarray:
        """(S, D) with NaN for gaps, or an error if the columns are not those of training."""
        values = np.asarray(self.columns.transform(steps), dtype=np.float64)  # checks the columns
        values = (values - self.columns.mean_) / self.columns.spread_
        seen = ~np.isnan(np.asarray(steps, dtype=np.float64)) & self.known
        return np.where(seen, values.clip(-LARGEST, LARGEST), np.nan)

    def back(self, guess: np.ndarray) -> np.ndarray:
        """(S, D) in units of the data; columns unknown to training hold 0."""
        return np.where(self.known, guess, 0.0) * self.columns.spread_ + self.columns.mean_


def padded(values: np.ndarray, places: np.ndarray) -> Tensor:
    """Steps (S, D) at their places (N, T), True for valid ones; float32 (N, T, D), else NaN."""
    cube = np.full((*places.shape, values.shape[1]), np.nan, dtype=np.float32)
    cube[places] = values
    return torch.from_numpy(cube)


def check_longest(lengths: np.ndarray, n_steps: int, owner: str) -> None:
    """Refuse series longer than those of training."""
    if lengths.max() > n_steps:
        raise InputError(
            f"series {lengths.argmax()} has {lengths.max()} steps, the longest of training had"
            f" {n_steps}",
            f"{owner} takes at most as many steps as in training",
            "Cut the series, or fit on series as long",
        )


def plain(values: Tensor) -> dict[str, Any]:
    """What GP-VAE and SAITS see: values, 0 for gaps, and the mask; (B, T, D) each."""
    return {"X": values.nan_to_num(0.0), "missing_mask": (~values.isnan()).float()}


def last_seen(values: Tensor) -> dict[str, Any]:
    """What GRU-D sees: also the steps since each column was observed, and its last value.

    Before the first one that is 0, the mean of training, as in the paper.
    """
    seen = plain(values)
    x, mask = seen["X"], seen["missing_mask"]
    last = (torch.arange(values.shape[1])[:, None] * mask).cummax(1).values.long()
    return {
        **seen,
        "deltas": since_observed(mask),
        "X_filledLOCF": x.gather(1, last),
        "empirical_mean": x.new_zeros(x.shape[-1]),
    }


def two_ways(values: Tensor) -> dict[str, Any]:
    """What BRITS sees: values, mask and steps since observed, forward and backward."""

    def one_way(values: Tensor) -> dict[str, Tensor]:
        seen = plain(values)
        return {**seen, "deltas": since_observed(seen["missing_mask"])}

    return {"forward": one_way(values), "backward": one_way(values.flip(1))}


def since_observed(mask: Tensor) -> Tensor:
    """Steps since the last observation before this step, else since the start; (B, T, D).

    >>> since_observed(torch.tensor([0.0, 1, 0, 0, 1]).view(1, 5, 1)).flatten().tolist()
    [0.0, 1.0, 1.0, 2.0, 3.0]
    """
    step = torch.arange(mask.shape[1], dtype=mask.dtype)[:, None]
    last = torch.zeros_like(mask)
    last[:, 1:] = (step * mask).cummax(1).values[:, :-1]
    return step - last


def train_network(
    network: nn.Module,
    loss: Callable[[Tensor], Tensor],
    judge: Callable[[nn.Module], float] | None,
    n_rows: int,
    estimator: NetworkParameters,
    rng: np.random.Generator,
    weight_decay: float = 0.0,
) -> Outcome:
    """Adam on `loss`, a function of row numbers (B,), until `judge` finds no improvement.

    How long, how fast and how quietly is in the parameters of the estimator; see TRAINING.
    """
    optimiser = torch.optim.Adam(
        network.parameters(), estimator.learning_rate_init, weight_decay=weight_decay
    )

    def step(rows: Tensor) -> dict[str, float]:
        network.train()
        optimiser.zero_grad()
        value = loss(rows)
        value.backward()
        nn.utils.clip_grad_norm_(network.parameters(), STEEPEST)
        optimiser.step()
        return {"loss": value.item()}

    one_pass = math.ceil(n_rows / estimator.batch_size)
    settings = Settings(
        batch_size=estimator.batch_size,
        max_steps=estimator.max_iter * one_pass,
        check_every=one_pass,
        patience=estimator.n_iter_no_change,
        averaging=estimator.weight_averaging,
        verbose=estimator.verbose,
    )
    what = type(estimator).__name__
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", SPARSE)
        outcome = train(network, step, judge, n_rows, settings, torch_generator(rng), what)
    outcome.module.eval()
    return outcome


@torch.no_grad()
def in_batches(
    network: nn.Module,
    inputs: Callable[[Tensor], dict[str, Any]],
    values: Tensor,
    batch_size: int,
    answer: str,
) -> Tensor:
    """One answer of a network for all rows; batches only bound the memory. (N, T, D) -> (N, …)."""
    network.eval()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", SPARSE)
        return torch.cat([network(inputs(part))[answer] for part in values.split(batch_size)])
