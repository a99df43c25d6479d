"""The adapter to PyPOTS (extra `bench`): its networks and losses, trained by our own loop.

PyPOTS 1.5 provides the networks and computes their losses; `_training_loop` takes the steps.
PyPOTS' own `fit` would not allow a fair comparison: BRITS as a classifier is validated on its
training rows, GRU-D fills test series with means of the test set, and both seed and log globally.
Here the epoch is chosen on held-out data, and nothing is printed, written or seeded globally. (At
its very first import PyPOTS writes a settings file into ~/.pypots.)

A network takes a dict of tensors, built from values (B, T, D) with NaN for gaps by `plain`,
`last_seen` or `two_ways`, as PyPOTS' datasets do.
"""

from __future__ import annotations

import importlib
import io
import logging
import math
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from random import getstate, setstate
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn

from ..._rules import Rule, check_rules, whole
from ...errors import ImputefreeError, InputError
from ...estimators import RULES
from ._classic import MeanImputer
from ._training_loop import torch_generator, train

LOGGER = "PyPOTS running log"
SPARSE = "Sparse invariant checks"  # a warning from inside GP-VAE that users cannot act on
MAX_GRADIENT = 5.0  # norm: one odd batch must not ruin the weights
HEADS = 4  # attention heads of SAITS
NETWORK_RULES: dict[str, Rule] = {**RULES, "hidden_size": whole(1)}


def make_network(task: str, name: str, **settings: Any) -> nn.Module:
    """The network of a PyPOTS model, on the CPU, its weights drawn from torch's current seed.

    task : "imputation" or "classification"
    name : the model, such as "BRITS"
    settings : sizes by PyPOTS' names, such as n_steps, n_features and rnn_hidden_size

    >>> net = make_network("imputation", "BRITS", n_steps=3, n_features=2, rnn_hidden_size=4)
    >>> net(two_ways(torch.zeros(5, 3, 2)))["reconstruction"].shape
    torch.Size([5, 3, 2])
    """
    state, level = getstate(), logging.root.manager.disable
    try:  # the first import takes seconds, and prints a banner, which needs an encoding
        banner = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        logging.disable(logging.CRITICAL)
        with redirect_stdout(banner), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pypots = importlib.import_module(f"pypots.{task}")
    except ImportError as error:
        raise ImputefreeError(
            f"{name} needs PyPOTS, which cannot be imported here ({error})",
            "The deep models for series come from PyPOTS, an optional package",
            "Install it with pip install 'imputefree[bench]'",
        ) from None
    finally:
        setstate(state)
        logging.disable(level)
    logger = logging.getLogger(LOGGER)
    before, logger.disabled = logger.disabled, True  # it says that no file will be written
    try:
        return getattr(pypots, name)(**settings, device="cpu", saving_path=None).model
    finally:
        logger.disabled = before


class Scale(MeanImputer):
    """Scales columns to mean 0 and spread 1 by the observed training entries, and back.

    Values of a column that was empty in training become NaN: no weight was fitted to it.
    """

    @classmethod
    def of(cls, steps: Any) -> Self:
        """Learn from training steps (S, D)."""
        return cls(random_state=0).fit(steps)

    def _learn(self, values: np.ndarray, observed: np.ndarray, rng: np.random.Generator) -> None:
        self.known_ = observed.any(0)

    def __call__(self, steps: Any) -> np.ndarray:
        """(S, D) with NaN for gaps, or an error if the columns are not those of training."""
        values = self._read(steps)
        seen = ~np.isnan(values) & self.known_
        return np.where(seen, self._scaled(values, seen), np.nan)

    def back(self, guess: np.ndarray) -> np.ndarray:
        """(S, D) in units of the data; 0 in columns that were empty in training."""
        return np.where(self.known_, guess, 0.0) * self.spread_ + self.mean_


def padded(values: np.ndarray, places: np.ndarray) -> Tensor:
    """Steps (S, D), put where `places` (N, T) is True; float32 (N, T, D), NaN elsewhere."""
    cube = np.full((*places.shape, values.shape[1]), np.nan, dtype=np.float32)
    cube[places] = values
    return torch.from_numpy(cube)


def check_longest(lengths: np.ndarray, n_steps: int, owner: str) -> None:
    """Raise an InputError for a series longer than those of training."""
    if lengths.max() > n_steps:
        raise InputError(
            f"series {lengths.argmax()} has {lengths.max()} steps, the longest in training had"
            f" {n_steps}",
            f"{owner} takes at most as many steps as in training",
            "Cut the series, or fit on longer series",
        )


def plain(values: Tensor) -> dict[str, Any]:
    """Inputs of GP-VAE and SAITS: values, 0 for gaps, and the mask; (B, T, D) each."""
    return {"X": values.nan_to_num(0.0), "missing_mask": (~values.isnan()).float()}


