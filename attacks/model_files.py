"""Model files: damaged ones are refused; forged ones are refused or predict finite numbers."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import torch

from imputefree.estimators import Engine
from imputefree.io import load_model_file
from scripts.goldens import HOME, series, table

from ._forging import damaged, forged, open_sealed, seal_again
from ._frame import Broken, Limits, Target, scratch

MANY = 100_000  # of what a bomb has too many of
SHARE = {"damaged": 0.6, "forged": 0.397, "bombs": 0.003}


class Attack(Target):
    """Files of every kind of model, after an accident or in the hands of a forger."""

    name = "model_files"
    full = 60_000

    def __init__(self) -> None:
        files = sorted(HOME.glob("format-*/*.imputefree"))
        self.files = [file.read_bytes() for file in files]
        self.place = scratch() / "model"

    def make(self, rng: np.random.Generator) -> bytes:
        """The bytes of a file."""
        file, other = (self.files[rng.integers(len(self.files))] for _ in range(2))
        match rng.choice([*SHARE], p=[*SHARE.values()]):
            case "damaged":
                return damaged(file, other, rng)
            case "forged":
                return forged(file, other, rng)
            case _:
                return bomb(file, rng)

    def limits(self, case: bytes) -> Limits:
        """Ten times the size and 50 MB; a second per 10 MB, and one for the prediction."""
        return Limits(seconds=1 + len(case) / 1e7, memory=10 * len(case) + 50_000_000)

    def attack(self, case: bytes) -> str:
        """Load it and predict some rows, which must be finite."""
        self.place.write_bytes(case)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model: Any = load_model_file(self.place, Engine)
            inputs = series(3) if "Sequence" in type(model).__name__ else table(3)
            predict = getattr(model, "predict_proba", model.predict)
            answer = np.asarray(predict(inputs))
        if not np.isfinite(answer).all():
            raise Broken(f"a loaded {type(model).__name__} predicts {answer.ravel()[:3]}")
        return "answered"


def bomb(file: bytes, rng: np.random.Generator) -> bytes:
    """A small file that asks for much."""
    content, tensors = open_sealed(file)
    fitted = content["fitted"]
    network, plans = content.get("network"), content["encoder"].get("plans") or []
    match rng.integers(0, 9):
        case 0:
            fitted["classes_"] = {"array": ["a", "b"], "dtype": "<U300000000"}
        case 1:
            fitted["feature_names_in_"] = {"array": ["a"] * MANY + ["b" * MANY], "dtype": "<U1"}
        case 2 if network:
            network["hidden"] = [1] * 2 * MANY
        case 3 if network:
            network["gate_sizes"] = [1] * 2 * MANY
        case 4:
            tensors |= {str(n): torch.empty(0) for n in range(MANY)}
        case 5 if plans:
            content["encoder"]["plans"] = plans * (MANY // 100)
        case 6:
            tensors["policy.0.weight"] = torch.empty(0, 2**20, 2**20)
            tensors["policy.2.weight"] = torch.empty(0, 2**20, 2**20)
        case 7:
            fitted["about_"] = {"value": [{} for _ in range(10 * MANY)]}
        case _:
            fitted["card_"] = {"value": "\U0001f4a3" + "a" * 50 * MANY}
    return seal_again(json.dumps(content), tensors)
