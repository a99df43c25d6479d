"""Which measurement mattered, and when?

For a series, every single value is removed in turn. Empty cells were never measured.
"""

import matplotlib.pyplot as plt
import numpy as np

from imputefree import ImputeFreeSequenceClassifier, explain_rows
from imputefree.lab.studies import simulate_icu

stays = simulate_icu(400, random_state=0)  # simulated
model = ImputeFreeSequenceClassifier(
    id="patient", time="hour", static=["age"], quality="fast", random_state=0
).fit(stays.frame, stays.y)

risk = model.predict_proba(stays.frame)[:, 1]
patient = model.series_ids(stays.frame)[int(np.argsort(risk)[-3])]
stay = stays.frame[stays.frame["patient"] == patient]
why = explain_rows(model, stay)
effect = np.asarray(why.removal[0]).T  # (columns, steps)

fig, ax = plt.subplots(figsize=(7, 3.4))
limit = np.nanmax(np.abs(effect))
image = ax.pcolormesh(
    np.ma.masked_invalid(effect), cmap="PuOr_r", vmin=-limit, vmax=limit, rasterized=True
)
ax.set_yticks(np.arange(len(why.columns)) + 0.5, why.columns)
ax.set(xlabel="hour", title=f"patient {patient}: risk {risk.max():.2f}")
ax.grid(False)
fig.colorbar(image, label="effect on the risk")
plt.show()
