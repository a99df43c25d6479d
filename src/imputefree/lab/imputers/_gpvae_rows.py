"""GP-VAE on tables: a row is cut into steps and read as a series, as an image is line by line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._rules import check_rules, whole
from ._gpvae import GPVAEImputer
from ._imputer import Imputer
from ._pypots_models import NetworkParameters


@dataclass(kw_only=True, eq=False, repr=False)
class GPVAERowsImputer(NetworkParameters, Imputer):
    """GP-VAE (see `GPVAEImputer`) for tables whose columns have an order, such as pixels.

    A row of d columns becomes a series of `n_steps` steps of d / n_steps columns each (rounded up;
    what lacks at the end counts as missing). The steps of a column share one scale, so more than
    one step is for values of one kind. With one step there is nothing to be smooth over, and
    GP-VAE is a variational autoencoder. Needs PyPOTS: pip install 'imputefree[bench]'.

    Parameters
    ----------
    n_steps : int
        28 for images of 28 lines.
    the others : see GPVAEImputer

    Attributes
    ----------
    imputer_ : the fitted GPVAEImputer

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(40, 1)) * np.ones(6)
    >>> X[0, 3] = np.nan
    >>> imputer = GPVAERowsImputer(n_steps=2, hidden_size=8, max_iter=2, random_state=0)
    >>> imputer.fit_transform(X).shape, imputer.imputer_.n_features_in_
    ((40, 6), 3)
    """

    scales = False  # GP-VAE scales its own columns

    n_steps: int = 1
    latent_size: int = 16
    window_size: int = 5
    length_scale: float = 7.0
    beta: float = 0.05

    def _learn(self, values: np.ndarray, observed: np.ndarray, rng: np.random.Generator) -> None:
        check_rules(self, {"n_steps": whole(1)})
        taken = GPVAEImputer._get_param_names()
        options = {name: value for name, value in self.get_params().items() if name in taken}
        imputer = GPVAEImputer(**options | {"random_state": int(rng.integers(2**31))})
        self.imputer_ = imputer.fit(self._series(values, observed))

    def _fill(
        self, values: np.ndarray, observed: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        filled = self.imputer_.transform(self._series(values, observed))
        return filled.reshape(len(values), -1)[:, : values.shape[1]]

    def _series(self, values: np.ndarray, observed: np.ndarray) -> np.ndarray:
        """(n, d) as (n, n_steps, columns), NaN in gaps."""
        n, d = values.shape
        wide = np.full((n, self.n_steps * -(-d // self.n_steps)), np.nan)
        wide[:, :d] = np.where(observed, values, np.nan)
        return wide.reshape(n, self.n_steps, -1)
