"""Deep classifiers of series with gaps, from PyPOTS: GRU-D, BRITS and SAITS, end to end.

The rivals of GILSequenceClassifier: networks that take gaps as they are, trained to classify.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..._rules import Rule, number
from ..imputers._pypots_models import ATTENTION_RULES, attention_sizes, last_seen, two_ways
from ._network_classifier import NetworkClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class GRUDClassifier(NetworkClassifier):
    """GRU-D (Che et al., Scientific Reports 2018), from PyPOTS: a recurrent network with decay.

    A gap holds the last value of its column, which decays towards the mean with the time since;
    so does the hidden state. The mask is an input too. The state after the last step gives the
    prediction.

    Series are aligned at their last step, and none may be longer than the longest of training.
    Static columns are repeated at every step. The mean that values decay to is that of training.
    Needs PyPOTS: pip install 'imputefree[bench]'.

    Parameters
    ----------
    hidden_size : int
        Width of the recurrent state.
    learning_rate_init, weight_decay : float
        Adam's rate, and the weight of the squared weights.
    weight_averaging : float in [0, 1)
        The weights kept are a running mean over steps, the newest weighing 1 minus this.
    batch_size : int
        Series a step.
    max_iter : int
        Passes over the series at most.
    n_iter_no_change : int
        Passes without a better log-loss on the held-out series before training stops; the best
        weights are kept.
    validation_fraction : float in (0, 0.5]
        Share of series held out to choose the epoch by, unless fit is told which.
    random_state : int, RandomState or None
    verbose : bool
        Show a progress bar on a terminal.

    Attributes
    ----------
    classes_ : the class labels, sorted
    validation_error_ : log-loss on the held-out series
    history_ : dict of lists, one figure a pass
    network_ : the network
    n_steps_ : steps of the longest training series

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 5, 2))
    >>> y = np.where(X[:, -1, 0] > 0, "up", "down")
    >>> X[:, 0, 1] = np.nan
    >>> clf = GRUDClassifier(
    ...     hidden_size=8, learning_rate_init=0.02, batch_size=16, max_iter=20, random_state=0
    ... )
    >>> clf.fit(X, y).score(X, y) > 0.9
    True
    """

    model = "GRUD"
    _inputs = staticmethod(last_seen)

    def _sizes(self) -> dict[str, Any]:
        return {"rnn_hidden_size": self.hidden_size}


@dataclass(kw_only=True, eq=False, repr=False)
class BRITSClassifier(NetworkClassifier):
    """BRITS (Cao et al., NeurIPS 2018), from PyPOTS: imputes and classifies with one network.

    The two recurrent networks of BRITSImputer, and a classifier on the last state of each, whose
    probabilities are averaged. The loss is their cross-entropy plus `reconstruction_weight` times
    the error of imputation.

    Series are aligned at their last step, and none may be longer than the longest of training.
    Static columns are repeated at every step. Needs PyPOTS: pip install 'imputefree[bench]'.

    Parameters
    ----------
    reconstruction_weight : float
        Weight of the imputation error against the cross-entropy.
    hidden_size, learning_rate_init, weight_decay, weight_averaging, batch_size, max_iter,
    n_iter_no_change, validation_fraction, random_state, verbose : see GRUDClassifier

    Attributes
    ----------
    classes_, validation_error_, history_, network_, n_steps_ : see GRUDClassifier

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 5, 2))
    >>> y = np.where(X[:, -1, 0] > 0, "up", "down")
    >>> X[:, 0, 1] = np.nan
    >>> clf = BRITSClassifier(
    ...     hidden_size=8, learning_rate_init=0.02, batch_size=16, max_iter=20, random_state=0
    ... )
    >>> clf.fit(X, y).score(X, y) > 0.9
    True
    """

    model = "BRITS"
    own_rules: ClassVar[dict[str, Rule]] = {"reconstruction_weight": number(0, 1e3)}
    _inputs = staticmethod(two_ways)

    reconstruction_weight: float = 0.3
    learning_rate_init: float = 3e-3

    def _sizes(self) -> dict[str, Any]:
        return {
            "rnn_hidden_size": self.hidden_size,
            "reconstruction_weight": self.reconstruction_weight,
        }


@dataclass(kw_only=True, eq=False, repr=False)
class SAITSClassifier(NetworkClassifier):
    """SAITS as a classifier, from PyPOTS: attention over steps, and one layer on what it imputes.

    The network of SAITSImputer; a linear layer on its reconstruction of all entries gives the
    prediction, and the loss is the cross-entropy alone.

    Series are aligned at their last step, and none may be longer than the longest of training.
    Static columns are repeated at every step. Needs PyPOTS: pip install 'imputefree[bench]'.

    Parameters
    ----------
    hidden_size : int
        Width of a step inside the network, a multiple of 4, the number of attention heads.
    n_layers : int
        Layers of each of the two blocks.
    dropout : float in [0, 1)
    learning_rate_init, weight_decay, weight_averaging, batch_size, max_iter, n_iter_no_change,
    validation_fraction, random_state, verbose : see GRUDClassifier

    Attributes
    ----------
    classes_, validation_error_, history_, network_, n_steps_ : see GRUDClassifier

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 5, 2))
    >>> y = np.where(X[:, -1, 0] > 0, "up", "down")
    >>> X[:, 0, 1] = np.nan
    >>> clf = SAITSClassifier(
    ...     hidden_size=16, learning_rate_init=0.01, batch_size=16, max_iter=30, random_state=0
    ... )
    >>> clf.fit(X, y).score(X, y) > 0.9
    True
    """

    model = "SAITS"
    own_rules = ATTENTION_RULES
    fewest_steps = 2  # a step attends to others only

    n_layers: int = 2
    dropout: float = 0.1

    def _sizes(self) -> dict[str, Any]:
        return attention_sizes(self.hidden_size, self.n_layers, self.dropout)
