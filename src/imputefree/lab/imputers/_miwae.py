"""MIWAE: a deep latent variable model of the observed entries, and its conditional mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..._progress import training_progress
from ..._rules import Rule, check_rules
from ._imputer import Imputer
from ._likelihoods import HALF_LOG_2PI, LIKELIHOODS, Likelihood
from ._training_loop import (
    COMMON,
    WHOLE,
    Outcome,
    TrainingParameters,
    best_of,
    dense,
    hide_entries,
    layer_sizes,
    settings_of,
    start_at,
    tensors,
    torch_generator,
    train,
)

CELLS_AT_ONCE = 1_000_000  # rows times samples times columns decoded at once: memory is bounded
ROWS_AT_ONCE = 1024  # between two moves of the progress bar
SAMPLES_JUDGED = 50  # at most, where the hidden entries are imputed between updates
LIMIT = 1e3  # standard deviations: float32 stays finite for any unseen row
RULES_OWN: dict[str, Rule] = {
    "decoder": (
        lambda v: isinstance(v, str) and v in LIKELIHOODS,
        "one of " + ", ".join(map(repr, LIKELIHOODS)),
    ),
    "n_latent": WHOLE,
    "n_importance": WHOLE,
    "n_imputation": WHOLE,
}


class Autoencoder(nn.Module):
    """q(z | x_obs) = N(mean, scale²) from the encoder, p(x | z) from the decoder, p(z) = N(0, I).

    The encoder maps (B, 2 d), values with 0 in gaps and the mask, to (B, 2 k); the decoder maps
    (S, B, k) to (S, B, outputs · d).
    """

    def __init__(self, encoder: nn.Module, decoder: nn.Module, likelihood: Likelihood) -> None:
        super().__init__()
        self.encoder, self.decoder, self.likelihood = encoder, decoder, likelihood

    def forward(self, x: Tensor, m: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Log importance weights and raw decoder outputs of samples z = mean + scale · noise.

        Parameters
        ----------
        x, m : (B, d) values with 0 in gaps, and mask
        noise : (S, B, k), or (S, 1, k) where rows share it

        Returns
        -------
        log p(x_obs | z) + log p(z) - log q(z | x_obs), (S, B); raw outputs (S, B, outputs, d)
        """
        mean, raw_scale = self.encoder(torch.cat([x, m], -1)).chunk(2, -1)
        scale = F.softplus(raw_scale) + 1e-3
        z = mean + scale * noise
        raw = self.decoder(z).unflatten(-1, (self.likelihood.outputs, x.shape[-1]))
        log_p_x = (self.likelihood.log_density(raw, x) * m).sum(-1)
        log_p_z = (-0.5 * z * z - HALF_LOG_2PI).sum(-1)
        log_q_z = (-0.5 * noise * noise - HALF_LOG_2PI - scale.log()).sum(-1)
        return log_p_x + log_p_z - log_q_z, raw


def bound(log_weights: Tensor) -> Tensor:
    """log of the mean weight, (S, B) to (B,): the importance-weighted bound on log p(x_obs).

    >>> bound(torch.tensor([[0.0], [0.0]]))
    tensor([0.])
    """
    return log_weights.logsumexp(0) - float(np.log(len(log_weights)))


