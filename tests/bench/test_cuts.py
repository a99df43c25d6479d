"""What a caption says was cut."""

from __future__ import annotations

from imputefree.bench.cuts import what_was_cut
from imputefree.bench.plans import plan


def lines(study, **asked):
    return [run.as_dict() for run in plan(study, **asked).runs]


def test_the_papers_size_cuts_nothing_but_the_grids():
    told = what_was_cut(lines("mnist", methods=["gil", "gil-h"]))
    assert told == [
        "5 masks; the paper has 5.",
        "Learning rates and decay are fixed; the paper's grids were not searched.",
    ]


def test_width_steps_and_seeds():
    told = what_was_cut(lines("icu", methods=["gil"], seeds=1, steps=300, width=32))
    assert told[0] == (
        "Networks have 32 hidden units (paper: 1,024) and at most 300 training steps"
        " (paper: 2,000)."
    )
    assert told[1] == "One split."


def test_a_method_with_fewer_seeds_is_named():
    two = lines("mnist", methods=["gil"], seeds=2)
    one = lines("mnist", methods=["gain+network"], seeds=1)
    told = what_was_cut(two + one)
    assert "2 masks (fewer: gain+network); the paper has 5." in told
    assert any("gain+network: max_steps 2000" in sentence for sentence in told)


def test_a_searched_grid_is_not_called_fixed():
    line = {**lines("mnist", methods=["gil"], seeds=1)[0], "grid": {"learning_rate_init": [1, 2]}}
    assert not any("grids" in sentence for sentence in what_was_cut([line]))


def test_other_studies_and_nothing():
    assert what_was_cut([]) == []
    assert what_was_cut(lines("table:hepatitis", methods=["gil"])) == []
