"""Imputers for series with PyPOTS' networks: BRITS, SAITS and GP-VAE (also for ordered columns)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from ..._rules import Rule, check_rules, number, private_generator, whole
from ...errors import InputError
from ._imputer import Array, Imputer, SeriesImputer, check_finite
from ._pypots_models import (
    AttentionNetwork,
    NetworkParameters,
    PyPOTSNetwork,
    Scale,
    check_longest,
    padded,
    plain,
    two_ways,
)
from ._training_loop import hide_entries, torch_generator

HIDDEN = 0.2  # fraction of observed entries that SAITS hides at each step, as in the paper


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkImputer(PyPOTSNetwork, SeriesImputer):
    """Fills gaps with what a network of PyPOTS reconstructs.

    Columns are scaled by the observed training entries. Series shorter than the longest in
    training are padded with steps where everything is missing. Some observed entries are hidden
    from training, and the weights that fill these best are kept. A column without a training
    entry is filled with 0, regardless of the network. Each series is filled independently.
    Subclasses may also provide `_training_inputs(values, generator)`, if a network sees something
    else while it trains.
    """

    task: ClassVar = "imputation"
    any_length: ClassVar[bool] = False  # whether a fitted network fills series of any length

    def _training_inputs(self, values: Tensor, generator: torch.Generator) -> dict[str, Any]:
        return self._inputs(values)

    def _check_lengths(self, lengths: Array) -> None:
        """Raise an InputError for training series that the model cannot take; here, none."""

    def _learn(self, steps: Any, lengths: Array) -> None:
        self._check()
        self._check_lengths(lengths)
        rng = private_generator(self.random_state)
        seed = int(rng.integers(2**62))
        generator = torch_generator(rng)
        scale = Scale.of(steps)
        n_steps = max(int(lengths.max()), self.fewest_steps)
        values = padded(scale(steps), np.arange(n_steps) < lengths[:, None])
        flat = ~values.isnan().flatten(1).numpy()
        chosen = hide_entries(flat, self.validation_fraction, rng)
        hidden = torch.from_numpy(chosen).reshape(values.shape)
        shown = values.masked_fill(hidden, torch.nan)
        places = hidden.any((1, 2))
        held, truth, guessed_from = hidden[places], values[hidden], shown[places]

        def judge(network: nn.Module) -> float:
            guess = self._reconstruct(network, guessed_from)[held]
            return float((guess - truth).square().mean().sqrt())

        def inputs(rows: Tensor) -> dict[str, Any]:
            return self._training_inputs(shown[rows], generator)

        self._train(shown, inputs, judge if len(truth) else None, seed, rng)
        self.scale_, self.n_steps_ = scale, n_steps

    def _fill(self, steps: Any, lengths: Array) -> Array:
        values = self.scale_(steps)
        longest = int(lengths.max())
        if not self.any_length:
            check_longest(lengths, self.n_steps_, type(self).__name__)
            longest = self.n_steps_
        places = np.arange(longest) < lengths[:, None]
        guess = self._reconstruct(self.network_, padded(values, places)).numpy()[places]
        remedy = "Lower learning_rate_init, or use a simpler imputer such as 'carry_forward'"
        check_finite(self, guess, remedy)
        return self.scale_.back(guess.astype(np.float64))

    def _reconstruct(self, network: nn.Module, values: Tensor) -> Tensor:
        """The network's guess of every entry; (N, T, D) -> (N, T, D)."""
        guess = self._outputs(network, values, "reconstruction")
        return guess.reshape(values.shape)  # GP-VAE has another axis of samples, of length 1


@dataclass(kw_only=True, eq=False, repr=False)
class BRITSImputer(NetworkImputer):
    """Bidirectional recurrent imputation for time series (Cao et al., NeurIPS 2018), from PyPOTS.

    A recurrent network runs over a series. Before each step it guesses all entries from the
    previous steps, whose weight decays with the time since a column was observed, and from the
    other columns of the step; then it continues with the observed entries, and its guess for gaps.
    A second network runs backward. The loss is the absolute error of all guesses of observed
    entries, plus the difference between both directions, and a gap gets the mean of both.

    Series longer than the longest in training are refused. Needs PyPOTS: pip install
    'imputefree[bench]'.

    Parameters
    ----------
    hidden_size : int, width of each recurrent state
    learning_rate_init : float
    weight_averaging : float in [0, 1). The weights kept are a running mean over steps; the newest
        count 1 minus this.
    batch_size : int, series per step
    max_iter : int, maximum number of epochs
    n_iter_no_change : int, epochs without improvement on the hidden entries before training stops
    validation_fraction : float in (0, 0.5], share of observed entries hidden from training, to
        choose the weights by
    random_state : int, RandomState or None
    verbose : bool, show a progress bar on a terminal

    Attributes
    ----------
    validation_error_ : RMSE on the hidden entries, columns scaled to spread 1
    history_ : dict of lists, one figure per epoch
    network_ : the network
    n_steps_ : steps of the longest training series

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.sin(rng.uniform(0, 6, (60, 1, 1)) + np.arange(8)[:, None] / 2)
    >>> gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    >>> imputer = BRITSImputer(hidden_size=16, learning_rate_init=0.01, max_iter=30, random_state=0)
    >>> filled = imputer.fit_transform(gappy)
    >>> bool(np.isnan(filled).any()), bool(np.abs(filled - X).mean() < 0.1)
    (False, True)
    """

    model = "BRITS"
    _inputs = staticmethod(two_ways)


