"""Plausible values of a gap, given the rest of its row: draws from a joint density."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import ndtr

from ..data import Category, Columns
from ._density_inputs import DensityInputs
from ._factor_mixture import FactorMixture

FEW_VALUES = 10  # a number with at most this many distinct values is drawn like a category
# Chosen by held-out log-densities of hidden entries on five tables (docs/decisions.md); flat.
FACTORS, MOST_FACTORS, ENTRIES_PER_FACTOR = 3, 10, 10
COMPONENT_ROWS, MOST_COMPONENTS = 100, 5
NOISE, SMOOTHING = 0.2, 4.0  # of the factor analysers, see there
HIGHEST = 6.0  # normal score beyond which there are no values
HALVINGS = 26  # of [-6, 6], to find a quantile
BLOCK = 2**22  # numbers of gaps that are drawn at once, with their levels: bounds the memory


class Plausible(NamedTuple):
    """Plausible values of some gaps, all in one list; (M,) each.

    gap : which of the gaps it is for, in order
    donor : the training row that has the value
    weight : its probability; those of one gap add up to 1
    """

    gap: np.ndarray
    donor: np.ndarray
    weight: np.ndarray


class ConditionalDraws:
    """A joint density of numbers and categories, and its conditionals given a row's entries.

    Numbers become normal scores, categories one entry per level (`DensityInputs`), and all of them
    together a mixture of factor analysers (`FactorMixture`). Given the observed entries o of a row,

        a number       score_j | x_o  is a mixture of normals, in closed form
        a category     p(v | x_o)  ~  share of v  *  p(x_o, v) / p(v)

    where v is a level of the category: the last factor is the density of the observed entries given
    that level, and with nothing observed levels have their training shares. Numbers of few
    values are treated like categories. The value of a score is the training value whose rank is the
    score's under the density's own distribution of the column: with nothing observed, draws have
    the distribution of training, ties included, and a draw is always an entry of a training row,
    its donor.

    Fitted: inputs, density; column_of (entries,); values, observed : (n, entries) of training rows.

    >>> from imputefree.data import read_columns
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(1000, 1)) + 0.5 * rng.normal(size=(1000, 2))
    >>> draws = ConditionalDraws().fit(read_columns(x), rng)
    >>> row, gap = np.zeros(2000, int), np.ones(2000, int)  # the second column of the row 2 ?
    >>> entries = draws.entries(read_columns(np.array([[2.0, np.nan]])))
    >>> donors = draws.draw(*entries, row, gap, rng)
    >>> x[donors, 1].mean() > 1.2  # 2 * covariance / variance = 1.6, shrunk
    np.True_
    """

    inputs: DensityInputs
    density: FactorMixture
    column_of: np.ndarray
    values: np.ndarray
    observed: np.ndarray

    def __init__(self, categorical_features: Any = "auto") -> None:
        self.categorical_features = categorical_features

    def fit(self, columns: Columns, rng: np.random.Generator) -> Self:
        """Learn from training rows."""
        self.inputs = DensityInputs(self.categorical_features, switches=False).fit(columns)
        encoder = self.inputs.encoder
        self.kept = self._kept_entries()
        self.column_of = encoder.input_columns[self.kept]
        self.values, self.observed = self.entries(columns)
        width = len(self.column_of)
        size = int(np.clip(columns.n_rows // COMPONENT_ROWS, 1, MOST_COMPONENTS))
        factors = min(int(np.clip(width // ENTRIES_PER_FACTOR, FACTORS, MOST_FACTORS)), width)
        self.density = FactorMixture(size, factors, smoothing=SMOOTHING, floor=NOISE, rng=rng)
        self.density.fit(self.values, self.observed)
        self._list_values(encoder.codes(columns))
        return self

    def entries(self, columns: Columns) -> tuple[np.ndarray, np.ndarray]:
        """What the density sees of a table: values, 0 for gaps, and the mask; (n, entries) each."""
        values, observed = self.inputs.transform(columns)
        return values[:, self.kept], observed[:, self.kept]

    def plausible(
        self,
        values: np.ndarray,
        observed: np.ndarray,
        row: np.ndarray,
        column: np.ndarray,
        shares: np.ndarray,
    ) -> Plausible:
        """Plausible values of gaps.

        values, observed : (n, entries) what is known of rows, as `entries` gives it
        row, column : (m,) the gaps
        shares : (k,) or (m, k) quantiles that represent a number with many values, with equal
            weights; categories come with all their levels

        A gap in a column without a training value has no plausible value.
        """
        shares = np.broadcast_to(shares, (len(row), np.shape(shares)[-1]))
        many = np.flatnonzero(self.ranked[column])
        few = np.flatnonzero(~self.ranked[column])
        donors = self._quantiles(values, observed, row[many], column[many], shares[many])
        which, donor, weight = self._levels(values, observed, row[few], column[few])
        gap = np.concatenate([np.repeat(many, donors.shape[1]), few[which]])
        order = np.argsort(gap, kind="stable")
        equal = np.full(donors.size, 1 / donors.shape[1])
        donor, weight = np.concatenate([donors.ravel(), donor]), np.concatenate([equal, weight])
        return Plausible(gap[order], donor[order], weight[order])

    def draw(
        self,
        values: np.ndarray,
        observed: np.ndarray,
        row: np.ndarray,
        column: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Donors of one random value per gap, -1 if there is none; see `plausible`."""
        each = len(self.column_of) * max(int(self.level_count.max()), 1)
        step = max(BLOCK // each, 1)
        parts = [slice(at, at + step) for at in range(0, len(row), step)]
        drawn = [self._draw(values, observed, row[part], column[part], rng) for part in parts]
        return np.concatenate([np.empty(0, int), *drawn])

    def _draw(
        self,
        values: np.ndarray,
        observed: np.ndarray,
        row: np.ndarray,
        column: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        shares = rng.random((len(row), 1))
        gap, donor, weight = self.plausible(values, observed, row, column, shares)
        total = np.cumsum(weight)
        known, first = np.unique(gap, return_index=True)
        before = np.concatenate([[0.0], total])[first]
        end = np.append(first[1:], len(gap)) - 1
        place = np.searchsorted(total, before + rng.random(len(known)), side="right")
        drawn = np.full(len(row), -1)
        drawn[known] = donor[np.clip(place, first, end)]
        return drawn

    def _kept_entries(self) -> np.ndarray:
        """All entries but that of the most common level of each category.

        It follows from the others, so factors should not be spent on it.
        """
        encoder = self.inputs.encoder
        column_of = encoder.input_columns[: encoder.n_entries]
        kept = np.ones(len(column_of), dtype=bool)
        for j, plan in enumerate(encoder.plans):
            if isinstance(plan, Category) and plan.shares:
                kept[np.flatnonzero(column_of == j)[int(np.argmax(plan.shares))]] = False
        return np.flatnonzero(kept)

    def _list_values(self, codes: np.ndarray) -> None:
        """Training rows by the value of each column; codes (n, d) with NaN for gaps."""
        d = codes.shape[1]
        self.ranked = np.zeros(d, dtype=bool)
        self.order: list[np.ndarray] = [np.empty(0, int)] * d  # rows by value, of a ranked column
        self.entry = np.zeros(d, dtype=int)  # the only one of a ranked column
        donors, shares = [np.empty(0, int)] * d, [np.empty(0)] * d
        for j, plan in enumerate(self.inputs.encoder.plans):
            rows = np.flatnonzero(~np.isnan(codes[:, j]))
            _, first, counts = np.unique(codes[rows, j], return_index=True, return_counts=True)
            if len(first) > FEW_VALUES and not isinstance(plan, Category):
                self.ranked[j] = True
                self.order[j] = rows[np.argsort(codes[rows, j], kind="stable")]
                self.entry[j] = np.flatnonzero(self.column_of == j)[0]
            else:
                donors[j], shares[j] = rows[first], counts / max(len(rows), 1)
        self.level_count = np.array([len(rows) for rows in donors])
        self.level_donor, level_share = np.concatenate(donors), np.concatenate(shares)
        column = np.repeat(np.arange(d), self.level_count)
        alone = self.column_of == column[:, None]  # (levels, entries)
        density = self.density.log_likelihood(self.values[self.level_donor], alone)
        self.level_log = np.log(level_share) - density

    def _quantiles(
        self,
        values: np.ndarray,
        observed: np.ndarray,
        row: np.ndarray,
        column: np.ndarray,
        shares: np.ndarray,
    ) -> np.ndarray:
        """Donors of these quantiles of gaps in ranked columns; shares (m, k) -> (m, k)."""
        if not len(row):
            return np.empty(shares.shape, int)
        rows, place = np.unique(row, return_inverse=True)
        parts = self.density.conditionals(values[rows], observed[rows])
        share, entry = parts[0][place], self.entry[column]
        mean, variance = (part[place, :, entry][:, :, None] for part in parts[1:])
        deviation = np.sqrt(variance)  # (m, K, 1)
        low, high = np.full(shares.shape, -HIGHEST), np.full(shares.shape, HIGHEST)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            below = _below(middle, share, mean, deviation)
            low = np.where(below < shares, middle, low)
            high = np.where(below < shares, high, middle)
        nothing = np.zeros((1, len(self.column_of)))
        marginal = self.density.conditionals(nothing, nothing.astype(bool))  # without conditioning
        mean, variance = (part[0, :, entry][:, :, None] for part in marginal[1:])
        sizes = np.array([len(rows) for rows in self.order])[column][:, None]
        place = _below((low + high) / 2, marginal[0], mean, np.sqrt(variance))
        rank = np.minimum((place * sizes).astype(int), sizes - 1)
        starts = np.cumsum([0, *map(len, self.order)])[column]
        return np.concatenate(self.order)[starts[:, None] + rank]

    def _levels(
        self, values: np.ndarray, observed: np.ndarray, row: np.ndarray, column: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gap, donor and probability of every level of gaps in other columns; (M,) each."""
        counts = self.level_count[column]
        gap = np.repeat(np.arange(len(row)), counts)
        if not len(gap):
            return gap, gap, np.empty(0)
        starts = np.cumsum(self.level_count) - self.level_count
        first = np.cumsum(counts) - counts
        level = starts[column][gap] + np.arange(len(gap)) - first[gap]
        donor = self.level_donor[level]
        in_column = self.column_of == column[gap][:, None]  # (M, entries)
        filled = np.where(in_column, self.values[donor], values[row[gap]])
        log_p = self.level_log[level]
        log_p = log_p + self.density.log_likelihood(filled, observed[row[gap]] | in_column)
        begin = first[counts > 0]
        top = np.repeat(np.maximum.reduceat(log_p, begin), counts[counts > 0])
        weight = np.exp(log_p - top)
        return gap, donor, weight / np.repeat(np.add.reduceat(weight, begin), counts[counts > 0])


def _below(score: np.ndarray, share: np.ndarray, mean: np.ndarray, deviation: np.ndarray) -> Any:
    """Probability below a score; score (m, k), share (m, K), mean and deviation (m, K, 1)."""
    return (share[:, :, None] * ndtr((score[:, None] - mean) / deviation)).sum(1)
