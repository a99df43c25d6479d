"""Which measurement mattered, and when?

For a series, every single value is removed in turn. Empty cells were never measured.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from imputefree import ImputeFreeSequenceClassifier, explain_rows
from imputefree.lab.studies import simulate_icu

stays = simulate_icu(400, random_state=0)  # simulated
model = ImputeFreeSequenceClassifier(
    id="patient", time="hour", static=["age"], quality="fast", random_state=0
).fit(stays.frame, stays.y)

risk = model.predict_proba(stays.frame)[:, 1]
unsure = np.argsort(np.abs(risk - 0.5))  # the stays that the model is least sure of come first
steps = stays.frame.groupby("patient").size()
ids = np.asarray(model.series_ids(stays.frame))[unsure]
patient = next(one for one in ids if steps[one] > 12)
stay = stays.frame[stays.frame["patient"] == patient]
why = explain_rows(model, stay)
effect = np.asarray(why.removal[0]).T  # (columns, steps)

fig, ax = plt.subplots(figsize=(7, 3.4))
colors = LinearSegmentedColormap.from_list("effects", ["#e8833a", "#c4cad1", "#0f9d8f"])
limit = np.nanmax(np.abs(effect))
image = ax.pcolormesh(
    np.ma.masked_invalid(effect), cmap=colors, vmin=-limit, vmax=limit, rasterized=True
)
ax.set_yticks(np.arange(len(why.columns)) + 0.5, why.columns)
ax.set(xlabel="step", title=f"patient {patient}")
ax.grid(False)
fig.colorbar(image, label="effect on the risk")
plt.show()
