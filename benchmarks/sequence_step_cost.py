"""What a training step on series costs under each policy, relative to an ordinary PyTorch step.

One process, all variants interleaved, median over many rounds, at two shapes: a small LSTM on long
series and the paper's LSTM-1024 on short ones (batch 128 in both). Also: the step's CPU time beside
the public code's, and memory, which must not grow over 200 steps. Exits 1 when over a limit.

    python benchmarks/sequence_step_cost.py [--rounds 30] [--json FILE]
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from measuring import arguments, judge, medians, write
from torch import nn

from imputefree import GILSequenceClassifier
from imputefree.gil import (
    DDPG,
    Batches,
    CrossEntropy,
    LossReward,
    SequencePredictor,
    Settings,
    Trainer,
    TrainingData,
    make_policy,
)

SERIES, BATCH, PLACEHOLDER = 512, 128, 1.0  # a placeholder of 0 would make `observed` = `none`
LIMITS = {"none": 1.15, "observed": 1.3, "default": 2.0}
REFERENCE_SECONDS = 1.9  # CPU-seconds per step of the public TensorFlow code at PAPER, as reported
TARGET_SHARE = 0.5  # of them
GROWTH_LIMIT_MB = 20.0  # over MEMORY_STEPS steps; the public code grows by 41 MB per step
MEMORY_STEPS = 200
WINDOWS = 4  # into which they are cut


@dataclass(frozen=True)
class Shape:
    """An LSTM of `hidden` units on series of `steps` steps and `inputs` columns."""

    hidden: int
    steps: int
    inputs: int


SMALL, PAPER = Shape(128, 48, 35), Shape(1024, 20, 15)


def make_data(shape: Shape) -> TrainingData:
    g = torch.Generator().manual_seed(0)
    size = SERIES * shape.steps, shape.inputs
    values = torch.randn(size, generator=g)
    observed = torch.rand(size, generator=g) > 0.7
    return TrainingData(
        torch.where(observed, values, PLACEHOLDER),
        observed,
        torch.randint(0, 2, (SERIES,), generator=g),
        lengths=torch.full((SERIES,), shape.steps),
    )


class PlainLstm(nn.Module):
    """The ordinary way to write this network in PyTorch."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.lstm = nn.LSTM(shape.inputs, shape.hidden, batch_first=True)
        self.out = nn.Linear(shape.hidden, 1)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return self.out(self.lstm(values)[0][:, -1])


def plain_step(data: TrainingData, shape: Shape) -> Callable[[], None]:
    net = PlainLstm(shape)
    adam = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
    g = torch.Generator().manual_seed(0)
    series = data.values.view(SERIES, shape.steps, shape.inputs)
    target = data.target.float()

    def step() -> None:
        rows = torch.randint(0, SERIES, (BATCH,), generator=g)
        adam.zero_grad()
        raw = net(series[rows]).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(raw, target[rows])
        loss.backward()
        adam.step()
        loss.item()

    return step


def gil_step(data: TrainingData, shape: Shape, policy: object) -> Callable[[], None]:
    """One iteration of Algorithm 1, exactly as training runs it."""
    g = torch.Generator()
    hidden = (shape.hidden,)
    net = SequencePredictor(1, shape.inputs, 1, hidden, generator=g.manual_seed(0))
    loss = CrossEntropy(2)
    trainer = Trainer(net, make_policy(policy), LossReward(), loss, Settings(), g, g)
    steps = trainer.algorithm_1(data, Batches([torch.arange(SERIES)], BATCH, g))
    return lambda: (next(steps), None)[1]


def cpu_seconds(step: Callable[[], None], times: int) -> float:
    """The smallest CPU time of a step: what other programs do only ever adds to it."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        step()
        best = min(best, time.process_time() - start)
    return best


def resident_mb() -> float:
    """Memory of this process now."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096 / 2**20


def growth(step: Callable[[], None], steps: int) -> float:
    """MB by which memory grows over some steps, after the first have filled every cache.

    The steps are cut into windows and the smallest growth counts for each: a leak grows in every
    window, while an allocator that asks the system for one more arena does so in one.
    """
    for _ in range(10):
        step()
    marks = [resident_mb()]
    for _ in range(WINDOWS):
        for _ in range(max(1, steps // WINDOWS)):
            step()
        marks.append(resident_mb())
    return WINDOWS * min(after - before for before, after in itertools.pairwise(marks))


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="timed steps of each variant")
    parser.add_argument("--memory-steps", type=int, default=MEMORY_STEPS)
    parser.add_argument("--small-only", action="store_true", help="leave out the LSTM-1024")
    options = parser.parse_args()
    torch.set_num_threads(1)
    default = GILSequenceClassifier().policy
    figures: dict[str, dict[str, float]] = {}
    grown: dict[str, float] = {}
    spent: dict[str, float] = {}
    failed = False
    for shape in (SMALL,) if options.small_only else (SMALL, PAPER):
        print(f"H = {shape.hidden}, T = {shape.steps}, d = {shape.inputs}, batch {BATCH}")
        data = make_data(shape)
        policies = {name: name for name in ("none", "observed", "random", "meta", "ddpg")}
        policies["default"] = default
        steps = {"plain": plain_step(data, shape)}
        steps |= {name: gil_step(data, shape, policy) for name, policy in policies.items()}
        rounds = options.rounds if shape is SMALL else max(options.rounds // 3, 2)
        seconds = medians(steps, rounds, warm_up=2)
        ratios = {name: seconds[name] / seconds["plain"] for name in policies}
        failed |= judge(ratios, LIMITS, default)
        key = f"H = {shape.hidden}, T = {shape.steps}, d = {shape.inputs}"
        figures[key] = {name: round(ratio, 3) for name, ratio in ratios.items()}
        if shape is PAPER:
            spent = {name: cpu_seconds(steps[name], 3) for name in ("plain", "observed", "ddpg")}
            for name, seconds_each in spent.items():
                share = seconds_each / REFERENCE_SECONDS
                short = "" if share <= TARGET_SHARE else "  SHORT of it on this machine"
                print(
                    f"{name}: {seconds_each:.2f} CPU-s, {share:.2f} of the public code's"
                    f" {REFERENCE_SECONDS} (target {TARGET_SHARE}){short}"
                )
    # A replay that is full after a few steps: filling up to its bound is not growth.
    for name, policy in {"none": "none", "ddpg": DDPG(replay_bytes=2**18)}.items():
        grown[name] = growth(gil_step(make_data(SMALL), SMALL, policy), options.memory_steps)
        over = grown[name] > GROWTH_LIMIT_MB
        failed |= over
        print(
            f"{name}: memory grew {grown[name]:.1f} MB in {options.memory_steps} steps"
            f" (limit {GROWTH_LIMIT_MB})" + ("  OVER" if over else "")
        )
    record = {
        "ratios": figures,
        "cpu_seconds_paper_shape": {name: round(value, 3) for name, value in spent.items()},
        "memory_growth_mb": {name: round(value, 1) for name, value in grown.items()},
        "memory_steps": options.memory_steps,
    }
    write(options.json, "torch", rounds=options.rounds, **record)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
