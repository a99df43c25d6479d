"""Gains of measurements for any model: copies of rows with plausible values in their gaps.

The model is asked what it would predict with such a value in the gap and everything else as it is,
gaps included: handling the other gaps is left to the model.

The gain in a single row is the opinion of a model that learned from few rows, and overfitting
inflates it. The mean over many background rows, the usual gain, is steadier. A row's gain is shrunk
half-way towards it, as the mean of few observations is shrunk towards that of its group (empirical
Bayes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr, ndtr, ndtri
from sklearn.base import is_classifier
from sklearn.utils import gen_batches

from .._rules import check_value, number, whole
from ..data import Category, Panel, PanelEncoder, TableEncoder
from ..errors import InputTypeError, ParameterError, shorten
from ..missingness import generator
from ._model_rows import ModelRows, Mosaic, arranged, predict_rows
from ._plausible_values import BEFORE, PlausibleValues, read_model_rows, read_table, with_present

COPIES = 2**14  # rows that are predicted at once
PANEL_DRAWS = 32  # joint draws of the values of a panel


@dataclass(frozen=True, eq=False)
class Measurements:
    """The possible measurements: G names and costs, and which of d columns each gives; (G, d) bool.

    >>> panel = Measurements.read(["na", "k", "ct"], {"ct": 500}, [["na", "k"]])
    >>> panel.names, panel.cost.tolist()
    (['na + k', 'ct'], [1.0, 500.0])
    """

    names: list[str]
    cost: np.ndarray
    columns: np.ndarray

    @classmethod
    def read(
        cls, names: list[str], costs: Any, together: Any, width: int | None = None
    ) -> Measurements:
        """Check and read the user's costs and panels.

        width : d, if there are columns after the named ones; they cannot be measured
        """
        if together is not None and not isinstance(together, Mapping):
            together = {" + ".join(map(str, columns)): columns for columns in together}
        written = [of for of in (together or {}).values() if isinstance(of, str)]
        if written:
            fact, rule = f"together holds {written[0]!r}", "A panel is a list of columns"
            raise ParameterError(fact, rule, "Write together=[[…], …]")
        panels = {str(name): [str(c) for c in of] for name, of in (together or {}).items()}
        members = [column for of in panels.values() for column in of]
        _check_known("together", members, names)
        if len(set(members)) < len(members) or not all(panels.values()):
            fact = "a panel of together is empty, or a column is in two places"
            raise ParameterError(fact, "A column is in one panel at most", "List it once")
        alone = [column for column in names if column not in members]
        clash = [name for name in panels if name in alone]
        if clash:
            fact = f"the panel {clash[0]!r} has the name of a column outside it"
            raise ParameterError(fact, "Costs go by name", "Give the panel another name")
        groups = panels | {column: [column] for column in alone}
        try:
            price = {str(name): cost for name, cost in dict({} if costs is None else costs).items()}
        except (TypeError, ValueError):
            fact, rule = f"costs is a {type(costs).__name__}", "Costs go by name"
            raise ParameterError(fact, rule, 'Write costs={"name": cost, …}') from None
        _check_known("costs", list(price), list(groups))
        for name, cost in price.items():
            check_value(f"the cost of {name!r}", cost, number(0, np.inf, open_low=True))
        chosen = np.zeros((len(groups), width or len(names)), dtype=bool)
        chosen[:, : len(names)] = [[column in of for column in names] for of in groups.values()]
        return cls(list(groups), np.array([float(price.get(g, 1)) for g in groups]), chosen)


def _check_known(parameter: str, used: list[str], names: list[str]) -> None:
    unknown = [name for name in used if name not in names]
    if unknown:
        rule = f"What can be measured is {shorten(names)}"
        fact = f"{parameter} names {shorten(unknown)}"
        raise ParameterError(fact, rule, "Correct the names; a panel goes by its own name")


class Measuring:
    """A model, rows with gaps, and what their gaps could be: gains of measurements at any state.

    A state is a `Mosaic` source: which entries of X, the background or the truth rows have now.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        background: Any,
        costs: Any,
        together: Any,
        n_values: int,
        random_state: Any,
        truth: Any = None,
    ) -> None:
        check_value("n_values", n_values, whole(2))
        self.model, self.classes = model, is_classifier(model)
        self.inputs = inputs = read_model_rows(X, model)
        self.panel = inputs.X if isinstance(inputs.X, Panel) else None
        self.rows = read_table(inputs)
        self.measurements = Measurements.read(inputs.names, costs, together, len(self.rows.names))
        self.options = costs, together, n_values
        self.rng = generator(random_state)
        if not isinstance(background, PlausibleValues):
            known = read_model_rows(background, model)
            self._check_kind(isinstance(known.X, Panel))
            known = known.with_columns(inputs.names) if self.panel else arranged(known, inputs)
            kinds = _categories(model, self.rows.names)
            background = PlausibleValues(known, categorical_features=kinds, random_state=self.rng)
        else:
            self._check_kind(background.of_series)
        self.background = background
        tables = [self.rows, background.rows_for(model)]
        tables += [] if truth is None else [read_table(truth, model)]
        self.n_truth = len(tables[-1])
        self.stock, self.draws = Mosaic(*tables), background.draws
        stored = self.draws.values, self.draws.observed & background.conditional
        parts = [stored if k == 1 else background.entries(rows) for k, rows in enumerate(tables)]
        self.values, self.known = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        names = background.rows.names
        self.column_in_density = np.array([names.index(name) for name in self.rows.names])
        place = {j: c for c, j in enumerate(self.column_in_density)}
        self.entry_column = np.array([place.get(j, -1) for j in self.draws.column_of])
        score = ndtri((np.arange(n_values) + 0.5) / n_values)
        self.shares = ndtr(score / score.std())  # of a normal, mean and variance are exact
        self.steps = 1 if self.panel is None else len(self.panel.times) // len(self.panel)
        self.most = max(COPIES // self.steps, 1)

    def _check_kind(self, of_series: bool) -> None:
        """Refuse a background of another kind than X, and models that predict every step."""
        if of_series != (self.panel is not None):
            kind, other_kind = ("series", "a table") if self.panel else ("a table", "series")
            rule = "Plausible values come from rows, or series, like those of X"
            fact = f"X is {kind}, the background is {other_kind}"
            raise InputTypeError(fact, rule, "Pass some of the training data as background")
        if self.panel is not None and getattr(self.model, "per_step", False):
            raise InputTypeError(
                f"{type(self.model).__name__} has per_step=True",
                "The gain of a measurement is about one prediction per series",
                "Fit a model with one label per series",
            )

    def of(self, rows: ModelRows) -> Measuring:
        """The same measurements for other rows."""
        return Measuring(self.model, rows, self.background, *self.options, random_state=0)

    def predict(self, source: np.ndarray) -> np.ndarray:
        """Predictions for rows at any state; (m, d) -> (m, classes) or (m,)."""
        parts = gen_batches(len(source), self.most)
        return np.concatenate([predict_rows(self.model, self._at(source[part])) for part in parts])

    def _at(self, source: np.ndarray) -> ModelRows:
        """Rows, or series, at these states."""
        rows = self.stock.rows(source)
        if self.panel is None:
            return rows
        return with_present(self.panel, rows, source[:, -1])  # what was before is not measured

    def gains(self, source: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Predictions; gain, fall of entropy and confidence of measurements, (3, m, G)."""
        # About as many copies as are predicted at once.
        rows_at_once = max(self.most // self.copies_per_row, 1)
        parts = [self._gains(source[part]) for part in gen_batches(len(source), rows_at_once)]
        now, answers = zip(*parts, strict=True)
        return np.concatenate(now), np.concatenate(answers, axis=1)

    def measurable(self, source: np.ndarray) -> np.ndarray:
        """Which measurements have something missing; (m, d) -> (m, G)."""
        return ~self.stock.seen(source) @ self.measurements.columns.T

    def drawn(self, source: np.ndarray, measurement: np.ndarray) -> np.ndarray:
        """The state after one measurement per row that gave a random value; (m, d)."""
        source, missing = source.copy(), self.measurements.columns[measurement]
        missing = missing & ~self.stock.seen(source)
        for column in np.flatnonzero(missing.any(0)):  # a panel's values, one given the others
            rows = np.flatnonzero(missing[:, column])
            gaps = np.arange(len(rows)), np.full(len(rows), self.column_in_density[column])
            donor = self.draws.draw(*self._entries(source[rows]), *gaps, self.rng)
            rows, donor = rows[donor >= 0], donor[donor >= 0]
            source[rows, column] = self.stock.starts[1] + donor
        return source

    def _gains(self, source: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        measurable = self.measurable(source)
        copies, row, measurement, weight = self._copies(source, measurable)
        cell, size = row * measurable.shape[1] + measurement, measurable.size
        total = np.bincount(cell, weight, size)
        weight = weight / total[cell]

        def mean(numbers: np.ndarray) -> np.ndarray:
            return np.bincount(cell, weight * numbers, size)

        now, predicted = np.split(self.predict(np.concatenate([source, copies])), [len(source)])
        answers = np.full((3, size), np.nan)
        if self.classes:
            then, average = entr(predicted).sum(1), np.stack([*map(mean, predicted.T)], axis=1)
            as_it_is, top = (
                np.repeat(x, measurable.shape[1]) for x in (entr(now).sum(1), now.max(1))
            )
            answers[0] = np.maximum(entr(average).sum(1) - mean(then), 0.0)  # rounding
            answers[1] = as_it_is - mean(then)
            answers[2] = np.where(total > 0, mean(predicted.max(1)), top)
        else:
            answers[0] = mean((predicted - mean(predicted)[cell]) ** 2)
        answers[:2, total == 0] = 0.0  # no background row has such a value: nothing is known
        return now, np.where(measurable, answers.reshape(3, *measurable.shape), np.nan)

    def _copies(
        self, source: np.ndarray, measurable: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Rows with plausible values in: their state, row, measurement and weight; (M, …) each."""
        width = self.measurements.columns.sum(1)
        row, measurement = np.nonzero(measurable & (width == 1))
        column = self.measurements.columns[measurement].argmax(1)
        gap, donor, weight = self.draws.plausible(
            *self._entries(source), row, self.column_in_density[column], self.shares
        )
        copies = source[row[gap]]
        copies[np.arange(len(gap)), column[gap]] = self.stock.starts[1] + donor
        parts = [(copies, row[gap], measurement[gap], weight)]
        row, measurement = np.nonzero(measurable & (width > 1))
        if len(row):
            row, measurement = np.repeat(row, PANEL_DRAWS), np.repeat(measurement, PANEL_DRAWS)
            copies = self.drawn(source[row], measurement)
            parts.append((copies, row, measurement, np.ones(len(row))))
        copies, row, measurement, weight = map(np.concatenate, zip(*parts, strict=True))
        return copies, row, measurement, weight

    def _entries(self, source: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the density sees of rows at a state; (m, entries) each."""
        at = source[:, self.entry_column]
        entry = np.arange(len(self.entry_column))
        return self.values[at, entry], self.known[at, entry] & (self.entry_column >= 0)

    @property
    def copies_per_row(self) -> int:
        """How many copies the gains of a row without any value would need."""
        levels = self.draws.level_count[self.column_in_density]
        each = np.where(self.draws.ranked[self.column_in_density], len(self.shares), levels)
        return int(each.sum()) + PANEL_DRAWS


def _categories(model: Any, names: list[str]) -> Any:
    """The columns that one of our models reads as categories; "auto" for any other model."""
    encoder = getattr(model, "encoder_", None)
    if not isinstance(encoder, TableEncoder | PanelEncoder) or not encoder.named:
        return "auto"
    plans = {plan.name for plan in encoder.plans if isinstance(plan, Category)}
    return [name for name in names if name.removesuffix(BEFORE) in plans or name in plans]


OWN = 0.5  # weight of a row's own gain; chosen on four tables (docs/measure-next.md)
USUAL_COPIES = 2**14  # rows that are predicted to learn usual gains, about
FEWEST_ROWS, MOST_ROWS = 20, 300


class UsualGains(NamedTuple):
    """Usual gains of a model's measurements, as remembered by `PlausibleValues`.

    predicted : predictions for two rows; if they change, the model has been fitted again
    gain : (G,), NaN for what is never missing
    """

    model: Any
    columns: np.ndarray
    predicted: np.ndarray
    gain: np.ndarray

    def fits(self, model: Any, columns: np.ndarray, predicted: np.ndarray) -> bool:
        """Whether these are the gains of this model, as it is now, and of these measurements."""
        same = self.model is model and np.array_equal(self.columns, columns)
        return same and np.array_equal(self.predicted, predicted)


def shrunk(gain: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Gains of rows (n, G), shrunk towards the usual ones (G,).

    >>> shrunk(np.array([[0.0, 4.0]]), np.array([1.0, np.nan])).tolist()
    [[0.5, 4.0]]
    """
    return np.where(np.isnan(usual), gain, OWN * gain + (1 - OWN) * usual)


def usual_gains(study: Measuring) -> np.ndarray:
    """Usual gains of the measurements of a study; (G,). Remembered with its background.

    Rows of a table get further gaps, a random share in each; for series, the last step is used.
    """
    background, model = study.background, study.model
    columns = study.measurements.columns
    inputs = background.inputs if background.of_series else background.rows_for(model)
    inputs = inputs.with_columns(study.inputs.names)
    predicted = predict_rows(model, inputs.take(np.arange(min(2, len(inputs)))))
    remembered = background.usual
    if remembered is None or not remembered.fits(model, columns, predicted):
        rng = np.random.default_rng(0)
        fitting = USUAL_COPIES // (study.copies_per_row * study.steps)
        count = int(np.clip(fitting, FEWEST_ROWS, MOST_ROWS))
        rows = inputs.take(rng.permutation(len(inputs))[:count])
        if not isinstance(rows.X, Panel):
            kept = rng.random(rows.observed.shape) >= rng.random((len(rows), 1))
            rows = rows.hidden(kept)
        asked = study.of(rows)
        gain = asked.gains(asked.stock.start(0, np.arange(len(rows))))[1][0]
        known = ~np.isnan(gain)
        mean = np.where(known, gain, 0.0).sum(0) / np.maximum(known.sum(0), 1)
        usual = np.where(known.any(0), mean, np.nan)
        remembered = background.usual = UsualGains(model, columns, predicted, usual)
    return remembered.gain
