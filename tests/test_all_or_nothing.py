from __future__ import annotations

import pytest

from imputefree._estimator_tools import all_or_nothing


class Model:
    pass


def test_attributes_of_a_failed_block_are_gone_and_others_back():
    model = Model()
    model.kept, model.changed = 1, 2
    with pytest.raises(KeyboardInterrupt), all_or_nothing(model):
        model.changed, model.new = 3, 4
        del model.kept
        raise KeyboardInterrupt
    assert model.__dict__ == {"kept": 1, "changed": 2}


def test_a_block_that_succeeds_keeps_everything():
    model = Model()
    with all_or_nothing(model):
        model.new = 4
    assert model.new == 4
