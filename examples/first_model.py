"""NaN in, prediction out

Fit a table with gaps as it is, and see how the prediction for one row changes while its values go
missing one after the other: with fewer values, the model is less certain.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from imputefree import ImputeFreeClassifier
from imputefree.missingness import make_missing

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, y = X.iloc[:, :8], np.where(y == 0, "malignant", "benign")
X = make_missing("mcar", X, rate=0.3, random_state=0).apply(X)  # simulated gaps
model = ImputeFreeClassifier(random_state=0).fit(X[:400], y[:400])
print(f"accuracy on rows with gaps: {model.score(X[400:], y[400:]):.2f}")

malignant = list(model.classes_).index("malignant")
complete = X[400:].dropna()
nearest = np.argsort(np.abs(model.predict_proba(complete)[:, malignant] - 0.85))[0]
rows, names = [complete.iloc[[nearest]]], ["all values"]  # now its values go, one by one
for column in complete:
    rows.append(rows[-1].assign(**{column: np.nan}))
    names.append(f"without {column.removeprefix('mean ')}")
risk = [model.predict_proba(one)[0, malignant] for one in rows]

fig, ax = plt.subplots(figsize=(6, 3.4))
ax.plot(risk, names, "o-")
ax.axvline(np.mean(y[:400] == "malignant"), ls=":", color="C1", label="share in training")
ax.invert_yaxis()
ax.set(xlabel="probability of malignant", xlim=(0, 1))
ax.legend()
plt.show()
