"""Deep imputers for tables: GAIN and MIWAE.

GAIN: a generator fills gaps, a discriminator tries to distinguish filled from observed entries.
MIWAE: a deep latent variable model of the observed entries, and its conditional mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..._rules import Rule, choice
from ...estimators import RULES
from ._imputer import TINY, Array
from ._training_loop import (
    ONE_OR_SEVERAL,
    WHOLE,
    DeepImputer,
    Step,
    column_ranges,
    dense,
    layer_sizes,
    start_at,
    torch_generator,
)

# GAIN
NOISE = 0.01  # a gap enters the generator as noise in [0, 0.01], in units of the column's range
REACH = 1.0  # unseen values are clipped at one range beyond those of training
# MIWAE
CELLS_AT_ONCE = 1_000_000  # rows times samples times columns decoded at once: bounds memory
JUDGE_SAMPLES = 50  # at most, to impute the hidden entries between updates
LIMIT = 1e3  # standard deviations: keeps float32 finite for any unseen row
LEAST_SCALE = 0.01  # in standard deviations of a column: keeps densities finite
LEAST_DEGREES = 3.0  # of freedom: below, the variance may be infinite
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def make_generator(mean: Tensor, hidden: tuple[int, ...], random: torch.Generator) -> nn.Sequential:
    """Maps rows with gaps and their mask, side by side, to values in (0, 1) for every entry.

    It starts near the mean of each column, (d,).
    """
    net = dense([2 * len(mean), *hidden, len(mean)], nn.ReLU, random)
    start_at(net, mean, 0.1)
    return net.append(nn.Sigmoid())


def make_hint(observed: Tensor, revealed: Tensor) -> Tensor:
    """H = B M + (1 - B) / 2: the mask where it is revealed (B = 1), one half elsewhere."""
    return revealed * observed + 0.5 * (1 - revealed)


def discriminator_loss(logit: Tensor, observed: Tensor, revealed: Tensor) -> Tensor:
    """Cross-entropy of the mask, averaged over entries that the hint does not reveal."""
    errors = F.binary_cross_entropy_with_logits(logit, observed, reduction="none")
    return _mean(errors, 1 - revealed)


def adversarial_loss(logit: Tensor, observed: Tensor, revealed: Tensor) -> Tensor:
    """-(1 - m) log D, averaged over entries that the hint does not reveal.

    log D = log sigmoid(logit), which never overflows.
    """
    return _mean(-(1 - observed) * F.logsigmoid(logit), 1 - revealed)


def reconstruction_loss(guess: Tensor, values: Tensor, observed: Tensor) -> Tensor:
    """Squared error of the generator's output, averaged over observed entries."""
    return _mean((guess - values) ** 2, observed)


def _mean(errors: Tensor, where: Tensor) -> Tensor:
    return (errors * where).sum() / where.sum().clamp(min=1)


