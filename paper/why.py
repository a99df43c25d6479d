"""Why learned importance does what it does: small experiments, in plain PyTorch.

    IMPUTEFREE_DATA=FOLDER python -m paper.why [variance] [initial-weights] [level] [--json FILE]

variance : how much of the reward's variance do actions explain? A network is trained for a while
    under random importance; then one batch and all weights are kept, importance is redrawn, and one
    step is taken from the same weights each time. The reward of a row is its loss after that step,
    negated. Its variance over draws, divided by its variance over rows and draws together, is what
    actions explain: all of them together, or (drawing that of one row alone) a row's own.
initial-weights : what is left of a column with importance 0? `benchmarks.trusted_rows` adds columns
    to real tables that mislead. An oracle gives them importance 0; the first layer starts as usual
    or 20 times smaller; or the columns are left out.
level : why are our accuracies on MNIST with fixed masks below the paper's? Ordinary training as in
    our runs (the weights with the lowest loss on validation images), and as the authors' scripts
    choose them (all training images, the weights that are best on test images), without and with
    dropout.

A network here is a few lines, so that nothing is hidden; importance is exact: with importance a,
the first layer computes W x as W (x a) + constant(W) (x - x a), which is the same number, and its
gradient is that of the paper.
"""

from __future__ import annotations

import argparse
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.measuring import write
from benchmarks.trusted_rows import SHORTCUTS, TABLES, Split, make_split
from imputefree.data import TableEncoder, read_columns
from imputefree.lab.runs import PAPER_BATCH, commit
from imputefree.lab.studies import load

FILE = Path(__file__).parent / "results" / "why.json"
PACKAGES = "torch numpy scikit-learn"
BATCH, RATE = PAPER_BATCH, 1e-3
SEEDS = range(4)


class Mlp(nn.Module):
    """Two hidden layers; importance acts on the first."""

    def __init__(self, inputs: int, outputs: int, hidden: int) -> None:
        super().__init__()
        self.encoder = nn.Linear(inputs, hidden)
        self.rest = nn.Sequential(
            nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, outputs)
        )

    def forward(self, x: Tensor, importance: Tensor) -> Tensor:
        return self.rest(weighted(self.encoder.weight, x, importance) + self.encoder.bias)


class Lstm(nn.Module):
    """One layer, read at its last step; importance acts on the input weights of all gates."""

    def __init__(self, inputs: int, outputs: int, hidden: int) -> None:
        super().__init__()
        self.cell, self.last = nn.LSTMCell(inputs, hidden), nn.Linear(hidden, outputs)

    def forward(self, x: Tensor, importance: Tensor) -> Tensor:
        h = c = x.new_zeros(len(x), self.cell.hidden_size)
        seen = weighted(self.cell.weight_ih, x, importance) + self.cell.bias_ih
        for t in range(x.shape[1]):
            gates = seen[:, t] + h @ self.cell.weight_hh.T + self.cell.bias_hh
            i, f, g, o = gates.chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return self.last(h)


def weighted(weight: Tensor, x: Tensor, importance: Tensor) -> Tensor:
    """W x, whose gradient by W is that of W (x ⊙ a); the paper's equations 3 and 14."""
    kept = x * importance
    return kept @ weight.T + (x - kept) @ weight.detach().T


class Training:
    """A network with Adam; a step can be taken back."""

    def __init__(self, net: nn.Module, x: Tensor, y: Tensor) -> None:
        self.net, self.x, self.y = net, x, y
        self.adam = torch.optim.Adam(net.parameters(), RATE)

    def step(self, rows: Tensor, importance: Tensor) -> None:
        """One update of all weights from these rows."""
        self.adam.zero_grad()
        F.cross_entropy(self.net(self.x[rows], importance), self.y[rows]).backward()
        self.adam.step()

    @torch.no_grad()
    def rewards(self, rows: Tensor) -> np.ndarray:
        """-E of each row, in double precision; (rows,)."""
        x = self.x[rows]
        logits = self.net(x, torch.ones_like(x)).double()
        return -F.cross_entropy(logits, self.y[rows], reduction="none").numpy()

    def after(self, rows: Tensor, importance: Tensor) -> np.ndarray:
        """The rewards after a step with this importance, which is taken back."""
        before = copy.deepcopy((self.net.state_dict(), self.adam.state_dict()))
        self.step(rows, importance)
        rewards = self.rewards(rows)
        self.net.load_state_dict(before[0])
        self.adam.load_state_dict(before[1])
        return rewards


