"""Writes examples/patients.csv: simulated patients, as a spreadsheet exports them.

Semicolons, decimal commas, Latin-1, and -9 where a value is unknown: python scripts/patients.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

N = 400


def patients() -> pd.DataFrame:
    """The table as a program would like it, with NaN for what is unknown."""
    rng = np.random.default_rng(7)
    table = pd.DataFrame(
        {
            "age": rng.normal(60, 12, N).round(),
            "pulse": rng.normal(85, 14, N).round(),
            "lactate": rng.lognormal(0.5, 0.6, N).round(1),
            "ward": rng.choice(["Chirurgie", "Médecine", "Réanimation"], N),
        }
    )
    risk = table["lactate"] + (table["age"] - 60) / 20 + (table["pulse"] - 85) / 40
    outcome = np.where(risk + rng.normal(0, 0.5, N) > 1.8, "ill", "well")
    return table.mask(rng.random(table.shape) < 0.2).assign(outcome=outcome)


def main() -> None:
    table = patients()
    path = Path(__file__).parents[1] / "examples" / "patients.csv"
    table[["age", "pulse"]] = table[["age", "pulse"]].fillna(-9).astype(int)
    table.to_csv(path, sep=";", decimal=",", index=False, encoding="latin-1")


if __name__ == "__main__":
    main()
