"""What each policy does on a synthetic task in which some columns mislead in part of the rows.

Simulated data (tests/gil/made.py): four columns always reveal the class, twenty do so in a fifth of
the rows and hold loud noise in the others. One network, fixed epochs; test loss on 8,000 new rows,
and the importance that the trained policy gives to misleading and useful columns. No claim about
real data.

    python -m benchmarks.misleading_columns [--policies P …] [--seeds 0 1 2] [--json FILE]
"""

from __future__ import annotations

import torch
from rich.console import Console
from rich.table import Table
from sklearn.metrics import log_loss

from benchmarks.measuring import arguments, write
from tests.gil import made

POLICIES = ("none", "random", "ddpg", "meta")


def run_policy(policy: str, seed: int) -> dict[str, object]:
    """Fit, score once, and record the importance that the policy gives to training rows."""
    clf = made.fit_on_misleading_table(policy, seed)
    X_test, y_test = made.misleading_table(8000, 1000 + seed)
    figures: dict[str, object] = {
        "policy": policy,
        "seed": seed,
        "test_loss": round(log_loss(y_test, clf.predict_proba(X_test)), 4),
    }
    if policy != "none":
        importance = clf.importance(made.misleading_table(200, seed)[0])
        figures["misleading"] = round(importance[:, made.MISLEADING].mean().item(), 3)
        figures["useful"] = round(importance[:, made.USEFUL].mean().item(), 3)
    return figures


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--policies", nargs="+", default=POLICIES, choices=POLICIES)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    options = parser.parse_args()
    torch.set_num_threads(1)
    runs = [run_policy(policy, seed) for policy in options.policies for seed in options.seeds]
    shown = Table("policy", "seed", "test loss", "importance, misleading", "useful")
    for run in runs:
        keys = ("policy", "seed", "test_loss", "misleading", "useful")
        shown.add_row(*(str(run.get(key, "")) for key in keys))
    Console().print(shown)
    write(options.json, "torch", runs=runs)


if __name__ == "__main__":
    main()
