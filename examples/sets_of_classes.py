"""Which classes can it be?

With all values of a flower, one species remains; with few, several do. A set contains the right one
for the share of rows that you choose, for any pattern of gaps.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier

from imputefree import MaskConformalClassifier
from imputefree.missingness import make_missing

X, y = load_iris(return_X_y=True, as_frame=True)
species = load_iris().target_names
gappy = make_missing("mcar", X, rate=0.3, random_state=0).apply(X)  # simulated gaps
boosting = HistGradientBoostingClassifier(max_iter=30, min_samples_leaf=8, random_state=0)
sets = MaskConformalClassifier(boosting, random_state=0).fit(gappy, species[y])

flower = X.iloc[[106]]  # a virginica; its measurements come in one by one
rows, names = [flower * np.nan], ["nothing known"]
for column in ("sepal width (cm)", "sepal length (cm)", "petal width (cm)", "petal length (cm)"):
    rows.append(rows[-1].assign(**{column: flower[column]}))
    names.append(f"+ {column.removesuffix(' (cm)')}")
possible = np.vstack([sets.predict_set(row, coverage=0.9) for row in rows])

fig, ax = plt.subplots(figsize=(6, 2.8))
for step, kind in zip(*np.nonzero(possible), strict=True):
    ax.plot(kind, step, "s", ms=22, color="C0" if sets.classes_[kind] == "virginica" else "C2")
ax.set_xticks(range(3), sets.classes_)
ax.set_yticks(range(5), names)
ax.set(xlim=(-0.6, 2.6), ylim=(4.6, -0.6), title="sets with coverage 0.9 (green: the true species)")
ax.grid(False)
plt.show()
