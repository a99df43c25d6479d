"""What a measurement usually gains: the mean over background rows with gaps.

The gain of a measurement in one row is the opinion of a model that learned from few rows, and
overfitting adds to it. The mean over many rows is steadier. A row's gain is drawn half-way towards
it, as a mean of few observations is drawn towards that of its group (empirical Bayes).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..data import Panel
from ._measuring import Measuring
from ._model_rows import predict_rows

OWN = 0.5  # weight of a row's own gain; chosen on four tables (docs/measure-next.md)
USUAL_COPIES = 2**14  # rows that are predicted to learn usual gains, about
FEWEST_ROWS, MOST_ROWS = 20, 300


class UsualGains(NamedTuple):
    """Usual gains of a model's measurements, as remembered by `PlausibleValues`.

    predicted : what the model said of two rows; another answer means that it was fitted anew
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
    """Gains of rows (n, G), drawn towards the usual ones (G,).

    >>> shrunk(np.array([[0.0, 4.0]]), np.array([1.0, np.nan])).tolist()
    [[0.5, 4.0]]
    """
    return np.where(np.isnan(usual), gain, OWN * gain + (1 - OWN) * usual)


def usual_gains(study: Measuring) -> np.ndarray:
    """Usual gains of the measurements of a study; (G,). Remembered with its background.

    Rows of a table get further gaps, a random share in each; of series, the last step is asked.
    """
    background, model = study.background, study.model
    columns = study.measurements.columns
    given = background.given if background.of_series else background.rows_for(model)
    given = given.with_columns(study.given.names)
    predicted = predict_rows(model, given.take(np.arange(min(2, len(given)))))
    remembered = background.usual
    if remembered is None or not remembered.fits(model, columns, predicted):
        rng = np.random.default_rng(0)
        fitting = USUAL_COPIES // (study.copies_per_row * study.steps)
        count = int(np.clip(fitting, FEWEST_ROWS, MOST_ROWS))
        rows = given.take(rng.permutation(len(given))[:count])
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
