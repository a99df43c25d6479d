"""GP-VAE: a variational autoencoder whose latent series are smooth, as a Gaussian process is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._rules import Rule, number, whole
from ...errors import InputError
from ._network_imputer import NetworkImputer

RULES_OWN: dict[str, Rule] = {
    "latent_size": whole(1),
    "window_size": whole(1),
    "length_scale": number(0, 1e3, open_low=True),
    "beta": number(0, 1e3),
}


@dataclass(kw_only=True, eq=False, repr=False)
class GPVAEImputer(NetworkImputer):
    """Deep probabilistic time series imputation (Fortuin et al., AISTATS 2020), from PyPOTS.

    An encoder, a convolution over `window_size` steps and a layer, maps a series with zeros for
    gaps to a Gaussian over latent series; a decoder maps each latent step to the columns. The
    latent prior is a Gaussian process with a Cauchy kernel over the steps. Trained is the evidence
    lower bound of the observed entries, with the divergence weighed by beta. A gap takes the
    decoded posterior mean: nothing is drawn, and a series is filled alone as among others.

    Takes (N, T, D) arrays or lists of (T_i, D) arrays or frames. The training series must be of
    equal length, because the prior is over that many steps; the fitted network fills series of any
    length. Needs PyPOTS: pip install 'imputefree[bench]'.

    Parameters
    ----------
    latent_size : int
        Columns of the latent series.
    hidden_size : int
        Width of the two layers of encoder and decoder.
    window_size : int
        Steps the encoder sees around each step.
    length_scale : float
        Steps over which the prior is smooth.
    beta : float
        Weight of the divergence from the prior.
    learning_rate_init, weight_averaging, batch_size, max_iter, n_iter_no_change,
    validation_fraction, random_state, verbose : see BRITSImputer

    Attributes
    ----------
    validation_error_, history_, network_, n_steps_ : see BRITSImputer

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.sin(rng.uniform(0, 6, (60, 1, 1)) + np.arange(8)[:, None] / 2)
    >>> gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    >>> imputer = GPVAEImputer(hidden_size=32, learning_rate_init=0.01, max_iter=50, random_state=0)
    >>> filled = imputer.fit_transform(gappy)
    >>> bool(np.isnan(filled).any()), bool(np.abs(filled - X).mean() < 0.1)
    (False, True)
    """

    model = "GPVAE"
    own_rules = RULES_OWN
    any_length = True

    latent_size: int = 16
    window_size: int = 5
    length_scale: float = 7.0
    beta: float = 0.05

    def _check_lengths(self, lengths: np.ndarray) -> None:
        if (lengths != lengths[0]).any():
            raise InputError(
                f"the training series have between {lengths.min()} and {lengths.max()} steps",
                "The prior of GP-VAE is over one number of steps",
                "Cut the series to equal length, or take 'brits' or 'saits'",
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
