"""`GILSequenceClassifier` and `GILSequenceRegressor`: networks for series with gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch

from ..data import Examples, Panel, PanelEncoder
from ..gil import SequencePredictor
from ._base import GILEstimator
from ._inputs import ClassTarget, NumberTarget, SeriesInputs
from ._parameters import SequenceParameters, check_parameters


@dataclass(kw_only=True, eq=False, repr=False)
class SequenceEstimator(SequenceParameters, SeriesInputs, GILEstimator):
    """What both estimators for series share."""

    encoder_class = PanelEncoder
    network_class = SequencePredictor

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        held_out: Any = None,
        *,
        checkpoint: Any = None,
    ) -> Self:
        """Train on series with gaps.

        Parameters
        ----------
        X : `Panel`, DataFrame, list of (steps, columns) arrays or frames, or 3D array
            NaN, None and pd.NA are missing. The class docstring says which parameters describe
            a frame or an array. Padded arrays, times of lists and arrays, and tables of static
            values are passed in a `Panel`.
        y : one label per series
            A dict or pandas Series by id, the name of a column of the frame, or an array in the
            order of the series (with ids only if they were sorted, so that there is only one
            order). With `per_step`, one label per step, in the form of X.
        sample_weight, groups, held_out : one per series, in any form that y may have, or None
            Weight of the series; series of one group are never split between training and
            validation; True for series to validate on, instead of folds drawn from all.
        checkpoint : path or None
            As for `GILClassifier.fit`.
        """
        check_parameters(self)
        with self._all_or_nothing():
            return self._fit(self._examples(X, y, sample_weight, groups, held_out), checkpoint)

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        check_parameters(self)
        first = not hasattr(self, "predictor_")
        with self._all_or_nothing():
            return self._fit_one_epoch(self._examples(X, y, sample_weight, first=first), classes)

    def _known_columns(self) -> tuple[list[str] | None, Sequence[str]]:
        return self.encoder_.known_columns()

    def _new_encoder(self) -> PanelEncoder:
        return PanelEncoder(
            self.categorical_features,
            self.indicator and self._uses_gaps,
            self.numeric_encoding,
            self.time_since and self._uses_gaps,
            "bins" if self.summary and not self.per_step else None,
            owner=type(self).__name__,
            tells_gaps=self._uses_gaps,
        )

    def _network_shape(self) -> dict[str, Any]:
        wanted, summaries = bool(self.summary and not self.per_step), self.encoder_.summaries
        running = self.summary and self.per_step and self._uses_gaps  # they count observations
        summary_inputs = int(wanted)  # of a network that training cannot continue with
        if wanted and summaries:
            summary_inputs = len(summaries.input_names)
        return super()._network_shape() | {
            "cell": self.cell,
            "per_step": bool(self.per_step),
            "summarised": self.encoder_.steps.n_entries if running else 0,
            "summary_inputs": summary_inputs,
        }

    def _paced_table(self, examples: Examples) -> tuple[Examples, np.ndarray, Any] | None:
        """Summaries, if there are any: the steps go through a cell whose gates share inputs."""
        encoder = self.encoder_
        if getattr(encoder, "summaries", None) is None:  # a custom encoder may have none
            return None
        summaries = encoder.summarised(examples.judged_inputs())
        examples = replace(examples, inputs=summaries, donors=None)
        return examples, encoder.summaries.input_columns, "auto"

    def _tensors(self, panel: Panel) -> dict[str, Any]:
        tensors = super()._tensors(panel) | {"lengths": torch.from_numpy(panel.lengths)}
        encoder = self.encoder_
        if isinstance(encoder, PanelEncoder) and encoder.summaries is not None:
            tensors["summaries"] = encoder.summary_parts(panel)
            tensors["summary_expansion"] = encoder.summaries.expansion
        return tensors


@dataclass(kw_only=True, eq=False, repr=False)
class GILSequenceClassifier(ClassTarget, SequenceEstimator):
    """Classify series with gaps, of any length: NaN in, probabilities out.

    Series go, step by step, into an ensemble of recurrent networks. A missing entry is filled with
    a placeholder and, for columns that have gaps in training, marked by an indicator; the time
    since each column was last observed is an input too. The hidden state after the last step gives
    the prediction. Padding is never read as missing values. While the networks train, a *policy*
    decides the importance a in [0, 1] of every entry x of every step, and the cell's input weight
    learns from

        dE/dW = sum over steps of Delta (x * a)^T          (Delta: gradient at the gates)

    instead of the ordinary sum of Delta x^T. Prediction uses the networks alone: no policy, no
    imputer.

    Parameters
    ----------
    id : str or None, default=None
        For long frames: the column that identifies the series. Frames indexed by (series, time),
        lists and arrays need none.
    time : str or None, default=None
        For long frames: the column of time stamps, numbers or dates; None takes rows in order.
    static : str, list of str or None, default=None
        For frames: columns that do not change within a series. Pass a table of static values
        in a `Panel`.
    variable, value : str or None, default=None
        For frames of (variable, value) pairs: the column that says what was measured, and the
        column of values.
    axes : {"ntd", "ndt"}, default="ntd"
        Whether 3D arrays are (series, time, columns) or (series, columns, time).
    policy : {"none", "observed", "random", "ddpg", "gate", "meta"} or policy object, default="none"
        Decides the importance, as for `GILClassifier`.
    reward : {"loss", "contrastive"} or reward object, default="loss"
        Reward of "ddpg"; "contrastive" needs one label per series.
    n_members : int, default=4
        Number of networks in the ensemble; 1 is the paper's setting.
    cell : {"lstm", "gru"}, default="gru"
        The recurrent cell.
    hidden_layer_sizes : int or tuple of int, default=(32,)
        Width of the recurrent layer, then those of dense layers. The first layer for summaries is
        as wide as the last of them.
    activation : {"relu", "gelu", "silu", "tanh"}, default="relu"
        Activation of the dense hidden layers.
    dropout : float, default=0.3
        Share of hidden units switched off at each training step.
    placeholder : float, "learned" or "3max", default=0.0
        Value of a missing entry, in scaled units, or one trained value per network input. "3max"
        is three times the largest scaled value of the training rows, as in the authors' scripts.
    indicator : bool, default=True
        Give the networks one input per column with gaps that says "missing here".
    missingness : {"use", "ignore"}, default="use"
        As for `GILClassifier`. "ignore" also leaves out the times since observations, even with
        `time_since=True`, and the summaries of how often and when values were observed. The length
        of a series remains known.
    categorical_features : "auto" or list of names or positions, default="auto"
        As for `GILClassifier`; may name static columns too.
    numeric_encoding : {"auto", "rich", "plain", "unscaled"}, default="plain"
        As for `GILClassifier`.
    encoder : callable or None, default=None
        Custom encoder: called with the estimator's unfitted encoder, returns the one to use.
    time_since : bool, default=True
        Give the networks, per column with gaps, the time since it was last observed before this
        step and, if steps are not evenly spaced, the time since the last step.
    summary : bool, default=True
        Give the output layers, besides the last hidden state, summaries of the series: for each
        column its mean, extremes, spread, first and last value, change, and how often, when first
        and how long ago it was observed; how observations spread over the steps, the number of
        both, and the duration. Each number fills bins, one after the other, and enters through a
        layer and a linear path of its own. With `per_step`, seven statistics of each column up to
        the step. Importance does not act on them; the paper's network has none.
    relevance : bool, default=True
        Let a few boosted trees estimate how much each summary matters, as for the columns of
        `GILClassifier`.
    per_step : bool, default=False
        Learn and predict a label for every step, not one per series. Steps whose label is missing
        are read, but not learned from.
    hide : float, default=0.0
        Probability that a training step hides an observed entry.
    learning_rate_init : float, default=0.002
        Initial learning rate of Adam.
    learning_rate_decay : float, default=0.1
        Factor on the learning rate per `learning_rate_decay_steps` steps, applied smoothly.
    learning_rate_decay_steps : int, default=1000
    weight_decay : float, default=0.3
        Decoupled weight decay (AdamW).
    weight_averaging : float, default=0.95
        Running mean of the weights over steps, as for `GILClassifier`.
    batch_size : int, default=128
        Series per step and member.
    max_iter : int, default=30
        Maximum number of epochs.
    early_stopping : bool, default=True
        Hold out series, keep each member's best weights on them and stop when none improves.
    validation : {"rotating", "shared"}, default="rotating"
        Whether each member holds out a different fold, or all hold out the same.
    validation_fraction : float, default=0.125
        Share of the series a member holds out, as for `GILClassifier`.
    n_iter_no_change : int, default=3
        Epochs (and at least 80 steps) without improvement before training stops.
    tol : float, default=0.0
        How far the validation loss must fall to count as an improvement.
    warm_start : bool, default=False
        Continue from the weights of the last fit.
    random_state : int, RandomState or None, default=None
        Same seed and number of threads, same model, bit for bit.
    device : str, default="auto"
        "auto" (a GPU if there is one), "cpu", "cuda", …
    verbose : bool, default=False
        Show a progress bar on a terminal.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; "balanced" makes all classes count the same.

    Attributes
    ----------
    classes_ : ndarray
        Class labels, sorted.
    layout_ : dict
        Which columns of the training data meant what; `predict` reads frames accordingly.
    history_, n_iter_, n_features_in_, feature_names_in_, encoder_, predictor_, policy_
        As for `GILClassifier`; columns are those of a step.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> series = [rng.normal(size=(steps, 2)) for steps in rng.integers(2, 7, 60)]
    >>> y = [int(values[-1, 0] > 0) for values in series]
    >>> for values in series: values[0, 1] = np.nan
    >>> clf = GILSequenceClassifier(random_state=0, n_members=1, max_iter=30, batch_size=8)
    >>> clf.fit(series, y).score(series, y) > 0.9
    True

    A `Panel` is split by scikit-learn as an array is:

    >>> from imputefree import Panel
    >>> from sklearn.model_selection import cross_val_score
    >>> len(cross_val_score(clf.set_params(max_iter=2), Panel.from_list(series), y, cv=3))
    3
    """

    score = SeriesInputs.score  # not that of scikit-learn's mixin, which expects arrays

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train for one epoch on these series; see `GILClassifier.partial_fit` and `fit`."""
        return self._partial_fit(X, y, sample_weight, classes)


@dataclass(kw_only=True, eq=False, repr=False)
class GILSequenceRegressor(NumberTarget, SequenceEstimator):
    """Predict a number for series with gaps, of any length: NaN in, prediction out.

    Networks, parameters and attributes are those of `GILSequenceClassifier`, except `class_weight`,
    `classes_` and the contrastive reward.

    Attributes
    ----------
    target_mean_, target_scale_ : float
        Mean and standard deviation by which the target was scaled.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"patient": [1, 1, 1, 2, 2] * 4, "hour": [0, 1, 2, 0, 1] * 4})
    >>> frame["patient"] += np.repeat(np.arange(4) * 2, 5)
    >>> frame["lactate"] = [1.0, np.nan, 2.0, 4.0, np.nan] * 4
    >>> reg = GILSequenceRegressor(id="patient", time="hour", n_members=1, max_iter=3)
    >>> reg.fit(frame, np.arange(8.0)).predict(frame).shape
    (8,)
    """

    score = SeriesInputs.score  # not that of scikit-learn's mixin, which expects arrays

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train for one epoch on these series. The first call fixes columns and scales."""
        return self._partial_fit(X, y, sample_weight)
