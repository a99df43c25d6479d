"""From a file to a model, and from a model to predictions: what the commands do."""

from ._answers import audit_file, evaluate
from ._card import METRICS, TITLES, figure_text, percent, render
from ._checking import advised, check_problem
from ._chunks import (
    Chunk,
    Chunks,
    is_of_series,
    load_model,
    made_inputs,
    reading_of,
    roles_of,
    sources_of,
)
from ._fitting import fit, fit_larger, plan
from ._partial import open_partial
from ._predicting import class_labels, predict_file, read_joined_for, whole_series
from ._problem import Problem, read_other, read_problem
from ._problem_columns import summary
from ._request import Marks, Request, check_output, codes_of, split_names

__all__ = [
    "METRICS",
    "TITLES",
    "Chunk",
    "Chunks",
    "Marks",
    "Problem",
    "Request",
    "advised",
    "audit_file",
    "check_output",
    "check_problem",
    "class_labels",
    "codes_of",
    "evaluate",
    "figure_text",
    "fit",
    "fit_larger",
    "is_of_series",
    "load_model",
    "made_inputs",
    "open_partial",
    "percent",
    "plan",
    "predict_file",
    "read_joined_for",
    "read_other",
    "read_problem",
    "reading_of",
    "render",
    "roles_of",
    "sources_of",
    "split_names",
    "summary",
    "whole_series",
]
