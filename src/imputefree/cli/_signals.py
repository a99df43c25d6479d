"""How commands end early: Ctrl-C, SIGTERM and SIGHUP let them clean up and say what is kept."""

from __future__ import annotations

import atexit
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._printing import complain

INTERRUPTED = 130  # exit code of a program that Ctrl-C ended
NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
ENDING = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
CLEANING = 2.0  # seconds for which a second signal is ignored


class Ended(SystemExit):
    """A signal asked the process to end; the usual exit code is 128 plus its number."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.name = signal.Signals(number).name


@contextmanager
def ending_cleanly() -> Iterator[None]:
    """Turn signals that end a process into an exception, so that temporary files are removed."""
    if threading.current_thread() is not threading.main_thread():  # no place for handlers
        yield
        return
    received: list[tuple[int, float]] = []  # signals, and when

    def end(number: int, _: Any) -> None:
        if received and time.monotonic() - received[-1][1] < CLEANING:
            return
        received.append((number, time.monotonic()))
        raise KeyboardInterrupt if number == signal.SIGINT else Ended(number)

    before = {number: signal.getsignal(number) for number in ENDING}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # nohup stays in force
            signal.signal(number, end)
    try:
        yield
    except Ended as ended:
        complain(f"ended by {ended.name}.")
        raise
    except Exception:
        # Where C code is interrupted, another exception may take the place of the first.
        if not received:
            raise
        instead = Ended(received[-1][0])
        complain(f"ended by {instead.name}.")
        raise instead from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        # What has been done is done: Ctrl-C in the last milliseconds changes nothing.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


@contextmanager
def interruptible(advice: str) -> Iterator[None]:
    """Add this advice to the sentence about an interruption."""
    try:
        yield
    except KeyboardInterrupt:
        complain(f"interrupted. {advice}")
        sys.exit(INTERRUPTED)
    except Ended:
        complain(advice)
        raise
