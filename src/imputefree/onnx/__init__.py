"""Export trained models to ONNX: raw columns with NaN in, predictions out, onnxruntime is enough.

`export` writes a file, `read_metadata` says what it takes, `encode` makes its inputs from a frame.
"""

from ._export import Exported, export
from ._onnx_inputs import encode, read_metadata

__all__ = ["Exported", "encode", "export", "read_metadata"]
