"""Why a model predicts what it does for a row or a series, and what to measure next.

Three questions (see `Explanation` and `SeriesExplanation`):

- `importance`: how far the policy would let each entry teach; None if there is no policy
- `removal`: what each observed value did to this prediction
- `next_value`: how far each missing value would move it if it were measured

None of them is a claim about causes. A removal asks what the *model* would predict without the
value, all else unchanged; if two columns carry the same information, both removals may be small.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..data import TableEncoder
from ._explain_series import MOST_STEPS, explain_series
from ._explain_tables import explain_table
from ._explanation import Explanation, SeriesExplanation, input_values, plain
from ._show_explanation import draw, show_all, show_row


def explain_rows(
    model: Any,
    X: Any,
    of: Any = None,
    *,
    single: bool = True,
    most_steps: int = MOST_STEPS,
) -> Explanation | SeriesExplanation:
    """Explain the predictions of a fitted estimator for a table or for series.

    Parameters
    ----------
    model : any of the four estimators, fitted or loaded
    X : as for `predict`
    of : the class whose probability is explained, as it is or as a string; default: the second of
        two classes, or of more classes the one predicted for each row
    single : for series: remove values one by one; False removes whole columns only, which is fast
    most_steps : for series: a limit on the work (removed values times steps, over all series)

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from imputefree import GILClassifier
    >>> X = pd.DataFrame({"dose": [1.0, None, 3.0, 4.0] * 10, "sex": ["f", "m", None, "m"] * 10})
    >>> clf = GILClassifier(random_state=0, max_iter=30, batch_size=8)
    >>> clf = clf.fit(X, ["well", "ill", "ill", "well"] * 10)
    >>> why = explain_rows(clf, X.head(3))
    >>> why.columns, why.removal.shape, why.of.tolist()
    (['dose', 'sex'], (3, 2), ['well', 'well', 'well'])
    >>> np.isnan(why.removal) == X.head(3).isna().to_numpy()
    array([[ True,  True],
           [ True,  True],
           [ True,  True]])
    >>> [best and best["column"] for best in why.best_next()]
    [None, 'dose', 'sex']
    """
    check_is_fitted(model, "predictor_")
    if isinstance(model.encoder_, TableEncoder):
        return explain_table(model, X, of)
    return explain_series(model, X, of, single, most_steps)


__all__ = [
    "Explanation",
    "SeriesExplanation",
    "draw",
    "explain_rows",
    "input_values",
    "plain",
    "show_all",
    "show_row",
]
