"""Why a model predicts what it does for a row or a series, and what to measure next.

Three questions (see `Explanation` and `SeriesExplanation`):

- `importance`: how far the policy would let each entry teach; None if there is no policy
- `removal`: what each observed value did to this prediction
- `next_value`: how far each missing value would move it if it were measured

None of them is a claim about causes. A removal asks what the *model* would predict without the
value, all else unchanged; if two columns carry the same information, both removals may be small.
"""

from ._explain_rows import explain_rows
from ._explanation import Explanation, SeriesExplanation, input_values, plain
from ._show_explanation import draw, show_all, show_row

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
