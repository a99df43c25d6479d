"""References that fail do not take the estimate with them; ours does."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree.workflow import _estimate as module
from imputefree.workflow._estimate import estimate
from imputefree.workflow._partial import Partial
from imputefree.workflow._problem import read_problem
from imputefree.workflow._references import OURS
from imputefree.workflow._request import Request
from imputefree.workflow._split import Fold
from tests.workflow.made import table


class Guess:
    """Half for each class, so that only failures matter."""

    def predict_proba(self, rows):
        return np.full((len(rows), 2), 0.5)

    classes_ = np.array(["ill", "well"])


@pytest.fixture
def estimated(tmp_path, monkeypatch):
    table().to_csv(tmp_path / "d.csv", index=False)
    request = Request(tmp_path / "d.csv", "y", tmp_path / "m")
    problem = read_problem(request)
    fold = Fold(np.arange(30), np.arange(30, 60))

    def run(error, who):
        def learn(model, problem, units, checkpoint):
            if who in checkpoint.name:
                raise error
            return Guess()

        monkeypatch.setattr(module, "learn", learn)
        partial = Partial(tmp_path, {})
        return estimate(problem, problem, [fold], "", request, partial, lambda what: None)

    return run


@pytest.mark.parametrize(
    "error", [RuntimeError("no luck"), TypeError("no luck"), OSError("no luck")]
)
def test_a_reference_that_fails_in_any_way_is_a_result(estimated, error):
    found = estimated(error, "mask_only")
    assert found["failed"] == {"mask_only": "no luck"}
    assert "mask_only" not in found["scores"]
    assert OURS in found["scores"]


def test_ours_and_an_interrupt_are_not_passed_over(estimated):
    with pytest.raises(RuntimeError):
        estimated(RuntimeError("no luck"), OURS)
    with pytest.raises(KeyboardInterrupt):
        estimated(KeyboardInterrupt(), "mask_only")


def test_a_piece_of_another_size_is_damaged(estimated, tmp_path):
    Partial(tmp_path, {}).keep(f"{OURS}-0", prediction=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="is damaged"):
        estimated(RuntimeError("no luck"), "mask_only")
