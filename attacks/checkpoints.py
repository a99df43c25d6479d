"""Checkpoints: damaged ones are refused; forged ones are refused, or training ends with a model."""

from __future__ import annotations

import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from imputefree import GILClassifier, ImputeFreeClassifier
from imputefree.gil import Checkpoint
from scripts.goldens import classes, table

from ._forging import damaged, forged
from ._frame import Broken, Limits, Target, scratch

SETTINGS: dict[str, Any] = {"n_members": 2, "hidden_layer_sizes": (4,), "max_iter": 3}
POLICIES = ("none", "ddpg", "meta")
WHOLE_FITS = 0.1  # the share of damaged files that a fit meets; the others are only read


class Attack(Target):
    """Checkpoints of networks, and of a family that a blend has finished."""

    name = "checkpoints"
    full = 20_000

    def __init__(self) -> None:
        self.place = scratch() / "fit"
        self.X, self.y = table(), classes()
        self.files = [self._left_by(number) for number in range(len(POLICIES) + 1)]

    def _model(self, number: int) -> Any:
        if number == len(POLICIES):
            return ImputeFreeClassifier(families=["density"], random_state=0)
        return GILClassifier(**SETTINGS, policy=POLICIES[number], random_state=0)

    def _path(self, number: int) -> Path:
        """A blend adds the family's name."""
        blend = number == len(POLICIES)
        return self.place.with_name("fit.density") if blend else self.place

    def _left_by(self, number: int) -> bytes:
        """What a fit leaves that is killed after its first checkpoint."""

        def keep_and_die(checkpoint: Checkpoint, make: Any) -> None:
            checkpoint._due = 0
            keep(checkpoint, make)
            raise KeyError("killed")

        keep = Checkpoint.save_if_due
        with patch.object(Checkpoint, "save_if_due", keep_and_die), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(KeyError):
                self._model(number).fit(self.X, self.y, checkpoint=self.place)
        left = self._path(number).read_bytes()
        self._path(number).unlink()
        return left

    def make(self, rng: np.random.Generator) -> list[Any]:
        """Which fit, whether it runs, and the bytes of its checkpoint in hexadecimal."""
        number = int(rng.integers(len(self.files)))
        file, other = self.files[number], self.files[rng.integers(len(self.files))]
        accident = rng.random() < 0.8
        case = (damaged if accident else forged)(file, other, rng)
        return [number, not accident or rng.random() < WHOLE_FITS, case.hex()]

    def limits(self, case: list[Any]) -> Limits:
        """Ten times the size and 50 MB; a second per 10 MB, and two for the training."""
        size = len(case[2]) / 2
        return Limits(seconds=2 + size / 1e7, memory=int(10 * size) + 50_000_000)

    def attack(self, case: list[Any]) -> str:
        """Resume from it; a model that comes of it must predict finite numbers."""
        number, fits, text = case
        path, content = self._path(number), bytes.fromhex(text)
        path.write_bytes(content)
        if not fits:
            Checkpoint(path, {}).read()
            raise Broken("a damaged checkpoint was read")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = self._model(number).fit(self.X, self.y, checkpoint=self.place)
            answer = model.predict_proba(self.X)
        if not np.isfinite(answer).all():
            raise Broken("a resumed model predicts what is not finite")
        return "answered"
