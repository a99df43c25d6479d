"""What to measure next: the expected gain of every missing value, per unit of cost.

`measure_next` ranks single measurements; `plan_measurements` plans several, one after the other,
until a confidence or a budget is reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._rules import check_value, number, whole
from ..errors import InputError, ParameterError
from ._measuring import Measuring, shrunk, usual_gains


@dataclass(frozen=True, eq=False)
class NextMeasurements:
    """The expected gain of G measurements for n rows (or series).

    A measurement is a column, or a panel of columns that are measured together.

    Attributes
    ----------
    measurements : G names
    cost : (G,) of each
    prediction : (n, classes) probabilities, or (n,) numbers, before any measurement
    row_gain : (n, G) expected gain by the row alone; NaN where nothing is missing. Over the
        plausible values v of the gap, weighted by P(v | row), with p_v the model's probabilities
        for the row with v, and f_v its number,

            classes   H(mean_v p_v) - mean_v H(p_v)       H: entropy in nats
            numbers   Var_v f_v                           in squared units of the target

        For classes this is the information that the measurement gives about the class, and for
        numbers the part of the squared error that it explains, if the model is right: a plain
        regressor has no predictive variance that could decrease. Neither is ever negative.
    usual_gain : (G,) its mean over background rows that lack the measurement
    gain : (n, G) the mean of both, by which measurements are ranked. The estimate for a single row
        is noisy; docs/measure-next.md says how much averaging helps
    entropy_fall : (n, G) H(p) - mean_v H(p_v), with p the current probabilities; NaN for numbers.
        It equals the gain if the model is consistent (p = mean_v p_v). Real models are not: many
        measurements make them less certain on average, and those that make them more certain often
        make them overconfident. So it is reported, but not used for ranking.
    confidence : (n, G) expected highest probability after the measurement; NaN for numbers
    """

    measurements: list[str]
    cost: np.ndarray
    prediction: np.ndarray
    row_gain: np.ndarray
    usual_gain: np.ndarray
    gain: np.ndarray
    entropy_fall: np.ndarray
    confidence: np.ndarray

    @property
    def per_cost(self) -> np.ndarray:
        """Gain per unit of cost; (n, G)."""
        return self.gain / self.cost

    def best(self, most: int = 1) -> list[list[str]]:
        """Names of the measurements to take, best first; at most `most` per row.

        By gain per unit of cost. What cannot be measured (infinite cost) is left out.
        """
        rate = np.where(np.isinf(self.cost), np.nan, self.per_cost)
        order = np.argsort(-rate, axis=1, kind="stable")[:, :most]  # NaN comes last
        return [
            [self.measurements[g] for g in best if not np.isnan(rate[row, g])]
            for row, best in enumerate(order)
        ]

    def to_frame(self) -> pd.DataFrame:
        """One line per row and missing measurement, best first within a row."""
        row, g = np.nonzero(~np.isnan(self.gain))
        order = np.lexsort([-self.per_cost[row, g], row])
        row, g = row[order], g[order]
        return pd.DataFrame(
            {
                "row": row,
                "measurement": np.array(self.measurements, dtype=object)[g],
                "gain": self.gain[row, g],
                "cost": self.cost[g],
                "gain_per_cost": self.per_cost[row, g],
                "entropy_fall": self.entropy_fall[row, g],
                "confidence": self.confidence[row, g],
            }
        )


def measure_next(
    model: Any,
    X: Any,
    *,
    background: Any,
    costs: Mapping[str, float] | None = None,
    together: Any = None,
    n_values: int = 12,
    random_state: Any = 0,
) -> NextMeasurements:
    """Rank what to measure next in each row, with any fitted model that accepts gaps.

    Values are drawn conditionally on the rest of the row, from a joint density of the background
    rows. For series, values missing at the last step and static values can be measured, given the
    rest of that step and the last values before it.

    Parameters
    ----------
    model : a fitted classifier or regressor that accepts NaN: scikit-learn's, LightGBM's wrappers,
        a pipeline with an imputer, or ours; for series, one that takes a `Panel`
    X : rows with gaps, or series, as for `predict`
    background : rows, or series, like those of training, or a `PlausibleValues`, which is fitted
        only once, and remembers the usual gains of the model it was last used with
    costs : of measurements by name, positive; 1 for those not named, `inf` for what cannot be
        measured
    together : columns that are measured together, as {"panel": [columns], …} or a list of lists; a
        panel has one cost, under its name ("na + k" if it has none)
    n_values : plausible values that represent a numeric column; a category has all its levels
    random_state : of the density, and of the joint draws of panels

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> rng = np.random.default_rng(0)
    >>> x = pd.DataFrame(rng.normal(size=(400, 3)), columns=["pulse", "ct", "noise"])
    >>> y = x["pulse"] + 2 * x["ct"] > 0
    >>> x[rng.random(x.shape) < 0.3] = np.nan
    >>> model = HistGradientBoostingClassifier(random_state=0).fit(x, y)
    >>> row = pd.DataFrame({"pulse": [None], "ct": [None], "noise": [0.3]}, dtype=float)
    >>> measure_next(model, row, background=x).best()
    [['ct']]
    >>> measure_next(model, row, background=x, costs={"ct": 500}).best()
    [['pulse']]
    """
    study = Measuring(model, X, background, costs, together, n_values, random_state)
    prediction, (row_gain, *others) = study.gains(study.stock.start(0, np.arange(len(study.rows))))
    names, cost, usual = study.measurements.names, study.measurements.cost, usual_gains(study)
    return NextMeasurements(
        names, cost, prediction, row_gain, usual, shrunk(row_gain, usual), *others
    )


@dataclass(frozen=True, eq=False)
class MeasurementPlan:
    """What to measure in each of n rows, in which order; at most G measurements.

    Attributes
    ----------
    measurements : G names
    order : (n, G) numbers of measurements, -1 where a plan has ended
    total_cost : (n, G) of the measurements up to this one; NaN where a plan has ended
    prediction : (n, G + 1, classes), or (n, G + 1) for numbers: the prediction before the first
        measurement and after each; once a plan has ended, as it then is
    confidence : (n, G + 1) the highest probability at these times; NaN for numbers

    Without true values, predictions and confidences are expectations over what may be measured.
    """

    measurements: list[str]
    order: np.ndarray
    total_cost: np.ndarray
    prediction: np.ndarray
    confidence: np.ndarray

    def to_frame(self) -> pd.DataFrame:
        """One line per row and measurement."""
        row, step = np.nonzero(self.order >= 0)
        return pd.DataFrame(
            {
                "row": row,
                "step": step + 1,
                "measurement": np.array(self.measurements, dtype=object)[self.order[row, step]],
                "total_cost": self.total_cost[row, step],
                "confidence": self.confidence[row, step + 1],
            }
        )


def plan_measurements(
    model: Any,
    X: Any,
    *,
    background: Any,
    costs: Mapping[str, float] | None = None,
    together: Any = None,
    budget: float | None = None,
    confidence: float | None = None,
    truth: Any = None,
    n_values: int = 12,
    n_draws: int = 16,
    random_state: Any = 0,
) -> MeasurementPlan:
    """Plan measurements one after the other, each with the largest gain per unit of cost.

    A row's plan ends when its confidence (highest probability) is reached, when nothing that the
    budget allows is left, or when nothing is missing. See `measure_next` for the gain and for the
    parameters that are not listed here.

    Parameters
    ----------
    budget : maximum total cost of a row's measurements
    confidence : the highest probability at which a plan ends; for classifiers
    truth : the same rows with values that X lacks. Each measurement then reveals the true value,
        and the next one is chosen knowing it: a simulation. What truth lacks cannot be measured.
        Without it, a plan is made in advance: gain, prediction and confidence are means over
        possible results of the planned measurements.
    n_draws : number of such draws per row

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> rng = np.random.default_rng(0)
    >>> x = pd.DataFrame(rng.normal(size=(400, 3)), columns=["pulse", "ct", "noise"])
    >>> y = x["pulse"] + 2 * x["ct"] > 0
    >>> x[rng.random(x.shape) < 0.3] = np.nan
    >>> model = HistGradientBoostingClassifier(random_state=0).fit(x, y)
    >>> row = pd.DataFrame({"pulse": [None], "ct": [None], "noise": [0.3]}, dtype=float)
    >>> plan = plan_measurements(model, row, background=x, costs={"ct": 5}, budget=6)
    >>> plan.to_frame()[["measurement", "total_cost"]].to_numpy().tolist()
    [['pulse', 1.0], ['ct', 6.0]]
    """
    study = Measuring(model, X, background, costs, together, n_values, random_state, truth)
    _check_plan(study, budget, confidence, n_draws)
    n, draws, cost = len(study.rows), 1 if truth is not None else n_draws, study.measurements.cost
    width = len(cost)
    source = study.stock.start(0, np.repeat(np.arange(n), draws))
    now = study.predict(source).reshape(n, draws, -1)
    order, done = np.full((n, width), -1), np.zeros((n, width), dtype=bool)
    spent, total_cost = np.zeros(n), np.full((n, width), np.nan)
    prediction = np.repeat(now.mean(1)[:, None], width + 1, 1)
    highest = np.repeat(now.max(2).mean(1)[:, None], width + 1, 1)
    active, usual = np.arange(n), usual_gains(study)
    for step in range(width):
        if confidence is not None:
            active = active[highest[active, step] < confidence]
        if not len(active):
            break
        copies = _copies(active, draws)
        gain = study.gains(source[copies])[1][0]
        score = shrunk(gain.reshape(len(active), draws, width).mean(1), usual) / cost
        possible = ~done[active] & ~np.isnan(score) & np.isfinite(cost)
        if truth is not None:
            true = study.stock.start(2, active)
            to_see = study.stock.seen(true) & ~study.stock.seen(source[copies])
            possible &= to_see @ study.measurements.columns.T
        if budget is not None:
            possible &= spent[active, None] + cost <= budget
        score[~possible] = -np.inf
        left = np.isfinite(score).any(1)
        active, choice = active[left], score[left].argmax(1)
        if not len(active):
            break
        done[active, choice] = True
        order[active, step] = choice
        spent[active] += cost[choice]
        total_cost[active, step] = spent[active]
        copies = _copies(active, draws)
        if truth is not None:
            revealed = to_see[left] & study.measurements.columns[choice]
            source[copies] = np.where(revealed, true[left], source[copies])
        else:
            source[copies] = study.drawn(source[copies], np.repeat(choice, draws))
        now[active] = study.predict(source[copies]).reshape(len(active), draws, -1)
        prediction[:, step + 1 :] = now.mean(1)[:, None]
        highest[:, step + 1 :] = now.max(2).mean(1)[:, None]
    if not study.classes:
        prediction, highest = prediction[:, :, 0], np.full(highest.shape, np.nan)
    return MeasurementPlan(study.measurements.names, order, total_cost, prediction, highest)


def _copies(rows: np.ndarray, draws: int) -> np.ndarray:
    """Where the copies of rows are if every row has `draws` of them, one after the other."""
    return (rows[:, None] * draws + np.arange(draws)).ravel()


def _check_plan(study: Measuring, budget: Any, confidence: Any, n_draws: Any) -> None:
    if budget is not None:
        check_value("budget", budget, number(0, np.inf))
    if confidence is not None:
        check_value("confidence", confidence, number(0, 1))
        if not study.classes:
            fact = f"confidence is {confidence}, but the model predicts a number"
            raise ParameterError(fact, "Only classes have probabilities", "Set a budget instead")
    check_value("n_draws", n_draws, whole(1))
    if len(study.stock.starts) > 2 and study.n_truth != len(study.rows):
        fact = f"truth has {study.n_truth} rows, X has {len(study.rows)}"
        raise InputError(fact, "They are the same rows", "Pass the same rows with more values")
