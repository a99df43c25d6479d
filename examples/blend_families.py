"""What the blend is made of

Trees, forests, densities and networks learn from the same gaps. Their log-loss on rows that they
did not learn from decides their weights; the blend is usually better than any of them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from imputefree import ImputeFreeClassifier
from imputefree.missingness import make_missing

X, y = load_wine(return_X_y=True, as_frame=True)
X = make_missing("mar", X, rate=0.4, seen=["alcohol"], random_state=0).apply(X)  # simulated gaps
model = ImputeFreeClassifier(random_state=0).fit(X, y)
print(model.weights_)

losses = model.losses_ | {"blend": model.out_of_fold_["log_loss"]}
names = sorted(losses, key=losses.get, reverse=True)
fig, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), sharey=True)
colors = ["C0" if name == "blend" else "C2" for name in names]
left.barh(names, [losses[name] for name in names], color=colors)
left.set(xlabel="log-loss on rows not learned from", title="the smaller, the better")
right.barh(names, [model.weights_.get(name, 0) for name in names], color="C2")
right.set(xlabel="weight in the blend", title="who contributes")
plt.show()
