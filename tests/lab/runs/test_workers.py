"""Work comes back once for each item, even where a process dies on it."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from imputefree.lab.runs._workers import InThisProcess, WorkerDied, by_executor, by_processes


def square(number):
    return number**2


def deadly(number):
    if number == 3:
        os._exit(9)
    time.sleep(1.0)  # so that it is under way when the other dies
    return number**2, os.environ["OMP_NUM_THREADS"]


def test_executors():
    for executor in (InThisProcess(), ThreadPoolExecutor(2)):
        found = dict(by_executor(square, range(5), executor, width=2))
        assert found == {number: number**2 for number in range(5)}


def test_an_error_in_the_work_is_raised():
    with pytest.raises(TypeError):
        list(by_executor(square, [1, "text"], InThisProcess(), width=1))


def test_who_dies_takes_nobody_along():
    found = dict(by_processes(deadly, [2, 3], n_jobs=2))
    assert found[2] == (4, "1")
    assert isinstance(found[3], WorkerDied)


def test_no_work_starts_no_process():
    assert list(by_processes(deadly, [], n_jobs=2)) == []
