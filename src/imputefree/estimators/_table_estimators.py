"""`GILClassifier` and `GILRegressor`: networks for tables with gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..data import Examples, TableEncoder
from ..gil import Predictor
from ._base import GILEstimator
from ._fit_files import FilesInputs
from ._inputs import ClassTarget, NumberTarget, TableInputs
from ._parameters import TableParameters, check_parameters
from ._trusted_rows import TrustedRows


@dataclass(kw_only=True, eq=False, repr=False)
class TableEstimator(TableParameters, TableInputs, FilesInputs, TrustedRows, GILEstimator):
    """What both estimators for tables share."""

    encoder_class = TableEncoder
    network_class = Predictor

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        held_out: Any = None,
        *,
        trusted: Any = None,
        checkpoint: Any = None,
    ) -> Self:
        """Train on a table with gaps.

        Parameters
        ----------
        X : (n, columns) DataFrame (pandas or polars), array or list of rows
            NaN, None and pd.NA are missing; columns may hold strings and categories.
        y : (n,) targets without gaps
        sample_weight : (n,) or None
            Weight of each row; a row of weight 0 is left out.
        groups : (n,) or None
            Rows of one group are never split between training and validation.
        held_out : (n,) bool or None
            True for rows to validate on, instead of folds drawn from all rows.
        trusted : (n,) bool, row numbers, "other_group" or None
            For policy="meta": rows known to be like those to predict, where other rows may hold
            shortcuts. Columns get the importance that lowers the loss on them; see
            `column_importance_` and `distrusted_columns`. "other_group" trusts no row beforehand:
            what rows teach is judged by rows of another group of `groups`.
        checkpoint : path or None
            File that keeps the state of training. If the process is killed, the same call with
            the same data and parameters resumes from it, to the same model bit for bit. Removed
            when training is done.
        """
        check_parameters(self)
        self._check_trusted(trusted)
        with self._all_or_nothing():
            examples = self._examples(X, y, sample_weight, groups, held_out, trusted)
            return self._fit(examples, checkpoint)

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        check_parameters(self)
        with self._all_or_nothing():
            return self._fit_one_epoch(self._examples(X, y, sample_weight), classes)

    def _paced_table(self, examples: Examples) -> tuple[Examples, np.ndarray, Any]:
        return examples, self.encoder_.input_columns, self.categorical_features

    def _network_shape(self) -> dict[str, Any]:
        return super()._network_shape() | {"linear_path": bool(self._value("linear_path"))}


@dataclass(kw_only=True, eq=False, repr=False)
class GILClassifier(ClassTarget, TableEstimator):
    """Classify rows of a table with gaps: NaN in, probabilities out.

    Rows go into an ensemble of small multilayer perceptrons that train side by side. A missing
    entry is filled with a placeholder and, for columns that have gaps in training, marked by an
    indicator. While the networks train, a *policy* decides the importance a in [0, 1] of every
    entry x of every row, and the first layer learns from

        dE/dW = sum over rows of Delta (x * a)^T          (Delta: gradient at the layer's output)

    instead of the ordinary sum of Delta x^T. Prediction uses the networks alone: no policy, no
    imputer.

    Parameters
    ----------
    policy : {"none", "observed", "random", "ddpg", "gate", "meta"} or policy object, default="none"
        Decides the importance. "none" is ordinary training, "observed" lets missing entries teach
        nothing (the paper's GIL-H), "ddpg" is the paper's reinforcement learning (GIL), "meta"
        learns from the exact gradient of the next loss or, with `trusted` in `fit`, of the loss on
        trusted rows. See `imputefree.gil`.
    reward : {"loss", "contrastive"} or reward object, default="loss"
        Reward of "ddpg"; "contrastive" makes it the paper's GIL-D (classifiers only).
    n_members : int or "auto", default="auto"
        Number of networks in the ensemble: 8, from 50,000 rows on 4, from 500,000 on 2. 1 is the
        paper's setting. Here and below, "auto" follows the size of the table; `settings_` has the
        values used.
    hidden_layer_sizes : int, tuple of int or "auto", default="auto"
        Widths of the hidden layers: (128, 128), from 50,000 rows on (256, 256).
    activation : {"relu", "gelu", "silu", "tanh"}, default="relu"
        Activation of the hidden layers.
    linear_path : bool or "auto", default="auto"
        Also connect the inputs to the output directly: if that takes no more weights than there are
        rows.
    relevance : bool, default=True
        Let a few boosted trees estimate how much each column matters. Initial weights and learning
        rate of the first layer are then larger for columns that matter more. False is the paper's
        training. Has no effect in a fit with `trusted` rows.
    dropout : float or "auto", default="auto"
        Share of hidden units switched off at each training step: 0.2, from 50,000 rows on 0.1.
    placeholder : float, "learned" or "3max", default=0.0
        Value of a missing entry, in scaled units (0 is the column's mean without its outliers),
        or one trained value per network input. "3max" is three times the largest scaled value of
        the training rows: what the authors' scripts use for series.
    indicator : bool, default=True
        Give the networks one input per column with gaps that says "missing here".
    missingness : {"use", "ignore"}, default="use"
        Whether the model may use which values are missing. "ignore" leaves indicators out, even
        with `indicator=True`, and in every step a row also gets the gaps of another row: one of
        another class or, for numbers, one from the other end of the target. Gaps then carry no
        information about the target, so that predictions do not depend on who was measured.
        `audit_missingness` shows what this costs and gains.
    categorical_features : "auto" or list of names or positions, default="auto"
        "auto" takes columns of strings and categories. A missing category is missing; one never
        seen in training counts as missing, with a warning.
    numeric_encoding : {"auto", "rich", "piecewise", "plain", "unscaled"}, default="auto"
        "plain" gives a number one input. "unscaled" does not scale it either: for numbers on one
        scale, such as pixels; the placeholder is then in their units, and numbers beyond 1e12 count
        as 1e12. "rich" adds its normal score (a number with more than ten distinct values) or one
        input per value, and "piecewise" also up to 48 bins that a value fills one after the other.
        "auto" is rich for fewer than 2,000 rows of up to 100 columns, otherwise piecewise, but
        plain for tables so large that bins would take gigabytes.
    encoder : callable or None, default=None
        Custom encoder: called with the estimator's unfitted encoder, returns the one to use.
    hide : float or "auto", default="auto"
        Probability that a training step hides an observed entry, so that the networks get used
        to gaps: 0.1, from 50,000 rows on 0.
    learning_rate_init : float or "auto", default="auto"
        Initial learning rate of Adam: 0.002, from 5,000 rows on 0.008, from 50,000 on 0.004.
    learning_rate_decay : float or "auto", default="auto"
        Factor on the learning rate per `learning_rate_decay_steps` steps, applied smoothly: 1, from
        5,000 rows on 0.02 (if the initial rate is "auto" too).
    learning_rate_decay_steps : int or "auto", default="auto"
        All steps that training may take.
    weight_decay : float or "auto", default="auto"
        Decoupled weight decay (AdamW): a step shrinks weights by learning rate times decay. Biases
        are not shrunk. 3 up to 1,000 rows, above 3 times the root of 1,000 / rows.
    weight_averaging : float, default=0.95
        The weights validated and kept are a running mean over steps, in which the newest weigh 1
        minus this; 0 keeps those of the last step. Not used without held-out rows.
    batch_size : int or "auto", default="auto"
        Rows per step and member: 128, 256, 512 or 1,024, from 5,000, 50,000 and 500,000 rows on.
    max_iter : int or "auto", default="auto"
        Maximum number of epochs: 200, or 9, 8 and 5 from these numbers of rows on.
    early_stopping : bool, default=True
        Hold out rows, keep each member's best weights on them and stop when none improves.
    validation : {"rotating", "shared"}, default="rotating"
        Whether each member holds out a different fold, so that no row is lost to validation, or
        all hold out the same.
    validation_fraction : float, default=0.125
        Share of the rows a member holds out, to the nearest 1/2, 1/3, 1/4, … (stratified by class;
        groups stay together). Fewer than four rows hold out none.
    n_iter_no_change : int, default=10
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
    history_ : dict of lists
        One figure per epoch: loss, validation_loss, those of the policy.
    n_iter_ : int
        Epochs run.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of the training data.
    settings_ : dict
        The values used for parameters that are "auto".
    encoder_ : encoder
        Turns columns into inputs; `encoder_.input_names` names the networks' inputs.
    predictor_ : torch.nn.Module
        The networks.
    policy_ : policy object
        The policy after training.
    column_importance_ : ndarray of shape (columns, 2)
        After a fit with `trusted`: the importance of each column's values, and of its missingness
        (NaN if the networks do not read it).

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"dose": [1.0, None, 3.0, 4.0] * 10, "sex": ["f", "m", None, "m"] * 10})
    >>> y = ["well", "ill", "ill", "well"] * 10
    >>> clf = GILClassifier(random_state=0, max_iter=30, batch_size=8).fit(X, y)
    >>> clf.predict(X.head(4))
    array(['well', 'ill', 'ill', 'well'], dtype='<U4')
    """

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train for one epoch on these rows.

        The first call fixes columns, scales and all classes: `classes`, or by default those of its
        y.
        """
        return self._partial_fit(X, y, sample_weight, classes)


@dataclass(kw_only=True, eq=False, repr=False)
class GILRegressor(NumberTarget, TableEstimator):
    """Predict a number for rows of a table with gaps: NaN in, prediction out.

    Networks, parameters and attributes are those of `GILClassifier`, except `class_weight`,
    `classes_` and the contrastive reward.

    Attributes
    ----------
    target_mean_, target_scale_ : float
        Mean and standard deviation by which the target was scaled.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, 5.0], [np.nan, 1.0]] * 10)
    >>> reg = GILRegressor(random_state=0, max_iter=5).fit(X, np.arange(40.0))
    >>> reg.predict(X).shape
    (40,)
    """

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train for one epoch on these rows. The first call fixes columns and scales."""
        return self._partial_fit(X, y, sample_weight)
