"""From a study's name and a few requests to runs, or to an estimator with its setting."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from imputefree.errors import ParameterError
from imputefree.lab.report._paper_figures import FIGURES
from imputefree.lab.rivals import make_method
from imputefree.lab.runs._plans import (
    AS_IT_COMES,
    EIGHT_TABLES,
    PAPER_GRIDS,
    PLANS,
    RATES,
    plan,
    preset,
)
from imputefree.lab.runs._protocol import configure, grid_settings, in_epochs
from tests.refusals import check_error

every = pytest.mark.parametrize("study", list(PLANS))


def check_set(model, setting):
    """A setting can be set, and what is set is what it says."""
    values = configure(model, setting).get_params()
    for name, value in setting.items():
        part, _, option = name.partition("__")
        if part in ("policy", "reward"):
            assert getattr(values.get(part, values.get(f"estimator__{part}")), option) == value
        else:
            assert values[name if name in values else f"estimator__{name}"] == value


@every
@pytest.mark.parametrize("quick", [False, True])
def test_every_method_can_be_made_with_its_setting(study, quick):
    """A misspelt setting would fail only after hours of runs."""
    made = plan(study, quick=quick)
    kind = PLANS[study].kind
    for method, setting in {run.method: run.setting for run in made.runs}.items():
        model = make_method(method, kind=kind, random_state=0)
        check_set(model, in_epochs(model, setting, 1000))


@every
def test_networks_are_the_same_for_all_who_have_one(study):
    """Settings of single methods concern only imputers and the scaling of zeros."""
    networks = []
    for run in plan(study, seeds=1, steps=100).runs:
        if "hidden_layer_sizes" in run.setting:
            own = PLANS[study].method_settings.get(run.method, {})
            assert all(n.startswith("imputer__") or n == "numeric_encoding" for n in own)
            shared = {k: v for k, v in run.setting.items() if k not in {*own, "numeric_encoding"}}
            networks.append(shared)
    assert all(one == networks[0] for one in networks)
    assert bool(networks) == (study != "tables")


@every
def test_our_default_has_no_setting(study):
    assert {str(run.setting) for run in plan(study).runs if run.method == AS_IT_COMES} <= {"{}"}


def test_every_method_of_the_papers_tables_is_run():
    imitated = {"mimic3": "icu", "ophthalmic": "ophthalmic-simulated"}
    for figure in FIGURES:
        if figure.method != "imputers":
            for study in {figure.study, imitated.get(figure.study, figure.study)}:
                assert figure.method in PLANS[study].methods, (study, figure.method)


def test_seeds_are_masks_where_something_is_hidden_and_splits_elsewhere():
    masks = {(run.mask_seed, run.split_seed) for run in plan("mnist", seeds=2).runs}
    splits = {(run.mask_seed, run.split_seed) for run in plan("icu", seeds=2).runs}
    assert masks == {(0, 0), (1, 0)}
    assert splits == {(0, 0), (0, 1)}


def test_fixed_series_have_the_papers_steps_and_no_method_that_cannot():
    steps = {
        (run.options["form"], run.setting["steps"]) for run in plan("icu", methods=["gil"]).runs
    }
    assert steps == {("variable", 2000), ("fixed", 4000)}
    asked = {run.setting["steps"] for run in plan("icu", methods=["gil"], steps=7).runs}
    assert asked == {7}
    forms = {run.options["form"] for run in plan("icu", methods=["gpvae+network"]).runs}
    assert forms == {"fixed"}


def test_search_gives_every_network_as_many_fits_and_the_same_rates():
    by = {run.method: run.grid for run in plan("mnist", quick=True, search=6).runs}
    assert by.pop("naive_bayes") == by.pop("mask_only") == {}
    assert {len(grid) for grid in by.values()} == {6}
    assert by["gil-h"] == by["zero+network"]
    assert len({str(setting) for setting in by["network"]}) == 6  # none twice
    rates = [{name: setting[name] for name in RATES} for setting in by["gil"]]
    assert rates == by["network"]
    for setting in by["gil"]:
        for name, value in setting.items():
            assert value in (RATES | PAPER_GRIDS["gil"])[name]
    assert {setting["imputer__alpha"] for setting in by["gain+network"]} > {0.1}


@pytest.mark.parametrize("study", ["mnist", "ophthalmic", "icu"])
def test_the_authors_preset(study):
    methods = ["gil", "gil-d", "network", "mean+network"]
    by = {run.method: run.setting for run in plan(study, methods=methods, preset="authors").runs}
    for method, setting in by.items():
        configure(
            make_method(method, kind=PLANS[study].kind),
            in_epochs(make_method(method, kind=PLANS[study].kind), setting, 1000),
        )
    assert by["gil"]["policy__per_batch"]
    assert by["gil"]["policy__batch_size"] == 128
    assert by["gil-d"].get("reward__weight") == (None if study == "icu" else 10.0)
    assert by["network"].get("placeholder") == ("3max" if study == "icu" else None)
    assert "placeholder" not in by["mean+network"]
    assert not any(name.startswith("policy__") for name in by["network"])


def test_redrawn_masks_leave_out_methods_that_would_see_complete_rows():
    made = plan("mnist", masks="redrawn", seeds=1)
    assert "zero+network" in made.methods
    assert "gain+network" not in made.methods
    assert {run.options["masks"] for run in made.runs} == {"redrawn"}
    assert {run.options["rate"] for run in made.runs} == {0.5, 0.7, 0.9}
    rates = {run.options["rate"] for run in plan("mnist", masks="redrawn", rates=[0.3]).runs}
    assert rates == {0.3}
    for run in made.runs:
        run.check()


def test_every_placeholder_is_run_where_there_are_gaps():
    made = plan("icu", methods=["gil-h", "mean+network"], seeds=1, placeholders=[0, "3max"])
    by = [(run.method, run.setting.get("placeholder")) for run in made.runs]
    assert by == 2 * [("gil-h", 0), ("gil-h", "3max"), ("mean+network", None)]


def test_tables_are_eight_and_one_can_be_named():
    studies = {run.study for run in plan("tables", methods=["mask_only"]).runs}
    assert studies == {f"table:{name}" for name in EIGHT_TABLES}
    assert {run.study for run in plan("table:labor").runs} == {"table:labor"}


@pytest.mark.parametrize("method", list(PAPER_GRIDS))
def test_the_papers_grids_can_be_set(method):
    for kind in ("table", "series"):
        check_set(make_method(method, kind=kind), grid_settings(PAPER_GRIDS[method])[0])


def test_requests():
    made = plan("icu", methods=["gil", "gil", "brits", "lightgbm"], seeds=1, steps=10, width=8)
    by = {run.method: run.setting for run in made.runs}
    assert made.methods == ("gil", "brits", "lightgbm")
    assert by["gil"]["hidden_layer_sizes"] == [8]
    assert by["gil"]["steps"] == by["brits"]["steps"] == 10
    assert by["lightgbm"] == {}
    settings = {"gil": {"learning_rate_init": 0.5}}
    made = plan("mnist", methods=["gil", "gil-h"], seeds=1, rates=[0.5], method_settings=settings)
    assert [run.setting["learning_rate_init"] for run in made.runs] == [0.5, 1e-3]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"study": "mnits"}, "there is no study 'mnits' to run"),
        ({"study": "mnist", "methods": ["gru-d"]}, "there is no table method 'gru-d'"),
        ({"study": "icu", "rates": [0.5]}, "rates is set"),
        ({"study": "mnist", "seeds": 0}, "seeds"),
        ({"study": "mnist", "search": True}, "search"),
        (
            {"study": "mnist", "search": 85},
            "search is 85. It must be None or a whole number from 1",
        ),
        ({"study": "mnist", "preset": "ours"}, "preset is 'ours'"),
        ({"study": "icu", "masks": "redrawn"}, "'icu' has one draw of its gaps"),
        ({"study": "mnist", "steps": 1.5}, "steps"),
    ],
)
def test_errors_come_before_anything_runs(asked, words):
    check_error(lambda: plan(**asked), words, kind=ParameterError)


def test_clones_of_a_preset_keep_its_setting():
    model = preset("authors", "ophthalmic", n_rows=900, method="gil-d")
    again = clone(model)
    assert again.policy.batch_size == 128
    assert again.reward.weight == 10.0
    assert again.hidden_layer_sizes == [1000, 1000]
    assert again.max_iter == 2000 // 8  # 900 rows are 8 batches of 128


def test_steps_of_a_preset_follow_the_form():
    variable, fixed = (
        preset("paper", "mimic3", n_rows=1280, form=form) for form in ("variable", "fixed")
    )
    assert (variable.max_iter, fixed.max_iter) == (200, 400)
    assert preset("paper", "mimic3", n_rows=1280).max_iter == 200


def test_a_preset_can_be_fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[rng.random(X.shape) < 0.3] = np.nan
    model = preset("authors", "mnist", n_rows=200).set_params(max_iter=2, hidden_layer_sizes=8)
    assert model.fit(X, rng.integers(2, size=200)).predict(X).shape == (200,)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"name": "ours"}, "preset is 'ours'"),
        ({"study": "moon"}, "study is 'moon'"),
        ({"method": "brits"}, "there is no table method 'brits'"),
        ({"form": "fixed"}, "form is 'fixed'"),
        ({"n_rows": 0}, "n_rows is 0"),
    ],
)
def test_errors_of_presets(asked, words):
    given = {"name": "paper", "study": "mnist", "n_rows": 100} | asked
    check_error(lambda: preset(**given), words, kind=ParameterError)
