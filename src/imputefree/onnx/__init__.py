"""Trained models as ONNX files: raw columns with NaN in, predictions out, nothing of us needed.

`export` writes one, `read_metadata` tells what it takes, `encode` makes its inputs from a frame.
"""

from ._export import Exported, export, need_extra
from ._metadata import read_metadata
from ._onnx_inputs import encode

__all__ = [
    "Exported",
    "encode",
    "export",
    "need_extra",
    "read_metadata",
]
