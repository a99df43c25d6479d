"""What the parameters that are "auto" become: networks that know the size of their table.

Chosen by cross-validation over the tables of the benchmarks; docs/architecture.md has the figures.
"""

from __future__ import annotations

import math
from typing import Any

from ._parameters import AUTO

LARGE, HUGE = 5_000, 50_000  # rows from which on training follows a schedule; networks are wider
BLENDED, BLENDED_ROWS = 5, 500  # networks beside other families, from so many rows on
DECAYED = 0.02  # of the learning rate that is left at the end of a schedule


def auto_settings(rows: int, inputs: int, outputs: int, blended: bool = False) -> dict[str, Any]:
    """Parameters by name, for a table of so many rows and networks of this shape.

    A small table wants many networks that are nearly linear unless the data insist, and it is
    cheap to wait until they stop improving. A large one wants wider networks, less
    regularisation and a learning rate that falls over a few epochs. In a blend, five networks do as
    well as eight unless the table is very small, at two thirds of the time.

    >>> small, huge = (auto_settings(rows, inputs=20, outputs=1) for rows in (500, 100_000))
    >>> small["weight_decay"], round(huge["weight_decay"], 3)
    (3.0, 0.3)
    >>> small["n_members"], huge["n_members"], small["max_iter"], huge["max_iter"]
    (8, 4, 200, 8)
    >>> [auto_settings(n, 20, 1, blended=True)["n_members"] for n in (499, 500, 5_000, 100_000)]
    [8, 5, 8, 4]
    """
    huge = rows >= HUGE
    size = (rows >= LARGE) + huge + (rows >= 10 * HUGE)
    few = blended and BLENDED_ROWS <= rows < LARGE
    return {
        "n_members": BLENDED if few else (8, 8, 4, 2)[size],
        "hidden_layer_sizes": (256, 256) if huge else (128, 128),
        "linear_path": inputs * outputs <= rows,  # else it has more weights than there are rows
        "dropout": 0.1 if huge else 0.2,
        "hide": 0.0 if huge else 0.1,
        "weight_decay": 3.0 * min(1.0, math.sqrt(1000 / rows)),
        "batch_size": (128, 256, 512, 1024)[size],
        "learning_rate_init": (2e-3, 8e-3, 4e-3, 4e-3)[size],
        "learning_rate_decay": DECAYED if size else 1.0,
        "max_iter": (200, 9, 8, 5)[size],
    }


def resolve(
    parameters: dict[str, Any], rows: int, inputs: int, outputs: int, blended: bool = False
) -> dict[str, Any]:
    """The values of those parameters that are "auto".

    The learning rate reaches its last value when training ends; a rate that was asked for does
    not fall by itself.
    """
    auto = {name for name in AUTO if isinstance(parameters.get(name), str)}
    settings = auto_settings(rows, inputs, outputs, blended)
    if "learning_rate_init" not in auto:
        settings["learning_rate_decay"] = 1.0
    epochs, batch = (
        settings[name] if name in auto else int(parameters[name])
        for name in ("max_iter", "batch_size")
    )
    settings["learning_rate_decay_steps"] = epochs * math.ceil(rows / batch)
    return {name: value for name, value in settings.items() if name in auto}
