"""Progress: bars on a terminal, a line now and then in a log."""

from __future__ import annotations

import time

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
    with progress.byte_progress("file") as report:
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
def test_what_takes_no_time_leaves_no_line_in_a_log(capsys, wanted):
    use(wanted)
    assert capsys.readouterr().err == ""


def test_a_log_gets_a_line_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.05)
    with progress.step_progress(True, 7, "Training") as report:
        report("trees")
        report("networks")
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 7
    assert lines[-1] == "[0:00] Training: networks (1 of 7)"
