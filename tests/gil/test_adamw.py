"""Our AdamW against PyTorch's."""

import torch
from torch import nn

from imputefree.gil._adamw import AdamW


def test_steps_are_those_of_pytorch_also_after_members_left():
    g = torch.Generator().manual_seed(0)

    def draw(*shape):
        return torch.randn(*shape, generator=g, dtype=torch.float64)

    start = draw(3, 4, 2), draw(3, 1, 4)
    mine, theirs = ([nn.Parameter(weight.clone()) for weight in start] for _ in range(2))
    ours = AdamW([([mine[0]], 0.3), ([mine[1]], 0.0)])
    groups = [{"params": [theirs[0]], "weight_decay": 0.3}, {"params": [theirs[1]]}]
    reference = torch.optim.AdamW(groups, lr=1.0, weight_decay=0.0)
    kept = torch.tensor([0, 2])
    for number in range(6):
        if number == 3:  # of theirs, all members stay, as none sees another
            ours.keep_members(kept)
            for weight in mine:
                weight.data = weight.data[kept]
        gradients = [draw(*weight.shape) for weight in start]
        rows = kept if number >= 3 else slice(None)
        rate = 0.1 / (1 + number)
        for weight, other, gradient in zip(mine, theirs, gradients, strict=True):
            weight.grad, other.grad = gradient[rows].clone(), gradient
        for group in reference.param_groups:
            group["lr"] = rate
        reference.step()
        ours.step(rate)
    for weight, other in zip(mine, theirs, strict=True):
        assert torch.allclose(weight, other[kept], rtol=1e-13, atol=1e-14)


def test_a_pace_is_a_scale_of_the_inputs():
    """Weights w of inputs s x, read as weights w s of inputs x; also after members left."""
    g = torch.Generator().manual_seed(0)

    def draw(*shape):
        return torch.randn(*shape, generator=g, dtype=torch.float64)

    start, pace = draw(3, 4, 5), draw(3, 1, 5).abs() + 0.1
    scaled, paced = nn.Parameter(start.clone()), nn.Parameter(start * pace)
    reference, ours = AdamW([([scaled], 0.3)]), AdamW([([paced], 0.3)], [(paced, pace)])
    kept = torch.tensor([0, 2])
    for number in range(6):
        if number == 3:
            for weight, optimizer in ((scaled, reference), (paced, ours)):
                optimizer.keep_members(kept)
                weight.data = weight.data[kept]
            pace = pace[kept]
        gradient = draw(*paced.shape)  # of the weight of unscaled inputs
        scaled.grad, paced.grad = gradient * pace, gradient
        reference.step(0.1)
        ours.step(0.1)
    assert torch.allclose(scaled * pace, paced, rtol=1e-6, atol=1e-6)  # they differ by Adam's ε
    assert not torch.allclose(scaled, paced, rtol=0.1)
