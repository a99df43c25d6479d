"""Tasks that would take hours: the sentence, its units and its limits."""

from __future__ import annotations

import pytest

from imputefree.errors import ParameterError
from imputefree.lab.imputers._cost_limits import BYTES, SECONDS, refuse_slow
from tests.refusals import check_error


@pytest.mark.parametrize(
    ("seconds", "n_bytes", "words"),
    [
        (3600, 0, "T would take about 60 minutes. What"),
        (3 * 3600, 0, "T would take about 3 hours. What"),
        (1e6, 0, "T would take about 12 days. What"),
        (1, 40 * 2**30, "T would take about 40 GiB of memory. What"),
        (3 * 3600, 40 * 2**30, "T would take about 3 hours and about 40 GiB of memory. What"),
    ],
)
def test_says_what_it_would_take(seconds, n_bytes, words):
    def run(allowed):
        refuse_slow("T", seconds=seconds, n_bytes=n_bytes, remedy="Use 'mean'", allowed=allowed)

    check_error(lambda: run(False), words, "Use 'mean', or pass allow_slow", kind=ParameterError)
    run(True)


def test_up_to_the_limits_is_allowed():
    refuse_slow("T", seconds=SECONDS, n_bytes=BYTES, remedy="", allowed=False)
