"""Commands that are interrupted at a random moment: nothing lost, half-written or left behind.

A case starts a command, sends it SIGINT, SIGTERM or SIGKILL, and looks at what is there. An output
is whole: the older one, or the new one. After SIGINT and SIGTERM there is nothing else, but for the
unfinished work that `fit` keeps. The same command, with --resume where that is the rule, then ends
with the same bytes as one that was never interrupted.

Most commands are forked from a process that has imported everything, some are cold processes. A
case counts as refused if the signal ended the command, and as answered if it was done before.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from imputefree import GILClassifier
from imputefree.lab.runs import read_results

from ._frame import Broken, Limits, Target
from ._nursery import SCRIPT, Nursery

ENVIRONMENT = {"OMP_NUM_THREADS": "1", "SOURCE_DATE_EPOCH": "86400", "PYTHONWARNINGS": "ignore"}
SIGNALS = ("SIGINT", "SIGTERM", "SIGKILL")
OLDER = b"# Model card: an older file\n"
PATIENCE = 200.0  # seconds for a command, also for one that was told to end
BEYOND = 1.05  # of the usual duration: some signals come too late
WRITING = 0.03  # seconds after the first new file
NETWORK = ["--model", "network", "--members", "1", "--max-iter"]
# What differs between two equal runs of `bench`
UNLIKE = ("cost", "seconds", "finished", "command", "commit", "check", "checksum")
RANKS = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def same_bytes(path: Path) -> Any:
    """The file as it is."""
    return path.read_bytes()


def same_runs(path: Path) -> Any:
    """The lines of a results file without what differs between equal runs."""
    lines = [{k: v for k, v in r.items() if k not in UNLIKE} for r in read_results(path)]
    return sorted(json.dumps(line, sort_keys=True) for line in lines)


@dataclass(frozen=True)
class Command:
    """A command, and what it writes.

    words : {home} stands for the folder of its inputs
    outputs : files that it writes, at once or not at all
    share : of all cases
    kept : a pattern of files that an interruption may leave
    again : words that continue it
    whole : whether an interrupted one leaves outputs as they were
    read : what must be equal between two results
    """

    words: tuple[str, ...]
    outputs: tuple[str, ...]
    share: float
    kept: str = ""
    again: tuple[str, ...] = ()
    whole: bool = True
    read: Callable[[Path], Any] = same_bytes
    program: tuple[str, ...] = ()


MODEL, CARD = "m.imputefree", "m.md"
PARTIAL = r"m\.imputefree\.partial"
TABLE = ("{home}/table.csv", "--target", "y", "-o", MODEL)
COMMANDS = {
    "predict csv": Command(
        ("predict", "{home}/model", "{home}/rows.csv", "--keep", "ward", "-o", "out.csv"),
        ("out.csv",),
        0.32,
    ),
    "predict parquet": Command(
        ("predict", "{home}/model", "{home}/rows.csv", "-o", "out.parquet"), ("out.parquet",), 0.25
    ),
    "fit": Command(
        ("fit", *TABLE, "--test", "0.3", *NETWORK, "5"),
        (MODEL, CARD),
        0.2,
        kept=PARTIAL,
        again=("--resume",),
    ),
    "fit folder": Command(
        ("fit", "{home}/parts", "--target", "y", *NETWORK, "3", "-o", MODEL), (MODEL, CARD), 0.2
    ),
    "bench": Command(
        (
            *("bench", "table:{home}/table.csv", "--target", "y", "--seeds", "2", "--jobs", "1"),
            *("--methods", "mask_only,logistic_regression", "--no-pictures", "-o", "r.jsonl"),
        ),
        ("r.jsonl",),
        0.02,
        kept=r"r\.jsonl.*",
        whole=False,
        read=same_runs,
    ),
    "ranks": Command(
        ("{here}/_ranks_job.py", MODEL),
        (MODEL,),
        0.01,
        kept=r"m\.imputefree\.checkpoint",
        program=(sys.executable, *RANKS),
    ),
}


class Attack(Target):
    """Interrupted commands."""

    name = "kills"
    full = 600

    def __init__(self) -> None:
        self._known: dict[tuple[str, bool], tuple[dict[str, Any], float]] = {}
        self._warm = False

    def make(self, rng: np.random.Generator) -> dict[str, Any]:
        """Which command is sent which signal, and when.

        moment : a share of its usual duration; or, if `writing`, of some milliseconds after its
            first new file
        """
        shares = [command.share for command in COMMANDS.values()]
        return {
            "command": str(rng.choice(list(COMMANDS), p=shares)),
            "signal": str(rng.choice(SIGNALS)),
            "moment": round(float(rng.random()), 4),
            "writing": bool(rng.random() < 0.4),
            "older": bool(rng.random() < 0.5),
            "cold": bool(rng.random() < 0.08),
        }

    def limits(self, case: Any) -> Limits:
        return Limits(seconds=PATIENCE)

    def attack(self, case: Any) -> str:
        """Interrupt a command, look at what is there, and let it end."""
        expected, seconds = self.undisturbed(case["command"], case["cold"])
        with tempfile.TemporaryDirectory(prefix="kills-") as name:
            folder, command = Path(name), COMMANDS[case["command"]]
            older = case["older"] and command.whole
            if older:
                for output in command.outputs:
                    (folder / output).write_bytes(OLDER)
            before = _files(folder)
            pid, begun = self._start(case, folder), time.monotonic()
            if case["writing"]:
                while _files(folder) == before and time.monotonic() - begun < BEYOND * seconds:
                    time.sleep(0.001)
                time.sleep(case["moment"] * WRITING)
            else:
                time.sleep(case["moment"] * BEYOND * seconds)
            number = getattr(signal, case["signal"])
            for process in self._receivers(pid, case):
                _send(process, number)
            code = self.nursery.wait(pid, PATIENCE)
            log = (folder / "log").read_text(errors="replace") if (folder / "log").exists() else ""
            self._check(folder, case, code, log, expected, older)
            self._finish(folder, case, expected)
        return "answered" if code == 0 else "refused"

    def _check(
        self, folder: Path, case: Any, code: int | None, log: str, expected: Any, older: bool
    ) -> None:
        """What an interruption may leave."""
        command, told = COMMANDS[case["command"]], f"{case['command']} after {case['signal']}"
        if code is None:
            raise Broken(f"{told} did not end within {PATIENCE:g} s")
        if "Traceback" in log and not case["cold"] and not command.program:
            raise Broken(f"{told} shows a traceback: {log[-600:]}")
        for output in command.outputs if command.whole else ():
            path = folder / output
            if not path.exists():
                if older:
                    raise Broken(f"{told} lost the older {output}")
                if code == 0:
                    raise Broken(f"{told} claims success, but there is no {output}")
            elif command.read(path) not in (expected[output], *[OLDER] * (older and code != 0)):
                raise Broken(f"{told} left a half-written {output} (exit code {code})")
        left = _files(folder) - {*command.outputs}
        if case["signal"] == "SIGKILL":  # cannot clean up: what stays is named after the output
            left = {name for name in left if not name.startswith(command.outputs)}
        if stray := sorted(n for n in left if not re.fullmatch(f"({command.kept})(/.*)?", n)):
            raise Broken(f"{told} left {stray} behind (exit code {code}): {log[-300:]}")

    def _finish(self, folder: Path, case: Any, expected: Any) -> None:
        """The same command again, without an interruption."""
        command = COMMANDS[case["command"]]
        again = self._start(case, folder, *command.again)
        code = self.nursery.wait(again, PATIENCE)
        log = (folder / "log").read_text(errors="replace")
        told = f"{case['command']} again after {case['signal']}"
        if code != 0:
            raise Broken(f"{told} failed with {code}: {log[-600:]}")
        for output in command.outputs:
            if command.read(folder / output) != expected[output]:
                raise Broken(f"{told} wrote another {output} than without an interruption")
        left = _files(folder) - {*command.outputs}
        if case["signal"] != "SIGKILL" and left and not command.kept.startswith("r"):
            raise Broken(f"{told} left {sorted(left)} behind")

    def _start(self, case: Any, folder: Path, *more: str) -> int:
        command = COMMANDS[case["command"]]
        places = {"home": self.home, "here": Path(__file__).parent}
        words = [word.format(**places) for word in (*command.words, *more)]
        if command.program:
            return self.nursery.start_cold([*command.program, *words], folder)
        if case["cold"]:
            return self.nursery.start_cold([sys.executable, "-c", SCRIPT, *words], folder)
        return self.nursery.start(words, folder)

    def _receivers(self, pid: int, case: Any) -> list[int]:
        """Who gets the signal; of ranks one is killed, as torchrun itself cannot end the others."""
        if not COMMANDS[case["command"]].program or case["signal"] != "SIGKILL":
            return [pid]
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            children = []
        return [int(child) for child in children[-1:]] or [pid]

    @cached_property
    def nursery(self) -> Nursery:
        """Where commands are started."""
        return Nursery(ENVIRONMENT)

    @cached_property
    def home(self) -> Path:
        """A folder with inputs: a table, a folder of parts, a model and rows to predict."""
        folder = Path(tempfile.mkdtemp(prefix="kills-home-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        frame = _table(300)
        frame.to_csv(folder / "table.csv", index=False)
        (folder / "parts").mkdir()
        for i in range(3):
            _table(400, i).to_csv(folder / "parts" / f"part-{i}.csv", index=False)
        pd.concat([frame.drop(columns="y")] * 10).to_csv(folder / "rows.csv", index=False)
        model = GILClassifier(max_iter=2, n_members=1, random_state=0)
        model.fit(frame.drop(columns="y"), frame["y"]).save(folder / "model")
        return folder

    def undisturbed(self, name: str, cold: bool) -> tuple[dict[str, Any], float]:
        """The outputs of a command that nobody interrupts, and its duration."""
        if (name, cold) not in self._known:
            with tempfile.TemporaryDirectory(prefix="kills-") as place:
                folder, command = Path(place), COMMANDS[name]
                begun = time.monotonic()
                code = self.nursery.wait(
                    self._start({"command": name, "cold": cold}, folder), PATIENCE
                )
                if not cold and not command.program and not self._warm:
                    self._warm = True  # the first fork waited for the imports
                    return self.undisturbed(name, cold)
                seconds = time.monotonic() - begun
                if code != 0:
                    raise Broken(f"{name} failed: {(folder / 'log').read_text()[-600:]}")
                found = {output: command.read(folder / output) for output in command.outputs}
            self._known[name, cold] = found, seconds
        return self._known[name, cold]


def _table(rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 4)).round(3), columns=list("abcd"))
    frame["ward"] = rng.choice(["north", "south", "=1+1"], rows)
    y = np.where(frame["a"] + frame["b"] > 0, "yes", "no")
    return frame.mask(rng.random(frame.shape) < 0.2).assign(y=y)


def _files(folder: Path) -> set[str]:
    """Names of everything in a folder, but for its log."""
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    return found - {"log"}


def _send(process: int, number: int) -> None:
    with suppress(ProcessLookupError):  # it has ended already
        os.kill(process, number)
