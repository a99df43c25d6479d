"""What a target is, and how one case is run: limits of time and memory, foreign exceptions."""

from __future__ import annotations

import os
import re
import signal
import tempfile
import threading
import time
import traceback
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from imputefree.errors import ImputefreeError

Case = Any  # bytes, or a recipe of plain JSON types
STATUS, CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"  # what clear_refs takes to begin a new peak
PACKAGE = re.compile(r"[/\\]imputefree[/\\](\w.*)$")
PATIENCE = 10  # times the limit, by the clock, until a case is stopped


def scratch() -> Path:
    """A new folder for files that are attacked; in memory where that is possible."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="attacks-", dir=memory if memory.is_dir() else None))


class Broken(Exception):
    """A promise was broken; `place` tells equal failures apart from others."""

    def __init__(self, fact: str, place: str = "") -> None:
        super().__init__(fact)
        self.place = place or re.sub(r"\d+", "", fact)


@dataclass(frozen=True)
class Limits:
    """What a case may cost.

    seconds : of CPU, all threads together
    memory : bytes beyond what the process had before; None: not measured
    """

    seconds: float = 60.0
    memory: int | None = None


class Target:
    """One thing to attack.

    name : that of its module
    full : how many cases a full run has
    """

    name: ClassVar[str]
    full: ClassVar[int] = 1000

    def make(self, rng: np.random.Generator) -> Case:
        """A case: bytes, or a recipe of plain JSON types from which everything repeats."""
        raise NotImplementedError

    def attack(self, case: Case) -> str:
        """Attack with a case, and check the answer.

        Returns "answered" or "refused"; an ImputefreeError counts as refused, and raises `Broken`,
        or any other exception, if a promise is broken.
        """
        raise NotImplementedError

    def limits(self, case: Case) -> Limits:
        """What this case may cost."""
        return Limits()

    def case(self, number: int) -> Case:
        """The case of this number, always the same."""
        return self.make(np.random.default_rng([zlib.crc32(self.name.encode()), number]))


def run_case(target: Target, case: Case) -> str:
    """What came of a case: "answered" or "refused"; raises `Broken` if a promise was broken."""
    limits = target.limits(case)
    before = _memory("VmRSS", reset=True) if limits.memory is not None else 0
    begun = time.process_time()
    try:
        with _stopped_after(PATIENCE * limits.seconds):
            outcome = target.attack(case)
    except ImputefreeError:
        outcome = "refused"
    except (Broken, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit, and what other languages panic with
        raise Broken(f"{type(error).__name__}: {error}", _place(error)) from error
    seconds = time.process_time() - begun
    if seconds > limits.seconds:
        raise Broken(f"took {seconds:.1f} s, the limit is {limits.seconds:.1f} s", "time")
    if limits.memory is not None:
        taken = _memory("VmHWM") - before
        if taken > limits.memory:
            fact = f"took {taken / 2**20:.0f} MB, the limit is {limits.memory / 2**20:.0f} MB"
            raise Broken(fact, "memory")
    if outcome not in ("answered", "refused"):
        raise Broken(f"{target.name}.attack returned {outcome!r}")
    return outcome


def _place(error: BaseException) -> str:
    """Where in the package an exception passed last, with its type."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [(PACKAGE.search(frame.filename), frame.lineno) for frame in frames]
    places = [f"{match[1]}:{line}" for match, line in ours if match]
    return " ".join([type(error).__name__, *places[-1:]])


def _memory(field: str, reset: bool = False) -> int:
    """Bytes that the kernel counts for this process: VmRSS (now) or VmHWM (the peak)."""
    if not CLEAR_REFS.exists():  # not Linux: nothing is measured
        return 0
    if reset:
        CLEAR_REFS.write_text(RESET_PEAK)
    match = re.search(rf"{field}:\s+(\d+) kB", STATUS.read_text())
    return int(match[1]) * 1024 if match else 0


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    """Stop what hangs, by the clock; code that never returns to Python is not stopped."""
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise Broken(f"was stopped after {seconds:.0f} s", "time")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
