"""What to measure next: the expected gain of every missing value, per unit of cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

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
