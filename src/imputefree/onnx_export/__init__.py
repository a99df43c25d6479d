"""Trained models as ONNX files: raw columns with NaN in, predictions out, nothing of us needed.

`export` writes one, `read_metadata` tells what it takes, `encode` makes its inputs from a frame.
"""

from .inputs import encode
from .metadata import read_metadata
from .writing import Exported, export

__all__ = ["Exported", "encode", "export", "read_metadata"]
