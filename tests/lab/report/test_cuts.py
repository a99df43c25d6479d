"""What a caption says was cut."""

from __future__ import annotations

from imputefree.lab.report._cuts import RAW_ZERO, SAME, what_was_cut
from imputefree.lab.runs._plans import plan


def lines(study, **asked):
    return [run.as_dict() for run in plan(study, **asked).runs]


def test_the_papers_size_cuts_nothing_but_the_grids():
    told = what_was_cut(lines("mnist", methods=["gil", "gil-h"]))
    assert not any("steps" in sentence for sentence in what_was_cut(lines("icu", methods=["gil"])))
    assert told == [
        "5 masks; the paper has 5.",
        "Learning rates and decay are fixed; the paper's grids were not searched.",
    ]


def test_width_steps_and_seeds():
    told = what_was_cut(lines("icu", methods=["gil"], seeds=1, steps=300, width=32))
    assert told[0] == (
        "Networks have 32 hidden units (paper: 1,024) and at most 300 training steps, in whole"
        " epochs (paper: 2,000 or 4,000)."
    )
    assert told[1] == "One split."


def test_a_method_with_fewer_seeds_is_named():
    two = lines("mnist", methods=["gil"], seeds=2)
    one = lines("mnist", methods=["gain+network"], seeds=1)
    told = what_was_cut(two + one)
    assert "2 masks (fewer: gain+network); the paper has 5." in told


def test_a_searched_grid_is_not_called_fixed():
    line = {**lines("mnist", methods=["gil"], seeds=1)[0], "grid": {"learning_rate_init": [1, 2]}}
    assert not any("grids" in sentence for sentence in what_was_cut([line]))


def test_what_is_not_cut_and_what_imputers_were_given():
    own = {"gain+network": {"imputer__max_steps": 2000}}
    methods = ["gil", "gain+network", "naive_bayes"]
    told = what_was_cut(lines("mnist", methods=methods, seeds=1, steps=9, own=own))
    assert told[0].endswith(" Not cut: naive_bayes.")
    assert "Imputers were given: gain+network: max_steps 2000." in told


def test_sameness_and_zeros_are_told():
    assert SAME in what_was_cut(lines("mnist", methods=["gil-h", "network"]))
    assert SAME not in what_was_cut(lines("mnist", methods=["gil-h"]))
    assert RAW_ZERO in what_was_cut(lines("physionet2012", methods=["zero+network"]))
    assert RAW_ZERO not in what_was_cut(lines("mnist", methods=["zero+network"]))


def test_one_size_may_be_a_number():
    line = lines("icu", methods=["gil"], seeds=1)[0]
    line = {**line, "setting": {**line["setting"], "hidden_layer_sizes": 4}}
    assert what_was_cut([line])[0].startswith("Networks have 4 hidden units (paper: 1,024)")


def test_other_studies_and_nothing():
    assert what_was_cut([]) == []
    assert what_was_cut(lines("table:hepatitis", methods=["gil"])) == []
