"""Benchmark runs: plans, the protocol of one run, workers, results files."""

from ._plans import AS_IT_COMES, PLANS, STUDIES, plan, preset
from ._protocol import PAPER_BATCH, Run, peak_memory_mb
from ._results import Record, ResultsFile, read_results
from ._run import LEARNING, ChangedCodeWarning, commit, fingerprint, run_grid
from ._workers import connect

__all__ = [
    "AS_IT_COMES",
    "LEARNING",
    "PAPER_BATCH",
    "PLANS",
    "STUDIES",
    "ChangedCodeWarning",
    "Record",
    "ResultsFile",
    "Run",
    "commit",
    "connect",
    "fingerprint",
    "peak_memory_mb",
    "plan",
    "preset",
    "read_results",
    "run_grid",
]
