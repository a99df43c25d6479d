"""Kinds of gaps

Values may be missing at random, because of other values, because of themselves, or in blocks.
`make_missing` simulates such gaps in a complete table, to see how a method handles them.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from imputefree.missingness import make_missing

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(60, 8)), columns=list("abcdefgh"))
X = X.sort_values("a")  # column a is always seen, and sorts the rows
kinds = {
    "mcar": ("at random", {}),
    "mar": ("because of a", {"seen": ["a"]}),
    "mnar_self": ("because of themselves", {}),
    "blocks": ("together", {"groups": [["b", "c", "d"], ["f", "g", "h"]]}),
}
fig, axes = plt.subplots(1, 4, figsize=(8, 3.2), sharey=True)
for ax, (kind, (title, options)) in zip(axes, kinds.items(), strict=True):
    gaps = make_missing(kind, X, rate=0.35, random_state=0, **options).apply(X).isna()
    ax.pcolormesh(gaps, cmap="Greys_r", vmin=-1.2, vmax=1, rasterized=True)
    ax.set_xticks(np.arange(8) + 0.5, X.columns)
    ax.set(title=f"{kind}:\n{title}")
    ax.grid(False)
axes[0].set_ylabel("rows, sorted by a")
plt.show()
