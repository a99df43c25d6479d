from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd

from imputefree._estimator_tools import private_generator, remember_columns
from imputefree.data import read_columns


def test_names_are_remembered_and_forgotten():
    model = SimpleNamespace()
    remember_columns(model, read_columns(pd.DataFrame({"a": [1.0], "b": [2.0]})))
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["a", "b"]
    remember_columns(model, read_columns(np.zeros((1, 3))))
    assert vars(model) == {"n_features_in_": 3}


def test_a_random_state_moves_on_and_a_number_does_not():
    source = np.random.RandomState(0)
    assert private_generator(source).random() != private_generator(source).random()
    assert private_generator(5).random() == private_generator(5).random()
