"""A few rows that can be trusted

In most training rows a column gives the answer away, but not where the model will be used. With a
hundred trusted rows, networks learn which columns mislead.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from imputefree import GILClassifier

rng = np.random.default_rng(0)  # simulated
y = rng.integers(0, 2, 1200)
X = pd.DataFrame(rng.normal(size=(1200, 3)) + 0.6 * y[:, None], columns=["a", "b", "c"])
X["scanner"] = y + 0.3 * rng.normal(size=1200)  # the ill went to one scanner
honest = np.arange(1200) >= 600  # but not in these rows
X.loc[honest, "scanner"] = rng.permutation(X.loc[honest, "scanner"])
X = X.mask(rng.random(X.shape) < 0.2)
train, trusted = np.arange(1200) < 700, honest[:700]

plain = GILClassifier(n_members=4, random_state=0).fit(X[train], y[train])
model = GILClassifier(policy="meta", n_members=4, random_state=0)
model.fit(X[train], y[train], trusted=trusted)
print(model.distrusted_columns())

fig, (left, right) = plt.subplots(1, 2, figsize=(7, 2.4))
left.barh(list(X), model.column_importance_[:, 0])
left.set(title="importance that was learned", xlim=(0, 1))
scores = [m.score(X[~train], y[~train]) for m in (plain, model)]
right.barh(["all rows alike", "100 trusted rows"], scores, color=["C1", "C0"])
right.set(title="accuracy on new, honest rows", xlim=(0.5, 1))
plt.show()
