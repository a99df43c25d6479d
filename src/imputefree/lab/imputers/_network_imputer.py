"""Base of the imputers that PyPOTS' networks make: scale, pad, train, fill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from ..._estimator_tools import private_generator
from ..._rules import Rule, check_rules
from ...errors import InputError
from ._pypots_models import (
    TRAINING,
    NetworkParameters,
    Scale,
    check_longest,
    in_batches,
    make_network,
    padded,
    plain,
    seeded,
    train_network,
)
from ._series_imputer import SeriesImputer
from ._training_loop import hide_entries


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkImputer(NetworkParameters, SeriesImputer):
    """Fills gaps with what a network of PyPOTS reconstructs.

    Columns are scaled by the observed training entries. Series shorter than the longest of
    training are padded with steps where everything is missing. Some observed entries are hidden
    from training, and the weights that fill these best are kept. A column without a training
    entry is filled with 0, whatever the network says. Subclasses provide

    - `model` : the name of PyPOTS' class
    - `_sizes()` : its settings
    - `_inputs(values)` : what the network sees of values (B, T, D) with NaN for gaps
    - `_training_inputs(values, generator)` : the same while training, if that differs
    - `own_rules` : rules of parameters of their own
    """

    model: ClassVar[str]
    own_rules: ClassVar[dict[str, Rule]] = {}
    any_length: ClassVar[bool] = False  # whether a fitted network fills series of any length
    fewest_steps: ClassVar[int] = 1

    _inputs = staticmethod(plain)

    def _sizes(self) -> dict[str, Any]:
        raise NotImplementedError

    def _training_inputs(self, values: Tensor, generator: torch.Generator) -> dict[str, Any]:
        return self._inputs(values)

    def _check_lengths(self, lengths: np.ndarray) -> None:
        """Refuse series to learn from; subclasses may."""

    def _learn(self, steps: Any, lengths: np.ndarray) -> None:
        check_rules(self, {**TRAINING, **self.own_rules})
        self._check_lengths(lengths)
        rng = private_generator(self.random_state)
        seed = int(rng.integers(2**62))
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        scale = Scale.of(steps)
        n_steps = max(int(lengths.max()), self.fewest_steps)
        values = padded(scale(steps), np.arange(n_steps) < lengths[:, None])
        hidden = self._hide(values, rng)
        shown = values.masked_fill(hidden, torch.nan)
        places = hidden.any((1, 2))
        held, truth, guessed_from = hidden[places], values[hidden], shown[places]

        def judge(network: nn.Module) -> float:
            guess = self._reconstruct(network, guessed_from)[held]
            return float((guess - truth).square().mean().sqrt())

        with seeded(seed):
            shape = {"n_steps": n_steps, "n_features": values.shape[2]}
            network = make_network("imputation", self.model, **shape, **self._sizes())

            def loss(rows: Tensor) -> Tensor:
                inputs = self._training_inputs(shown[rows], generator)
                return network(inputs, calc_criterion=True)["loss"]

            judged = judge if len(truth) else None
            outcome = train_network(network, loss, judged, len(values), self, rng)
        self.scale_, self.n_steps_ = scale, n_steps
        self.network_, self.history_ = outcome.module, outcome.history
        self.validation_error_ = outcome.error if len(truth) else float("nan")

    def _hide(self, values: Tensor, rng: np.random.Generator) -> Tensor:
        """Observed entries to choose the weights by, (N, T, D) bool."""
        observed = ~values.isnan().numpy()
        hidden = hide_entries(
            observed.reshape(len(observed), -1), self.validation_fraction, rng
        ).reshape(observed.shape)
        return torch.from_numpy(hidden)

    def _fill(self, steps: Any, lengths: np.ndarray) -> np.ndarray:
        values = self.scale_(steps)
        longest = int(lengths.max())
        if not self.any_length:
            check_longest(lengths, self.n_steps_, type(self).__name__)
            longest = self.n_steps_
        places = np.arange(longest) < lengths[:, None]
        guess = self._reconstruct(self.network_, padded(values, places)).numpy()[places]
        if not np.isfinite(guess).all():
            raise InputError(
                f"{type(self).__name__} diverged: a filled entry is not finite",
                "An imputation must be a number",
                "Lower learning_rate_init, or take a simpler imputer such as 'carry_forward'",
            )
        return self.scale_.back(guess.astype(np.float64))

    def _reconstruct(self, network: nn.Module, values: Tensor) -> Tensor:
        """The network's guess of every entry; (N, T, D) -> (N, T, D)."""
        guess = in_batches(network, self._inputs, values, self.batch_size, "reconstruction")
        return guess.reshape(values.shape)  # GP-VAE has a further axis of samples, of length 1
