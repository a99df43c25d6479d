"""Who gets measured?

A test that is ordered only for the ill gives the answer away by its presence. The audit predicts
the same rows with the gaps of other rows, and shows how much of the score was due to the gaps.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from imputefree import audit_missingness

rng = np.random.default_rng(0)  # simulated patients
ill = rng.integers(0, 2, 1500)
X = pd.DataFrame(rng.normal(size=(1500, 4)), columns=["age", "pulse", "lactate", "weight"])
X["pulse"] += 0.8 * ill
X["lactate"] += 0.5 * ill
X.loc[rng.random(1500) > 0.25 + 0.5 * ill, "lactate"] = np.nan  # ordered if somebody looks ill
X.loc[rng.random(1500) < 0.2, "age"] = np.nan
model = HistGradientBoostingClassifier(random_state=0).fit(X[:800], ill[:800])

audit = audit_missingness(model, X[800:], ill[800:])
print(audit)

shown = ["as it is", "own gaps, as many values", "gaps of other rows", "mask only"]
lines = audit.table.set_index("scenario").loc[shown[::-1]]
fig, ax = plt.subplots(figsize=(6.6, 2.6))
error = [lines["score"] - lines["low"], lines["high"] - lines["score"]]
ax.errorbar(lines["score"], lines.index, xerr=error, fmt="o", ms=7)
ax.axvline(0.5, ls=":", color="0.5")
ax.set(xlabel="AUC with 95 % interval")
plt.show()
