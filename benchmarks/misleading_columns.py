"""What each policy does on a made task where some columns mislead in part of the rows.

Simulated data (tests/gil/made.py): four columns always tell the class, twenty do so in a fifth of
the rows and hold loud noise in the others. One network, fixed epochs, test loss on 8,000 new rows,
importance the trained policy gives to misleading and useful columns. No claim about real data.

    python -m benchmarks.misleading_columns [--seeds 0 1 2] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from sklearn.metrics import log_loss

from tests.gil import made

POLICIES = ("none", "random", "ddpg", "meta")


def one(policy: str, seed: int) -> dict[str, object]:
    """Fit, score once, and ask the policy what it gives to the training rows."""
    clf = made.fit_on_misleading_table(policy, seed)
    X_test, y_test = made.misleading_table(8000, 1000 + seed)
    figures: dict[str, object] = {
        "policy": policy,
        "seed": seed,
        "test_loss": round(log_loss(y_test, clf.predict_proba(X_test)), 4),
    }
    if policy != "none":
        # The policy itself, without ddpg's exploration.
        act = (lambda state: clf.policy_.actor(state.joined)) if policy == "ddpg" else None
        importance = made.importance_of(clf, made.misleading_table(200, seed)[0], act)
        figures["misleading"] = round(importance[:, made.MISLEADING].mean().item(), 3)
        figures["useful"] = round(importance[:, made.USEFUL].mean().item(), 3)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    torch.set_num_threads(1)
    runs = [one(policy, seed) for policy in POLICIES for seed in options.seeds]
    shown = Table("policy", "seed", "test loss", "importance, misleading", "useful")
    for run in runs:
        keys = ("policy", "seed", "test_loss", "misleading", "useful")
        shown.add_row(*(str(run.get(key, "")) for key in keys))
    Console().print(shown)
    if options.json:
        command = "python -m benchmarks.misleading_columns " + " ".join(sys.argv[1:])
        content = {"command": command, "torch": torch.__version__, "runs": runs}
        options.json.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
