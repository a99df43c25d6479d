"""A process that has imported everything and forks commands: each starts within milliseconds.

Reads lines of JSON on stdin: {"start": WORDS, "folder": PATH} answers {"pid": N}; {"wait": N,
"seconds": S} answers {"code": N}, or {"code": null} if the command still ran then and was killed.
"""

from __future__ import annotations

import atexit
import faulthandler
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from imputefree.cli import main
main(sys.argv[1:])
"""
STUCK = 100  # seconds until a command says where it is
EVERY = 0.002  # seconds between two looks at a process


class Nursery:
    """Starts commands, warm by a fork or cold as processes of their own."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = os.environ | environment
        self.process: Any = None
        self.cold: dict[int, Any] = {}

    def start(self, words: list[str], folder: Path) -> int:
        """Start a command in a folder, where `log` takes what it prints; returns its number."""
        if self.process is None:
            command = [sys.executable, "-m", "attacks._nursery"]
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(
                command, cwd=ROOT, stdin=pipe, stdout=pipe, env=self.environment, text=True
            )
            atexit.register(self.close)
        return int(self._ask(start=words, folder=str(folder))["pid"])

    def start_cold(self, command: list[str], folder: Path) -> int:
        """Start a program in a folder of its own."""
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=folder, env=self.environment, stdout=log, stderr=log
            )
        self.cold[process.pid] = process
        return process.pid

    def wait(self, pid: int, seconds: float) -> int | None:
        """The exit code, negative for a signal; None if it had to be killed after so long."""
        if pid not in self.cold:
            return self._ask(wait=pid, seconds=seconds)["code"]
        process = self.cold.pop(pid)
        try:
            return int(process.wait(seconds))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None

    def close(self) -> None:
        """End the process that forks."""
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait(30)
            self.process = None

    def _ask(self, **request: Any) -> Any:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def main() -> None:
    import lightgbm  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import torch

    import imputefree.cli
    import imputefree.lab.runs
    import imputefree.workflow  # noqa: F401

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # also of a child, until it is ready
    torch.set_num_threads(1)
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            answer: Any = {"code": _wait(request["wait"], request["seconds"])}
        else:
            pid = os.fork()
            if pid == 0:
                _run(request["start"], Path(request["folder"]))
            answer = {"pid": pid}
        print(json.dumps(answer), flush=True)


def _run(words: list[str], folder: Path) -> None:
    """The command, in a child that never returns."""
    from imputefree.cli import main as command

    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder)
        log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        faulthandler.dump_traceback_later(STUCK, file=2)
        command(words)
    except SystemExit as left:
        code = int(left.code or 0)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()  # as at the end of any process
        sys.stdout.flush()
        os._exit(code)


def _wait(pid: int, seconds: float) -> int | None:
    end = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None
        time.sleep(EVERY)


if __name__ == "__main__":
    main()
