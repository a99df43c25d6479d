"""Make the model files that every later version must still load: python -m scripts.goldens

Writes into tests/goldens/format-N, for this version's format N, one small file per kind of model
and what each predicts for a few rows. What is there already is never written again.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import imputefree as fr
from imputefree.estimators import Engine
from imputefree.io import MODEL, load_model_file

HOME = Path(__file__).parents[1] / "tests" / "goldens"
TINY = {"n_members": 2, "hidden_layer_sizes": (4,), "max_iter": 2, "random_state": 0}
N = 40


def table(n: int = N) -> pd.DataFrame:
    """Numbers and a category with gaps, the same in every version; no random generator."""
    at = np.arange(n)
    frame = pd.DataFrame(
        {"age": 20.0 + at * 7 % 53, "lactate": (at * 13 % 29) / 7, "drug": list("xyz" * n)[:n]}
    )
    frame.loc[at % 4 == 1, "lactate"] = np.nan
    frame.loc[at % 5 == 2, "drug"] = None
    return frame


def series(n: int = N) -> list[np.ndarray]:
    """Series of two to five steps and two columns."""
    return [np.sin(np.arange(2.0 * (2 + i % 4)) + i).reshape(-1, 2) for i in range(n)]


def classes(n: int = N) -> np.ndarray:
    """Three classes that depend on the age."""
    return np.array(["low", "mid", "high"])[(table(n)["age"].to_numpy() // 20 % 3).astype(int)]


def numbers(n: int = N) -> np.ndarray:
    """A target for regression."""
    return table(n)["age"].to_numpy() / 10 + np.arange(n) % 3


def by_command(path: Path) -> None:
    """A model with a card and calibration, made by `imputefree fit`."""
    with tempfile.TemporaryDirectory() as folder:
        data = table().assign(ill=np.where(numbers() > 5, "yes", "no"))
        data.to_csv(Path(folder, "ward.csv"), index=False)
        words = ["fit", f"{folder}/ward.csv", "--target", "ill", "--model", "density"]
        command = [sys.executable, "-m", "imputefree", *words, "--seed", "0", "-o", str(path)]
        subprocess.run(command, check=True, capture_output=True)


def saved(model: Any, X: Any, y: np.ndarray) -> Callable[[Path], None]:
    """What fits a model and writes its file."""
    return lambda path: model.fit(X, y).save(path)


def makers() -> Mapping[str, Callable[[Path], None]]:
    """What makes the file of each name; names of series begin with `series`."""
    trees: dict[str, Any] = {"families": ["trees"], "quality": "fast", "random_state": 0}
    other: dict[str, Any] = {"families": ["density", "forest"], "random_state": 0}
    linear = fr.ImputeFreeSequenceClassifier(families=["linear"], random_state=0)
    gil = fr.GILSequenceClassifier(**TINY), fr.GILSequenceRegressor(**TINY)
    return {
        "network_classes": saved(fr.GILClassifier(**TINY, policy="ddpg"), table(), classes()),
        "network_numbers": saved(
            fr.GILRegressor(**TINY, placeholder="learned"), table(), numbers()
        ),
        "series_network_classes": saved(gil[0], series(), classes()),
        "series_network_numbers": saved(gil[1], series(), numbers()),
        "blend_classes": saved(fr.ImputeFreeClassifier(**other), table(), classes() == "low"),
        "blend_numbers": saved(fr.ImputeFreeRegressor(**other), table(), numbers()),
        "series_blend_classes": saved(
            fr.ImputeFreeSequenceClassifier(**trees), series(), classes()
        ),
        "series_blend_numbers": saved(fr.ImputeFreeSequenceRegressor(**trees), series(), numbers()),
        "series_linear_classes": saved(linear, series(), classes()),
        "by_command": by_command,
    }


def answers(path: Path) -> Any:
    """What the model of a file predicts for the first five rows or series."""
    model: Any = load_model_file(path, Engine)
    inputs = series(5) if path.name.startswith("series") else table(5)
    return getattr(model, "predict_proba", model.predict)(inputs)


def main() -> None:
    """Make what is missing."""
    folder = HOME / f"format-{MODEL.format}"
    folder.mkdir(parents=True, exist_ok=True)
    known = folder / "predictions.json"
    predictions = json.loads(known.read_text()) if known.exists() else {}
    warnings.simplefilter("ignore")
    for name, make in makers().items():
        path = folder / f"{name}.imputefree"
        if not path.exists():
            make(path)
            predictions[name] = np.asarray(answers(path)).tolist()
            print(f"{path.name}: {path.stat().st_size:,} bytes")
    for card in folder.glob("*.md"):
        card.unlink()
    known.write_text(json.dumps(predictions, indent=1) + "\n")


if __name__ == "__main__":
    main()
