"""Risk, hour by hour

Series may have any length, so a model trained on whole stays also predicts a stay that has just
begun: pass the first hours, then a few more.
"""

import matplotlib.pyplot as plt
import numpy as np

from imputefree import ImputeFreeSequenceClassifier
from imputefree.lab.studies import simulate_icu

stays = simulate_icu(500, random_state=0)  # simulated
frame, y = stays.frame, stays.y
new = frame["patient"].isin(y.index[400:])
model = ImputeFreeSequenceClassifier(
    id="patient", time="hour", static=["age"], quality="fast", random_state=0
).fit(frame[~new], y.iloc[:400])

whole = model.predict_proba(frame[new])[:, 1]
ids = np.asarray(model.series_ids(frame[new]))
steps = frame[new].groupby("patient").size()
order = [one for one in ids[np.argsort(whole)] if steps[one] > 12]  # long stays, by their risk
fig, ax = plt.subplots(figsize=(6.4, 3))
for patient, color in zip(
    [order[0], order[len(order) // 2], order[-1]], ["C2", "C1", "C0"], strict=True
):
    stay = frame[frame["patient"] == patient]
    hours = sorted(stay["hour"].unique())
    risk = [model.predict_proba(stay[stay["hour"] <= hour])[0, 1] for hour in hours]
    ax.plot(hours, risk, "o-", ms=3, color=color, label=f"patient {patient}, outcome {y[patient]}")
ax.set(xlabel="hours known", ylabel="predicted risk", ylim=(0, 1))
ax.legend()
plt.show()