def last_seen(values: Tensor) -> dict[str, Any]:
    """Inputs of GRU-D: also the steps since each column was observed, and its last value.

    Before the first observation that value is 0, the training mean, as in the paper.
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
    """Inputs of BRITS: values, mask and steps since observed, forward and backward."""

    def one_way(values: Tensor) -> dict[str, Tensor]:
        seen = plain(values)
        return {**seen, "deltas": since_observed(seen["missing_mask"])}

    return {"forward": one_way(values), "backward": one_way(values.flip(1))}


def since_observed(mask: Tensor) -> Tensor:
    """Steps since the last observation before this step, else since the start; (B, T, D)."""
    step = torch.arange(mask.shape[1], dtype=mask.dtype)[:, None]
    last = torch.zeros_like(mask)
    last[:, 1:] = (step * mask).cummax(1).values[:, :-1]
    return step - last


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkParameters:
    """Parameters shared by all estimators with a network of PyPOTS, which document them."""

    hidden_size: int = 64
    learning_rate_init: float = 2e-3
    weight_averaging: float = 0.99
    batch_size: int = 32
    max_iter: int = 200
    n_iter_no_change: int = 20
    validation_fraction: float = 0.1
    random_state: Any = None
    verbose: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class PyPOTSNetwork(NetworkParameters):
    """What all estimators with a network of PyPOTS share. Subclasses provide

    - `task`, `model` : PyPOTS' package and the name of its class
    - `_inputs(values)` : what the network sees of values (B, T, D) with NaN for gaps
    - `_sizes()` : its settings
    - `rules` : rules for additional parameters
    """

    task: ClassVar[str]
    model: ClassVar[str]
    rules: ClassVar[dict[str, Rule]] = {}
    fewest_steps: ClassVar[int] = 1
    _inputs = staticmethod(plain)

    def _sizes(self) -> dict[str, Any]:
        return {"rnn_hidden_size": self.hidden_size}

    def _check(self) -> None:
        check_rules(self, {**NETWORK_RULES, **self.rules})

    def _train(
        self,
        values: Tensor,
        inputs: Callable[[Tensor], dict[str, Any]],
        judge: Callable[[nn.Module], float] | None,
        seed: int,
        rng: np.random.Generator,
        weight_decay: float = 0.0,
        **sizes: int,
    ) -> None:
        """Train a network with Adam until `judge` finds no improvement; sets the fitted attributes.

        values : (N, T, D), what there is to train on
        inputs : row numbers (B,) -> what the network sees of these rows
        seed : of the weights, and of what the network draws itself
        sizes : of the network, besides T, D and those of `_sizes`
        """
        n_rows, n_steps, n_features = values.shape
        epoch = math.ceil(n_rows / self.batch_size)  # in steps
        random = torch_generator(rng)
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.filterwarnings("ignore", SPARSE)
            torch.random.default_generator.manual_seed(seed)
            sizes |= {"n_steps": n_steps, "n_features": n_features, **self._sizes()}
            network = make_network(self.task, self.model, **sizes)
            parameters, rate = list(network.parameters()), self.learning_rate_init
            optimizer = torch.optim.Adam(parameters, rate, weight_decay=weight_decay)

            def step(rows: Tensor) -> dict[str, float]:
                network.train()
                optimizer.zero_grad()
                loss = network(inputs(rows), calc_criterion=True)["loss"]
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, MAX_GRADIENT)
                optimizer.step()
                return {"loss": loss.item()}

            outcome = train(
                network,
                step,
                judge,
                rows=n_rows,
                generator=random,
                name=type(self).__name__,
                settings=self,
                max_steps=self.max_iter * epoch,
                check_every=epoch,
            )
        self.network_, self.history_ = outcome.module.eval(), outcome.history
        self.validation_error_ = outcome.error

    @torch.no_grad()
    def _outputs(self, network: nn.Module, values: Tensor, name: str) -> Tensor:
        """One output of a network for all rows, in batches to bound memory; (N, T, D) -> (N, …)."""
        network.eval()
        batches = values.split(self.batch_size)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", SPARSE)
            return torch.cat([network(self._inputs(part))[name] for part in batches])


@dataclass(kw_only=True, eq=False, repr=False)
class AttentionNetwork:
    """What the imputer and the classifier with a SAITS network share beyond NetworkParameters."""

    model: ClassVar[str] = "SAITS"
    fewest_steps: ClassVar[int] = 2  # a step attends only to others
    rules: ClassVar[dict[str, Rule]] = {
        "hidden_size": (
            lambda v: whole(1)[0](v) and v % HEADS == 0,
            f"a whole number, a multiple of {HEADS}",
        ),
        "n_layers": whole(1),
    }

    n_layers: int = 2
    dropout: float = 0.1

    def _sizes(self: Any) -> dict[str, Any]:
        return {
            "n_layers": self.n_layers,
            "d_model": self.hidden_size,
            "n_heads": HEADS,
            "d_k": self.hidden_size // HEADS,
            "d_v": self.hidden_size // HEADS,
            "d_ffn": 2 * self.hidden_size,
            "dropout": self.dropout,
            "attn_dropout": self.dropout,
        }
