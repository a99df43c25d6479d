"""Settings reach the part they are for, and what nobody has is refused."""

from __future__ import annotations

import pytest

from imputefree.errors import ParameterError
from imputefree.lab.rivals._methods import make_method
from imputefree.lab.runs._settings import PAPER_GRIDS, configure, settings
from tests.refusals import check_error


def test_each_part_gets_its_own():
    model = make_method("miwae+network", random_state=5)
    configure(model, {"max_iter": 3, "indicator": True, "imputer__max_steps": 9}, 5)
    assert model.indicator is True
    assert model.estimator.max_iter == 3
    assert model.imputer.max_steps == 9
    assert model.imputer.random_state == 5
    policy = configure(make_method("gil"), {"policy__actor_rate": 0.5}, 0).policy
    assert policy.actor_rate == 0.5


@pytest.mark.parametrize("method", list(PAPER_GRIDS))
def test_the_papers_grids_can_be_set(method):
    for kind in ("table", "series"):
        first = next(settings(PAPER_GRIDS[method]))
        configure(make_method(method, kind=kind), first, 0)


def test_refusals():
    for method, name, *parts in (
        ("naive_bayes", "depth", "ObservedNaiveBayes has no setting 'depth'"),
        ("naive_bayes", "imputer__depth", "has no setting 'imputer__depth'"),
        ("gil", "policy__depth", "the policy 'ddpg' has no setting 'depth'", "actor_rate"),
        ("em+network", "imputer__depth", "EMImputer has no setting 'depth'"),
    ):
        model = make_method(method)
        check_error(lambda m=model, n=name: configure(m, {n: 1}, 0), *parts, kind=ParameterError)
