"""The frame of the attacks, all cases that once failed, and some seconds of every target."""

from __future__ import annotations

import json
import time
from functools import cache

import numpy as np
import pytest

from attacks import (
    TARGETS,
    Broken,
    Limits,
    Runner,
    Target,
    corpus_files,
    load_target,
    read_case,
    run_case,
)
from imputefree.errors import InputError

SECONDS = 3.0  # of every target


class Toy(Target):
    """Cases are digits; `behaviour` says what becomes of some."""

    name = "toy"

    def __init__(self, behaviour=None, limits=Limits()):  # noqa: B008
        self.behaviour, self._limits = behaviour or {}, limits

    def make(self, rng):
        return {"digit": int(rng.integers(10)), "gap": float("nan")}

    def attack(self, case):
        return self.behaviour.get(case["digit"], lambda: "answered")()

    def limits(self, case):
        return self._limits


def refuse():
    raise InputError("the digit is 1")


def fail():
    raise KeyError("depths")


@pytest.fixture
def runner(tmp_path):
    told = []

    def make(target):
        made = Runner(target, tmp_path / "corpus", tmp_path / "state", told.append)
        made.told = told
        return made

    return make


def test_cases_repeat_and_differ():
    first, second = ([Toy().case(n)["digit"] for n in range(50)] for _ in range(2))
    assert first == second
    assert len(set(first)) == 10


def test_a_broken_promise_is_caught_saved_and_replayed(runner, tmp_path):
    target = Toy({1: refuse, 2: fail})
    ran = runner(target)
    ran.turn(200, seconds=600)
    digits = [target.case(n)["digit"] for n in range(200)]
    assert (ran.state.refused, ran.state.broken) == (digits.count(1), digits.count(2))
    assert ran.state.answered == 200 - ran.state.refused - ran.state.broken
    files = list(corpus_files(tmp_path / "corpus"))
    assert len(files) == len(ran.told) == 3  # of one kind; not all of them
    for name, path in files:
        assert name == "toy"
        case = read_case(path)
        assert case["digit"] == 2
        assert np.isnan(case["gap"])
        with pytest.raises(Broken, match="KeyError"):
            run_case(target, case)
        assert run_case(Toy(), case) == "answered"  # once it is fixed


@pytest.mark.parametrize("size", [20, 30_000])
def test_bytes_are_saved_as_they_are(runner, tmp_path, size):
    class Bytes(Toy):
        def make(self, rng):
            return rng.bytes(size)

        def attack(self, case):
            fail()

    ran = runner(Bytes())
    ran.turn(1)
    ((_, path),) = corpus_files(tmp_path / "corpus")
    assert read_case(path) == ran.target.case(0)


def test_a_run_goes_on_where_it_stopped(runner):
    seen = []
    target = Toy()
    target.case = seen.append
    target.attack = lambda case: "answered"
    runner(target).turn(3, seconds=600)
    again = runner(target)
    again.turn(2, seconds=600)
    assert seen == [0, 1, 2, 3, 4]
    assert (again.state.next, again.state.answered, again.done) == (5, 5, 2)


def test_a_case_that_kills_the_process_twice_is_broken(runner, tmp_path):
    mark = tmp_path / "state" / "toy.running"
    ran = runner(Toy())
    for _ in range(2):  # what a killed process leaves
        mark.write_text("4")
        ran = runner(Toy())
    ran.turn(6, seconds=600)
    assert (ran.state.next, ran.state.broken, ran.state.answered) == (6, 1, 5)
    assert "died" in ran.told[0]
    assert not mark.exists()
    json.loads((tmp_path / "state" / "toy.json").read_text())


def busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return "answered"


def large():
    np.ones(40 * 2**20 // 8)  # 40 MB, freed at once
    return "answered"


@pytest.mark.parametrize(
    ("behaviour", "limits", "words"),
    [
        (lambda: busy(0.2), Limits(seconds=0.1), "took 0|stopped"),
        (lambda: time.sleep(30), Limits(seconds=0.02), "stopped"),
        (large, Limits(memory=10 * 2**20), "MB"),
        (lambda: None, Limits(), "returned None"),
    ],
)
def test_limits(behaviour, limits, words):
    target = Toy(dict.fromkeys(range(10), behaviour), limits)
    with pytest.raises(Broken, match=words):
        run_case(target, target.case(0))


def test_what_stays_within_the_limits_is_answered():
    target = Toy(dict.fromkeys(range(10), large), Limits(seconds=5, memory=60 * 2**20))
    assert run_case(target, target.case(0)) == "answered"


loaded = cache(load_target)


@pytest.mark.parametrize(
    ("name", "path"), list(corpus_files()), ids=lambda part: getattr(part, "name", part)
)
def test_what_once_failed(name, path):
    assert run_case(loaded(name), read_case(path)) in ("answered", "refused")


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_some_seconds_of_every_target(name):
    target, begun, outcomes, number = loaded(name), time.monotonic(), [], 0
    while time.monotonic() - begun < SECONDS:
        outcomes.append(run_case(target, target.case(number)))
        number += 1
    assert outcomes
