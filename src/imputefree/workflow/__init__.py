"""From a file to a model, and from a model to predictions: what the commands do."""

from ..io import header, open_rows
from ._card import figure_text, percent
from ._chunks import Chunk, Chunks
from ._column_kinds import CATEGORY, NUMBER, summary
from ._estimate import best_reference
from ._evaluating import Evaluation, evaluate, target_of
from ._fitting import card_path, check_output, fit, plan, steps
from ._loaded_model import described, is_of_series, load_model, roles_of, rounded
from ._partial import open_partial, remove_partial
from ._predicting import class_labels, columns_to_keep, output_frame, output_names, predict_chunks
from ._problem import Problem, read_other, read_problem, split_names
from ._references import TITLES
from ._request import Request
from ._verdict import METRICS

__all__ = [
    "CATEGORY",
    "METRICS",
    "NUMBER",
    "TITLES",
    "Chunk",
    "Chunks",
    "Evaluation",
    "Problem",
    "Request",
    "best_reference",
    "card_path",
    "check_output",
    "class_labels",
    "columns_to_keep",
    "described",
    "evaluate",
    "figure_text",
    "fit",
    "header",
    "is_of_series",
    "load_model",
    "open_partial",
    "open_rows",
    "output_frame",
    "output_names",
    "percent",
    "plan",
    "predict_chunks",
    "read_other",
    "read_problem",
    "remove_partial",
    "roles_of",
    "rounded",
    "split_names",
    "steps",
    "summary",
    "target_of",
]
