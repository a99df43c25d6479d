"""MIWAE: a deep latent variable model of the observed entries, and its conditional mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..._progress import training_progress
from ..._rules import Rule, check_rules, choice
from ._imputer import Imputer
from ._training_loop import (
    TRAINING_RULES,
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

CELLS_AT_ONCE = 1_000_000  # rows times samples times columns decoded at once: bounds memory
ROWS_AT_ONCE = 1024  # between two moves of the progress bar
JUDGE_SAMPLES = 50  # at most, to impute the hidden entries between updates
LIMIT = 1e3  # standard deviations: keeps float32 finite for any unseen row
LEAST_SCALE = 0.01  # in standard deviations of a column: keeps densities finite
LEAST_DEGREES = 3.0  # of freedom: below, the variance may be infinite
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class Likelihood(Protocol):
    """The density of an entry, given raw decoder outputs.

    `outputs` is the number of raw values per entry. Shapes: raw (..., outputs, d), values and all
    results (..., d).
    """

    outputs: int

    def log_density(self, raw: Tensor, values: Tensor) -> Tensor: ...

    def mean(self, raw: Tensor) -> Tensor: ...


class Gaussian:
    """Mean and scale per entry.

    >>> raw = torch.tensor([[0.5], [0.0]])
    >>> Gaussian().mean(raw)
    tensor([0.5000])
    """

    outputs = 2

    def log_density(self, raw: Tensor, values: Tensor) -> Tensor:
        scale = F.softplus(raw[..., 1, :]) + LEAST_SCALE
        z = (values - raw[..., 0, :]) / scale
        return -0.5 * z * z - scale.log() - HALF_LOG_2PI

    def mean(self, raw: Tensor) -> Tensor:
        return raw[..., 0, :]


class StudentT:
    """Location, scale and degrees of freedom per entry: robust against outliers.

    >>> raw = torch.zeros(3, 1)
    >>> bool(StudentT().log_density(raw, torch.tensor([9.0])) > -20)
    True
    """

    outputs = 3

    def log_density(self, raw: Tensor, values: Tensor) -> Tensor:
        scale = F.softplus(raw[..., 1, :]) + LEAST_SCALE
        degrees = F.softplus(raw[..., 2, :]) + LEAST_DEGREES
        z = (values - raw[..., 0, :]) / scale
        constant = log_gamma_ratio(degrees) - 0.5 * (degrees * math.pi).log() - scale.log()
        return constant - 0.5 * (degrees + 1) * torch.log1p(z * z / degrees)

    def mean(self, raw: Tensor) -> Tensor:
        return raw[..., 0, :]


def log_gamma_ratio(degrees: Tensor) -> Tensor:
    """log Gamma((v + 1) / 2) - log Gamma(v / 2) for v of 3 or more, to 4e-7.

    An asymptotic series at v + 2 and one step of the recurrence. Many times faster than two lgamma
    and, in the backward pass, two digamma for every entry of every sample.

    >>> v = torch.tensor([3.0, 8.0])
    >>> torch.lgamma((v + 1) / 2) - torch.lgamma(v / 2) - log_gamma_ratio(v) < 1e-6
    tensor([True, True])
    """
    inverse = 1 / (degrees + 2)
    square = inverse * inverse
    series = 1 / 4 - square * (1 / 24 - square * (1 / 20 - square * (17 / 112)))
    logs = 0.5 * (0.5 * (degrees + 2)).log() - torch.log1p(1 / degrees)
    return logs - inverse * series


class Bernoulli:
    """The probability of a 1; values between 0 and 1 count as fractions of 1 and 0.

    >>> Bernoulli().log_density(torch.zeros(1, 1), torch.tensor([1.0])).exp()
    tensor([0.5000])
    """

    outputs = 1

    def log_density(self, raw: Tensor, values: Tensor) -> Tensor:
        logit = raw[..., 0, :]
        return values * logit - F.softplus(logit)

    def mean(self, raw: Tensor) -> Tensor:
        return torch.sigmoid(raw[..., 0, :])


LIKELIHOODS: dict[str, type[Gaussian] | type[StudentT] | type[Bernoulli]] = {
    "student": StudentT,
    "gaussian": Gaussian,
    "bernoulli": Bernoulli,
}
MIWAE_RULES: dict[str, Rule] = {
    **TRAINING_RULES,
    "decoder": choice(*LIKELIHOODS),
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
        """Log importance weights and raw decoder outputs for samples z = mean + scale · noise.

        Parameters
        ----------
        x, m : (B, d) values with 0 in gaps, and mask
        noise : (S, B, k), or (S, 1, k) if rows share it

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
    """Log of the mean weight, (S, B) -> (B,): the importance-weighted bound on log p(x_obs).

    >>> bound(torch.tensor([[0.0], [0.0]]))
    tensor([0.])
    """
    return log_weights.logsumexp(0) - float(np.log(len(log_weights)))


@torch.no_grad()
def conditional_mean(model: Autoencoder, x: Tensor, m: Tensor, noise: Tensor) -> Tensor:
    """E[x | x_obs] by self-normalised importance sampling, (B, d).

    All rows share the noise (L, k), so the result for a row does not depend on other rows. Rows
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

    a lower bound on log p(x_obs) that becomes tight as K grows. A gap is filled with E[x | x_obs],
    the mean of the decoded values of L samples, weighted by the same ratios, normalised. Unseen
    rows go through the trained networks one by one. The encoder also sees the mask (in the paper
    only zeros in gaps); the weights kept are a running mean, the best on observed entries hidden
    from training.

    Parameters
    ----------
    decoder : {"student", "gaussian", "bernoulli"}
        The density of an entry. "bernoulli" scales columns to [0, 1], for pixels and 0/1 columns.
    n_latent : int
        Size of z.
    n_importance : int
        K, samples per row in training.
    n_imputation : int
        L, samples per row for filling gaps.
    hidden_layer_sizes : int, tuple or None
        Widths of encoder and (reversed) decoder; None is two layers of 128.
    others : see GAIN

    Attributes
    ----------
    learning_rate_ : the rate used
    validation_error_ : RMSE on the hidden entries, in standard deviations of their columns (for
        "bernoulli" in ranges)
    history_ : dict of lists, one figure per evaluation
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
        check_rules(self, MIWAE_RULES)
        self._known = observed.any(0)
        self._low, self._span = np.zeros(values.shape[1]), np.ones(values.shape[1])
        if self.decoder == "bernoulli":
            self._low = np.where(self._known, np.where(observed, values, np.inf).min(0), 0.0)
            high = np.where(observed, values, -np.inf).max(0)
            self._span = np.where(high > self._low, high - self._low, 1.0)
        hidden = hide_entries(observed, self.validation_fraction, rng)
        judge_noise = self._noise(rng, min(self.n_imputation, JUDGE_SAMPLES))
        seed = int(rng.integers(2**62))  # shared: candidates differ only in their rate
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

        name = f"MIWAE (rate {rate:g})"
        return train(model, step, judge, len(x), random, name, **settings_of(self))

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
        with training_progress(self.verbose, len(starts), "MIWAE imputation") as report:
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
        """Values on the decoder's scale with 0 where not shown, and the mask of those shown."""
        ranged = (values - self._low) / self._span
        least, most = (0.0, 1.0) if self.decoder == "bernoulli" else (-LIMIT, LIMIT)
        return tensors(np.where(observed & shown, ranged.clip(least, most), 0.0), shown)
