"""Intervals that depend on a row's gaps

An interval of one width for all rows is too wide for complete rows and too narrow for rows with
gaps. `MaskConformalRegressor` compares each row with others that have *its* gaps, for any regressor
that accepts NaN.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from imputefree import MaskConformalRegressor

rng = np.random.default_rng(0)  # simulated
X = rng.normal(size=(5000, 4))
y = X @ [6, 3, 1.5, 0] + rng.normal(size=5000)
X[rng.random(X.shape) < 0.3] = np.nan
boosting = HistGradientBoostingRegressor(max_iter=60, random_state=0)

fig, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3))
gaps = np.isnan(X[1000:]).sum(axis=1)
for shift, method in [(-0.15, "marginal"), (0.15, "mask")]:
    model = MaskConformalRegressor(boosting, method=method, random_state=0).fit(X[:1000], y[:1000])
    low, high = model.predict_interval(X[1000:], coverage=0.9).T
    inside = (low <= y[1000:]) & (y[1000:] <= high)
    counts = np.unique(gaps)
    left.bar(counts + shift, [(high - low)[gaps == n].mean() for n in counts], 0.3, label=method)
    right.plot(counts + shift, [inside[gaps == n].mean() for n in counts], "o")
right.axhline(0.9, ls=":", color="0.5")
left.set(title="mean width", xlabel="gaps in the row")
right.set(title="share of rows inside, asked for: 0.9", xlabel="gaps in the row", ylim=(0.6, 1.02))
left.legend()
plt.show()