@torch.no_grad()
def conditional_mean(model: Autoencoder, x: Tensor, m: Tensor, noise: Tensor) -> Tensor:
    """E[x | x_obs] by self-normalised importance sampling, (B, d).

    All rows share the noise (L, k), so the answer for a row does not depend on other rows. Rows
    and samples are taken in chunks; a running maximum keeps the weights finite between chunks.
    """
    samples = min(len(noise), max(CELLS_AT_ONCE // (x.shape[1] * 16), 1))
    rows = max(CELLS_AT_ONCE // (samples * x.shape[1]), 1)
    return torch.cat(
        [
            _weighted_mean(model, x_part, m_part, noise.split(samples))
            for x_part, m_part in zip(x.split(rows), m.split(rows), strict=True)
        ]
    )


def _weighted_mean(model: Autoencoder, x: Tensor, m: Tensor, noise: tuple[Tensor, ...]) -> Tensor:
    top, total = torch.full_like(x[:, 0], -torch.inf), torch.zeros_like(x[:, 0])
    mean = torch.zeros_like(x)
    for part in noise:
        log_weights, raw = model(x, m, part[:, None])
        new_top = torch.maximum(top, log_weights.amax(0))
        weights, shrink = (log_weights - new_top).exp(), (top - new_top).exp()
        total = total * shrink + weights.sum(0)
        guess = torch.einsum("sb,sbd->bd", weights, model.likelihood.mean(raw))
        mean, top = mean * shrink[:, None] + guess, new_top
    return mean / total[:, None]


@dataclass(kw_only=True, eq=False, repr=False)
class MIWAE(TrainingParameters, Imputer):
    """Missing data importance-weighted autoencoder (Mattei & Frellsen, ICML 2019).

    A latent z ~ N(0, I) is decoded into independent densities of the entries. With K samples from
    the encoder's q(z | x_obs), training maximises

        log (1/K) sum over k of p(x_obs | z_k) p(z_k) / q(z_k | x_obs)

    a lower bound on log p(x_obs) that gets tight as K grows. A gap is filled with E[x | x_obs],
    the mean of the decoded values of L samples, weighted by the same ratios divided by their sum.
    Unseen rows go through the trained networks, each for itself. The encoder also sees the mask
    (the paper: only zeros in gaps); the weights kept are a running mean, the best on observed
    entries hidden from training.

    Parameters
    ----------
    decoder : {"student", "gaussian", "bernoulli"}
        The density of an entry. "bernoulli" scales columns to [0, 1], for pixels and yes/no.
    n_latent : int
        Size of z.
    n_importance : int
        K, samples a row in training.
    n_imputation : int
        L, samples a row for filling gaps.
    hidden_layer_sizes : int, tuple or None
        Widths of encoder and (reversed) decoder; None is two layers of 128.
    learning_rate_init : float or tuple
        Adam's rate. Of several values, say (1e-3, 1e-4), each is trained and the best on the
        hidden entries is kept.
    batch_size : int
    max_steps : int
        Updates at most, whatever the number of rows.
    check_every : int
        Updates between two looks at the hidden entries.
    n_iter_no_change : int
        Looks without improvement before training stops.
    weight_averaging : float in [0, 1)
        The weights kept are a running mean over steps, the newest weighing 1 minus this.
    validation_fraction : float in (0, 0.5]
        Share of observed entries hidden from training, of at most 2,000 rows.
    random_state : int, RandomState or None
    verbose : bool
        Show progress bars on a terminal.

    Attributes
    ----------
    learning_rate_ : the rate used
    validation_error_ : RMSE on the hidden entries, in standard deviations of their columns (for
        "bernoulli" in ranges)
    history_ : dict of lists, one figure a look
    model_ : encoder and decoder

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1)) @ np.ones((1, 4))
    >>> gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    >>> filled = MIWAE(max_steps=500, n_imputation=100, random_state=0).fit_transform(gappy)
    >>> bool(np.isnan(filled).any()), bool(np.abs(filled - X).mean() < 0.1)
    (False, True)
    """

    decoder: str = "student"
    n_latent: int = 10
    n_importance: int = 20
    n_imputation: int = 1000
    batch_size: int = 64

    def _learn(self, values: np.ndarray, observed: np.ndarray, rng: np.random.Generator) -> None:
        check_rules(self, {**COMMON, **RULES_OWN})
        self._known = observed.any(0)
        self._low, self._span = np.zeros(values.shape[1]), np.ones(values.shape[1])
        if self.decoder == "bernoulli":
            self._low = np.where(self._known, np.where(observed, values, np.inf).min(0), 0.0)
            high = np.where(observed, values, -np.inf).max(0)
            self._span = np.where(high > self._low, high - self._low, 1.0)
        hidden = hide_entries(observed, self.validation_fraction, rng)
        judge_noise = self._noise(rng, min(self.n_imputation, SAMPLES_JUDGED))
        seed = int(rng.integers(2**62))  # one for all candidates: they differ in their rate only
        x, m = self._inputs(values, observed, observed & ~hidden)
        judged = np.flatnonzero(hidden.any(1))
        places, held = torch.from_numpy(judged), torch.from_numpy(hidden[judged])
        truth = self._inputs(values[judged], observed[judged], observed[judged])[0][held]
        x_held, m_held = x[places], m[places]

        def judge(model: nn.Module) -> float:
            assert isinstance(model, Autoencoder)
            guess = conditional_mean(model, x_held, m_held, judge_noise)[held]
            return float((guess - truth).square().mean().sqrt())

        def run(rate: float) -> Outcome:
            return self._train(x, m, judge if len(truth) else None, rate, seed)

        (self.learning_rate_,), outcome = best_of(run, self.learning_rate_init)
        assert isinstance(outcome.module, Autoencoder)
        self.model_, self.history_ = outcome.module, outcome.history
        self.validation_error_ = outcome.error if len(truth) else float("nan")

    def _train(self, x: Tensor, m: Tensor, judge: Any, rate: float, seed: int) -> Outcome:
        """Maximise the bound; x (n, d) with 0 in gaps, m (n, d)."""
        random = torch.Generator().manual_seed(seed)
        model = self._build(x, m, random)
        adam = torch.optim.Adam(model.parameters(), lr=rate, fused=True)

        def step(rows: Tensor) -> dict[str, float]:
            values, seen = x[rows], m[rows]
            noise = torch.randn(self.n_importance, len(rows), self.n_latent, generator=random)
            loss = -bound(model(values, seen, noise)[0]).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
            return {"negative_bound": loss.item()}

        return train(
            model, step, judge, len(x), settings_of(self), random, f"MIWAE (rate {rate:g})"
        )

    def _build(self, x: Tensor, m: Tensor, random: torch.Generator) -> Autoencoder:
        d, likelihood = x.shape[1], LIKELIHOODS[self.decoder]()
        hidden = layer_sizes(self.hidden_layer_sizes, (128, 128))
        encoder = dense([2 * d, *hidden, 2 * self.n_latent], nn.Tanh, random)
        outputs = likelihood.outputs * d
        decoder = dense([self.n_latent, *reversed(hidden), outputs], nn.Tanh, random)
        if self.decoder == "bernoulli":  # start at the mean of each column
            start_at(decoder, x.sum(0) / m.sum(0).clamp(min=1))
        return Autoencoder(encoder, decoder, likelihood)

    def _fill(
        self, values: np.ndarray, observed: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        noise = self._noise(rng, self.n_imputation)
        guess = np.empty_like(values)
        starts = range(0, len(values), ROWS_AT_ONCE)
        with training_progress(self.verbose, len(starts), "MIWAE fills gaps") as report:
            for block, start in enumerate(starts):
                rows = slice(start, start + ROWS_AT_ONCE)
                x, m = self._inputs(values[rows], observed[rows], observed[rows])
                guess[rows] = conditional_mean(self.model_, x, m, noise).numpy()
                if report is not None:
                    report(block, {})
        return np.where(self._known, guess * self._span + self._low, 0.0)

    def _noise(self, rng: np.random.Generator, samples: int) -> Tensor:
        return torch.randn(samples, self.n_latent, generator=torch_generator(rng))

    def _inputs(
        self, values: np.ndarray, observed: np.ndarray, shown: np.ndarray
    ) -> tuple[Tensor, Tensor]:
        """Values on the decoder's scale with 0 where not shown, and the mask of what is."""
        ranged = (values - self._low) / self._span
        least, most = (0.0, 1.0) if self.decoder == "bernoulli" else (-LIMIT, LIMIT)
        return tensors(np.where(observed & shown, ranged.clip(least, most), 0.0), shown)
