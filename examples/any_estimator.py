"""With scikit-learn's tools

The estimators are scikit-learn estimators, so its tools compare them fairly: the same folds and the
same score for boosting, imputing and a blend.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from imputefree import ImputeFreeClassifier
from imputefree.missingness import make_missing

X, y = load_breast_cancer(return_X_y=True)
X = make_missing("mnar_self", X[:300, :10], rate=0.5, random_state=0).apply(X[:300, :10])
linear = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), LogisticRegression())
methods = {
    "mean + indicator, linear": linear,
    "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
    "ImputeFreeClassifier": ImputeFreeClassifier(random_state=0),
}
scores = {
    name: cross_val_score(model, X, y[:300], cv=3, scoring="roc_auc")
    for name, model in methods.items()
}
fig, ax = plt.subplots(figsize=(6.2, 2.2))
for name, auc in scores.items():
    ax.plot(auc, [name] * 3, "o", ms=9, alpha=0.7)
ax.set(xlabel="AUC, one point per fold", ylim=(-0.5, 2.5))
plt.show()
