"""Numbers, strings and gaps in one frame

A regressor reads numbers and categories as they are. Rows with many gaps are predicted closer to
the mean, and their errors are larger.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from imputefree import ImputeFreeRegressor

rng = np.random.default_rng(0)  # simulated flats
X = pd.DataFrame(
    {
        "area": rng.gamma(9, 9, 600),
        "floor": rng.integers(0, 9, 600).astype(float),
        "district": rng.choice(["harbour", "old town", "hills"], 600),
        "year": rng.integers(1600, 2020, 600).astype(float),
    }
)
extra = X["district"].map({"harbour": 0, "old town": 250, "hills": 120})
rent = 8 * X["area"] + 15 * X["floor"] + extra + (X["year"] - 1960) + rng.normal(0, 60, 600)
X = X.mask(rng.random(X.shape) < 0.3)
X_train, X_test, y_train, y_test = train_test_split(X, rent, random_state=0)
model = ImputeFreeRegressor(quality="fast", random_state=0).fit(X_train, y_train)
predicted, gaps = model.predict(X_test), X_test.isna().sum(axis=1)

fig, axes = plt.subplots(1, 3, figsize=(8, 2.9), sharex=True, sharey=True)
for ax, (low, high) in zip(axes, [(0, 0), (1, 1), (2, 4)], strict=True):
    rows = gaps.between(low, high)
    ax.plot(y_test[rows], predicted[rows], "o", ms=3.5, alpha=0.6)
    ax.axline((700, 700), slope=1, ls=":", color="C1")
    title = {0: "no gap", 1: "one gap", 2: "two gaps or more"}[low]
    ax.set(title=f"{title}: {rows.sum()} rows", xlabel="rent")
axes[0].set_ylabel("predicted")
plt.show()
