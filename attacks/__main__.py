"""Attack every promise: python -m attacks --minutes 30.

Goes round the targets and goes on where the last run stopped (build/attacks). Cases that break a
promise are saved in attacks/corpus. Exits 1 if there were any.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from benchmarks.measuring import commit, write

from . import TARGETS, Broken, Runner, corpus_files, load_target, read_case, run_case
from ._runs import STATE

PACKAGES = "numpy scipy pandas scikit-learn torch lightgbm pyarrow"
EVERY = 15  # seconds, between lines of progress


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m attacks", description=__doc__)
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=TARGETS, metavar="NAME")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--cases", type=int, help="of each target in this run")
    parser.add_argument(
        "--full", action="store_true", help="until each target has had all cases of a full run"
    )
    parser.add_argument("--fresh", action="store_true", help="forget earlier runs")
    parser.add_argument(
        "--first", type=int, default=0, metavar="N", help="the first case of a new run; default: 0"
    )
    parser.add_argument("--corpus", action="store_true", help="only replay what once failed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write counts of all runs")
    options = parser.parse_args()
    if options.corpus:
        return replay(options.targets)
    if options.fresh:
        for name in options.targets:
            (STATE / f"{name}.json").unlink(missing_ok=True)
            (STATE / f"{name}.running").unlink(missing_ok=True)
    if not options.full and options.cases is None and options.minutes == float("inf"):
        parser.error("say when to stop: --minutes, --cases or --full")
    runners = [
        Runner(load_target(name), first=options.first, report=say) for name in options.targets
    ]
    try:
        go_round(runners, options)
    except KeyboardInterrupt:
        say("interrupted; the next run goes on from here")
    for runner in runners:
        print(describe(runner))
    if options.json:
        counts = {runner.target.name: counted(runner) for runner in runners}
        write(options.json, PACKAGES, commit=commit(), targets=counts)
    return int(any(runner.broken for runner in runners))


def go_round(runners: list[Runner], options: argparse.Namespace) -> None:
    """Let the targets take turns until the time is over or all have had their cases."""
    end, shown = time.monotonic() + 60 * options.minutes, time.monotonic()

    def left(runner: Runner) -> int:
        most = sys.maxsize if options.cases is None else options.cases - runner.done
        return min(most, runner.target.full - runner.state.cases) if options.full else most

    while waiting := [runner for runner in runners if left(runner) > 0]:
        for runner in waiting:
            if time.monotonic() >= end:
                return
            runner.turn(left(runner))
            if time.monotonic() - shown > EVERY:
                shown = time.monotonic()
                say("; ".join(f"{r.target.name} {r.state.cases}" for r in runners))


def replay(names: list[str]) -> int:
    """Run all cases of the corpus."""
    broken = 0
    for name, path in corpus_files():
        if name in names:
            try:
                print(f"{path.name} {run_case(load_target(name), read_case(path))}")
            except Broken as error:
                broken += 1
                print(f"{path.name} BROKEN: {error}")
    return int(broken > 0)


def describe(runner: Runner) -> str:
    state = runner.state
    return (
        f"{runner.target.name}: {state.cases:,} cases in all ({runner.done:,} now),"
        f" {state.answered:,} answered, {state.refused:,} refused,"
        f" {state.broken:,} broken promises ({runner.broken:,} now)"
    )


def counted(runner: Runner) -> dict[str, object]:
    state = runner.state
    names = ("cases", "first", "answered", "refused", "broken", "seconds", "commits")
    return {name: getattr(state, name) for name in names}


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