@dataclass(kw_only=True, eq=False, repr=False)
class SAITSImputer(AttentionNetwork, NetworkImputer):
    """Self-attention-based imputation for time series (Du, Côté & Liu, 2023), from PyPOTS.

    Two blocks of attention, in which a step sees all steps but itself, guess every entry; their
    guesses are weighted by how much was observed and attended to. Each training step hides 20 %
    of the observed entries. The loss is the absolute error on these plus that on the others.

    Series longer than the longest in training are refused. Needs PyPOTS: pip install
    'imputefree[bench]'.

    Parameters
    ----------
    hidden_size : int, width of a step inside the network, a multiple of 4, the attention heads
    n_layers : int, layers of each of the two blocks
    dropout : float in [0, 1)
    others, and attributes : see BRITSImputer
    """

    def _training_inputs(self, values: Tensor, generator: torch.Generator) -> dict[str, Any]:
        hidden = torch.rand(values.shape, generator=generator) < HIDDEN
        seen, whole = plain(values.masked_fill(hidden, torch.nan)), plain(values)
        return {
            **seen,
            "X_ori": whole["X"],
            "indicating_mask": whole["missing_mask"] - seen["missing_mask"],
        }


@dataclass(kw_only=True, eq=False, repr=False)
class GPVAEParameters(NetworkParameters):
    """Parameters of GP-VAE, which `GPVAEImputer` documents."""

    latent_size: int = 16
    window_size: int = 5
    length_scale: float = 7.0
    beta: float = 0.05


@dataclass(kw_only=True, eq=False, repr=False)
class GPVAEImputer(GPVAEParameters, NetworkImputer):
    """Deep probabilistic time series imputation (Fortuin et al., AISTATS 2020), from PyPOTS.

    An encoder, a convolution over `window_size` steps and a layer, maps a series with zeros for
    gaps to a Gaussian over latent series; a decoder maps each latent step to the columns. The
    latent prior is a Gaussian process with a Cauchy kernel over the steps. Training maximises the
    evidence lower bound of the observed entries, with the divergence weighted by beta. A gap gets
    the decoded posterior mean: nothing is drawn at random.

    The training series must have equal length, because the prior spans that many steps; the
    fitted network fills series of any length. Needs PyPOTS: pip install 'imputefree[bench]'.

    Parameters
    ----------
    latent_size : int, columns of the latent series
    hidden_size : int, width of the two layers of encoder and decoder
    window_size : int, steps the encoder sees around each step
    length_scale : float, steps over which the prior is smooth
    beta : float, weight of the divergence from the prior
    others, and attributes : see BRITSImputer
    """

    model = "GPVAE"
    rules: ClassVar[dict[str, Rule]] = {
        "latent_size": whole(1),
        "window_size": whole(1),
        "length_scale": number(0, 1e3, open_low=True),
        "beta": number(0, 1e3),
    }
    any_length = True

    def _check_lengths(self, lengths: Array) -> None:
        if (lengths != lengths[0]).any():
            raise InputError(
                f"the training series have between {lengths.min()} and {lengths.max()} steps",
                "The prior of GP-VAE spans a fixed number of steps",
                "Cut the series to equal length, or use 'brits' or 'saits'",
            )

    def _sizes(self) -> dict[str, Any]:
        return {
            "latent_size": self.latent_size,
            "encoder_sizes": (self.hidden_size, self.hidden_size),
            "decoder_sizes": (self.hidden_size, self.hidden_size),
            "beta": self.beta,
            "length_scale": self.length_scale,
            "window_size": self.window_size,
        }


@dataclass(kw_only=True, eq=False, repr=False)
class GPVAERowsImputer(GPVAEParameters, Imputer):
    """GP-VAE (see `GPVAEImputer`) for tables whose columns have an order, such as pixels.

    A row of d columns becomes a series of `n_steps` steps of d / n_steps columns each (rounded up;
    the rest counts as missing). The steps of a column share one scale, so use more than one
    step only for columns of one kind. With one step there is nothing to smooth over, and GP-VAE is
    a variational autoencoder. Needs PyPOTS: pip install 'imputefree[bench]'.

    Parameters
    ----------
    n_steps : int, 28 for images of 28 lines
    others : see GPVAEImputer

    Fitted: imputer_, the GPVAEImputer.

    >>> X = np.random.default_rng(0).normal(size=(40, 1)) * np.ones(6)
    >>> X[0, 3] = np.nan
    >>> imputer = GPVAERowsImputer(n_steps=2, hidden_size=8, max_iter=2, random_state=0)
    >>> imputer.fit_transform(X).shape, imputer.imputer_.n_features_in_
    ((40, 6), 3)
    """

    scales = False  # GP-VAE scales its columns itself

    n_steps: int = 1

    def _learn(self, values: Array, observed: Array, rng: np.random.Generator) -> None:
        check_rules(self, {"n_steps": whole(1)})
        names = GPVAEImputer._get_param_names()
        options = {name: value for name, value in self.get_params().items() if name in names}
        imputer = GPVAEImputer(**options | {"random_state": int(rng.integers(2**31))})
        self.imputer_ = imputer.fit(self._series(values, observed))

    def _fill(self, values: Array, observed: Array, rng: np.random.Generator) -> Array:
        filled = self.imputer_.transform(self._series(values, observed))
        return filled.reshape(len(values), -1)[:, : values.shape[1]]

    def _series(self, values: Array, observed: Array) -> Array:
        """(n, d) as (n, n_steps, columns), NaN in gaps."""
        n, d = values.shape
        wide = np.full((n, self.n_steps * -(-d // self.n_steps)), np.nan)
        wide[:, :d] = np.where(observed, values, np.nan)
        return wide.reshape(n, self.n_steps, -1)
