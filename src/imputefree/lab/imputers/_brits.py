"""BRITS: two recurrent networks, one from each end, guess every entry and then see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._network_imputer import NetworkImputer
from ._pypots_models import two_ways


@dataclass(kw_only=True, eq=False, repr=False)
class BRITSImputer(NetworkImputer):
    """Bidirectional recurrent imputation for time series (Cao et al., NeurIPS 2018), from PyPOTS.

    A recurrent network runs over a series. Before each step it guesses all entries from the steps
    before, whose weight decays with the time since a column was observed, and from the other
    columns of the step; then it goes on with the observed entries, and its guess for gaps. Another
    network runs backward. The loss is the absolute error of all guesses of observed entries, plus
    the difference between both directions, and a gap takes the mean of both.

    Takes (N, T, D) arrays with optional lengths (N,), or lists of (T_i, D) arrays or frames. A
    series shorter than the longest of training is continued by steps where everything is missing,
    while training and later; a longer one is refused. Each series is filled by itself. Needs
    PyPOTS: pip install 'imputefree[bench]'.

    Parameters
    ----------
    hidden_size : int
        Width of each recurrent state.
    learning_rate_init : float
    weight_averaging : float in [0, 1)
        The weights kept are a running mean over steps, the newest weighing 1 minus this.
    batch_size : int
        Series a step.
    max_iter : int
        Passes over the series at most.
    n_iter_no_change : int
        Passes without improvement on the hidden entries before training stops.
    validation_fraction : float in (0, 0.5]
        Share of observed entries hidden from training, to choose the weights by.
    random_state : int, RandomState or None
    verbose : bool
        Show a progress bar on a terminal.

    Attributes
    ----------
    validation_error_ : RMSE on the hidden entries, columns scaled to spread 1
    history_ : dict of lists, one figure a pass
    network_ : the network
    n_steps_ : steps of the longest training series

    Examples
    --------
    >>> import numpy as np
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

    def _sizes(self) -> dict[str, Any]:
        return {"rnn_hidden_size": self.hidden_size}
