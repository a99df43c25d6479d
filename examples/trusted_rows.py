"""A few rows that can be trusted

In most training rows a column gives the answer away, but not where the model will be used. With a
hundred trusted rows, networks learn which columns mislead.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from imputefree import GILClassifier

rng = np.random.default_rng(0)  # simulated
y = rng.integers(0, 2, 800)
X = pd.DataFrame(rng.normal(size=(800, 4)) + 0.8 * y[:, None], columns=["a", "b", "c", "d"])
X["scanner"] = y + 0.3 * rng.normal(size=800)  # the ill went to one scanner
trusted = np.arange(800) < 100
X.loc[trusted, "scanner"] = rng.permutation(X.loc[~trusted, "scanner"])[:100]  # not so there
X = X.mask(rng.random(X.shape) < 0.2)

model = GILClassifier(policy="meta", n_members=4, random_state=0).fit(X, y, trusted=trusted)
print("distrusted:", model.distrusted_columns())

fig, ax = plt.subplots(figsize=(5.6, 2.6))
colors = ["C1" if name == "scanner" else "C0" for name in X]
ax.barh(list(X), model.column_importance_[:, 0], color=colors)
ax.invert_yaxis()
ax.set(xlabel="importance of the column's values", xlim=(0, 1))
plt.show()
