"""Our AdamW against PyTorch's, and states of both that are restored or refused."""

import copy

import pytest
import torch
from torch import nn

from imputefree.gil._adamw import AdamW, denormals_as_zero, restore_optimizer


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


def stepped(optimizer, weights, seed, rate=None):
    """One step by gradients of this seed."""
    g = torch.Generator().manual_seed(seed)
    for weight in weights:
        weight.grad = torch.randn(weight.shape, generator=g)
    optimizer.step() if rate is None else optimizer.step(rate)


def weights_of(*shapes):
    g = torch.Generator().manual_seed(0)
    return [nn.Parameter(torch.randn(shape, generator=g)) for shape in shapes]


def test_a_restored_optimizer_goes_on_as_the_first_one():
    first = weights_of((2, 3), (2, 1))
    ours = AdamW([([first[0]], 0.3), ([first[1]], 0.0)])
    stepped(ours, first, 1, rate=0.1)
    second = [nn.Parameter(weight.detach().clone()) for weight in first]
    again = AdamW([([second[0]], 0.3), ([second[1]], 0.0)])
    again.load_state_dict(copy.deepcopy(ours.state_dict()))
    for optimizer, weights in ((ours, first), (again, second)):
        stepped(optimizer, weights, 2, rate=0.1)
    assert all(map(torch.equal, first, second))
    ours.clear()
    assert [weight.grad for weight in first] == [None, None]


def test_a_state_of_other_weights_is_refused():
    state = AdamW([(weights_of((2, 3)), 0.3)]).state_dict()
    other = AdamW([(weights_of((3, 2)), 0.3)])
    more = AdamW([(weights_of((2, 3), (2, 3)), 0.3)])
    for optimizer in (other, more):
        with pytest.raises(ValueError, match=r"belong|longer"):
            optimizer.load_state_dict(state)


@pytest.mark.parametrize("begun", [False, True])
def test_a_restored_optimizer_of_pytorch_goes_on_as_the_first_one(begun):
    first = weights_of((2, 3), (2, 1))
    adam = torch.optim.Adam(first, 0.1)
    if begun:
        stepped(adam, first, 1)
    second = [nn.Parameter(weight.detach().clone()) for weight in first]
    again = torch.optim.Adam(second, 0.7)  # a rate may have changed since
    restore_optimizer(again, copy.deepcopy(adam.state_dict()))
    for optimizer, weights in ((adam, first), (again, second)):
        stepped(optimizer, weights, 2)
    assert all(map(torch.equal, first, second))


@pytest.mark.parametrize(
    "damage",
    [
        lambda state: state["param_groups"][0].update(betas=(0.5, 0.999)),
        lambda state: state["param_groups"][0].update(lr="fast"),
        lambda state: state["param_groups"].append(state["param_groups"][0]),
        lambda state: state["state"].pop(1),
        lambda state: state["state"][0].update(step=torch.ones(1)),
        lambda state: state["state"][0].update(step=1.0),
        lambda state: state["state"][1].update(exp_avg=torch.zeros(2, 2)),
        lambda state: state["state"][1].update(exp_avg_sq=torch.zeros(2, 1).double()),
    ],
)
def test_a_damaged_state_of_an_optimizer_of_pytorch_is_refused(damage):
    weights = weights_of((2, 3), (2, 1))
    adam = torch.optim.Adam(weights, 0.1)
    stepped(adam, weights, 1)
    state = copy.deepcopy(adam.state_dict())
    damage(state)
    with pytest.raises((ValueError, KeyError)):
        restore_optimizer(adam, state)


@pytest.mark.parametrize("before", [False, True])
def test_numbers_next_to_zero_are_treated_as_before_afterwards(before):
    def is_zero():
        return (torch.tensor([1e-40]) * 1.0).item() == 0.0

    if not torch.set_flush_denormal(before):
        pytest.skip("this CPU cannot")
    try:
        with denormals_as_zero():
            assert is_zero()
        assert is_zero() == before
    finally:
        torch.set_flush_denormal(False)