def coins(like: Tensor) -> Tensor:
    """Importance 0 or 1 for each entry, with equal chance."""
    return (torch.rand(like.shape) < 0.5).float()


# ---- the share of the reward's variance that actions explain
def explained(training: Training, rows: Tensor, draws: int = 64, own_rows: int = 16) -> Any:
    """Shares of the variance of rewards: of all actions together, and of a row's own."""
    x = training.x[rows]
    rewards = np.array([training.after(rows, coins(x)) for _ in range(draws)])
    total = rewards.var()
    own = []
    for row in range(own_rows):
        importance, seen = coins(x), []
        for _ in range(draws // 4):
            importance[row] = coins(x[row])
            seen.append(training.after(rows, importance)[row])
        own.append(np.var(seen))
    return {"all": rewards.var(axis=0).mean() / total, "own": np.mean(own) / total}


def variance_runs() -> list[dict[str, Any]]:
    """One line per study, placeholder and time of training."""
    runs = []
    for study, placeholder in (("mnist", 0), ("icu", 0), ("icu", "3max")):
        torch.manual_seed(0)
        x, y, make = _mnist() if study == "mnist" else _icu(placeholder)
        training = Training(make(), x, y)
        for steps in range(1, 2001):
            rows = torch.randint(len(x), (BATCH,))
            training.step(rows, coins(x[rows]))
            if steps in (100, 500, 2000):
                shares = explained(training, torch.randint(len(x), (BATCH,)))
                place = {"study": study, "placeholder": placeholder, "steps": steps}
                runs.append(place | shares)
                print(runs[-1], flush=True)
    return runs


def _mnist() -> tuple[Tensor, Tensor, Callable[[], nn.Module]]:
    """Training rows of MNIST at 90 % missing, 0 in gaps."""
    study = load("mnist", rate=0.9)
    rows = study.split(0).train
    x = torch.from_numpy(np.nan_to_num(study.X[rows]))
    return x, torch.from_numpy(study.y[rows]), lambda: Mlp(784, 10, 500)


def _icu(placeholder: float | str) -> tuple[Tensor, Tensor, Callable[[], nn.Module]]:
    """Training series of the simulated cohort in its fixed form, scaled by column."""
    study = load("icu", form="fixed")
    rows = study.split(0).train
    X = study.X[rows]
    X = (X - np.nanmean(X, axis=(0, 1))) / np.nanstd(X, axis=(0, 1))
    value = 3 * np.nanmax(X) if placeholder == "3max" else float(placeholder)
    x = torch.from_numpy(np.nan_to_num(X, nan=value)).float()
    return x, torch.from_numpy(study.y[rows]), lambda: Lstm(x.shape[2], 2, 64)


# ---- what importance 0 leaves in place
WAYS = ("ordinary training", "importance 0", "importance 0, small start", "left out")


def initial_weight_runs() -> list[dict[str, Any]]:
    """One line per table, seed and way to treat the columns that mislead."""
    runs = []
    for table in TABLES:
        for seed in SEEDS:
            split = make_split(table, seed)
            for way in WAYS:
                place = {"table": table, "seed": seed, "way": way}
                runs.append(place | {"auc": fit_and_score(split, seed, way)})
                print(runs[-1], flush=True)
    return runs


def fit_and_score(split: Split, seed: int, way: str, epochs: int = 40) -> float:
    """Test AUC of a network trained on all rows, shortcuts included."""
    columns = read_columns(split.X)
    encoder = TableEncoder("auto", True, "plain").fit(columns)
    x, x_test = (
        torch.from_numpy(encoder.transform(part).values)
        for part in (columns, read_columns(split.X_test))
    )
    names = [str(name) for name in split.X]
    misleads = np.array([names[j] in SHORTCUTS for j in encoder.input_columns])
    if way == "left out":
        x, x_test, misleads = x[:, ~misleads], x_test[:, ~misleads], misleads[~misleads]
    importance = torch.ones(x.shape[1])
    if way.startswith("importance"):
        importance[torch.from_numpy(misleads)] = 0.0
    torch.manual_seed(seed)
    net = Mlp(x.shape[1], 2, 64)
    if way.endswith("small start"):
        net.encoder.weight.data *= 0.05
    training = Training(net, x, torch.from_numpy(split.y))
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(BATCH):
            training.step(rows, importance.expand(len(rows), -1))
    with torch.no_grad():
        score = net(x_test, torch.ones_like(x_test)).softmax(1)[:, 1]
    return float(roc_auc_score(split.y_test, score.numpy()))


# ---- the level of accuracy on MNIST
LEVELS = ("as in our runs", "weights best on test images", "the same, dropout 0.5")
LOOK_EVERY, PATIENCE, MOST_STEPS = 100, 20, 10_000  # steps; looks without a better one; the paper's


def level_runs() -> list[dict[str, Any]]:
    """One line per rate, scale of pixels and way to train."""
    runs = []
    for rate in (0.5, 0.7, 0.9):
        for scaled in (True, False):
            for way in LEVELS:
                place = {"rate": rate, "scaled": scaled, "way": way}
                runs.append({**place, **train_and_look(rate, scaled, way)})
                print(runs[-1], flush=True)
    return runs


def train_and_look(rate: float, scaled: bool, way: str) -> dict[str, float]:
    """Test accuracy of the weights that are kept, and the step at which they were found."""
    study = load("mnist", rate=rate)
    split, ours = study.split(0), way == LEVELS[0]
    train = split.train if ours else np.concatenate([split.train, split.validation])
    X = study.X
    if scaled:
        spread = np.nan_to_num(np.nanstd(X[train], axis=0))
        X = (X - np.nanmean(X[train], axis=0)) / np.where(spread > 0, spread, 1)
    x, y = torch.from_numpy(np.nan_to_num(X)).float(), torch.from_numpy(study.y)
    torch.manual_seed(0)
    drop = 0.5 if way == LEVELS[2] else 0.0
    net = nn.Sequential(
        *(nn.Linear(784, 500), nn.ReLU(), nn.Dropout(drop)),
        *(nn.Linear(500, 500), nn.ReLU(), nn.Dropout(drop)),
        nn.Linear(500, 10),
    )
    adam = torch.optim.Adam(net.parameters(), RATE)
    best, steps = {"judged": -np.inf, "accuracy": 0.0, "step": 0}, 0
    while steps < min(MOST_STEPS, best["step"] + PATIENCE * LOOK_EVERY):
        for rows in torch.from_numpy(train)[torch.randperm(len(train))].split(BATCH):
            adam.zero_grad()
            F.cross_entropy(net(x[rows]), y[rows]).backward()
            adam.step()
            steps += 1
            if steps % LOOK_EVERY == 0:
                seen = _look(net.eval(), x, y, split)
                judged = -seen["loss"] if ours else seen["accuracy"]
                if judged > best["judged"]:
                    best = {"judged": judged, "accuracy": seen["accuracy"], "step": steps}
                net.train()
    return {"accuracy": best["accuracy"], "step": best["step"]}


@torch.no_grad()
def _look(net: nn.Module, x: Tensor, y: Tensor, split: Any) -> dict[str, float]:
    """The loss on validation images and the accuracy on test images."""
    loss = F.cross_entropy(net(x[split.validation]), y[split.validation])
    right = net(x[split.test]).argmax(1) == y[split.test]
    return {"loss": loss.item(), "accuracy": right.double().mean().item()}


EXPERIMENTS = {
    "variance": variance_runs,
    "initial-weights": initial_weight_runs,
    "level": level_runs,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "experiments", nargs="*", metavar="EXPERIMENT", help=" or ".join(EXPERIMENTS)
    )
    parser.add_argument("--json", type=Path, default=FILE)
    options = parser.parse_args()
    torch.set_num_threads(1)
    figures = json.loads(options.json.read_text()) if options.json.exists() else {}
    for name in options.experiments or EXPERIMENTS:
        figures[name] = {"commit": commit(), "runs": EXPERIMENTS[name]()}
        write(
            options.json,
            PACKAGES,
            **{name: figures[name] for name in EXPERIMENTS if name in figures},
        )


if __name__ == "__main__":
    main()
