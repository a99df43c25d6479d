"""SAITS: attention over the steps of a series, trained to guess entries that are hidden from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..._rules import Rule, whole
from ...estimators import RULES
from ._network_imputer import NetworkImputer
from ._pypots_models import plain

HEADS = 4
HIDDEN = 0.2  # share of observed entries hidden at each step, as in the paper
RULES_OWN: dict[str, Rule] = {
    "hidden_size": (
        lambda v: whole(1)[0](v) and v % HEADS == 0,
        f"a whole number, a multiple of {HEADS}",
    ),
    "n_layers": whole(1),
    "dropout": RULES["dropout"],
}


@dataclass(kw_only=True, eq=False, repr=False)
class SAITSImputer(NetworkImputer):
    """Self-attention-based imputation for time series (Du, Côté & Liu, 2023), from PyPOTS.

    Two blocks of attention, in which a step sees all steps but itself, guess every entry; their
    guesses are weighed by how much was observed and attended to. Each training step hides 20 % of
    the observed entries. The loss is the absolute error on these plus that on the others.

    Takes (N, T, D) arrays with optional lengths (N,), or lists of (T_i, D) arrays or frames. A
    series shorter than the longest of training is continued by steps where everything is missing,
    while training and later; a longer one is refused. Each series is filled by itself. Needs
    PyPOTS: pip install 'imputefree[bench]'.

    Parameters
    ----------
    hidden_size : int
        Width of a step inside the network, a multiple of 4, the number of attention heads.
    n_layers : int
        Layers of each of the two blocks.
    dropout : float in [0, 1)
    learning_rate_init, weight_averaging, batch_size, max_iter, n_iter_no_change,
    validation_fraction, random_state, verbose : see BRITSImputer

    Attributes
    ----------
    validation_error_, history_, network_, n_steps_ : see BRITSImputer

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.sin(rng.uniform(0, 6, (60, 1, 1)) + np.arange(8)[:, None] / 2)
    >>> gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    >>> imputer = SAITSImputer(hidden_size=32, learning_rate_init=5e-3, max_iter=50, random_state=0)
    >>> filled = imputer.fit_transform(gappy)
    >>> bool(np.isnan(filled).any()), bool(np.abs(filled - X).mean() < 0.1)
    (False, True)
    """

    model = "SAITS"
    own_rules = RULES_OWN
    fewest_steps = 2  # a step attends to others only

    n_layers: int = 2
    dropout: float = 0.1

    def _sizes(self) -> dict[str, Any]:
        return attention_sizes(self.hidden_size, self.n_layers, self.dropout)

    def _training_inputs(self, values: Tensor, generator: torch.Generator) -> dict[str, Any]:
        hidden = torch.rand(values.shape, generator=generator) < HIDDEN
        seen = plain(values.masked_fill(hidden, torch.nan))
        whole = plain(values)
        return {
            **seen,
            "X_ori": whole["X"],
            "indicating_mask": whole["missing_mask"] - seen["missing_mask"],
        }


def attention_sizes(hidden_size: int, n_layers: int, dropout: float) -> dict[str, Any]:
    """What PyPOTS calls the sizes of a SAITS network.

    >>> attention_sizes(32, 2, 0.1)["d_k"]
    8
    """
    return {
        "n_layers": n_layers,
        "d_model": hidden_size,
        "n_heads": HEADS,
        "d_k": hidden_size // HEADS,
        "d_v": hidden_size // HEADS,
        "d_ffn": 2 * hidden_size,
        "dropout": dropout,
        "attn_dropout": dropout,
    }
