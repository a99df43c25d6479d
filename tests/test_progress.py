"""Progress bars: shown on a terminal, silent elsewhere."""

from __future__ import annotations

import pytest

from imputefree import _progress as progress


def use(wanted):
    """Draw every kind of bar; what they report in the end."""
    with progress.grid_progress(wanted, runs=5, done=2) as report:
        report("mnist gil")
    with progress.step_progress(wanted, 2, "study") as report:
        report("reading")
    with progress.training_progress(wanted, 3, "GIL") as report:
        if report is not None:
            report(1, {"loss": 0.25})
    with progress.byte_progress(wanted, "file") as report:
        if report is not None:
            report(10, 20)


def test_bars_show_what_is_done(capsys, monkeypatch):
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    use(True)
    shown = capsys.readouterr().err
    for part in ("3/5", "left:", "mnist gil", "study: reading", "2/3", "loss 0.2500", "10/20"):
        assert part in shown


@pytest.mark.parametrize("wanted", [True, False])
def test_nothing_is_shown_without_a_terminal(capsys, wanted):
    use(wanted)
    assert capsys.readouterr().err == ""
