"""What to measure next

A row has gaps that could be filled, at a price. `measure_next` draws plausible values for each gap
and ranks measurements by their expected information per unit of cost, for any model.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier

from imputefree import measure_next
from imputefree.missingness import make_missing

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, 20:].rename(columns=lambda name: name.removeprefix("worst "))
gappy = make_missing("mcar", X, rate=0.3, random_state=0).apply(X)  # simulated gaps
model = HistGradientBoostingClassifier(random_state=0).fit(gappy, y)

row = X.iloc[[73]][["texture", "symmetry"]].reindex(columns=X.columns)  # known so far: two values
costs = {"area": 4, "perimeter": 4, "concave points": 8, "concavity": 8}  # made up; others cost 1
ranked = measure_next(model, row, background=gappy, costs=costs, random_state=0).to_frame()
print(ranked.head(3))

fig, axes = plt.subplots(1, 2, figsize=(8, 2.9), layout="constrained")
for ax, figure in zip(axes, ["gain", "gain_per_cost"], strict=True):
    best = ranked.nlargest(6, figure)[::-1]
    ax.barh(best["measurement"], best[figure], color="C0" if figure == "gain" else "C1")
    ax.set(title={"gain": "what it tells (nats)"}.get(figure, "the same, per unit of cost"))
plt.show()
