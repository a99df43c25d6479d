"""Write a fitted estimator as an ONNX file, after it has been compared with the estimator."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..data import PanelEncoder, TableEncoder
from ..errors import ModelFileError

ROWS, STEPPED_ROWS = 512, 64  # random rows, or series, that are compared


@dataclass(frozen=True)
class Exported:
    """What was written, and how it did: sizes in bytes, latencies in seconds (one row, 1,000)."""

    path: Path
    metadata: dict[str, Any]
    bytes: int
    weights_bytes: int
    compared: int
    difference: float
    latencies: dict[str, tuple[float, float]]


def export(model: Any, path: str | os.PathLike[str], timed: bool = False) -> Exported:
    """Write `model` to `path`: NaN goes straight in, from raw columns to the prediction.

    The file needs onnxruntime (or another runtime) and nothing of this package. Before it is moved
    into place, its predictions are compared with the estimator's on random rows with random gaps;
    more than 1e-5 apart, nothing is written. `timed` also measures how long both take.

    What goes in and out stands in the file's metadata, see `read_metadata`; `encode` makes the
    inputs from a frame.

    >>> import tempfile
    >>> import onnxruntime
    >>> from imputefree import GILClassifier
    >>> X = np.array([[1.0, np.nan], [2.0, 5.0]] * 10)
    >>> clf = GILClassifier(max_iter=1, n_members=1, random_state=0).fit(X, [0, 1] * 10)
    >>> path = Path(tempfile.mkdtemp()) / "model.onnx"
    >>> export(clf, path).difference < 1e-5
    True
    >>> session = onnxruntime.InferenceSession(path)
    >>> bool(np.allclose(session.run(None, {"X": X})[0], clf.predict_proba(X)))
    True
    """
    need_extra()
    if not isinstance(model.encoder_, TableEncoder | PanelEncoder):
        raise ModelFileError(
            f"this model reads its inputs by a {type(model.encoder_).__name__}",
            "Only models that take gaps as they are can be exported",
            "Export an estimator without an imputer",
        )
    path = Path(path)
    content, metadata = _content(model)
    from ._checking import new_session

    session = new_session(content)
    compared, difference = _compared(model, session)
    _write(path, content)
    from ._checking import latencies

    weights = sum(p.numel() * p.element_size() for p in model.predictor_.parameters())
    return Exported(
        path,
        metadata,
        len(content),
        weights,
        compared,
        difference,
        latencies(model, session) if timed else {},
    )


def need_extra() -> None:
    """Refuse in one sentence where the libraries are not installed."""
    lacking = [name for name in ("onnx", "onnxruntime") if find_spec(name) is None]
    if lacking:
        raise ModelFileError(
            f"{' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} not installed",
            "Export needs the extra `onnx`",
            "Run pip install 'imputefree[onnx]'",
        )


def _content(model: Any) -> tuple[bytes, dict[str, Any]]:
    """The ONNX file and its metadata."""
    import onnx

    from ._building import build
    from ._metadata import KEY, describe, explain

    metadata = describe(model)
    proto = build(model).model(explain(model), {KEY: json.dumps(metadata)})
    onnx.checker.check_model(proto, full_check=True)
    return proto.SerializeToString(), metadata


def _compared(model: Any, session: Any) -> tuple[int, float]:
    """How many random rows were compared, and the largest difference; refused if too large."""
    from ._checking import TOLERANCE, difference
    from ._samples import draw

    rows = STEPPED_ROWS if isinstance(model.encoder_, PanelEncoder) else ROWS
    sample = draw(model, np.random.default_rng(0), rows)
    apart = difference(model, session, sample)
    if apart > TOLERANCE:
        raise ModelFileError(
            f"the exported model is {apart:.1e} away from the estimator on random rows",
            f"They must agree to {TOLERANCE:.0e}; nothing was written",
            "Scale inputs and targets to ordinary sizes and train again, or report this model",
        )
    return rows, apart


def _write(path: Path, content: bytes) -> None:
    """The whole file or, where that fails, what was there before."""
    temporary = path.parent / f"{path.name}.{uuid.uuid4().hex}"
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise ModelFileError(
            f"{path} cannot be written ({error.strerror})",
            "A model is exported into an existing, writable folder",
            "Choose another path, or make room",
        ) from None
