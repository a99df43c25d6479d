"""Lists of names in errors are short, and say what they leave out."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree.data._wording import counted, listed, shorten


@pytest.mark.parametrize(("count", "text"), [(1, "1 row"), (2, "2 rows"), (30, "30 rows")])
def test_counts_have_their_noun(count, text):
    assert counted(count, "row") == text


@pytest.mark.parametrize(
    ("names", "limit", "text"),
    [
        ([], 2, ""),
        (["a"], 2, "'a'"),
        (("a", 1), 2, "'a', 1"),
        (["a", "b", "c"], 2, "'a', 'b' and 1 more"),
        (np.array(["a", 2, None], dtype=object), 1, "'a' and 2 more"),
    ],
)
def test_long_lists_are_cut_and_counted(names, limit, text):
    assert shorten(names, limit) == text


def test_names_may_have_words_of_their_own():
    assert shorten([1, 2, 3], 2, "step {}".format) == "step 1, step 2 and 1 more"


def test_parts_without_a_name_are_left_out():
    assert listed(("missing", []), ("new", np.array(["x"], dtype=object))) == "new 'x'"
    assert listed(("missing", ["a"]), ("new", ["x", "y"])) == "missing 'a'; new 'x', 'y'"
    assert listed() == ""
