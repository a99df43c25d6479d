"""Signals become exceptions, whatever code they interrupt, and cleaning up is left in peace."""

from __future__ import annotations

import os
import signal

import pytest

from imputefree.cli._signals import Ended, ending_cleanly


def test_an_exception_that_takes_the_place_of_the_signal_is_not_shown(capsys):
    """As where a lock, or C code, is interrupted."""
    with pytest.raises(SystemExit) as left, ending_cleanly():
        try:
            signal.raise_signal(signal.SIGTERM)
        except Ended:
            raise RuntimeError("release unlocked lock") from None
    assert left.value.code == 143
    assert capsys.readouterr().err == "imputefree: ended by SIGTERM.\n"


def test_errors_without_a_signal_stay_theirs():
    with pytest.raises(RuntimeError, match="broken"), ending_cleanly():
        raise RuntimeError("broken")


def test_a_second_signal_does_not_disturb_cleaning_up():
    cleaned = []
    with pytest.raises(SystemExit), ending_cleanly():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGINT)
            cleaned.append(True)
    assert cleaned


def test_handlers_are_restored_and_ignored_signals_stay_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ending_cleanly():
            os.kill(os.getpid(), signal.SIGHUP)  # nohup
            inside = signal.getsignal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is not inside
    finally:
        signal.signal(signal.SIGHUP, before)