@dataclass(kw_only=True, eq=False, repr=False)
class GAIN(DeepImputer):
    """Generative adversarial imputation nets (Yoon, Jordon & van der Schaar, ICML 2018).

    Columns are scaled to [0, 1] by the smallest and largest training value. With the mask m and
    noise z, the generator G sees m x + (1 - m) z and m and gives a value for each entry, which
    fills gaps. The discriminator D sees the completed row and a hint that reveals the mask except
    for some entries (b = 0), and says for each of those whether it was observed:

        D minimises the cross-entropy of m over entries with b = 0
        G minimises -(1 - m) log D over entries with b = 0, plus
                    alpha times the squared error over observed entries

    All three are means, so that alpha does not depend on the number of columns. Beyond the paper,
    each step removes some observed entries from the mask at random (`hide`) that still count in
    the squared error. Without this (hide=0, the paper) the squared error rewards copying the
    input, and only D teaches what to put into a gap. The weights kept are a running mean, the best
    on observed entries hidden from training.

    The trained generator fills gaps row by row: it is never trained on unseen rows. Memory is that
    of the networks and of the table in float32.

    Parameters
    ----------
    alpha : float or tuple, weight of the squared error against D. If several, say (0.1, 1, 10,
        100), all are tried and the best on the hidden entries is kept.
    hint_rate : float in [0, 1), share of entries whose mask is revealed to D
    hide : float in [0, 0.9], share of observed entries that a step removes from the mask; 0 is the
        paper
    hidden_layer_sizes : int, tuple or None, widths of both networks; None is two layers as wide as
        there are columns, between 64 and 256
    learning_rate_init : float or tuple, initial learning rate; if several, the best on the hidden
        entries
    batch_size : int
    max_steps : int, maximum number of updates, for any number of rows
    check_every : int, updates between two evaluations on the hidden entries
    n_iter_no_change : int, evaluations without improvement before training stops
    weight_averaging : float in [0, 1). The weights kept are a running mean over steps; the newest
        count 1 minus this.
    validation_fraction : float in (0, 0.5], share of observed entries hidden from training, in at
        most 2,000 rows
    random_state : int, RandomState or None
    verbose : bool, show a progress bar on a terminal

    Attributes
    ----------
    alpha_, learning_rate_ : the values used
    validation_error_ : RMSE on the hidden entries, columns scaled to [0, 1]
    history_ : dict of lists, one figure per evaluation
    network_ : the generator

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1)) @ np.ones((1, 4))
    >>> gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    >>> filled = GAIN(max_steps=400, random_state=0).fit_transform(gappy)
    >>> bool(np.isnan(filled).any()), bool(np.abs(filled - X).max() < 0.8)
    (False, True)
    """

    alpha: Any = 100.0
    hint_rate: float = 0.9
    hide: float = 0.2

    tuned = ("alpha", "learning_rate_init")
    rules: ClassVar[dict[str, Rule]] = {
        "alpha": ONE_OR_SEVERAL,
        "hint_rate": RULES["dropout"],  # below 1: the discriminator must have something to find out
    }
    rows_at_once = 4096

    def _prepare(self, values: Array, observed: Array, rng: np.random.Generator) -> None:
        self._low, self._span = column_ranges(values, observed, TINY)
        self._limits = (-REACH, 1 + REACH)
        self._noise = NOISE * rng.random(values.shape[1:]).astype(np.float32)

    def _build(
        self, x: Tensor, m: Tensor, random: torch.Generator, alpha: float, rate: float
    ) -> tuple[nn.Module, Step]:
        d = x.shape[1]
        width = min(max(d, 64), 256)
        hidden = layer_sizes(self.hidden_layer_sizes, (width, width))
        net = make_generator(x.sum(0) / m.sum(0).clamp(min=1), hidden, random)
        # The logit of "was observed" for every entry, from a completed row and a hint.
        critic = dense([2 * d, *hidden, d], nn.ReLU, random)
        net_adam = torch.optim.Adam(net.parameters(), lr=rate, fused=True)
        critic_adam = torch.optim.Adam(critic.parameters(), lr=rate, fused=True)

        def step(rows: Tensor) -> dict[str, float]:
            values, seen = x[rows], m[rows]
            known = seen * (torch.rand(seen.shape, generator=random) >= self.hide)
            revealed = (torch.rand(seen.shape, generator=random) < self.hint_rate).float()
            noise = NOISE * torch.rand(seen.shape, generator=random)
            guess = net(torch.cat([known * values + (1 - known) * noise, known], -1))
            completed = known * values + (1 - known) * guess
            hint = make_hint(known, revealed)

            logit = critic(torch.cat([completed.detach(), hint], -1))
            critic_loss = discriminator_loss(logit, known, revealed)
            critic_adam.zero_grad()
            critic_loss.backward()
            critic_adam.step()

            logit = critic(torch.cat([completed, hint], -1))
            fooled = adversarial_loss(logit, known, revealed)
            error = reconstruction_loss(guess, values, seen)
            net_adam.zero_grad()
            (fooled + alpha * error).backward()
            net_adam.step()
            return {"generator": fooled.item(), "critic": critic_loss.item(), "error": error.item()}

        return net, step

    @torch.no_grad()
    def _generate(self, net: nn.Module, x: Tensor, m: Tensor) -> Tensor:
        """The generator's values; all rows share the noise, so they are independent."""
        return net(torch.cat([x + (1 - m) * torch.from_numpy(self._noise), m], -1))

    def _guesser(self, rng: np.random.Generator, judging: bool) -> Any:
        return self._generate


class Likelihood:
    """The density of an entry, given raw decoder outputs.

    `outputs` is the number of raw values per entry. Shapes: raw (..., outputs, d), values and all
    results (..., d).
    """

    outputs: int

    def log_density(self, raw: Tensor, values: Tensor) -> Tensor:
        raise NotImplementedError

    def mean(self, raw: Tensor) -> Tensor:
        return raw[..., 0, :]


class Gaussian(Likelihood):
    """Mean and scale per entry."""

    outputs = 2

    def log_density(self, raw: Tensor, values: Tensor) -> Tensor:
        scale = F.softplus(raw[..., 1, :]) + LEAST_SCALE
        z = (values - raw[..., 0, :]) / scale
        return -0.5 * z * z - scale.log() - HALF_LOG_2PI


class StudentT(Likelihood):
    """Location, scale and degrees of freedom per entry: robust against outliers."""

    outputs = 3

    def log_density(self, raw: Tensor, values: Tensor) -> Tensor:
        scale = F.softplus(raw[..., 1, :]) + LEAST_SCALE
        degrees = F.softplus(raw[..., 2, :]) + LEAST_DEGREES
        z = (values - raw[..., 0, :]) / scale
        constant = log_gamma_ratio(degrees) - 0.5 * (degrees * math.pi).log() - scale.log()
        return constant - 0.5 * (degrees + 1) * torch.log1p(z * z / degrees)


