"""From a file to a model, and from a model to predictions: what the commands do."""

from ..io import header, open_rows
from ._card import METRICS, TITLES, best_reference, figure_text, percent
from ._chunks import Chunk, Chunks
from ._column_kinds import CATEGORY, NUMBER, summary
from ._fitting import fit, identity, plan
from ._loaded_model import described, is_of_series, load_model, roles_of, rounded
from ._partial import open_partial
from ._predicting import (
    Evaluation,
    class_labels,
    columns_to_keep,
    evaluate,
    output_frame,
    output_names,
    predict_chunks,
    target_of,
)
from ._problem import Problem, read_other, read_problem, split_names
from ._request import Request, card_path, check_output

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
    "identity",
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
    "roles_of",
    "rounded",
    "split_names",
    "summary",
    "target_of",
]
