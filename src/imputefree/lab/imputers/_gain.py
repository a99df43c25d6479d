"""GAIN: a generator fills gaps, a discriminator tries to distinguish filled from observed ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..._rules import Rule
from ...estimators import RULES
from ._imputer import TINY, Array
from ._training_loop import (
    ONE_OR_SEVERAL,
    DeepImputer,
    Step,
    column_ranges,
    dense,
    layer_sizes,
    start_at,
)

NOISE = 0.01  # a gap enters the generator as noise in [0, 0.01], in units of the column's range
REACH = 1.0  # unseen values are clipped at one range beyond those of training


class Generator(nn.Module):
    """Maps rows with gaps and their mask to values in (0, 1) for every entry.

    It starts near the mean of each column.
    """

    def __init__(self, mean: Tensor, hidden: tuple[int, ...], generator: torch.Generator) -> None:
        super().__init__()
        d = len(mean)
        self.net = dense([2 * d, *hidden, d], nn.ReLU, generator)
        start_at(self.net, mean, 0.1)

    def forward(self, values: Tensor, observed: Tensor) -> Tensor:
        return torch.sigmoid(self.net(torch.cat([values, observed], -1)))


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
        mean = x.sum(0) / m.sum(0).clamp(min=1)
        net = Generator(mean, hidden, random)
        # The logit of "was observed" for every entry, from a completed row and a hint.
        critic = dense([2 * d, *hidden, d], nn.ReLU, random)
        net_adam = torch.optim.Adam(net.parameters(), lr=rate, fused=True)
        critic_adam = torch.optim.Adam(critic.parameters(), lr=rate, fused=True)

        def step(rows: Tensor) -> dict[str, float]:
            values, seen = x[rows], m[rows]
            known = seen * (torch.rand(seen.shape, generator=random) >= self.hide)
            revealed = (torch.rand(seen.shape, generator=random) < self.hint_rate).float()
            noise = NOISE * torch.rand(seen.shape, generator=random)
            guess = net(known * values + (1 - known) * noise, known)
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
        return net(x + (1 - m) * torch.from_numpy(self._noise), m)

    def _guesser(self, rng: np.random.Generator, judging: bool) -> Any:
        return self._generate
