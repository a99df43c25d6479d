"""A model that ignores who was measured

`missingness="ignore"` trains a model that does not use the gaps. It gives up the information in
measuring habits, and does not fail when they change.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from imputefree import ImputeFreeClassifier


def hospital(habit, n, seed):
    """Simulated patients; `habit` is how much more often the ill are measured."""
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, n)
    X = pd.DataFrame(rng.normal(size=(n, 3)) + 0.7 * ill[:, None], columns=list("abc"))
    seen = rng.random(X.shape) < 0.5 + habit * (ill[:, None] - 0.5)
    return X.where(seen), ill


habits = np.linspace(0.6, -0.6, 7)
fig, ax = plt.subplots(figsize=(6, 3))
for missingness in ("use", "ignore"):
    model = ImputeFreeClassifier(quality="fast", missingness=missingness, random_state=0)
    model.fit(*hospital(0.6, 1500, seed=0))
    scores = []
    for habit in habits:
        X, ill = hospital(habit, 2000, seed=1)
        scores.append(roc_auc_score(ill, model.predict_proba(X)[:, 1]))
    ax.plot(habits, scores, "o-", label=f'missingness="{missingness}"')
ax.invert_xaxis()
ax.axhline(0.5, ls=":", color="0.5")
ax.set(xlabel="how much more often the ill are measured (training: 0.6)", ylabel="AUC")
ax.legend()
plt.show()
