"""Why this prediction?

What would the model predict without this value? `explain_rows` answers this for every value of a
row. Nothing is filled in: the value simply goes missing.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from imputefree import ImputeFreeClassifier, explain_rows
from imputefree.missingness import make_missing

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, y = X.iloc[:, :10], y.map({0: "malignant", 1: "benign"})
X = make_missing("mcar", X, rate=0.3, random_state=0).apply(X)  # simulated gaps
model = ImputeFreeClassifier(quality="fast", random_state=0).fit(X[:400], y[:400])

risk = model.predict_proba(X[400:])[:, list(model.classes_).index("malignant")]
row = X[400:].iloc[[np.argsort(np.abs(risk - 0.6))[0]]]  # the model is not sure here
why = explain_rows(model, row, of="malignant")
effect = pd.Series(why.removal[0], index=why.columns)
known = effect.dropna().sort_values(key=abs)
print(f"missing in this row: {', '.join(effect.index[effect.isna()])}")

fig, ax = plt.subplots(figsize=(6.4, 3))
labels = [f"{name.removeprefix('mean ')} = {row.iloc[0][name]:.4g}" for name in known.index]
ax.barh(labels, known, color=["C0" if x > 0 else "C1" for x in known])
ax.axvline(0, lw=0.8, color="0.5")
ax.set(xlabel="effect on the probability of malignant")
plt.show()
