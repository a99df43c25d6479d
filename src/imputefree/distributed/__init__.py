"""Train on several processes or machines, and predict over a Dask DataFrame.

Ranks (processes) train one model: see docs/distributed.md for the commands.
"""

from ._dask_cluster import fit_on_dask, predict
from ._process_ranks import fit

__all__ = ["fit", "fit_on_dask", "predict"]
