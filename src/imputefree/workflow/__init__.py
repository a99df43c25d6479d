"""From a file to a model, and from a model to predictions: what the commands do."""

from ._card import METRICS, TITLES, best_reference, figure_text, percent
from ._chunks import Chunk, Chunks
from ._column_kinds import CATEGORY, NUMBER, summary
from ._fitting import fit, identity, plan
from ._loaded_model import is_of_series, load_model, roles_of
from ._partial import open_partial
from ._predicting import class_labels, evaluate, predict_file
from ._problem import Problem, read_other, read_problem, split_names
from ._request import Request, card_path, check_output

__all__ = [
    "CATEGORY",
    "METRICS",
    "NUMBER",
    "TITLES",
    "Chunk",
    "Chunks",
    "Problem",
    "Request",
    "best_reference",
    "card_path",
    "check_output",
    "class_labels",
    "evaluate",
    "figure_text",
    "fit",
    "identity",
    "is_of_series",
    "load_model",
    "open_partial",
    "percent",
    "plan",
    "predict_file",
    "read_other",
    "read_problem",
    "roles_of",
    "split_names",
    "summary",
]