def log_gamma_ratio(degrees: Tensor) -> Tensor:
    """log Gamma((v + 1) / 2) - log Gamma(v / 2) for v of 3 or more, to 4e-7.

    An asymptotic series at v + 2 and one step of the recurrence. Many times faster than two lgamma
    and, in the backward pass, two digamma for every entry of every sample.
    """
    inverse = 1 / (degrees + 2)
    square = inverse * inverse
    series = 1 / 4 - square * (1 / 24 - square * (1 / 20 - square * (17 / 112)))
    logs = 0.5 * (0.5 * (degrees + 2)).log() - torch.log1p(1 / degrees)
    return logs - inverse * series


class Bernoulli(Likelihood):
    """The probability of a 1; values between 0 and 1 count as fractions of 1 and 0."""

    outputs = 1

    def log_density(self, raw: Tensor, values: Tensor) -> Tensor:
        logit = raw[..., 0, :]
        return values * logit - F.softplus(logit)

    def mean(self, raw: Tensor) -> Tensor:
        return torch.sigmoid(raw[..., 0, :])


LIKELIHOODS: dict[str, type[Likelihood]] = {
    "student": StudentT,
    "gaussian": Gaussian,
    "bernoulli": Bernoulli,
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

        x, m : (B, d) values with 0 in gaps, and mask
        noise : (S, B, k), or (S, 1, k) if rows share it

        Returns log p(x_obs | z) + log p(z) - log q(z | x_obs), (S, B), and raw (S, B, outputs, d).
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
    """Log of the mean weight, (S, B) -> (B,): the importance-weighted bound on log p(x_obs)."""
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
class MIWAE(DeepImputer):
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
    decoder : {"student", "gaussian", "bernoulli"}, the density of an entry. "bernoulli" scales
        columns to [0, 1], for pixels and 0/1 columns.
    n_latent : int, size of z
    n_importance : int, K, samples per row in training
    n_imputation : int, L, samples per row for filling gaps
    hidden_layer_sizes : int, tuple or None, widths of encoder and (reversed) decoder; None is two
        layers of 128
    others : see GAIN

    Attributes
    ----------
    learning_rate_ : the rate used
    validation_error_ : RMSE on the hidden entries, in standard deviations of their columns (for
        "bernoulli" in ranges)
    history_ : dict of lists, one figure per evaluation
    network_ : encoder and decoder

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1)) @ np.ones((1, 4))
    >>> gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    >>> filled = MIWAE(max_steps=200, n_imputation=100, random_state=0).fit_transform(gappy)
    >>> bool(np.isnan(filled).any()), bool(np.abs(filled - X).mean() < 0.1)
    (False, True)
    """

    decoder: str = "student"
    n_latent: int = 10
    n_importance: int = 20
    n_imputation: int = 1000
    batch_size: int = 64

    rules: ClassVar[dict[str, Rule]] = {
        "decoder": choice(*LIKELIHOODS),
        "n_latent": WHOLE,
        "n_importance": WHOLE,
        "n_imputation": WHOLE,
    }

    def _prepare(self, values: Array, observed: Array, rng: np.random.Generator) -> None:
        self._low, self._span = np.zeros(values.shape[1]), np.ones(values.shape[1])
        self._limits = (-LIMIT, LIMIT)
        if self.decoder == "bernoulli":
            self._low, self._span = column_ranges(values, observed)
            self._limits = (0.0, 1.0)

    def _build(
        self, x: Tensor, m: Tensor, random: torch.Generator, rate: float
    ) -> tuple[nn.Module, Step]:
        d, likelihood = x.shape[1], LIKELIHOODS[self.decoder]()
        hidden = layer_sizes(self.hidden_layer_sizes, (128, 128))
        encoder = dense([2 * d, *hidden, 2 * self.n_latent], nn.Tanh, random)
        outputs = likelihood.outputs * d
        decoder = dense([self.n_latent, *reversed(hidden), outputs], nn.Tanh, random)
        if self.decoder == "bernoulli":  # start at the mean of each column
            start_at(decoder, x.sum(0) / m.sum(0).clamp(min=1))
        model = Autoencoder(encoder, decoder, likelihood)
        adam = torch.optim.Adam(model.parameters(), lr=rate, fused=True)

        def step(rows: Tensor) -> dict[str, float]:
            values, seen = x[rows], m[rows]
            noise = torch.randn(self.n_importance, len(rows), self.n_latent, generator=random)
            loss = -bound(model(values, seen, noise)[0]).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
            return {"negative_bound": loss.item()}

        return model, step

    def _guesser(self, rng: np.random.Generator, judging: bool) -> Any:
        samples = min(self.n_imputation, JUDGE_SAMPLES) if judging else self.n_imputation
        noise = torch.randn(samples, self.n_latent, generator=torch_generator(rng))
        return lambda net, x, m: conditional_mean(net, x, m, noise)
