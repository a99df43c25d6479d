"""How tests look at an error: its kind, its words in order, and that it says rule and remedy."""

from __future__ import annotations

import pytest

from imputefree.errors import InputError


def check_error(run, *parts, kind=InputError):
    """`run` raises an error of that kind whose sentence holds all the parts, in that order."""
    with pytest.raises(kind) as caught:
        run()
    at = 0
    for part in parts:
        assert part in str(caught.value)[at:]
        at = str(caught.value).index(part, at) + len(part)
    assert caught.value.rule
    assert caught.value.remedy
