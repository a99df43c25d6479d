"""Benchmark runs: plans, protocol, workers, result files."""

from ._cluster import connect
from ._plans import STUDIES, plan
from ._results import Record, read_results
from ._run import run_grid
from ._study_plans import PLANS

__all__ = ["PLANS", "STUDIES", "Record", "connect", "plan", "read_results", "run_grid"]
